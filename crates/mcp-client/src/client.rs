use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use mcp_jsonrpc::link::v1::LinkError;
use mcp_jsonrpc::peer::Peer;
use mcp_jsonrpc::service::v1::Outlet as _;
use mcp_jsonrpc::{Name, Outgoing, RawJson};
use mcp_lifecycle::v1::{Clock, SchemaError, SchemaValidator};
use mcp_lifecycle::{ClientHandle, GateError, Negotiated, Timeouts};
use mcp_types::{
    ClientCapabilities, CompletionArgument, CompletionReference, Cursor, Implementation, JsonValue,
    LoggingLevel, Method, Prompt, PromptReference, ReadResourceRequestParams, ReadResourceResult,
    Request, Resource, ResourceTemplate, ResourceTemplateReference, ResourceUri, Revision,
    ServerCapabilities, SetLevelRequestParams, SubscribeRequestParams, Task, TaskSupport, Tool,
    ToolName, UnsubscribeRequestParams, UriTemplate,
};

use crate::call::{self, Call, CompleteCall, PromptCall, ToolCall};
use crate::host::{ApproveCall, CallWish};
use crate::list::{Caches, ListCall, ListLimits, Listed, Listing, PageCall, Promise};
use crate::progress::Watches;
use crate::task::Farewells;
use crate::timer::Timers;
use crate::v1::{BoxFuture, Decision};
use crate::{Builder, ClientError};

/// A conversation with one server.
///
/// Cheap to clone; clones are the same conversation. It ends when the last one is dropped, and
/// with it whatever is under way: see [`close`](Self::close).
///
/// Every method makes a request that is sent by `.await`ing it, after its options were set:
///
/// ```
/// # use std::time::Duration;
/// # async fn example(link: impl mcp_jsonrpc::link::v1::Link) -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_client::Client;
///
/// let client = Client::builder("my-app", "1.0").connect(link).await?;
/// for tool in &client.list_tools().await? {
///     println!("{}", tool.name);
/// }
/// let text = client.call_tool("forecast").arg("city", "Bern").text().await?;
/// # Ok(()) }
/// ```
///
/// What the server doesn't offer is refused here, and nothing is sent:
/// [`ClientError::Unsupported`].
#[derive(Clone)]
pub struct Client(Arc<Handle>);

/// One owner of a conversation.
struct Handle {
    inner: Arc<Inner>,
    negotiated: Arc<Negotiated>,
    /// Whether the conversation ends with this handle.
    owns: bool,
}

/// What a client, its calls and its service share.
pub(crate) struct Inner {
    pub(crate) peer: Peer,
    pub(crate) session: ClientHandle,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) timers: Timers,
    pub(crate) watches: Watches,
    pub(crate) farewells: Farewells,
    pub(crate) caches: Caches,
    pub(crate) validator: Option<Arc<dyn SchemaValidator>>,
    pub(crate) timeouts: Timeouts,
    pub(crate) list_limits: ListLimits,
    pub(crate) close_timeout: Duration,
    pub(crate) announces_roots: bool,
    /// Asked before a tool is called.
    pub(crate) approve_call: Option<Box<ApproveCall>>,
    /// Until when the conversation may go on, once it is being closed.
    pub(crate) closing: OnceLock<Instant>,
}

impl Inner {
    /// Ends the conversation in good order, within the time for that.
    pub(crate) fn close(&self) {
        let until = self.clock.now().checked_add(self.close_timeout);
        if let Some(until) = until {
            // The first to close sets the time.
            let _ = self.closing.set(until);
        }
        self.peer.close();
    }

    /// Answers whether the server is still there.
    pub(crate) fn announce_roots(&self) -> bool {
        if self.announces_roots && self.session.negotiated().is_some() {
            let method = Name::from_static(Method::NotificationsRootsListChanged.as_str());
            let sent = self.peer.try_notify(Outgoing::notification_raw(method, None));
            if let Err(error) = sent {
                tracing::warn!(%error, "the server was not told that the roots have changed");
            }
        }
        !self.peer.is_closed()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.owns {
            self.inner.close();
        }
    }
}

impl Client {
    /// Starts with what the client is: its name and version, as the server gets to see them.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> Builder {
        Builder::new(Implementation::new(name, version))
    }

    /// The handle that the conversation ends with.
    pub(crate) fn owned(inner: Arc<Inner>, negotiated: Arc<Negotiated>) -> Self {
        Self(Arc::new(Handle { inner, negotiated, owns: true }))
    }

    /// A handle for the conversation's own handlers, which doesn't keep it open.
    pub(crate) fn unowned(inner: Arc<Inner>, negotiated: Arc<Negotiated>) -> Self {
        Self(Arc::new(Handle { inner, negotiated, owns: false }))
    }

    pub(crate) fn downgrade(&self) -> std::sync::Weak<Inner> {
        Arc::downgrade(&self.0.inner)
    }

    /// What the server says it is. A claim: for display and logs, no basis for decisions.
    #[must_use]
    pub fn server(&self) -> &Implementation {
        &self.0.negotiated.server
    }

    /// The revision of the protocol that is spoken.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.0.negotiated.revision
    }

    /// What the server can do.
    #[must_use]
    pub fn capabilities(&self) -> &ServerCapabilities {
        &self.0.negotiated.capabilities
    }

    /// How to use the server, for a model. It comes from the server: treat it as its word, not
    /// as yours.
    #[must_use]
    pub fn instructions(&self) -> Option<&str> {
        self.0.negotiated.instructions.as_deref()
    }

    /// Asks for a sign of life. An error is one, too: it fails only when no answer comes.
    ///
    /// Specification: [ping](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping).
    pub fn ping(&self) -> Call<'static, ()> {
        Call::without_params(self, Method::Ping, call::alive)
    }

    /// Lists the tools, all pages of them.
    ///
    /// Specification: [listing tools](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#listing-tools).
    pub fn list_tools(&self) -> ListCall<Tool> {
        ListCall::new(self)
    }

    /// Lists one page of the tools: the first, or the one that a page before has named.
    pub fn list_tools_page(&self, cursor: Option<Cursor>) -> PageCall<Tool> {
        PageCall::new(self, cursor)
    }

    /// Calls a tool.
    ///
    /// Specification: [calling tools](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#calling-tools).
    pub fn call_tool(&self, name: impl Into<ToolName>) -> ToolCall<'static> {
        ToolCall::new(self, name.into())
    }

    /// Lists the resources, all pages of them.
    ///
    /// Specification: [listing resources](https://modelcontextprotocol.io/specification/2025-11-25/server/resources#listing-resources).
    pub fn list_resources(&self) -> ListCall<Resource> {
        ListCall::new(self)
    }

    /// Lists one page of the resources.
    pub fn list_resources_page(&self, cursor: Option<Cursor>) -> PageCall<Resource> {
        PageCall::new(self, cursor)
    }

    /// Lists the resource templates, all pages of them.
    ///
    /// Specification: [resource templates](https://modelcontextprotocol.io/specification/2025-11-25/server/resources#resource-templates).
    pub fn list_resource_templates(&self) -> ListCall<ResourceTemplate> {
        ListCall::new(self)
    }

    /// Lists one page of the resource templates.
    pub fn list_resource_templates_page(
        &self,
        cursor: Option<Cursor>,
    ) -> PageCall<ResourceTemplate> {
        PageCall::new(self, cursor)
    }

    /// Reads a resource. A server that knows none with this URI refuses:
    /// [`ClientError::meaning`] tells so whatever code it uses.
    ///
    /// Specification: [reading resources](https://modelcontextprotocol.io/specification/2025-11-25/server/resources#reading-resources).
    pub fn read_resource(&self, uri: impl Into<ResourceUri>) -> Call<'static, ReadResourceResult> {
        let params = ReadResourceRequestParams::new(uri);
        Call::new(self, Method::ResourcesRead, &params, call::parse)
    }

    /// Asks to be told when a resource changes: see
    /// [`Builder::on_resource_updated`](crate::Builder::on_resource_updated).
    ///
    /// Specification: [subscriptions](https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions).
    pub fn subscribe(&self, uri: impl Into<ResourceUri>) -> Call<'static, ()> {
        let params = SubscribeRequestParams::new(uri);
        Call::new(self, Method::ResourcesSubscribe, &params, call::done)
    }

    /// Asks to be told no longer.
    pub fn unsubscribe(&self, uri: impl Into<ResourceUri>) -> Call<'static, ()> {
        let params = UnsubscribeRequestParams::new(uri);
        Call::new(self, Method::ResourcesUnsubscribe, &params, call::done)
    }

    /// Lists the prompts, all pages of them.
    ///
    /// Specification: [listing prompts](https://modelcontextprotocol.io/specification/2025-11-25/server/prompts#listing-prompts).
    pub fn list_prompts(&self) -> ListCall<Prompt> {
        ListCall::new(self)
    }

    /// Lists one page of the prompts.
    pub fn list_prompts_page(&self, cursor: Option<Cursor>) -> PageCall<Prompt> {
        PageCall::new(self, cursor)
    }

    /// Lists this client's tasks on the server's side, all pages of them. The list is not kept.
    ///
    /// Specification: [listing tasks](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#listing-tasks).
    pub fn list_tasks(&self) -> ListCall<Task> {
        ListCall::new(self)
    }

    /// Lists one page of the tasks.
    pub fn list_tasks_page(&self, cursor: Option<Cursor>) -> PageCall<Task> {
        PageCall::new(self, cursor)
    }

    /// Fills in a prompt.
    ///
    /// Specification: [getting a prompt](https://modelcontextprotocol.io/specification/2025-11-25/server/prompts#getting-a-prompt).
    pub fn get_prompt(&self, name: impl Into<String>) -> PromptCall<'static> {
        PromptCall::new(self, name.into())
    }

    /// Completes an argument of a prompt, of which `typed` is there so far.
    ///
    /// Specification: [completion](https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion).
    pub fn complete_prompt(
        &self,
        prompt: impl Into<String>,
        argument: impl Into<String>,
        typed: impl Into<String>,
    ) -> CompleteCall<'static> {
        let reference = CompletionReference::Prompt(PromptReference::new(prompt));
        CompleteCall::new(self, reference, CompletionArgument::new(argument, typed))
    }

    /// Completes a variable of a resource template, of which `typed` is there so far.
    ///
    /// Specification: [completion](https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion).
    pub fn complete_template(
        &self,
        template: impl Into<UriTemplate>,
        variable: impl Into<String>,
        typed: impl Into<String>,
    ) -> CompleteCall<'static> {
        let reference = ResourceTemplateReference::new(template);
        let reference = CompletionReference::ResourceTemplate(reference);
        CompleteCall::new(self, reference, CompletionArgument::new(variable, typed))
    }

    /// Says from which level on log messages are wanted.
    ///
    /// Specification: [setting the log level](https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#setting-log-level).
    pub fn set_log_level(&self, level: LoggingLevel) -> Call<'static, ()> {
        let params = SetLevelRequestParams::new(level);
        Call::new(self, Method::LoggingSetLevel, &params, call::done)
    }

    /// Sends any request of the protocol, by its type.
    ///
    /// ```
    /// # async fn example(client: mcp_client::Client) -> Result<(), mcp_client::ClientError> {
    /// use mcp_types::{ListToolsRequest, PaginatedRequestParams};
    ///
    /// let page = client.request::<ListToolsRequest>(&PaginatedRequestParams::new()).await?;
    /// # Ok(()) }
    /// ```
    pub fn request<R: Request>(&self, params: &R::Params) -> Call<'static, R::Result> {
        Call::new(self, R::METHOD, params, call::parse)
    }

    /// Sends any request at all, and gives its result as it comes. Those of the protocol are
    /// sent only where the server offers them.
    pub fn request_raw(
        &self,
        method: impl Into<Name>,
        params: Option<RawJson>,
    ) -> Call<'static, RawJson> {
        Call::of(self, method.into(), Ok(params), call::raw)
    }

    /// The list that was fetched last, and whether the server has said since that it changed.
    /// Nothing is sent.
    #[must_use]
    pub fn known<T: Listed>(&self) -> Option<(Listing<T>, bool)> {
        T::slot(&self.0.inner.caches).newest()
    }

    /// Tells the server that the roots have changed, if the client has said that it would.
    /// [`RootList`](crate::RootList) does so by itself.
    ///
    /// Specification: [root list changes](https://modelcontextprotocol.io/specification/2025-11-25/client/roots#root-list-changes).
    pub fn roots_changed(&self) {
        self.0.inner.announce_roots();
    }

    /// Ends the conversation in good order: what is queued is sent, the link closed, and calls
    /// that wait fail. Ready when it is over, at the latest after the builder's
    /// [`close_timeout`](crate::Builder::close_timeout); answers with how it ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future doesn't keep the conversation from ending.
    pub async fn close(&self) -> LinkError {
        self.0.inner.close();
        self.closed().await
    }

    /// Waits until the conversation is over; answers with why.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn closed(&self) -> LinkError {
        self.0.inner.peer.closed().await
    }

    /// Whether the conversation is over.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.inner.peer.is_closed()
    }
}

/// For the calls.
impl Client {
    pub(crate) fn peer(&self) -> &Peer {
        &self.0.inner.peer
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.0.inner.clock
    }

    pub(crate) fn timers(&self) -> &Timers {
        &self.0.inner.timers
    }

    pub(crate) fn watches(&self) -> &Watches {
        &self.0.inner.watches
    }

    pub(crate) fn timeouts(&self) -> Timeouts {
        self.0.inner.timeouts
    }

    /// What we have declared.
    pub(crate) fn declared(&self) -> &ClientCapabilities {
        &self.0.inner.session.profile().capabilities
    }

    pub(crate) fn farewells(&self) -> &Farewells {
        &self.0.inner.farewells
    }

    /// Whether a request may be sent, and whether it may be asked to run as a task.
    pub(crate) fn check(&self, method: Option<Method>, as_task: bool) -> Result<(), ClientError> {
        let Some(method) = method else { return Ok(()) };
        let session = &self.0.inner.session;
        let checked = if as_task { session.check_as_task(method) } else { session.check(method) };
        match checked {
            // The link knows better how it ended.
            Ok(()) | Err(GateError::Closed) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Asks whether a tool may be called, where somebody is to be asked.
    pub(crate) fn approve_call(
        &self,
        tool: &ToolName,
        arguments: impl FnOnce() -> Result<JsonValue, serde_json::Error>,
    ) -> Option<Result<BoxFuture<'static, Decision>, serde_json::Error>> {
        let approve = self.0.inner.approve_call.as_ref()?;
        Some(arguments().map(|arguments| {
            let known = self.known::<Tool>();
            let listed = known
                .and_then(|(tools, _)| tools.iter().find(|known| known.name == *tool).cloned());
            approve(CallWish::new(tool.clone(), arguments, listed), self.clone())
        }))
    }

    /// Whether a tool that was listed runs as a task, and maybe only so.
    pub(crate) fn knows_as_task(&self, tool: &ToolName) -> Option<TaskSupport> {
        self.0.inner.caches.task_support_of(tool.as_str())
    }

    pub(crate) fn promise_of(&self, tool: &ToolName) -> Result<Option<Promise>, SchemaError> {
        let Inner { caches, validator, .. } = &*self.0.inner;
        if !self.revision().has_structured_content() {
            return Ok(None);
        }
        caches.promise_of(tool.as_str(), validator.as_deref())
    }
}

/// For the lists.
impl Client {
    pub(crate) fn list_limits(&self) -> ListLimits {
        self.0.inner.list_limits
    }

    pub(crate) fn caches(&self) -> &Caches {
        &self.0.inner.caches
    }

    /// The list, if it is kept and nothing has changed.
    pub(crate) fn kept<T: Listed>(&self) -> Option<Listing<T>> {
        let tells = self.capabilities().has(T::TELLS);
        tells.then(|| T::slot(self.caches()).current()).flatten()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.server().name)
            .field("revision", &self.revision())
            .field("peer", self.peer())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").field("peer", &self.peer).finish_non_exhaustive()
    }
}
