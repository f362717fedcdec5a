use std::sync::Arc;

use mcp_jsonrpc::service::v1::Replies;
use mcp_jsonrpc::{ErrorObject, Extensions, Outgoing, RawJson, Request, RequestId};
use mcp_lifecycle::tasks::{RunningTask, TaskEnd, TaskOrder, Tasks};
use mcp_types::{
    CallToolResult, ContentBlock, CreateTaskResult, Meta, Method, Revision, TaskMetadata,
    TaskSupport,
};
use tracing::Instrument as _;

use crate::catch::catching;
use crate::context::Context;
use crate::server::Server;
use crate::service::{Answer, Terms, encode, fit};
use crate::tool::{Registered, ToolCall, ToolOutcome};
use crate::tools::came_to;

/// A call of a tool that is to run as a task.
pub(crate) struct TaskCall {
    pub(crate) tool: Arc<Registered>,
    pub(crate) arguments: Option<RawJson>,
    /// What the call comes to without the tool, because its arguments don't fit.
    pub(crate) unfit: Option<ToolOutcome>,
    pub(crate) wanted: TaskMetadata,
    pub(crate) meta: Option<RawJson>,
    pub(crate) id: RequestId,
    pub(crate) extensions: Extensions,
    pub(crate) replies: Replies,
    pub(crate) terms: Terms,
}

impl Context {
    /// The task as which the call runs; none when it is a plain call.
    #[must_use]
    pub fn task(&self) -> Option<&RunningTask> {
        self.extension()
    }
}

impl Server {
    /// Whether a call is to run as a task.
    ///
    /// # Errors
    ///
    /// When it is to and can't, or isn't and has to.
    pub(crate) fn wants_task(
        &self,
        tool: &Registered,
        asked: Option<&RawJson>,
        revision: Revision,
    ) -> Result<Option<TaskMetadata>, ErrorObject> {
        if self.inner.tasks.is_none() || !revision.has_core_tasks() {
            // Who has announced no tasks runs the call as if it hadn't asked.
            return Ok(None);
        }
        let refuse = |how: &str| {
            let message = format!("the tool {} {how} run as a task", tool.name);
            Err(ErrorObject::new(mcp_types::error_code::METHOD_NOT_FOUND, message))
        };
        let asked = asked.filter(|asked| asked.as_str() != "null");
        match (asked, tool.task_support()) {
            (None, TaskSupport::Required) => refuse("has to"),
            (None, _) => Ok(None),
            (Some(_), TaskSupport::Forbidden | TaskSupport::Other(_)) => refuse("can't"),
            (Some(asked), _) => asked.parse().map(Some).map_err(|error| {
                ErrorObject::invalid_params(format!("`task` is not valid: {error}"))
            }),
        }
    }

    pub(crate) async fn start_task(&self, call: TaskCall) -> Answer {
        let tasks = self.task_machine("tools/call")?;
        let TaskCall { tool, arguments, unfit, wanted, meta, id, extensions, replies, terms } =
            call;
        let mut result_meta = Meta::new();
        if let Some(text) = &tool.immediate {
            // A text can always be written.
            let _ = result_meta.insert(Meta::MODEL_IMMEDIATE_RESPONSE, &**text);
        }
        let order = TaskOrder::new(Method::ToolsCall, wanted.ttl, &extensions, &replies);
        let (server, request) = (self.clone(), id.clone());
        let mut facts = extensions.clone();
        let span = tracing::Span::current();
        let task = tasks.start(order, move |replies, running| {
            facts.insert(running);
            let run = async move {
                let outcome = match unfit {
                    Some(outcome) => Ok(outcome),
                    None => {
                        let context = Context::new(request, facts, replies, meta, server.clone());
                        #[cfg(feature = "tracing-subscriber")]
                        let observed = server.inner.forwarder.as_ref().map(|to| to.open(&context));
                        let state = tool.state.as_ref().unwrap_or(&server.inner.state).clone();
                        let input = tool.definition.input.clone();
                        let call = ToolCall::new(arguments, context, state, input);
                        match catching(|| tool.tool.call(call)) {
                            #[cfg(feature = "tracing-subscriber")]
                            Ok(running) => match observed {
                                Some((span, _open)) => running.instrument(span).await,
                                None => running.await,
                            },
                            #[cfg(not(feature = "tracing-subscriber"))]
                            Ok(running) => running.await,
                            Err(panicked) => Err(panicked),
                        }
                    }
                };
                let result = came_to(outcome, terms)
                    .and_then(|outcome| server.complete_tool(&tool, outcome, terms));
                end(result, terms)
            };
            Box::pin(run.instrument(span))
        });
        let mut result = CreateTaskResult::new(task.await?);
        result.meta = Some(result_meta).filter(|meta| !meta.is_empty());
        encode(&id, &result)
    }

    pub(crate) async fn answer_task(
        &self,
        method: Method,
        request: &Request,
        extensions: &Extensions,
        replies: &Replies,
    ) -> Result<Outgoing, ErrorObject> {
        let tasks = self.task_machine(request.method.as_str())?;
        let answer = tasks.answer(method, request, extensions, replies).await;
        answer.unwrap_or_else(|| Err(ErrorObject::method_not_found(request.method.as_str())))
    }

    fn task_machine(&self, method: &str) -> Result<&Tasks, ErrorObject> {
        self.inner.tasks.as_ref().ok_or_else(|| ErrorObject::method_not_found(method))
    }
}

/// How a call has ended.
fn end(result: Result<CallToolResult, ErrorObject>, terms: Terms) -> TaskEnd {
    let result = match result {
        Ok(result) => result,
        Err(error) => return TaskEnd::new(Err(fit(error, terms))),
    };
    let written = RawJson::from_serialize(&result).map_err(|error| {
        tracing::error!(%error, "a result can't be written as JSON");
        ErrorObject::internal("the result can't be written as JSON")
    });
    let end = TaskEnd::new(written);
    if result.is_error == Some(true) {
        let said = result.content.iter().find_map(ContentBlock::as_text);
        return end.failed(said.map(str::to_owned));
    }
    end
}
