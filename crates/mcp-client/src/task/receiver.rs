use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use mcp_jsonrpc::service::v1::{BoxFuture, Reply};
use mcp_jsonrpc::{ErrorObject, RawJson, Request};
use mcp_lifecycle::Requestor;
use mcp_lifecycle::tasks::{Spawn, TaskConfig, TaskEnd, TaskOrder, Tasks};
use mcp_lifecycle::v1::{Clock, IdSource, NoRandomness};
use mcp_types::{
    ClientTasksCapability, ClientTasksElicitation, ClientTasksRequests, ClientTasksSampling,
    CreateTaskResult, JsonObject, Method, TaskMetadata,
};
use serde_core::Serialize;
use serde_core::de::DeserializeOwned;

use crate::context::Context;
use crate::service::{Duties, Handlers};

/// Runs what the server asks of the model and the person as tasks, in tasks of the runtime.
pub(crate) fn tasks(config: TaskConfig, clock: Arc<dyn Clock>) -> Tasks {
    let spawn: Spawn = Arc::new(|run| drop(tokio::spawn(run)));
    Tasks::new(config, clock, Arc::new(OsIds), spawn, SystemTime::now())
}

/// The one server of a conversation. Stores may be shared between conversations.
pub(crate) fn requestor() -> Requestor {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Requestor::new(format!("server:{}", NEXT.fetch_add(1, Ordering::Relaxed)))
}

/// What a client with tasks declares.
pub(crate) fn capability(config: &TaskConfig, handlers: &Handlers) -> ClientTasksCapability {
    let declared = JsonObject::new;
    let mut requests = ClientTasksRequests::new();
    if handlers.sampling.is_some() {
        requests.sampling = Some(ClientTasksSampling::new().with_create_message(declared()));
    }
    if handlers.elicitation.is_some() {
        requests.elicitation = Some(ClientTasksElicitation::new().with_create(declared()));
    }
    let mut capability = ClientTasksCapability::new().with_cancel(declared());
    capability.list = config.list.then(declared);
    capability.requests = Some(requests);
    capability
}

/// Answers what is about tasks, or asks for one; `None` for everything else.
pub(crate) async fn answer(
    tasks: &Tasks,
    duties: &Arc<Duties>,
    method: Method,
    request: &Request,
    cx: &Context,
) -> Option<Reply> {
    if !cx.client().revision().has_core_tasks() {
        return None;
    }
    let answer = match method {
        Method::SamplingCreateMessage if duties.samples() => {
            start(tasks, duties, method, request, cx).await?
        }
        Method::ElicitationCreate if duties.elicits() => {
            start(tasks, duties, method, request, cx).await?
        }
        _ => {
            let (extensions, replies) = cx.road();
            let answer = tasks.answer(method, request, extensions, replies).await?;
            answer.map(Reply::Response)
        }
    };
    Some(answer.unwrap_or_else(|error| Reply::error(&request.id, &error)))
}

/// What the parameters say about the task.
struct Wanted(Option<TaskMetadata>);

impl Wanted {
    fn of(request: &Request) -> Result<Self, ErrorObject> {
        let Some(params) = &request.params else { return Ok(Self(None)) };
        let Some(task) = member(params) else { return Ok(Self(None)) };
        let task = task.map_err(|error| {
            ErrorObject::invalid_params(format!("`task` is not valid: {error}"))
        })?;
        Ok(Self(task))
    }
}

fn member<T: DeserializeOwned>(params: &RawJson) -> Option<Result<T, serde_json::Error>> {
    let members: JsonObject = params.parse().ok()?;
    members.get("task").map(mcp_types::JsonValue::to)
}

/// Takes the request on, if it asks for a task.
async fn start(
    tasks: &Tasks,
    duties: &Arc<Duties>,
    method: Method,
    request: &Request,
    cx: &Context,
) -> Option<Result<Reply, ErrorObject>> {
    let wanted = match Wanted::of(request) {
        Ok(Wanted(wanted)) => wanted?,
        Err(error) => return Some(Err(error)),
    };
    let (extensions, replies) = cx.road();
    let order = TaskOrder::new(method, wanted.ttl, extensions, replies);
    let (duties, ours, cx) = (Arc::clone(duties), request.clone(), cx.clone());
    let made = tasks.start(order, move |replies, running| {
        let cx = cx.as_task(replies, running);
        Box::pin(async move { TaskEnd::new(run(&duties, method, &ours, cx).await) })
    });
    let made = made.await.map(|task| Reply::result(&request.id, &CreateTaskResult::new(task)));
    Some(made)
}

fn run<'a>(
    duties: &'a Duties,
    method: Method,
    request: &'a Request,
    cx: Context,
) -> BoxFuture<'a, Result<RawJson, ErrorObject>> {
    Box::pin(async move {
        if method == Method::SamplingCreateMessage {
            duties.sample(request, cx).await.and_then(|result| write(&result))
        } else {
            duties.elicit(request, cx).await.and_then(|result| write(&result))
        }
    })
}

fn write<T: Serialize>(result: &T) -> Result<RawJson, ErrorObject> {
    RawJson::from_serialize(result).map_err(|error| {
        tracing::error!(%error, "a result can't be written as JSON");
        ErrorObject::internal("the result can't be written as JSON")
    })
}

/// Ids from the operating system's source of randomness.
struct OsIds;

impl IdSource for OsIds {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        getrandom::fill(bytes).map_err(NoRandomness::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: TASK-029, TASK-030, TASK-084
    #[test]
    fn ids_are_from_a_source_that_can_not_be_guessed() {
        mcp_lifecycle::testing::id_source_suite(&OsIds);
    }
}
