//! The server itself: what it is, what it offers, how it is served.

mod change;
mod mount;
mod offer;
mod serve;
mod with;
pub use serve::ServeOptions;
pub use with::Offer;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use mcp_jsonrpc::service::v1::{Inbound, Layer, Replies, Reply, Service, SharedService};
use mcp_jsonrpc::{ErrorObject, Extensions};
use mcp_lifecycle::RevisionSet;
use mcp_types::{
    Icon, Implementation, PromptsCapability, ResourcesCapability, ServerCapabilities,
    ToolsCapability,
};

use crate::access::{Access, Asker, GrantFn, Grants};
use crate::list::Registry;
use crate::listeners::Listeners;
use crate::log::{LogBudget, LogLimit};
use crate::prompt::RegisteredPrompt;
use crate::resource::{RegisteredResource, RegisteredTemplate};
use crate::tool::Registered;
use crate::v1::Completer;

/// An MCP server: what it offers, and nothing about who it is offered to.
///
/// It holds no connection. One value, and its clones, serve any number of peers at once, over
/// any transport. What was registered is what is announced: a server without prompts has no
/// prompts capability.
///
/// Clones are the same server. A clone that is built on, by the methods that take `self`, is a
/// server of its own from there on: what is added to it is not in the others.
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

pub(crate) struct Inner {
    pub(crate) identity: Implementation,
    pub(crate) instructions: Option<String>,
    pub(crate) offers: Offers,
    pub(crate) page_size: usize,
    pub(crate) revisions: RevisionSet,
    pub(crate) state: Arc<Extensions>,
    pub(crate) tools: Registry<Registered>,
    pub(crate) resources: Registry<RegisteredResource>,
    pub(crate) templates: Registry<RegisteredTemplate>,
    pub(crate) prompts: Registry<RegisteredPrompt>,
    pub(crate) completers: HashMap<(&'static str, String, String), Arc<dyn Completer>>,
    pub(crate) listeners: Listeners,
    grants: Option<GrantFn>,
    layers: Vec<LayerFn>,
    /// The layers around the rest of the server, put together when they are needed first.
    stack: OnceLock<SharedService>,
    drain: std::time::Duration,
    pub(crate) log_limit: LogLimit,
    #[cfg(feature = "tracing-subscriber")]
    pub(crate) forwarder: Option<crate::log::LogForwarder>,
    #[cfg(feature = "tasks")]
    pub(crate) tasks: Option<mcp_lifecycle::tasks::Tasks>,
    /// Of those who have no session.
    pub(crate) log_budget: Arc<LogBudget>,
}

type LayerFn = Arc<dyn Fn(SharedService) -> SharedService + Send + Sync>;

/// A copy to be changed: with the same items, and without anybody who listens.
impl Clone for Inner {
    fn clone(&self) -> Self {
        Self {
            identity: self.identity.clone(),
            instructions: self.instructions.clone(),
            offers: self.offers,
            page_size: self.page_size,
            revisions: self.revisions,
            state: Arc::clone(&self.state),
            tools: self.tools.fork(),
            resources: self.resources.fork(),
            templates: self.templates.fork(),
            prompts: self.prompts.fork(),
            completers: self.completers.clone(),
            listeners: Listeners::default(),
            grants: self.grants.clone(),
            layers: self.layers.clone(),
            stack: OnceLock::new(),
            drain: self.drain,
            log_limit: self.log_limit,
            #[cfg(feature = "tracing-subscriber")]
            forwarder: self.forwarder.clone(),
            #[cfg(feature = "tasks")]
            tasks: self.tasks.clone(),
            log_budget: Arc::default(),
        }
    }
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
                tools: Registry::new("tools"),
                resources: Registry::new("resources"),
                templates: Registry::new("resourceTemplates"),
                prompts: Registry::new("prompts"),
                completers: HashMap::new(),
                listeners: Listeners::default(),
                grants: None,
                layers: Vec::new(),
                stack: OnceLock::new(),
                drain: std::time::Duration::from_secs(5),
                log_limit: LogLimit::DEFAULT,
                #[cfg(feature = "tracing-subscriber")]
                forwarder: None,
                #[cfg(feature = "tasks")]
                tasks: None,
                log_budget: Arc::default(),
            }),
        }
    }

    pub(crate) fn edit(&mut self) -> &mut Inner {
        let inner = Arc::make_mut(&mut self.inner);
        // It leads to what this server was before.
        inner.stack = OnceLock::new();
        inner
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

    /// Sets how many log messages a session is sent: `messages` in `time`, and as many at once.
    /// Less than 1 counts as 1. See [`Context::log`](crate::Context::log).
    #[must_use]
    pub fn log_limit(mut self, messages: u32, time: std::time::Duration) -> Self {
        let burst = messages.max(1);
        self.edit().log_limit = LogLimit { burst, interval: time / burst };
        self
    }

    /// A value that handlers take by [`State<T>`](crate::tool::State). One of each type.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        let inner = self.edit();
        Arc::make_mut(&mut inner.state).insert(value);
        self
    }

    /// Puts a layer around the server: whatever comes in passes the layers in the order in which
    /// they were added, and what is answered passes them the other way round. `initialize` and
    /// notifications pass, too.
    ///
    /// Ready ones are in [`layer`](crate::layer); any
    /// [`Layer`](mcp_jsonrpc::service::v1::Layer) will do.
    ///
    /// ```
    /// use mcp_server::Server;
    /// use mcp_server::layer::{ConcurrencyLimit, ResponseLimit};
    ///
    /// let server = Server::new("careful", "1.0.0")
    ///     .layer(ConcurrencyLimit::new(64))
    ///     .layer(ResponseLimit::new(1 << 20))
    ///     .tool("echo", || async { "hello" });
    /// ```
    #[must_use]
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: Layer<SharedService> + Send + Sync + 'static,
    {
        self.edit().layers.push(Arc::new(move |inner| SharedService::new(layer.layer(inner))));
        self
    }

    /// Announces logging, and sends to each client what happens in its requests. The same
    /// forwarder has to be a layer of the program's subscriber: see
    /// [`LogForwarder`](crate::LogForwarder).
    #[cfg(feature = "tracing-subscriber")]
    #[must_use]
    pub fn forward_logs(mut self, forwarder: crate::LogForwarder) -> Self {
        self = self.logging();
        self.edit().forwarder = Some(forwarder);
        self
    }

    /// Says what the asker of a request was granted: who may see, and use, what
    /// [`needs`](crate::tool::ToolEntry::needs) a label. It is asked for each request in which
    /// that matters, so what was granted may change. Without this nobody is granted anything.
    ///
    /// What an asker may not use is not there for them: it is in no list, and answered like
    /// something that doesn't exist. Lists are kept for each set of labels that matters.
    ///
    /// ```
    /// use mcp_server::tool::ToolEntry;
    /// use mcp_server::{Grants, Server};
    ///
    /// /// What a guard has left in the extensions of a request.
    /// struct User {
    ///     roles: Vec<String>,
    /// }
    ///
    /// let server = Server::new("shop", "1.0.0")
    ///     .grants(|asker| match asker.extension::<User>() {
    ///         Some(user) => Grants::new(user.roles.iter().map(String::as_str)),
    ///         None => Grants::none(),
    ///     })
    ///     .with_tool(ToolEntry::new("refund", || async { "done" }).needs("staff"));
    /// ```
    #[must_use]
    pub fn grants<F>(mut self, judge: F) -> Self
    where
        F: Fn(&Asker<'_>) -> Grants + Send + Sync + 'static,
    {
        self.edit().grants = Some(Arc::new(judge));
        self
    }

    /// The layers, with the rest of the server inside; none when there are no layers.
    pub(crate) fn stack(&self) -> Option<&SharedService> {
        #[cfg(feature = "tracing-subscriber")]
        let plain = self.inner.layers.is_empty() && self.inner.forwarder.is_none();
        #[cfg(not(feature = "tracing-subscriber"))]
        let plain = self.inner.layers.is_empty();
        if plain {
            return None;
        }
        Some(self.inner.stack.get_or_init(|| {
            // The server holds the stack; were it the other way round, too, neither would go.
            let core = SharedService::new(Core(Arc::downgrade(&self.inner)));
            self.inner.layers.iter().rev().fold(core, |inner, layer| layer(inner))
        }))
    }
}

/// The server behind its layers.
struct Core(Weak<Inner>);

impl Service for Core {
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        match (self.0.upgrade(), inbound.id()) {
            (Some(inner), _) => Server { inner }.observed(inbound, replies).await,
            // A layer has kept what it was given longer than the server.
            (None, Some(id)) => Reply::error(id, &ErrorObject::internal("the server is gone")),
            (None, None) => Reply::Silent,
        }
    }
}

impl Inner {
    /// What the asker of a request may see.
    pub(crate) fn access<'a>(&'a self, extensions: &'a Extensions) -> Access<'a> {
        Access::new(self.grants.as_ref(), extensions)
    }

    /// What was granted to somebody who is going to listen.
    pub(crate) fn listener_grants(&self, access: &Access<'_>) -> Grants {
        if self.grants.is_some() { access.grants().clone() } else { Grants::none() }
    }

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
        #[cfg(feature = "tasks")]
        if let Some(tasks) = &self.tasks {
            capabilities.tasks = Some(crate::task::capability(tasks.config(), self.offers.tools));
        }
        capabilities
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("identity", &self.inner.identity).finish_non_exhaustive()
    }
}
