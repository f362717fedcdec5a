//! The endpoint: a plain hyper service.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use hyper::HeaderMap;
use hyper::body::Body;
use hyper::http::request::Parts as Head;
use hyper::{Method, Request, Response, StatusCode};
use mcp_jsonrpc::ErrorObject;
use mcp_lifecycle::v1::{IdSource, McpService};

use super::body::AnswerBody;
use super::config::{AcceptPolicy, Config, Sessions};
use super::core::{Core, OsIds, Parts};
use super::cors;
use super::event_id::EventId;
use super::guard::BrowserGuard;
use super::intake;
use super::legacy::{self, LegacyConfig};
use super::lookup::{find_session, revision_of, store_down};
use super::post::{self, Posted, stream};
use super::refuse::{Refused, busy, no_session, not_allowed, refuse, status, wrong};
use super::replay::ReplayBody;
use crate::header::{Accept, LAST_EVENT_ID, MCP_SESSION_ID, Single, Taken};
use crate::memory::MemoryEventLog;
use crate::v1::{Admission, EventLog, Guard, SessionStore};

/// Serves MCP over Streamable HTTP: a hyper service, to be mounted in any server.
///
/// Cheap to clone; all clones are one endpoint. When the last one is dropped, its sessions
/// end and what they run is canceled.
///
/// Specification:
/// [Streamable HTTP](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http).
#[derive(Clone)]
pub struct Endpoint {
    handle: Arc<Handle>,
}

/// Ends everything when the last endpoint is gone. Requests hold the core, not the handle.
struct Handle {
    core: Arc<Core>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.core.close();
    }
}

/// Makes an [`Endpoint`].
pub struct EndpointBuilder {
    parts: Parts,
}

impl Endpoint {
    /// Makes an endpoint for `service` with everything as it is by default.
    pub fn new(service: impl McpService) -> Self {
        Self::builder(service).build()
    }

    /// Starts to make an endpoint for `service`.
    pub fn builder(service: impl McpService) -> EndpointBuilder {
        EndpointBuilder {
            parts: Parts {
                config: Config::new(),
                browser: BrowserGuard::new(),
                cors: false,
                legacy: None,
                guard: None,
                log: Some(Arc::new(MemoryEventLog::default())),
                store: None,
                ids: Arc::new(OsIds),
                service: Arc::new(Arc::new(service)),
            },
        }
    }

    /// Answers one request.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future, or the body of its response, is a lost connection: in a session
    /// the exchange goes on by itself, without sessions it is canceled.
    pub async fn handle<B: Body>(&self, request: Request<B>) -> Response<AnswerBody> {
        handle(Arc::clone(&self.handle.core), request).await
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        self.handle.core.table.len()
    }

    /// How many exchanges are running, with and without a connection.
    pub fn exchanges(&self) -> usize {
        self.handle.core.load().0
    }

    /// How many GET streams are open.
    pub fn streams(&self) -> usize {
        self.handle.core.load().1
    }

    /// Ends all sessions and what they run. Requests are refused from here on.
    pub fn close(&self) {
        self.handle.core.close();
    }

    /// Ends the GET streams, which would never end by themselves. What answers requests
    /// goes on.
    pub fn end_streams(&self) {
        for session in self.handle.core.table.all() {
            session.end_listeners();
        }
        self.handle.core.conversations.close();
    }
}

impl EndpointBuilder {
    /// Sets what the endpoint does, and how much of it.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.parts.config = config;
        self
    }

    /// Sets which hosts and origins are served.
    #[must_use]
    pub fn browser_guard(mut self, guard: BrowserGuard) -> Self {
        self.parts.browser = guard;
        self
    }

    /// Lets web pages of allowed origins read the answers (CORS). Off by default.
    #[must_use]
    pub fn cors(mut self) -> Self {
        self.parts.cors = true;
        self
    }

    /// Serves HTTP+SSE too, the transport of 2024-11-05, for clients that know nothing newer.
    /// Off by default.
    #[must_use]
    pub fn legacy(mut self, legacy: LegacyConfig) -> Self {
        self.parts.legacy = Some(legacy);
        self
    }

    /// Sets who is served. Without a guard everybody is.
    #[must_use]
    pub fn guard(mut self, guard: impl Guard) -> Self {
        self.parts.guard = Some(Arc::new(guard));
        self
    }

    /// Sets where events are kept for a resume; in memory by default.
    #[must_use]
    pub fn event_log(mut self, log: Arc<dyn EventLog>) -> Self {
        self.parts.log = Some(log);
        self
    }

    /// Keeps no events: what a client missed is lost.
    #[must_use]
    pub fn without_event_log(mut self) -> Self {
        self.parts.log = None;
        self
    }

    /// Sets where sessions are kept beyond this endpoint. Without a store they end with it.
    #[must_use]
    pub fn session_store(mut self, store: Arc<dyn SessionStore>) -> Self {
        self.parts.store = Some(store);
        self
    }

    /// Sets where session ids come from; from the operating system by default.
    #[must_use]
    pub fn id_source(mut self, ids: impl IdSource) -> Self {
        self.parts.ids = Arc::new(ids);
        self
    }

    /// Makes the endpoint.
    #[must_use]
    pub fn build(self) -> Endpoint {
        Endpoint { handle: Arc::new(Handle { core: Core::new(self.parts) }) }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&self.handle.core).finish()
    }
}

impl fmt::Debug for EndpointBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointBuilder")
            .field("config", &self.parts.config)
            .finish_non_exhaustive()
    }
}

impl<B> hyper::service::Service<Request<B>> for Endpoint
where
    B: Body + Send + 'static,
    B::Data: Send,
{
    type Response = Response<AnswerBody>;
    type Error = Infallible;
    type Future =
        Pin<Box<dyn Future<Output = Result<Response<AnswerBody>, Infallible>> + Send + 'static>>;

    fn call(&self, request: Request<B>) -> Self::Future {
        let core = Arc::clone(&self.handle.core);
        Box::pin(async move { Ok(handle(core, request).await) })
    }
}

async fn handle<B: Body>(core: Arc<Core>, request: Request<B>) -> Response<AnswerBody> {
    let (head, body) = request.into_parts();
    let origin = cors::origin(&core, &head);
    let mut response = match route(&core, head) {
        Routed::Post(head) => {
            match admit(&core, &head)
                .await
                .and_then(|admission| Ok((admission, post::check_head(&core, &head.headers)?)))
            {
                Ok((admission, form)) => {
                    let limits = &core.config.limits;
                    match intake::read(body, limits.body_bytes, core.config.times.body).await {
                        Ok(body) => {
                            let core = Arc::clone(&core);
                            post::post(Posted { core, head, admission, form }, body).await
                        }
                        Err(why) => post::unread(&core, why),
                    }
                }
                Err(response) => *response,
            }
        }
        Routed::Get(head) => match admit(&core, &head).await {
            Ok(admission) => get(&core, &head.headers, &admission).await,
            Err(response) => *response,
        },
        Routed::Delete(head) => match admit(&core, &head).await {
            Ok(admission) => delete(&core, &head.headers, &admission).await,
            Err(response) => *response,
        },
        Routed::LegacyOpen(head, config) => match admit(&core, &head).await {
            Ok(admission) => legacy::open(&core, config, admission),
            Err(response) => *response,
        },
        Routed::LegacyPost(head) => match admit(&core, &head).await {
            Ok(admission) => {
                let limits = &core.config.limits;
                match intake::read(body, limits.body_bytes, core.config.times.body).await {
                    Ok(body) => legacy::take(&core, &head, &admission, &body).await,
                    Err(why) => post::unread(&core, why),
                }
            }
            Err(response) => *response,
        },
        Routed::Answered(response) => response,
    };
    if let Some(origin) = origin {
        cors::expose(&mut response, origin);
    }
    response
}

enum Routed<'a> {
    Post(Head),
    Get(Head),
    Delete(Head),
    LegacyOpen(Head, &'a LegacyConfig),
    LegacyPost(Head),
    Answered(Response<AnswerBody>),
}

/// What can be said from the head alone.
fn route(core: &Core, head: Head) -> Routed<'_> {
    if core.is_closed() {
        return Routed::Answered(busy("this server is shutting down"));
    }
    // What anybody may read says nothing about who may come in.
    if let Some(document) = core.guard.as_ref().and_then(|guard| guard.document(&head)) {
        return Routed::Answered(document.map(AnswerBody::full));
    }
    let legacy = core.legacy.as_ref();
    let opens = legacy.filter(|legacy| *legacy.sse == *head.uri.path());
    let posts = legacy.is_some_and(|legacy| *legacy.messages == *head.uri.path());
    if let Some(path) = &core.config.path
        && **path != *head.uri.path()
        && opens.is_none()
        && !posts
    {
        return Routed::Answered(wrong(StatusCode::NOT_FOUND, "there is nothing at this path"));
    }
    if let Err(blocked) = core.browser.check(&head.uri, &head.headers) {
        tracing::debug!(%blocked, "a request was refused");
        let error = ErrorObject::invalid_request(blocked.to_string());
        return Routed::Answered(refuse(StatusCode::FORBIDDEN, &error));
    }
    let listens =
        core.config.sessions == Sessions::On && (core.config.listen || core.log.is_some());
    let ends = core.config.sessions == Sessions::On && core.config.end_by_client;
    let allow = match (listens, ends) {
        (true, true) => "POST, GET, DELETE",
        (true, false) => "POST, GET",
        (false, true) => "POST, DELETE",
        (false, false) => "POST",
    };
    // The old endpoints may stand at the path of the new one, which then keeps its POST.
    match head.method {
        Method::GET if opens.is_some() && !is_newer(&head) => match opens {
            Some(legacy) => Routed::LegacyOpen(head, legacy),
            None => Routed::Get(head),
        },
        Method::POST if posts => Routed::LegacyPost(head),
        Method::OPTIONS if core.cors => Routed::Answered(cors::preflight(&head.headers, allow)),
        _ if posts => Routed::Answered(not_allowed("POST", "messages are posted here")),
        _ if opens.is_some() && !serves(core, &head) => {
            Routed::Answered(not_allowed("GET", "a GET opens a stream here"))
        }
        Method::POST => Routed::Post(head),
        Method::GET if listens => Routed::Get(head),
        Method::DELETE if ends => Routed::Delete(head),
        _ => Routed::Answered(not_allowed(allow, "this method is not served here")),
    }
}

/// Whether the request is one of Streamable HTTP: those name their session.
fn is_newer(head: &Head) -> bool {
    head.headers.contains_key(MCP_SESSION_ID)
}

/// Whether Streamable HTTP is served at the path of the request.
fn serves(core: &Core, head: &Head) -> bool {
    core.config.path.as_deref().is_some_and(|path| path == head.uri.path())
}

async fn admit(core: &Core, head: &Head) -> Result<Admission, Refused> {
    let Some(guard) = &core.guard else { return Ok(Admission::anonymous()) };
    guard.admit(head).await.map_err(|refusal| {
        let mut response = refuse(refusal.status, &refusal.error);
        response.headers_mut().extend(refusal.headers);
        response.into()
    })
}

/// A GET opens a stream, or resumes one.
///
/// Specification:
/// [listening](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server),
/// [resuming](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery).
async fn get(core: &Arc<Core>, headers: &HeaderMap, admission: &Admission) -> Response<AnswerBody> {
    // A browser that follows a link takes anything: who wants a stream says so.
    let needed = match core.config.accept {
        AcceptPolicy::Named | AcceptPolicy::Allowed => Taken::Named,
        AcceptPolicy::Lenient => Taken::Implied,
    };
    if Accept::of(headers).event_stream < needed {
        return wrong(StatusCode::NOT_ACCEPTABLE, "a GET opens a text/event-stream: accept it");
    }
    let session = match find_session(core, headers, admission).await {
        Ok(Some(session)) => session,
        Ok(None) => return no_session(),
        Err(response) => return *response,
    };
    if let Err(response) = revision_of(core, headers, Some(&session)) {
        return *response;
    }
    let wanted = match Single::of(headers, &LAST_EVENT_ID) {
        Single::Absent | Single::Text("") => None,
        Single::Text(text) => Some(text.parse::<EventId>().ok()),
        Single::Malformed => Some(None),
    };
    if wanted.is_none() && !core.config.listen {
        return not_allowed("POST, DELETE", "this server opens no streams of its own accord");
    }
    let Some(permit) = core.permit_stream() else { return busy("there are too many streams") };
    let ours =
        |id: &EventId| core.log.is_some() && id.tag == session.tag && session.had_stream(id.stream);
    let body = match wanted {
        None => ReplayBody::listen(session, permit, false),
        Some(id) => match id.filter(ours) {
            Some(id) => Some(ReplayBody::resume(session, permit, id.stream, id.event)),
            None if core.config.listen => ReplayBody::listen(session, permit, true),
            None => Some(ReplayBody::refuse(session, permit)),
        },
    };
    body.map_or_else(no_session, |body| {
        stream(AnswerBody::replay(body.lasting(admission.streams_for)))
    })
}

/// A DELETE ends its session.
///
/// Specification:
/// [session management](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management).
async fn delete(
    core: &Arc<Core>,
    headers: &HeaderMap,
    admission: &Admission,
) -> Response<AnswerBody> {
    let session = match find_session(core, headers, admission).await {
        Ok(Some(session)) => session,
        Ok(None) => return no_session(),
        Err(response) => return *response,
    };
    if let Err(response) = revision_of(core, headers, Some(&session)) {
        return *response;
    }
    if let Some(store) = &core.store
        && let Err(error) = store.remove(&session.id).await
    {
        return store_down(&error);
    }
    session.forget_events();
    if core.table.remove(&session.id) { status(StatusCode::NO_CONTENT) } else { no_session() }
}
