//! Prompts: messages that a person picks by name.
//!
//! Specification: [Prompts](https://modelcontextprotocol.io/specification/2025-11-25/server/prompts).

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use mcp_jsonrpc::{ErrorObject, Extensions};
use mcp_types::{
    ContentBlock, GetPromptResult, Icon, Prompt, PromptArgument, PromptMessage, Revision, Role,
};

use crate::access::Label;
use crate::context::Context;
use crate::error::PromptError;
use crate::list::Listed;
use crate::v1::{BoxFuture, PromptProvider};

/// One request for a prompt.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PromptRequest {
    /// The arguments by name, as far as the prompt declares them. Every required one is there.
    pub arguments: BTreeMap<String, String>,
    /// Who asks, and the way back to them.
    pub context: Context,
    pub(crate) state: Arc<Extensions>,
}

impl PromptRequest {
    pub(crate) const fn new(
        arguments: BTreeMap<String, String>,
        context: Context,
        state: Arc<Extensions>,
    ) -> Self {
        Self { arguments, context, state }
    }

    /// The value of an argument.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).map(String::as_str)
    }

    /// A value that the server was given by `Server::state`.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.state.get_arc()
    }
}

/// A prompt together with what clients are told about it.
pub struct PromptEntry {
    provider: Arc<dyn PromptProvider>,
    listed: Prompt,
    needs: Vec<Label>,
}

impl PromptEntry {
    /// A prompt under a name.
    pub fn new<M>(name: impl Into<String>, prompt: impl IntoPrompt<M>) -> Self {
        Self {
            provider: Arc::new(prompt.into_prompt()),
            listed: Prompt::new(name),
            needs: Vec::new(),
        }
    }

    /// What the prompt is for.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.listed.description = Some(description.into());
        self
    }

    /// The prompt's name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.listed.title = Some(title.into());
        self
    }

    /// Icons for user interfaces.
    #[must_use]
    pub fn icons(mut self, icons: Vec<Icon>) -> Self {
        self.listed.icons = Some(icons);
        self
    }

    /// An argument that must be given: without it the request is answered with `-32602`.
    #[must_use]
    pub fn required(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        let mut argument = PromptArgument::new(name);
        argument.description = Some(description.into());
        argument.required = Some(true);
        self.argument(argument)
    }

    /// An argument that may be left out.
    #[must_use]
    pub fn optional(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        let mut argument = PromptArgument::new(name);
        argument.description = Some(description.into());
        self.argument(argument)
    }

    /// An argument with all that can be said about it.
    #[must_use]
    pub fn argument(mut self, argument: PromptArgument) -> Self {
        self.listed.arguments.get_or_insert_default().push(argument);
        self
    }

    /// Hides the prompt from whoever wasn't granted `label`; see
    /// [`Server::grants`](crate::Server::grants).
    #[must_use]
    pub fn needs(mut self, label: impl Into<Arc<str>>) -> Self {
        self.needs.push(label.into());
        self
    }

    pub(crate) fn register(self) -> RegisteredPrompt {
        let Self { provider, listed, needs } = self;
        RegisteredPrompt { provider, listed, needs, state: None }
    }
}

impl fmt::Debug for PromptEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptEntry").field("listed", &self.listed).finish_non_exhaustive()
    }
}

/// A prompt as the server holds it.
pub(crate) struct RegisteredPrompt {
    pub(crate) provider: Arc<dyn PromptProvider>,
    listed: Prompt,
    needs: Vec<Label>,
    /// The state of the server that it was mounted from.
    pub(crate) state: Option<Arc<Extensions>>,
}

impl RegisteredPrompt {
    /// The same prompt under another name, with the state of the server that it comes from.
    pub(crate) fn mounted(&self, prefix: &str, state: &Arc<Extensions>) -> Self {
        let mut listed = self.listed.clone();
        listed.name = format!("{prefix}{}", listed.name);
        Self {
            provider: Arc::clone(&self.provider),
            listed,
            needs: self.needs.clone(),
            state: Some(self.state.as_ref().unwrap_or(state).clone()),
        }
    }

    /// Whether the prompt has such an argument.
    pub(crate) fn declares(&self, name: &str) -> bool {
        let arguments = self.listed.arguments.as_deref().unwrap_or_default();
        arguments.iter().any(|argument| argument.name == name)
    }

    /// The first required argument that isn't among those given.
    pub(crate) fn missing(&self, given: &BTreeMap<String, String>) -> Option<&str> {
        let arguments = self.listed.arguments.as_deref().unwrap_or_default();
        let required = arguments.iter().filter(|argument| argument.required == Some(true));
        required.map(|argument| argument.name.as_str()).find(|name| !given.contains_key(*name))
    }
}

impl Listed for RegisteredPrompt {
    fn key(&self) -> &str {
        &self.listed.name
    }

    fn needs(&self) -> &[Label] {
        &self.needs
    }

    fn write(&self, revision: Revision, out: &mut Vec<u8>) {
        crate::list::write_projected(&self.listed, revision, out);
    }
}

/// What can become a prompt: an async function of a [`PromptRequest`], or any
/// [`PromptProvider`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a prompt",
    label = "not a prompt",
    note = "a prompt is an `async` function or closure that takes a `PromptRequest` and returns a text, `PromptMessage`s, or a `GetPromptResult`"
)]
pub trait IntoPrompt<M> {
    /// The prompt.
    type Prompt: PromptProvider;

    /// Makes the prompt.
    fn into_prompt(self) -> Self::Prompt;
}

/// What a prompt's function can return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the messages of a prompt",
    note = "messages are texts, `PromptMessage`s, lists of these, `GetPromptResult`, and `Result<_, PromptError>` of these; any error becomes one by `?`"
)]
pub trait IntoPromptResult {
    /// The messages.
    ///
    /// # Errors
    ///
    /// The error to answer the request with.
    fn into_prompt_result(self) -> Result<GetPromptResult, ErrorObject>;
}

impl IntoPromptResult for GetPromptResult {
    fn into_prompt_result(self) -> Result<GetPromptResult, ErrorObject> {
        Ok(self)
    }
}

impl IntoPromptResult for Vec<PromptMessage> {
    fn into_prompt_result(self) -> Result<GetPromptResult, ErrorObject> {
        Ok(GetPromptResult::new(self))
    }
}

impl IntoPromptResult for PromptMessage {
    fn into_prompt_result(self) -> Result<GetPromptResult, ErrorObject> {
        Ok(GetPromptResult::new(vec![self]))
    }
}

impl IntoPromptResult for String {
    fn into_prompt_result(self) -> Result<GetPromptResult, ErrorObject> {
        PromptMessage::new(Role::User, ContentBlock::text(self)).into_prompt_result()
    }
}

impl IntoPromptResult for &str {
    fn into_prompt_result(self) -> Result<GetPromptResult, ErrorObject> {
        self.to_owned().into_prompt_result()
    }
}

impl<T: IntoPromptResult, E: Into<PromptError>> IntoPromptResult for Result<T, E> {
    fn into_prompt_result(self) -> Result<GetPromptResult, ErrorObject> {
        self.map_err(|error| error.into().into_object())?.into_prompt_result()
    }
}

/// Marks what is a [`PromptProvider`] already.
#[derive(Debug)]
#[non_exhaustive]
pub struct Already;

impl<T: PromptProvider> IntoPrompt<Already> for T {
    type Prompt = T;

    fn into_prompt(self) -> T {
        self
    }
}

/// Marks functions.
#[derive(Debug)]
#[non_exhaustive]
pub struct Function;

/// An async function as a prompt.
pub struct PromptHandler<F> {
    function: F,
    marker: PhantomData<fn() -> Function>,
}

impl<F> fmt::Debug for PromptHandler<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PromptHandler")
    }
}

impl<F, Fut> IntoPrompt<Function> for F
where
    F: Fn(PromptRequest) -> Fut + Send + Sync + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: IntoPromptResult,
{
    type Prompt = PromptHandler<F>;

    fn into_prompt(self) -> PromptHandler<F> {
        PromptHandler { function: self, marker: PhantomData }
    }
}

impl<F, Fut> PromptProvider for PromptHandler<F>
where
    F: Fn(PromptRequest) -> Fut + Send + Sync + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: IntoPromptResult,
{
    fn get(&self, request: PromptRequest) -> BoxFuture<'_, Result<GetPromptResult, ErrorObject>> {
        let future = (self.function)(request);
        Box::pin(async move { future.await.into_prompt_result() })
    }
}
