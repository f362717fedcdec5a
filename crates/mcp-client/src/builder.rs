use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

#[cfg(feature = "tokio")]
use mcp_jsonrpc::link::v1::IntoLink;
use mcp_jsonrpc::link::v1::Link;
use mcp_jsonrpc::peer::{Driver, DriverConfig};
use mcp_jsonrpc::{ErrorObject, Extensions, Notification};
use mcp_lifecycle::v1::{Clock, SchemaValidator};
use mcp_lifecycle::{
    ClientHandle, ClientProfile, ClientSession, RevisionSet, Timeouts, UnknownMethods,
};
use mcp_types::{
    ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams,
    ElicitRequestUrlParams, ElicitResult, ElicitationCapability, ElicitationId, Icon,
    Implementation, JsonObject, LoggingMessageNotificationParams, ResourceUri, RootsCapability,
    SamplingCapability, Task,
};

use crate::catch::{catching, catching_now};
use crate::client::Inner;
use crate::connect::{Connecting, Driving};
use crate::context::Context;
use crate::handler::Closures;
use crate::host::{ApproveCall, CallWish};
use crate::list::{Caches, ListLimits};
use crate::notice::Notice;
use crate::progress::Watches;
use crate::service::{ClientService, Handlers};
use crate::task::Farewells;
use crate::timer::Timers;
use crate::v1::{Approver, Decision, ElicitationHandler, RootsProvider, SamplingHandler, Wish};
#[cfg(feature = "tokio")]
use crate::{ChangeKind, ConnectError};
use crate::{Client, HandlerError};

/// What a client is and does for its servers, before it is connected to one.
///
/// What is registered here is what is declared: a client without a sampling handler has no
/// sampling capability, and a server that asks all the same is refused.
///
/// ```
/// # async fn example(link: impl mcp_jsonrpc::link::v1::Link) -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use mcp_client::Client;
/// use mcp_types::{ElicitAction, ElicitResult};
///
/// let client = Client::builder("my-app", "1.0")
///     .timeout(Duration::from_secs(30))
///     .on_log(|message| println!("{:?}: {}", message.level, message.data))
///     .on_elicitation(|question, _cx| async move {
///         println!("{}", question.message);
///         Ok(ElicitResult::new(ElicitAction::Decline))
///     })
///     .connect(link)
///     .await?;
/// # Ok(()) }
/// ```
#[must_use = "a builder does nothing until it is connected"]
pub struct Builder {
    info: Implementation,
    revisions: RevisionSet,
    handlers: Handlers,
    closures: Closures,
    server_error: Option<Box<dyn Fn(ErrorObject) + Send + Sync>>,
    experimental: Option<JsonObject>,
    validator: Option<Arc<dyn SchemaValidator>>,
    timeouts: Timeouts,
    connect_timeout: Duration,
    close_timeout: Duration,
    list_limits: ListLimits,
    driver: DriverConfig,
    approve_call: Option<Box<ApproveCall>>,
    #[cfg(feature = "tasks")]
    tasks: Option<mcp_lifecycle::tasks::TaskConfig>,
}

impl Builder {
    pub(crate) fn new(info: Implementation) -> Self {
        Self {
            info,
            revisions: RevisionSet::default(),
            handlers: Handlers::default(),
            closures: Closures::default(),
            server_error: None,
            experimental: None,
            validator: default_validator(),
            timeouts: Timeouts::new().with_max(Self::MAX_TIME),
            connect_timeout: Self::CONNECT_TIMEOUT,
            close_timeout: Self::CLOSE_TIMEOUT,
            list_limits: ListLimits::new(),
            driver: DriverConfig::new(),
            approve_call: None,
            #[cfg(feature = "tasks")]
            tasks: None,
        }
    }

    /// How long a request may take in all by default: 10 minutes.
    pub const MAX_TIME: Duration = Duration::from_secs(600);
    /// How long the handshake may take by default: 60 seconds. Some servers are installed when
    /// they are first started.
    pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);
    /// How long a conversation may take to end by default: 10 seconds.
    pub const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

    /// The client's name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// What the client is, for people.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.info.description = Some(description.into());
        self
    }

    /// Where to read more about the client.
    pub fn website(mut self, url: impl Into<String>) -> Self {
        self.info.website_url = Some(url.into());
        self
    }

    /// Icons for user interfaces.
    pub fn icons(mut self, icons: Vec<Icon>) -> Self {
        self.info.icons = Some(icons);
        self
    }

    /// Sets the revisions that are spoken; every one with a handshake by default. The newest is
    /// what the server is asked for.
    pub fn revisions(mut self, revisions: impl Into<RevisionSet>) -> Self {
        self.revisions = revisions.into();
        self
    }

    /// Declares an experimental capability.
    pub fn experimental(mut self, name: impl Into<String>, settings: JsonObject) -> Self {
        let capabilities = self.experimental.get_or_insert_default();
        // An object can always be written.
        let _ = capabilities.insert(name, &settings);
        self
    }

    /// Lets servers use the model, by a handler. See [`SamplingHandler`].
    pub fn sampling(mut self, handler: impl SamplingHandler) -> Self {
        self.handlers.sampling = Some(Arc::new(handler));
        self
    }

    /// Lets servers use the model, by a closure. It gets no tools: see
    /// [`SamplingHandler::takes_tools`].
    ///
    /// Specification: [sampling](https://modelcontextprotocol.io/specification/2025-11-25/client/sampling).
    pub fn on_sampling<F, Fut>(self, handler: F) -> Self
    where
        F: Fn(CreateMessageRequestParams, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CreateMessageResult, HandlerError>> + Send + 'static,
    {
        self.sampling(handler)
    }

    /// Lets servers ask the person, by a handler. See [`ElicitationHandler`].
    pub fn elicitation(mut self, handler: impl ElicitationHandler) -> Self {
        self.handlers.elicitation = Some(Arc::new(handler));
        self
    }

    /// Lets servers ask the person by forms, which a closure shows.
    /// [`Form`](crate::form::Form) reads what is asked for.
    ///
    /// Specification: [form mode](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#form-mode-elicitation-requests).
    pub fn on_elicitation<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(ElicitRequestFormParams, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ElicitResult, HandlerError>> + Send + 'static,
    {
        self.closures.form = Some(Box::new(move |request, cx| Box::pin(handler(request, cx))));
        self
    }

    /// Lets servers send the person to URLs, about which a closure asks. To accept means that
    /// the person agreed to open it; nothing may open or fetch it before that.
    ///
    /// Specification: [URL mode](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-mode-elicitation-requests).
    pub fn on_url<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(ElicitRequestUrlParams, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ElicitResult, HandlerError>> + Send + 'static,
    {
        self.closures.url = Some(Box::new(move |request, cx| Box::pin(handler(request, cx))));
        self
    }

    /// Calls `complete` when the server says that what the person was sent to a URL for is done.
    /// Only once for each, and only for those that the person has agreed to.
    pub fn on_elicitation_complete(
        mut self,
        complete: impl Fn(ElicitationId) + Send + Sync + 'static,
    ) -> Self {
        self.handlers.elicitation_complete = Some(Box::new(complete));
        self
    }

    /// Tells servers in which parts of the file system they may work: a `Vec<Root>`, a
    /// [`RootList`](crate::RootList) that may change, or a provider. See [`RootsProvider`].
    pub fn roots(mut self, roots: impl RootsProvider) -> Self {
        self.handlers.roots = Some(Arc::new(roots));
        self
    }

    /// Asks before a server's request for sampling, elicitation or roots reaches its handler.
    /// See [`Approver`].
    pub fn approve_with<F, Fut>(self, approve: F) -> Self
    where
        F: Fn(Wish, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Decision> + Send + 'static,
    {
        self.approver(approve)
    }

    /// Asks before a server's request for sampling, elicitation or roots reaches its handler.
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.handlers.approver = Some(Arc::new(approver));
        self
    }

    /// Asks before a tool is called, with its arguments at hand; [`ClientError::NotApproved`](crate::ClientError::NotApproved) is
    /// what a refused call comes to, and nothing is sent. A panic refuses. Every call is asked
    /// about, also one that runs as a task, whoever in this program makes it.
    ///
    /// ```
    /// # use mcp_client::Client;
    /// use mcp_client::host::{ToolHints, Trust};
    /// use mcp_client::v1::Decision;
    ///
    /// let builder = Client::builder("my-app", "1.0").approve_calls(|wish, _client| async move {
    ///     let tame = wish.listed.map(|tool| ToolHints::of(&tool, Trust::Trusted).read_only);
    ///     if tame == Some(true) { Decision::Allow } else { Decision::Refuse }
    /// });
    /// ```
    ///
    /// Specification: [tools](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#user-interaction-model).
    pub fn approve_calls<F, Fut>(mut self, approve: F) -> Self
    where
        F: Fn(CallWish, Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Decision> + Send + 'static,
    {
        self.approve_call = Some(Box::new(move |wish, client| {
            let deciding = catching_now(|| approve(wish, client));
            Box::pin(async move {
                let Ok(deciding) = deciding else { return Decision::Refuse };
                catching(|| Box::pin(deciding)).await.unwrap_or(Decision::Refuse)
            })
        }));
        self
    }

    /// Runs what servers ask of the model and the person as tasks, where they wish so: sampling
    /// and elicitation, as far as there are handlers for them. The handlers are called as ever;
    /// [`Context::task`] says whether it is for a task.
    ///
    /// ```
    /// # use mcp_client::Client;
    /// use mcp_client::TaskConfig;
    ///
    /// let builder = Client::builder("my-app", "1.0").tasks(TaskConfig::new());
    /// ```
    ///
    /// Specification: [tasks](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks).
    ///
    /// # Panics
    ///
    /// The conversation does when it is driven outside of a Tokio runtime.
    #[cfg(feature = "tasks")]
    pub fn tasks(mut self, config: mcp_lifecycle::tasks::TaskConfig) -> Self {
        self.tasks = Some(config);
        self
    }

    /// Calls `log` with each log message of the server. It must not block: the conversation
    /// waits for it. Without it they go to `tracing`.
    ///
    /// Specification: [logging](https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging).
    pub fn on_log(
        mut self,
        log: impl Fn(LoggingMessageNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.handlers.log = Some(Box::new(log));
        self
    }

    /// Calls `take` with each notification after the handshake that no revision of the protocol
    /// has, such as a vendor's own; without it they are dropped. It must not block: the
    /// conversation waits for it.
    ///
    /// ```
    /// # use mcp_client::Client;
    /// let builder = Client::builder("my-app", "1.0").on_other_notification(|notification| {
    ///     println!("{} {:?}", notification.method, notification.params);
    /// });
    /// ```
    pub fn on_other_notification(
        mut self,
        take: impl Fn(Notification) + Send + Sync + 'static,
    ) -> Self {
        self.handlers.other_notification = Some(Box::new(take));
        self
    }

    /// Calls `hear` with each error of the server that belongs to no request, because the server
    /// could not read whose it is. No call ends by it, and the conversation goes on. It must not
    /// block: the conversation waits for it. It is logged in any case.
    ///
    /// Specification: [error responses](https://modelcontextprotocol.io/specification/2025-11-25/basic#error-responses).
    pub fn on_server_error(mut self, hear: impl Fn(ErrorObject) + Send + Sync + 'static) -> Self {
        self.server_error = Some(Box::new(hear));
        self
    }

    /// Does something when the list of tools has changed. Changes that come while it runs are
    /// merged: it runs once more. The kept list is dropped in any case.
    ///
    /// ```
    /// # use mcp_client::Client;
    /// let builder = Client::builder("my-app", "1.0").on_tools_changed(|client| async move {
    ///     if let Ok(tools) = client.list_tools().await {
    ///         println!("{} tools now", tools.len());
    ///     }
    /// });
    /// ```
    pub fn on_tools_changed<F, Fut>(mut self, action: F) -> Self
    where
        F: Fn(Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.handlers.tools_changed = Some(Notice::new(action));
        self
    }

    /// Does something when the list of resources, or of their templates, has changed, as
    /// [`on_tools_changed`](Self::on_tools_changed).
    pub fn on_resources_changed<F, Fut>(mut self, action: F) -> Self
    where
        F: Fn(Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.handlers.resources_changed = Some(Notice::new(action));
        self
    }

    /// Does something when the list of prompts has changed, as
    /// [`on_tools_changed`](Self::on_tools_changed).
    pub fn on_prompts_changed<F, Fut>(mut self, action: F) -> Self
    where
        F: Fn(Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.handlers.prompts_changed = Some(Notice::new(action));
        self
    }

    /// Does something when a resource has changed that was
    /// [subscribed](Client::subscribe) to.
    pub fn on_resource_updated<F, Fut>(mut self, action: F) -> Self
    where
        F: Fn(ResourceUri, Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.handlers.resource_updated =
            Some(Box::new(move |uri, client| Box::pin(action(uri, client))));
        self
    }

    /// Calls `hear` when the server says that one of its tasks stands elsewhere. Not every server
    /// does, and none has to: what waits for a task looks by itself. It must not block: the
    /// conversation waits for it.
    ///
    /// Specification: [task status notification](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-status-notification).
    pub fn on_task_status(mut self, hear: impl Fn(Task) + Send + Sync + 'static) -> Self {
        self.handlers.task_status = Some(Box::new(hear));
        self
    }

    /// Has each change of a list heard by a set of clients.
    #[cfg(feature = "tokio")]
    pub(crate) fn observe(mut self, hear: impl Fn(ChangeKind) + Send + Sync + 'static) -> Self {
        self.handlers.observer = Some(Box::new(hear));
        self
    }

    /// Sets how long the server may be silent about a request; 60 seconds by default. Progress
    /// that is watched ends a silence. A limit for the whole that is shorter is raised.
    pub fn timeout(mut self, silence: Duration) -> Self {
        self.timeouts = self.timeouts.with_idle(silence);
        self
    }

    /// Sets how long a request may take in all, whatever progress is reported; 10 minutes by
    /// default.
    pub fn max_time(mut self, whole: Duration) -> Self {
        self.timeouts = self.timeouts.with_max(whole);
        self
    }

    /// Sets all limits of a request.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets how long the handshake may take; 60 seconds by default.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// Sets how long the conversation may take to end once it is closed; 10 seconds by default.
    /// After that the link is dropped.
    pub fn close_timeout(mut self, limit: Duration) -> Self {
        self.close_timeout = limit;
        self
    }

    /// Sets how far lists are followed.
    pub fn list_limits(mut self, limits: ListLimits) -> Self {
        self.list_limits = limits;
        self
    }

    /// Sets how many messages may wait, and how many exchanges be open.
    pub fn driver(mut self, config: DriverConfig) -> Self {
        self.driver = config;
        self
    }

    /// Sets what understands the output schemas of tools.
    pub fn schema_validator(mut self, validator: impl SchemaValidator) -> Self {
        self.validator = Some(Arc::new(validator));
        self
    }

    /// Takes structured results as they come: only whether there is one is looked at.
    pub fn without_schema_validator(mut self) -> Self {
        self.validator = None;
        self
    }

    /// Makes the two halves of a conversation over `link`: the handshake, which gives the
    /// client, and what has to be polled beside it, and on, as long as the conversation lasts.
    ///
    /// With the feature `tokio`, [`connect`](Self::connect) does both.
    ///
    /// ```
    /// # use mcp_jsonrpc::link::v1::Link;
    /// # use mcp_lifecycle::v1::Clock;
    /// # fn spawn(_: impl Future + Send + 'static) {}
    /// # async fn example(link: impl Link, clock: impl Clock) -> Result<(), mcp_client::ConnectError> {
    /// use mcp_client::Client;
    ///
    /// let (connecting, driving) = Client::builder("my-app", "1.0").connect_with(link, clock);
    /// spawn(driving);
    /// let client = connecting.await?;
    /// # Ok(()) }
    /// ```
    pub fn connect_with(mut self, link: impl Link, clock: impl Clock) -> (Connecting, Driving) {
        let (profile, handlers) = self.profile();
        let session = ClientHandle::new(profile);
        let shared = Arc::new(OnceLock::new());
        let roots = handlers.roots.clone();
        let clock: Arc<dyn Clock> = Arc::new(clock);
        let service = ClientService::new(handlers, Arc::clone(&shared));
        #[cfg(not(feature = "tasks"))]
        let known = Extensions::new();
        #[cfg(feature = "tasks")]
        let (service, known) = {
            let mut known = Extensions::new();
            known.insert(crate::task::requestor());
            let tasks = self.tasks.take();
            let tasks = tasks.map(|tasks| crate::task::tasks(tasks, Arc::clone(&clock)));
            (service.with_tasks(tasks), known)
        };
        let hear = self.server_error.take();
        let (driver, peer) = Driver::new(link, service, self.driver, |outlet| {
            let session = ClientSession::new(session.clone(), Some(outlet), known);
            match hear {
                // A panic was logged.
                Some(hear) => session.with_on_error(move |error| {
                    let _ = catching_now(|| hear(error.clone()));
                }),
                None => session,
            }
        });
        let announces_roots = roots.as_ref().is_some_and(|roots| roots.announces_changes());
        let inner = Arc::new(Inner {
            peer,
            session,
            clock,
            timers: Timers::default(),
            watches: Watches::default(),
            farewells: Farewells::default(),
            caches: Caches::default(),
            validator: self.validator,
            timeouts: self.timeouts,
            list_limits: self.list_limits,
            close_timeout: self.close_timeout,
            announces_roots,
            approve_call: self.approve_call,
            closing: OnceLock::new(),
        });
        // Nobody else has it yet.
        let _ = shared.set(Arc::clone(&inner));
        let driving = Driving::new(driver, Arc::clone(&inner));
        (Connecting::new(inner, self.connect_timeout, roots), driving)
    }

    /// Connects to a server: by a link, or by whatever makes one ([`IntoLink`]), such as the
    /// command to start, the connector for a URL, or a server in this process. The conversation
    /// runs in a task of the current Tokio runtime until it is over.
    ///
    /// ```
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_client::Client;
    /// use mcp_server::Server;
    ///
    /// let server = Server::new("clock", "1.0").tool("now", || async { "noon" });
    /// let client = Client::builder("my-app", "1.0").connect(&server).await?;
    /// assert_eq!(client.call_tool("now").text().await?, "noon");
    /// # Ok(()) }
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(example())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ConnectError`] when no conversation comes about; the link is closed then. Opening the
    /// link and the handshake may take as long as [`connect_timeout`](Self::connect_timeout)
    /// says, each.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the link.
    #[cfg(feature = "tokio")]
    pub async fn connect(self, server: impl IntoLink) -> Result<Client, ConnectError> {
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| ConnectError::NoRuntime)?;
        let limit = self.connect_timeout;
        let link = tokio::time::timeout(limit, server.into_link())
            .await
            .map_err(|_| ConnectError::TimedOut { limit })?
            .map_err(ConnectError::Open)?;
        let (connecting, driving) = self.connect_with(link, crate::TokioClock::new());
        // It ends by itself when the last handle of the client is dropped, or the link ends.
        drop(runtime.spawn(driving));
        connecting.await
    }

    /// What is declared, by what was registered.
    fn profile(&mut self) -> (ClientProfile, Handlers) {
        let mut handlers = std::mem::take(&mut self.handlers);
        let closures = std::mem::take(&mut self.closures);
        if closures.form.is_some() || closures.url.is_some() {
            handlers.elicitation = Some(Arc::new(closures));
        }
        let mut capabilities = ClientCapabilities::new();
        let declared = || Some(JsonObject::new());
        if let Some(handler) = &handlers.sampling {
            let mut sampling = SamplingCapability::new();
            sampling.tools = handler.takes_tools().then(declared).flatten();
            sampling.context = handler.takes_context().then(declared).flatten();
            capabilities.sampling = Some(sampling);
        }
        if let Some(handler) = &handlers.elicitation {
            let modes = handler.modes();
            let mut elicitation = ElicitationCapability::new();
            // Forms alone are declared by saying nothing, as older servers know it.
            elicitation.form = (modes.form && modes.url).then(declared).flatten();
            elicitation.url = modes.url.then(declared).flatten();
            capabilities.elicitation = Some(elicitation);
        }
        if let Some(provider) = &handlers.roots {
            let mut roots = RootsCapability::new();
            roots.list_changed = provider.announces_changes().then_some(true);
            capabilities.roots = Some(roots);
        }
        #[cfg(feature = "tasks")]
        if let Some(config) = &self.tasks {
            capabilities.tasks = Some(crate::task::capability(config, &handlers));
        }
        capabilities.experimental = self.experimental.take();
        // Requests that no revision has are answered alike in either case.
        let unknown = match handlers.other_notification {
            Some(_) => UnknownMethods::Serve,
            None => UnknownMethods::Refuse,
        };
        let profile = ClientProfile::new(self.info.clone())
            .with_revisions(self.revisions)
            .with_capabilities(capabilities)
            .with_unknown_methods(unknown);
        (profile, handlers)
    }
}

#[cfg(feature = "validate")]
#[expect(clippy::unnecessary_wraps, reason = "the other build has none")]
fn default_validator() -> Option<Arc<dyn SchemaValidator>> {
    Some(Arc::new(crate::JsonSchemaValidator::new()))
}

#[cfg(not(feature = "validate"))]
fn default_validator() -> Option<Arc<dyn SchemaValidator>> {
    None
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("info", &self.info).finish_non_exhaustive()
    }
}
