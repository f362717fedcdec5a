//! HTTP+SSE, the transport of 2024-11-05: one stream for everything the server says, and a
//! second endpoint to which the client posts.
//!
//! A connection is a conversation here: it is one `Link`, driven by the body of the stream.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};
use hyper::http::request::Parts as Head;
use hyper::{Response, StatusCode};
use mcp_jsonrpc::link::v1::{Incoming, Link, LinkError, Stream};
use mcp_jsonrpc::peer::{Driver, DriverConfig};
use mcp_jsonrpc::service::v1::{BoxFuture, Inbound, Replies, Reply, Service};
use mcp_jsonrpc::{Extensions, Frame, Outgoing, decode};
use mcp_lifecycle::ServerSession;

use super::body::{AnswerBody, EventSource, Idle, KEEP_ALIVE};
use super::core::{Caller, Core, Permit};
use super::permit;
use super::post::stream;
use super::refuse::{accepted, busy, no_session, refuse_request, wrong};
use crate::SessionId;
use crate::sse::EventText;
use crate::v1::{Admission, Principal};

/// Where the endpoints of HTTP+SSE are.
///
/// Specification:
/// [HTTP with SSE](https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LegacyConfig {
    /// A GET here opens the stream; `/sse` by default.
    pub sse: Box<str>,
    /// Messages are posted here; `/messages` by default.
    pub messages: Box<str>,
    /// What stands before [`messages`](Self::messages) as a client sees it, such as the
    /// prefix under which a router mounts this endpoint; empty by default.
    pub public_base: Box<str>,
}

impl LegacyConfig {
    /// The defaults.
    pub fn new() -> Self {
        Self { sse: "/sse".into(), messages: "/messages".into(), public_base: "".into() }
    }
}

impl Default for LegacyConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// The open conversations.
#[derive(Default)]
pub(super) struct Conversations(Mutex<HashMap<SessionId, Arc<Pipe>>>);

impl Conversations {
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Pipe>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all of them.
    pub(super) fn close(&self) {
        let all = std::mem::take(&mut *self.lock());
        all.into_values().for_each(|pipe| pipe.close());
    }
}

/// What the POSTs of a client and the body of its stream share.
struct Pipe {
    principal: Option<Principal>,
    state: Mutex<PipeState>,
}

#[derive(Default)]
struct PipeState {
    inbox: VecDeque<Incoming>,
    inbox_bytes: usize,
    reader: Option<Waker>,
    closed: bool,
    out: BytesMut,
}

impl Pipe {
    fn lock(&self) -> MutexGuard<'_, PipeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.reader.take().into_iter().for_each(Waker::wake);
    }
}

/// The server's end of a conversation.
struct PipeLink {
    pipe: Arc<Pipe>,
    /// How much may wait to be written.
    limit: usize,
}

impl Link for PipeLink {
    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Result<Incoming, LinkError>> {
        let mut state = self.pipe.lock();
        if let Some(incoming) = state.inbox.pop_front() {
            if state.inbox.is_empty() {
                state.inbox_bytes = 0;
            }
            return Poll::Ready(Ok(incoming));
        }
        if state.closed {
            return Poll::Ready(Err(LinkError::Closed));
        }
        state.reader = Some(cx.waker().clone());
        Poll::Pending
    }

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        // The body polls again as soon as it has handed out what is there.
        if self.limit <= self.pipe.lock().out.len() { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    fn start_send(&mut self, message: Outgoing) -> Result<(), LinkError> {
        let mut state = self.pipe.lock();
        let event = EventText::new(message.frame());
        match event.with_name("message") {
            Ok(event) => event.write(&mut state.out),
            Err(_) => event.write(&mut state.out),
        }
        Ok(())
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        Poll::Ready(Ok(()))
    }
}

/// The endpoint's service, as a driver takes it.
struct Called(Arc<dyn Caller>);

impl Service for Called {
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        self.0.call(inbound, replies).await
    }
}

/// The stream of a conversation; drives it.
struct Conversation {
    core: Weak<Core>,
    id: SessionId,
    pipe: Arc<Pipe>,
    run: BoxFuture<'static, LinkError>,
    over: bool,
    idle: Idle,
    _permit: Permit,
}

impl EventSource for Conversation {
    fn poll_bytes(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = &mut *self;
        if !this.over && this.run.as_mut().poll(cx).is_ready() {
            this.over = true;
        }
        let out = std::mem::take(&mut this.pipe.lock().out);
        if !out.is_empty() {
            this.idle.reset();
            return Poll::Ready(Some(out.freeze()));
        }
        if this.over {
            return Poll::Ready(None);
        }
        std::task::ready!(this.idle.poll(cx));
        Poll::Ready(Some(KEEP_ALIVE))
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.pipe.close();
        if let Some(core) = self.core.upgrade() {
            core.conversations.lock().remove(&self.id);
        }
    }
}

/// A GET opens a conversation: its first event says where to post.
pub(super) fn open(
    core: &Arc<Core>,
    config: &LegacyConfig,
    admission: Admission,
) -> Response<AnswerBody> {
    let Some(permit) = core.permit_stream() else { return busy("there are too many streams") };
    let Some((id, _)) = core.new_session_id() else { return busy("no session id can be made") };
    let target = format!("{}{}?sessionId={}", config.public_base, config.messages, id.expose());
    let mut out = BytesMut::new();
    let event = EventText::new(target.as_bytes());
    match event.with_name("endpoint") {
        Ok(event) => event.write(&mut out),
        Err(_) => event.write(&mut out),
    }
    let mut known = Extensions::new();
    if let Some(principal) = &admission.principal {
        known.insert_arc(Arc::clone(principal.named()));
        known.insert(principal.clone());
    }
    let state = Mutex::new(PipeState { out, ..PipeState::default() });
    let pipe = Arc::new(Pipe { principal: admission.principal, state });
    let link = PipeLink { pipe: Arc::clone(&pipe), limit: core.config.limits.queued_bytes };
    let service = Called(Arc::clone(&core.service));
    let profile = core.service.profile();
    let name = id.to_arc();
    let mut limits = DriverConfig::new();
    limits.max_exchanges = core.config.limits.session_exchanges;
    limits.max_pending = core.config.limits.session_asks;
    limits.max_queued = core.config.limits.queued;
    limits.max_queued_bytes = core.config.limits.queued_bytes;
    let (driver, _) = Driver::new(link, service, limits, |outlet| {
        ServerSession::new(profile, Some(outlet), Some(name), known)
    });
    core.conversations.lock().insert(id.clone(), Arc::clone(&pipe));
    stream(AnswerBody::custom(Conversation {
        core: Arc::downgrade(core),
        id,
        pipe,
        run: Box::pin(driver.run()),
        over: false,
        idle: Idle::new(core.config.times.keep_alive),
        _permit: permit,
    }))
}

/// A POST carries one message of a conversation. Its answer goes on the stream.
pub(super) async fn take(
    core: &Core,
    head: &Head,
    admission: &Admission,
    body: &Bytes,
) -> Response<AnswerBody> {
    let query = head.uri.query().unwrap_or_default();
    let id = query.split('&').find_map(|pair| pair.strip_prefix("sessionId="));
    let Some(id) = id else {
        return wrong(StatusCode::BAD_REQUEST, "the address lacks its sessionId");
    };
    let pipe =
        id.parse().ok().and_then(|id: SessionId| core.conversations.lock().get(&id).cloned());
    let Some(pipe) = pipe.filter(|pipe| pipe.principal == admission.principal) else {
        return no_session();
    };
    let limits = mcp_jsonrpc::Limits::new().with_frame_bytes(core.config.limits.body_bytes);
    let frame = decode(body, &limits);
    if let Err(response) = permit::judge(core, admission, &frame).await {
        return *response;
    }
    let incoming = match frame {
        Ok(Frame::Single(message)) => Incoming::Message(message, Stream::Shared),
        Ok(Frame::Batch(messages)) => Incoming::Batch(messages),
        Ok(_) => return wrong(StatusCode::BAD_REQUEST, "not a message"),
        Err(fault) => {
            let id = fault.id.clone().filter(|_| !fault.response);
            return refuse_request(StatusCode::BAD_REQUEST, id, &fault.to_error());
        }
    };
    let mut state = pipe.lock();
    if state.closed {
        return no_session();
    }
    let most = &core.config.limits;
    if most.queued <= state.inbox.len() || most.queued_bytes <= state.inbox_bytes {
        return busy("too many messages of this session are waiting");
    }
    state.inbox_bytes += body.len();
    state.inbox.push_back(incoming);
    state.reader.take().into_iter().for_each(Waker::wake);
    accepted()
}
