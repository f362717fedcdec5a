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
/// The longest value that is completed, in bytes: nobody types more.
const LONGEST_VALUE: usize = 4096;
/// Other arguments that a completion may come with.
const MOST_ARGUMENTS: usize = 100;

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
        let prompt = self.inner.prompts.get(&params.name, &self.inner.access(&extensions));
        let prompt = prompt.ok_or_else(|| {
            let shown: String = params.name.chars().take(128).collect();
            ErrorObject::invalid_params(format!("unknown prompt: {shown}"))
        })?;
        let given = params.arguments.into_iter().flatten();
        // The author has not thought of others.
        let arguments: BTreeMap<String, String> =
            given.filter(|(name, _)| prompt.declares(name)).collect();
        if let Some(name) = prompt.missing(&arguments) {
            return Err(ErrorObject::invalid_params(format!("the argument `{name}` is missing")));
        }
        let meta = request.params.as_ref().and_then(meta_of);
        let context = Context::new(request.id.clone(), extensions, replies, meta, self.clone());
        let revision = context.revision();
        let state = prompt.state.as_ref().unwrap_or(&self.inner.state).clone();
        let asked = PromptRequest::new(arguments, context, state);
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
        let argument = params.argument;
        let context = params.context.and_then(|context| context.arguments).unwrap_or_default();
        let too_long = |value: &str| value.len() > LONGEST_VALUE;
        if too_long(&argument.value) || context.iter().any(|(_, value)| too_long(value)) {
            let message = format!("a value has more than {LONGEST_VALUE} bytes");
            return Err(ErrorObject::invalid_params(message));
        }
        if context.len() > MOST_ARGUMENTS {
            let message = format!("there are more than {MOST_ARGUMENTS} other arguments");
            return Err(ErrorObject::invalid_params(message));
        }
        let target = self.target(&params.reference, &argument.name, &extensions)?;
        let Some(completer) = self.inner.completers.get(&target) else {
            return encode(&request.id, &result_of(Completion::default()));
        };
        let meta = request.params.as_ref().and_then(meta_of);
        let asker = Context::new(request.id.clone(), extensions, replies, meta, self.clone());
        let known = context.into_iter().collect();
        let asked = CompletionRequest::new(argument.value, known, asker);
        let panicked = |_| ErrorObject::internal("completion has failed");
        let completion =
            catching(|| completer.complete(asked)).map_err(panicked)?.await.map_err(panicked)??;
        encode(&request.id, &result_of(completion))
    }

    /// The key of what is to be completed, if the asker may see it and it has such an argument.
    fn target(
        &self,
        reference: &CompletionReference,
        argument: &str,
        extensions: &Extensions,
    ) -> Result<(&'static str, String, String), ErrorObject> {
        let inner = &self.inner;
        let access = inner.access(extensions);
        let (kind, target, declared) = match reference {
            CompletionReference::Prompt(prompt) => {
                let name = &prompt.name;
                let prompt = inner.prompts.get(name, &access);
                let prompt = prompt.ok_or_else(|| ErrorObject::invalid_params("unknown prompt"))?;
                ("prompt", name.clone(), prompt.declares(argument))
            }
            CompletionReference::ResourceTemplate(resource) => {
                let uri = resource.uri.as_str();
                let declared = match inner.templates.get(uri, &access) {
                    Some(template) => template.pattern.names().iter().any(|name| name == argument),
                    // A resource has no variables; completing it is of no use, and no mistake.
                    None if inner.resources.get(uri, &access).is_some() => true,
                    None => return Err(ErrorObject::invalid_params("unknown resource template")),
                };
                ("resource", uri.to_owned(), declared)
            }
            _ => return Err(ErrorObject::invalid_params("`ref` is of no known type")),
        };
        let key = (kind, target, argument.to_owned());
        if declared || inner.completers.contains_key(&key) {
            Ok(key)
        } else {
            let shown: String = argument.chars().take(128).collect();
            Err(ErrorObject::invalid_params(format!("there is no argument `{shown}`")))
        }
    }
}

fn result_of(completion: Completion) -> CompleteResult {
    let Completion { mut values, total, more } = completion;
    let found = u64::try_from(values.len()).unwrap_or(u64::MAX);
    values.truncate(MOST_VALUES);
    let sent = u64::try_from(values.len()).unwrap_or(u64::MAX);
    let mut inner = mcp_types::Completion::new(values);
    // Who says that there are more doesn't know how many.
    inner.total = match total {
        Some(total) => Some(total.max(found)),
        None if more => None,
        None => Some(found),
    };
    inner.has_more = Some(more || inner.total.is_some_and(|total| total > sent) || found > sent);
    CompleteResult::new(inner)
}
