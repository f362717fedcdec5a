use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use mcp_jsonrpc::Extensions;
use mcp_jsonrpc::link::v1::{Link, LinkError};
use mcp_jsonrpc::peer::{Driver, DriverConfig};
use mcp_lifecycle::v1::McpService;
use mcp_lifecycle::{Profile, RevisionSet, ServerSession};
use mcp_types::{
    Icon, Implementation, PromptsCapability, ResourcesCapability, ServerCapabilities,
    ToolsCapability,
};

use crate::completion::{CompleteFn, Completion, CompletionRequest};
use crate::list::Registry;
use crate::listeners::Listeners;
use crate::prompt::{IntoPrompt, PromptEntry, RegisteredPrompt};
use crate::resource::{
    IntoResource, RegisteredResource, RegisteredTemplate, ResourceEntry, TemplateEntry,
};
use crate::tool::{IntoTool, Registered, ToolEntry};
use crate::v1::Completer;

/// An MCP server: what it offers, and nothing about who it is offered to.
///
/// It holds no connection. One value, and its clones, serve any number of peers at once, over
/// any transport. What was registered is what is announced: a server without prompts has no
/// prompts capability.
///
/// # Examples
///
/// ```
/// use mcp_server::Server;
/// use mcp_server::tool::RawArgs;
///
/// let server = Server::new("echo", "1.0.0")
///     .instructions("Call `echo` with anything.")
///     .tool("echo", |RawArgs(arguments): RawArgs| async move { arguments.to_string() });
/// ```
#[derive(Clone)]
pub struct Server {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Clone)]
pub(crate) struct Inner {
    pub(crate) identity: Implementation,
    pub(crate) instructions: Option<String>,
    pub(crate) offers: Offers,
    pub(crate) page_size: usize,
    pub(crate) revisions: RevisionSet,
    pub(crate) state: Arc<Extensions>,
    pub(crate) tools: Arc<Registry<Registered>>,
    pub(crate) resources: Arc<Registry<RegisteredResource>>,
    pub(crate) templates: Arc<Registry<RegisteredTemplate>>,
    pub(crate) prompts: Arc<Registry<RegisteredPrompt>>,
    pub(crate) completers: HashMap<(&'static str, String, String), Arc<dyn Completer>>,
    pub(crate) listeners: Arc<Listeners>,
    drain: std::time::Duration,
}

/// What is announced.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
pub(crate) struct Offers {
    pub(crate) tools: bool,
    pub(crate) resources: bool,
    pub(crate) subscriptions: bool,
    pub(crate) prompts: bool,
    pub(crate) completions: bool,
    pub(crate) logging: bool,
}

impl Server {
    /// A server that offers nothing yet.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            inner: Arc::new(Inner {
                identity: Implementation::new(name, version),
                instructions: None,
                offers: Offers::default(),
                page_size: 500,
                revisions: RevisionSet::STATEFUL,
                state: Arc::default(),
                tools: Arc::new(Registry::new("tools")),
                resources: Arc::new(Registry::new("resources")),
                templates: Arc::new(Registry::new("resourceTemplates")),
                prompts: Arc::new(Registry::new("prompts")),
                completers: HashMap::new(),
                listeners: Arc::default(),
                drain: std::time::Duration::from_secs(5),
            }),
        }
    }

    fn edit(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.inner)
    }

    /// The server's name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.edit().identity.title = Some(title.into());
        self
    }

    /// What the server is, for people.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.edit().identity.description = Some(description.into());
        self
    }

    /// Where to read more about the server.
    #[must_use]
    pub fn website(mut self, url: impl Into<String>) -> Self {
        self.edit().identity.website_url = Some(url.into());
        self
    }

    /// Icons for user interfaces.
    #[must_use]
    pub fn icons(mut self, icons: Vec<Icon>) -> Self {
        self.edit().identity.icons = Some(icons);
        self
    }

    /// How to use the server: a hint that clients may give to their model.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.edit().instructions = Some(instructions.into());
        self
    }

    /// Items on a page of a list; 500 by default.
    #[must_use]
    pub fn page_size(mut self, items: usize) -> Self {
        self.edit().page_size = items.max(1);
        self
    }

    /// How long calls go on after a peer on a pipe has closed its side; 5 seconds by default.
    /// Without the feature `tokio` they go on until they are done.
    #[must_use]
    pub fn drain_time(mut self, time: std::time::Duration) -> Self {
        self.edit().drain = time;
        self
    }

    /// Announces logging, so that what handlers log reaches the client.
    #[must_use]
    pub fn logging(mut self) -> Self {
        self.edit().offers.logging = true;
        self
    }

    /// A value that handlers take by [`State<T>`](crate::tool::State). One of each type.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        let inner = self.edit();
        Arc::make_mut(&mut inner.state).insert(value);
        self
    }

    /// Adds a tool: an async function whose parameters are taken from the call.
    ///
    /// # Panics
    ///
    /// When there is a tool with this name.
    #[must_use]
    pub fn tool<M>(self, name: impl Into<String>, tool: impl IntoTool<M>) -> Self {
        self.with_tool(ToolEntry::new(name, tool))
    }

    /// Adds a tool with all that can be said about it.
    ///
    /// # Panics
    ///
    /// When there is a tool with this name.
    #[must_use]
    pub fn with_tool(mut self, tool: ToolEntry) -> Self {
        self.edit().offers.tools = true;
        let taken = self.inner.tools.add(tool.register()).err();
        assert!(taken.is_none(), "two tools have the name {:?}", taken.map(|tool| tool.name));
        self
    }

    /// Adds a resource: a text, bytes, or an async function that reads it.
    ///
    /// # Panics
    ///
    /// When there is a resource with this URI.
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
    /// When there is a resource with this URI.
    #[must_use]
    pub fn with_resource(mut self, resource: ResourceEntry) -> Self {
        self.edit().offers.resources = true;
        assert!(
            self.inner.resources.add(resource.register()).is_ok(),
            "two resources have the same URI"
        );
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
        assert!(
            self.inner.templates.add(template.register()).is_ok(),
            "two resource templates are the same"
        );
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
        assert!(
            self.inner.prompts.add(prompt.register()).is_ok(),
            "two prompts have the same name"
        );
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
        Fut: Future<Output = Completion> + Send + 'static,
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
        Fut: Future<Output = Completion> + Send + 'static,
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

    /// Adds a tool while the server is serving, and tells its clients that the list has
    /// changed. The server must have been given a tool, or
    /// [`dynamic_tools`](Self::dynamic_tools), before, since what it announces can't change.
    ///
    /// # Errors
    ///
    /// Hands the name back when there is a tool with it.
    pub fn add_tool(&self, tool: ToolEntry) -> Result<(), NameTaken> {
        self.inner.tools.add(tool.register()).map_err(|tool| NameTaken { name: tool.name })?;
        self.inner.listeners.list_changed("notifications/tools/list_changed");
        Ok(())
    }

    /// Removes a tool while the server is serving, and tells its clients that the list has
    /// changed. Answers whether there was one. Calls that are under way go on.
    pub fn remove_tool(&self, name: &str) -> bool {
        let removed = self.inner.tools.remove(name);
        if removed {
            self.inner.listeners.list_changed("notifications/tools/list_changed");
        }
        removed
    }

    /// Announces tools though there are none yet.
    #[must_use]
    pub fn dynamic_tools(mut self) -> Self {
        self.edit().offers.tools = true;
        self
    }

    /// Adds a resource while the server is serving, and tells its clients.
    ///
    /// # Errors
    ///
    /// When there is a resource with this URI.
    pub fn add_resource(&self, resource: ResourceEntry) -> Result<(), NameTaken> {
        let resource = resource.register();
        self.inner.resources.add(resource).map_err(|resource| NameTaken {
            name: crate::list::Listed::key(&resource).to_owned(),
        })?;
        self.inner.listeners.list_changed("notifications/resources/list_changed");
        Ok(())
    }

    /// Removes a resource while the server is serving, and tells its clients. Answers whether
    /// there was one.
    pub fn remove_resource(&self, uri: &str) -> bool {
        let removed = self.inner.resources.remove(uri);
        if removed {
            self.inner.listeners.list_changed("notifications/resources/list_changed");
        }
        removed
    }

    /// Adds a prompt while the server is serving, and tells its clients.
    ///
    /// # Errors
    ///
    /// When there is a prompt with this name.
    pub fn add_prompt(&self, prompt: PromptEntry) -> Result<(), NameTaken> {
        let prompt = prompt.register();
        self.inner
            .prompts
            .add(prompt)
            .map_err(|prompt| NameTaken { name: crate::list::Listed::key(&prompt).to_owned() })?;
        self.inner.listeners.list_changed("notifications/prompts/list_changed");
        Ok(())
    }

    /// Removes a prompt while the server is serving, and tells its clients. Answers whether
    /// there was one.
    pub fn remove_prompt(&self, name: &str) -> bool {
        let removed = self.inner.prompts.remove(name);
        if removed {
            self.inner.listeners.list_changed("notifications/prompts/list_changed");
        }
        removed
    }

    /// Tells whoever has subscribed to a resource that it has changed.
    pub fn resource_updated(&self, uri: &str) {
        self.inner.listeners.resource_updated(uri);
    }

    /// Serves one peer over a link, until it leaves. Calls that are under way then are answered
    /// first, within the time set by [`drain_time`](Self::drain_time).
    ///
    /// # Errors
    ///
    /// When the link breaks, other than by being closed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the conversation at once, with everything in it.
    pub async fn serve(&self, link: impl Link) -> Result<(), LinkError> {
        let profile = self.profile();
        let (driver, peer) = Driver::new(link, self.clone(), self.driver_config(), |outlet| {
            ServerSession::new(profile, Some(outlet), None, Extensions::new())
        });
        drop(peer);
        match driver.run().await {
            LinkError::Closed => Ok(()),
            cause => Err(cause),
        }
    }

    #[cfg(feature = "tokio")]
    fn driver_config(&self) -> DriverConfig {
        let drain = self.inner.drain;
        DriverConfig::new().with_drain(move || Box::pin(tokio::time::sleep(drain)))
    }

    #[cfg(not(feature = "tokio"))]
    fn driver_config(&self) -> DriverConfig {
        let _ = self.inner.drain;
        DriverConfig::new()
    }
}

impl Inner {
    pub(crate) fn capabilities(&self) -> ServerCapabilities {
        let mut capabilities = ServerCapabilities::default();
        if self.offers.tools {
            capabilities.tools = Some(ToolsCapability::default().with_list_changed(true));
        }
        if self.offers.resources {
            let mut resources = ResourcesCapability::default().with_list_changed(true);
            if self.offers.subscriptions {
                resources.subscribe = Some(true);
            }
            capabilities.resources = Some(resources);
        }
        if self.offers.prompts {
            capabilities.prompts = Some(PromptsCapability::default().with_list_changed(true));
        }
        if self.offers.completions {
            capabilities.completions = Some(mcp_types::JsonObject::default());
        }
        if self.offers.logging {
            capabilities.logging = Some(mcp_types::JsonObject::default());
        }
        capabilities
    }
}

impl McpService for Server {
    fn profile(&self) -> Arc<Profile> {
        Arc::new(Profile::new(self.inner.capabilities()).with_revisions(self.inner.revisions))
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("identity", &self.inner.identity).finish_non_exhaustive()
    }
}

/// Something with this name, or under this URI, is there already.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is taken")]
#[non_exhaustive]
pub struct NameTaken {
    /// The name, or the URI.
    pub name: String,
}
