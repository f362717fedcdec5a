use std::sync::Arc;

use super::{Inner, Server};
use crate::completion::{CompleteFn, CompletionRequest, IntoCompletion};
use crate::error::RegisterError;
use crate::list::Listed;
use crate::prompt::{IntoPrompt, PromptEntry, RegisteredPrompt};
use crate::resource::{
    IntoResource, RegisteredResource, RegisteredTemplate, ResourceEntry, TemplateEntry,
};
use crate::tool::{IntoTool, Registered, ToolEntry};
use crate::v1::Completer;

/// What a server offers.
impl Server {
    /// Adds a tool: an async function whose parameters are taken from the call.
    ///
    /// # Panics
    ///
    /// When there is a tool with this name, or a schema is none of an object, or not valid; see
    /// [`RegisterError`]. [`add_tool`](Self::add_tool) answers with the error instead.
    #[must_use]
    pub fn tool<M>(self, name: impl Into<String>, tool: impl IntoTool<M>) -> Self {
        self.with_tool(ToolEntry::new(name, tool))
    }

    /// Adds a tool with all that can be said about it.
    ///
    /// # Panics
    ///
    /// When there is a tool with this name, or a schema is none of an object, or not valid; see
    /// [`RegisterError`]. [`add_tool`](Self::add_tool) answers with the error instead.
    #[must_use]
    pub fn with_tool(mut self, tool: ToolEntry) -> Self {
        self.edit().offers.tools = true;
        must(self.inner.put_tool(tool));
        self
    }

    /// Adds a resource: a text, bytes, or an async function that reads it.
    ///
    /// # Panics
    ///
    /// When there is a resource with this URI, or it is none.
    #[must_use]
    pub fn resource<M>(
        self,
        uri: impl Into<mcp_types::ResourceUri>,
        name: impl Into<String>,
        resource: impl IntoResource<M>,
    ) -> Self {
        self.with_resource(ResourceEntry::new(uri, name, resource))
    }

    /// Adds a resource with all that can be said about it.
    ///
    /// # Panics
    ///
    /// When there is a resource with this URI, or it is none.
    #[must_use]
    pub fn with_resource(mut self, resource: ResourceEntry) -> Self {
        self.edit().offers.resources = true;
        must(self.inner.put_resource(resource));
        self
    }

    /// Adds the resources under every URI that a template matches.
    ///
    /// # Panics
    ///
    /// When there is such a template already.
    #[must_use]
    pub fn with_template(mut self, template: TemplateEntry) -> Self {
        self.edit().offers.resources = true;
        must(self.inner.put_template(template));
        self
    }

    /// Announces subscriptions to resources. [`resource_updated`](Self::resource_updated) tells
    /// whoever has subscribed.
    #[must_use]
    pub fn subscriptions(mut self) -> Self {
        let offers = &mut self.edit().offers;
        offers.resources = true;
        offers.subscriptions = true;
        self
    }

    /// Adds a prompt: an async function that makes its messages.
    ///
    /// # Panics
    ///
    /// When there is a prompt with this name.
    #[must_use]
    pub fn prompt<M>(self, name: impl Into<String>, prompt: impl IntoPrompt<M>) -> Self {
        self.with_prompt(PromptEntry::new(name, prompt))
    }

    /// Adds a prompt with all that can be said about it.
    ///
    /// # Panics
    ///
    /// When there is a prompt with this name.
    #[must_use]
    pub fn with_prompt(mut self, prompt: PromptEntry) -> Self {
        self.edit().offers.prompts = true;
        must(self.inner.put_prompt(prompt));
        self
    }

    /// Completes the argument of a prompt while it is typed.
    #[must_use]
    pub fn complete_prompt<F, Fut>(
        self,
        prompt: impl Into<String>,
        argument: impl Into<String>,
        complete: F,
    ) -> Self
    where
        F: Fn(CompletionRequest) -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoCompletion,
    {
        self.completer("prompt", prompt.into(), argument.into(), Arc::new(CompleteFn(complete)))
    }

    /// Completes the variable of a resource template while it is typed.
    #[must_use]
    pub fn complete_template<F, Fut>(
        self,
        template: impl Into<String>,
        variable: impl Into<String>,
        complete: F,
    ) -> Self
    where
        F: Fn(CompletionRequest) -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoCompletion,
    {
        self.completer("resource", template.into(), variable.into(), Arc::new(CompleteFn(complete)))
    }

    fn completer(
        mut self,
        kind: &'static str,
        target: String,
        name: String,
        completer: Arc<dyn Completer>,
    ) -> Self {
        let inner = self.edit();
        inner.offers.completions = true;
        inner.completers.insert((kind, target, name), completer);
        self
    }

    /// Announces tools though there are none yet.
    #[must_use]
    pub fn dynamic_tools(mut self) -> Self {
        self.edit().offers.tools = true;
        self
    }

    /// Announces resources though there are none yet.
    #[must_use]
    pub fn dynamic_resources(mut self) -> Self {
        self.edit().offers.resources = true;
        self
    }

    /// Announces prompts though there are none yet.
    #[must_use]
    pub fn dynamic_prompts(mut self) -> Self {
        self.edit().offers.prompts = true;
        self
    }
}

impl Inner {
    pub(super) fn put_tool(&self, tool: ToolEntry) -> Result<Arc<Registered>, RegisterError> {
        put(self.tools.add(tool.register()?))
    }

    pub(super) fn put_resource(
        &self,
        resource: ResourceEntry,
    ) -> Result<Arc<RegisteredResource>, RegisterError> {
        put(self.resources.add(resource.register()?))
    }

    pub(super) fn put_template(
        &self,
        template: TemplateEntry,
    ) -> Result<Arc<RegisteredTemplate>, RegisterError> {
        put(self.templates.add(template.register()))
    }

    pub(super) fn put_prompt(
        &self,
        prompt: PromptEntry,
    ) -> Result<Arc<RegisteredPrompt>, RegisterError> {
        put(self.prompts.add(prompt.register()))
    }
}

pub(super) fn put<T: Listed>(added: Result<Arc<T>, T>) -> Result<Arc<T>, RegisterError> {
    added.map_err(|item| RegisterError::NameTaken { name: item.key().to_owned() })
}

/// What is wrong with a server is told where it is written.
#[expect(clippy::panic, reason = "each caller documents it")]
pub(super) fn must<T>(added: Result<T, RegisterError>) -> T {
    match added {
        Ok(item) => item,
        Err(error) => panic!("{}", crate::error::chain(&error)),
    }
}
