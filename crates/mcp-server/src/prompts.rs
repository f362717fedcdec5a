//! The requests of prompts and of completion: from raw parameters to the outgoing frame.

use std::collections::BTreeMap;

use mcp_jsonrpc::service::v1::Replies;
use mcp_jsonrpc::{ErrorObject, Extensions, Request};
use mcp_types::{
    CompleteRequestParams, CompleteResult, CompletionReference, GetPromptRequestParams, Project,
};

use crate::catch::catching;
use crate::completion::{Completion, CompletionRequest};
use crate::context::Context;
use crate::prompt::PromptRequest;
use crate::server::Server;
use crate::service::{Answer, encode, meta_of, params};

/// Values that one completion holds, by the specification.
const MOST_VALUES: usize = 100;

impl Server {
    pub(crate) async fn get_prompt(
        &self,
        request: &Request,
        extensions: Extensions,
        replies: Replies,
    ) -> Answer {
        if !self.inner.offers.prompts {
            return Err(ErrorObject::method_not_found("prompts/get"));
        }
        let params: GetPromptRequestParams = params(request)?;
        let prompt = self.inner.prompts.get(&params.name).ok_or_else(|| {
            let shown: String = params.name.chars().take(128).collect();
            ErrorObject::invalid_params(format!("unknown prompt: {shown}"))
        })?;
        let arguments: BTreeMap<String, String> = params.arguments.into_iter().flatten().collect();
        if let Some(name) = prompt.missing(&arguments) {
            return Err(ErrorObject::invalid_params(format!("the argument `{name}` is missing")));
        }
        let meta = request.params.as_ref().and_then(meta_of);
        let context = Context::new(request.id.clone(), extensions, replies, meta, self.clone());
        let revision = context.revision();
        let asked = PromptRequest::new(arguments, context, self.inner.state.clone());
        let panicked = |_| ErrorObject::internal("making the prompt has failed");
        let mut result = catching(|| prompt.provider.get(asked))
            .map_err(panicked)?
            .await
            .map_err(panicked)??;
        result.project(revision);
        encode(&request.id, &result)
    }

    pub(crate) async fn complete(
        &self,
        request: &Request,
        extensions: Extensions,
        replies: Replies,
    ) -> Answer {
        if !self.inner.offers.completions {
            return Err(ErrorObject::method_not_found("completion/complete"));
        }
        let params: CompleteRequestParams = params(request)?;
        let (kind, target) = match &params.reference {
            CompletionReference::Prompt(prompt) => {
                if self.inner.prompts.get(&prompt.name).is_none() {
                    return Err(ErrorObject::invalid_params("unknown prompt"));
                }
                ("prompt", prompt.name.clone())
            }
            CompletionReference::ResourceTemplate(resource) => {
                let uri = resource.uri.as_str().to_owned();
                if self.inner.templates.get(&uri).is_none()
                    && self.inner.resources.get(&uri).is_none()
                {
                    return Err(ErrorObject::invalid_params("unknown resource template"));
                }
                ("resource", uri)
            }
            _ => return Err(ErrorObject::invalid_params("`ref` is of no known type")),
        };
        let key = (kind, target, params.argument.name);
        let Some(completer) = self.inner.completers.get(&key) else {
            return encode(&request.id, &result_of(Completion::default()));
        };
        let meta = request.params.as_ref().and_then(meta_of);
        let context = Context::new(request.id.clone(), extensions, replies, meta, self.clone());
        let known = params.context.and_then(|context| context.arguments).into_iter().flatten();
        let asked = CompletionRequest::new(params.argument.value, known.collect(), context);
        let panicked = |_| ErrorObject::internal("completion has failed");
        let completion =
            catching(|| completer.complete(asked)).map_err(panicked)?.await.map_err(panicked)?;
        encode(&request.id, &result_of(completion))
    }
}

fn result_of(completion: Completion) -> CompleteResult {
    let Completion { mut values, total } = completion;
    let found = u64::try_from(values.len()).unwrap_or(u64::MAX);
    let total = total.unwrap_or(found).max(found);
    values.truncate(MOST_VALUES);
    let sent = u64::try_from(values.len()).unwrap_or(u64::MAX);
    let mut inner = mcp_types::Completion::new(values);
    inner.total = Some(total);
    inner.has_more = Some(total > sent);
    CompleteResult::new(inner)
}
