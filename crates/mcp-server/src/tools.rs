//! The requests of tools: from raw parameters to the outgoing frame.

use std::borrow::Cow;
use std::sync::Arc;

use mcp_jsonrpc::service::v1::Replies;
use mcp_jsonrpc::{ErrorObject, Extensions, Outgoing, RawJson, Request, RequestId};
use mcp_types::error_code::URL_ELICITATION_REQUIRED;
use mcp_types::{CallToolParamsRef, CallToolResult, ContentBlock, Outcome, Project, Revision};

use crate::catch::Panicked;
use crate::context::Context;
use crate::schema::UnusableSchema;
use crate::server::Server;
use crate::service::{Answer, Terms, encode};
use crate::tool::{Registered, ToolCall, ToolOutcome};

/// A call of a tool that is ready to run.
pub(crate) struct ToolRun {
    pub(crate) tool: Arc<Registered>,
    pub(crate) call: ToolCall,
    pub(crate) id: RequestId,
}

/// What a call of a tool comes to before the tool has run.
pub(crate) enum Called {
    /// The tool is to run.
    Runs(ToolRun),
    /// The arguments don't fit, and the model is told.
    Answered(Outgoing),
    /// The tool is to run as a task.
    #[cfg(feature = "tasks")]
    Task(Box<crate::task::TaskCall>),
}

impl Server {
    /// Everything that comes before the tool.
    pub(crate) fn begin_tool(
        &self,
        request: &Request,
        extensions: Extensions,
        replies: Replies,
        terms: Terms,
    ) -> Result<Called, ErrorObject> {
        if !self.inner.offers.tools {
            return Err(ErrorObject::method_not_found("tools/call"));
        }
        let raw = request.params.as_ref().ok_or_else(|| {
            ErrorObject::invalid_params("tools/call needs params with the name of a tool")
        })?;
        let params = match Params::plain(raw) {
            Some(params) => params,
            None => Params::any(raw)?,
        };
        let access = self.inner.access(&extensions);
        let tool = self.inner.tools.get(&params.name, &access);
        // What the asker may not see is not there.
        let tool = tool.ok_or_else(|| unknown_tool(&params.name))?;
        drop(access);
        #[cfg_attr(not(feature = "tasks"), expect(unused_variables, reason = "for tasks only"))]
        let Params { arguments, meta, task, .. } = params;
        let unfit = check_input(&tool, arguments.as_ref(), terms.revision);
        #[cfg(feature = "tasks")]
        if let Some(wanted) = self.wants_task(&tool, task.as_ref(), terms.revision)? {
            return Ok(Called::Task(Box::new(crate::task::TaskCall {
                tool,
                arguments,
                unfit,
                wanted,
                meta,
                id: request.id.clone(),
                extensions,
                replies,
                terms,
            })));
        }
        if let Some(outcome) = unfit {
            return self.answer_tool(&tool, &request.id, outcome?, terms).map(Called::Answered);
        }
        let context = Context::new(request.id.clone(), extensions, replies, meta, self.clone());
        let state = tool.state.as_ref().unwrap_or(&self.inner.state).clone();
        let call = ToolCall::new(arguments, context, state, tool.definition.input.clone());
        Ok(Called::Runs(ToolRun { tool, call, id: request.id.clone() }))
    }

    /// Everything that comes after the tool.
    pub(crate) fn finish_tool(
        &self,
        tool: &Registered,
        id: &RequestId,
        outcome: Result<ToolOutcome, Panicked>,
        terms: Terms,
    ) -> Answer {
        let outcome = came_to(outcome, terms)?;
        self.answer_tool(tool, id, outcome, terms)
    }

    fn answer_tool(
        &self,
        tool: &Registered,
        id: &RequestId,
        outcome: Outcome<CallToolResult>,
        terms: Terms,
    ) -> Answer {
        encode(id, &self.complete_tool(tool, outcome, terms)?)
    }

    /// The result as it is sent, held against what the tool promises.
    pub(crate) fn complete_tool(
        &self,
        tool: &Registered,
        outcome: Outcome<CallToolResult>,
        terms: Terms,
    ) -> Result<CallToolResult, ErrorObject> {
        let Outcome::Complete(mut result) = outcome else {
            // Only the stateless era, and extensions, have other outcomes.
            return Err(ErrorObject::internal(
                "the tool's outcome does not exist in this revision",
            ));
        };
        check_output(tool, &result)?;
        if cfg!(debug_assertions) && !self.inner.offers.resources {
            warn_of_resources(tool, &result);
        }
        if terms.revision != Revision::LATEST_STATEFUL {
            result.project(terms.revision);
        }
        Ok(result)
    }
}
/// What a tool has come to, in words that the client knows.
pub(crate) fn came_to(
    outcome: Result<ToolOutcome, Panicked>,
    terms: Terms,
) -> Result<Outcome<CallToolResult>, ErrorObject> {
    match outcome.map_err(|_| ErrorObject::internal("the tool has failed"))? {
        Err(error) if error.code == URL_ELICITATION_REQUIRED && !terms.know_urls() => {
            // The client has no word for it: the model reads where to go.
            let text = crate::error::without_urls(&error, terms.revision).message.into_owned();
            Ok(Outcome::Complete(CallToolResult::error(text)))
        }
        outcome => outcome,
    }
}

/// What is looked at of the params of `tools/call`.
struct Params<'a> {
    name: Cow<'a, str>,
    arguments: Option<RawJson>,
    meta: Option<RawJson>,
    task: Option<RawJson>,
}

impl<'a> Params<'a> {
    /// Nearly all are plain: each member once, nothing escaped. Found by walking over the text,
    /// which is a third of the cost of parsing it. `None` when they aren't, or aren't valid.
    fn plain(raw: &'a RawJson) -> Option<Self> {
        let (mut name, mut arguments, mut meta, mut task) = (None, None, None, None);
        for member in raw.members() {
            let slot = match member.key() {
                b"name" => {
                    let text = member.value().strip_prefix(b"\"")?.strip_suffix(b"\"")?;
                    if name.is_some() || text.contains(&b'\\') {
                        return None;
                    }
                    name = Some(std::str::from_utf8(text).ok()?);
                    continue;
                }
                b"arguments" => &mut arguments,
                b"_meta" => &mut meta,
                b"task" => &mut task,
                key if key.contains(&b'\\') => return None,
                _ => continue,
            };
            if slot.is_some() || !member.value().starts_with(b"{") {
                return None;
            }
            *slot = Some(member);
        }
        Some(Self {
            name: Cow::Borrowed(name?),
            arguments: arguments.map(|member| member.to_raw()),
            meta: meta.map(|member| member.to_raw()),
            task: task.map(|member| member.to_raw()),
        })
    }

    /// The same of any params; says what is wrong with them.
    fn any(raw: &'a RawJson) -> Result<Self, ErrorObject> {
        let params: CallToolParamsRef<'_> = raw.parse().map_err(|error| {
            ErrorObject::invalid_params(format!("the params of tools/call are not valid: {error}"))
        })?;
        if params.arguments.is_some_and(|arguments| !arguments.get().starts_with('{')) {
            return Err(ErrorObject::invalid_params("`arguments` is not an object"));
        }
        Ok(Self {
            name: params.name,
            arguments: params.arguments.map(|part| raw.part(part)),
            meta: params.meta.map(|part| raw.part(part)),
            task: params.task.map(|part| raw.part(part)),
        })
    }
}

/// What the call comes to when its arguments don't fit. A type that says all that the schema
/// says checks them by parsing, later.
fn check_input(
    tool: &Registered,
    arguments: Option<&RawJson>,
    revision: Revision,
) -> Option<ToolOutcome> {
    let definition = &tool.definition;
    if definition.typed_input && definition.input.holds_by_type() {
        return None;
    }
    let json = arguments.map_or(b"{}".as_slice(), RawJson::as_bytes);
    match definition.input.violations(json) {
        Ok(violations) if violations.is_empty() => None,
        Ok(violations) => Some(bad_arguments(revision, &violations.join("; "))),
        Err(error) => Some(Err(unusable("input", error))),
    }
}

/// The answer to arguments that don't fit: from 2025-11-25 on the model reads it, older peers
/// get an error of the protocol.
pub(crate) fn bad_arguments(revision: Revision, message: &str) -> ToolOutcome {
    let message = format!("invalid arguments: {message}");
    if revision < Revision::V2025_11_25 {
        return Err(ErrorObject::invalid_params(message));
    }
    Ok(Outcome::Complete(CallToolResult::error(message)))
}

/// What is sent has to be what was promised. A failure promises nothing.
fn check_output(tool: &Registered, result: &CallToolResult) -> Result<(), ErrorObject> {
    let Some(schema) = &tool.definition.output else { return Ok(()) };
    if result.is_error == Some(true) {
        return Ok(());
    }
    let Some(value) = &result.structured_content else {
        tracing::error!(tool = tool.name, "a tool with an output schema gave no structured result");
        return Err(ErrorObject::internal("the tool gave no structured result"));
    };
    if tool.definition.typed_output && schema.holds_by_type() {
        return Ok(());
    }
    match schema.violations(value.as_raw().as_bytes()) {
        Ok(violations) if violations.is_empty() => Ok(()),
        Ok(violations) => {
            tracing::error!(tool = tool.name, ?violations, "a result does not fit its schema");
            Err(ErrorObject::internal("the tool's result does not fit its output schema"))
        }
        Err(error) => Err(unusable("output", error)),
    }
}

/// The specification wants a server that embeds resources to announce them; who develops one
/// learns of it.
fn warn_of_resources(tool: &Registered, result: &CallToolResult) {
    if result.content.iter().any(|block| matches!(block, ContentBlock::Resource(_))) {
        tracing::warn!(
            tool = tool.name,
            "a resource is embedded by a server that announces no resources"
        );
    }
}

fn unusable(which: &str, error: &UnusableSchema) -> ErrorObject {
    let reason = crate::error::chain(error);
    ErrorObject::internal(format!("the tool's {which} schema can't be used: {reason}"))
}

fn unknown_tool(name: &str) -> ErrorObject {
    let shown: String = name.chars().take(128).collect();
    ErrorObject::invalid_params(format!("unknown tool: {shown}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_params_are_read_as_any_are_and_what_is_not_plain_is_left_to_the_parser() {
        for (json, plain) in [
            (r#"{"name":"a","arguments":{"b":[1,{"c":"}"}]},"_meta":{"progressToken":1}}"#, true),
            (r#"{ "_meta" : { } , "name" : "é" , "x" : [ 1 ] , "task" : {} }"#, true),
            (r#"{"name":"a"}"#, true),
            (r#"{"name":"a","arguments":null}"#, false),
            (r#"{"name":"\u0061"}"#, false),
            (r#"{"n\u0061me":"a"}"#, false),
            (r#"{"name":"a","argument\u0073":{"b":1}}"#, false),
            (r#"{"name":"a","name":"b"}"#, false),
            (r#"{"name":"a","arguments":{},"arguments":{}}"#, false),
            (r#"{"name":"a","arguments":[]}"#, false),
            (r#"{"name":"a","task":1}"#, false),
            (r#"{"name":1}"#, false),
            ("{}", false),
        ] {
            let raw = RawJson::new(json).unwrap();
            let parts = |params: Params<'_>| {
                let text = |part: Option<RawJson>| part.map(|part| part.as_str().to_owned());
                let Params { name, arguments, meta, task } = params;
                (name.into_owned(), text(arguments), text(meta), text(task))
            };
            let read = Params::plain(&raw).map(parts);
            assert_eq!(read.is_some(), plain, "{json}");
            if read.is_some() {
                assert_eq!(read, Params::any(&raw).ok().map(parts), "{json}");
            }
        }
    }

    // Shows: TOOLS-041
    #[test]
    fn bad_arguments_are_read_by_the_model_or_refused_by_revision() {
        for revision in Revision::STATEFUL {
            match bad_arguments(revision, "no city") {
                Ok(Outcome::Complete(result)) => {
                    assert_eq!(revision, Revision::V2025_11_25);
                    assert_eq!(result.is_error, Some(true));
                }
                Err(error) => {
                    assert!(revision < Revision::V2025_11_25);
                    assert_eq!(error.code, -32602);
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
