use std::sync::Arc;

use mcp_jsonrpc::service::v1::{Ask, Replies};
use mcp_jsonrpc::{Extensions, Name, RawJson, RequestId};
use mcp_lifecycle::{Caller, PeerFacts, Session, TraceContext};
use mcp_types::{JsonObject, Revision};
use serde_core::Serialize;
use serde_core::de::DeserializeOwned;

use crate::error::RequestError;
use crate::layer::OutgoingTrace;
use crate::server::Server;

/// One request on its way through a handler: who asks, and the way back to them.
///
/// Cheap to clone, and free of any notion of a connection: everything that is sent through it
/// belongs to this request, and once the handler has returned nothing is sent any more.
#[derive(Clone, Debug)]
pub struct Context {
    id: RequestId,
    extensions: Extensions,
    replies: Replies,
    meta: Option<RawJson>,
    server: Server,
}

impl Context {
    pub(crate) const fn new(
        id: RequestId,
        extensions: Extensions,
        replies: Replies,
        meta: Option<RawJson>,
        server: Server,
    ) -> Self {
        Self { id, extensions, replies, meta, server }
    }

    /// The request's id.
    #[must_use]
    pub const fn id(&self) -> &RequestId {
        &self.id
    }

    /// The revision that is spoken with this peer.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.caller().map_or(Revision::LATEST_STATEFUL, |caller| caller.revision)
    }

    /// Who asks: name, capabilities, revision. None when no transport has said.
    #[must_use]
    pub fn caller(&self) -> Option<&Caller> {
        self.extensions.get::<PeerFacts>().map(|facts| &*facts.caller)
    }

    /// What is remembered about this peer between its requests, where anything is.
    #[must_use]
    pub fn session(&self) -> Option<Arc<Session>> {
        self.extensions.get_arc::<Session>()
    }

    /// The value of type `T` of this session, made when it is asked for first; it goes when the
    /// session goes. None where there is no session, or when it holds 16 values already.
    #[must_use]
    pub fn session_state<T: Default + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let session = self.extensions.get::<Session>()?;
        session.attach(Arc::<T>::default).ok().cloned()
    }

    /// The server: to add and remove what it offers, and to tell clients of changes.
    #[must_use]
    pub const fn server(&self) -> &Server {
        &self.server
    }

    /// What the asker was granted, by [`Server::grants`](crate::Server::grants).
    #[must_use]
    pub fn grants(&self) -> crate::Grants {
        self.server.inner.access(&self.extensions).grants().clone()
    }

    /// A fact that a transport, a guard or a layer has left, by its type.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.extensions.get()
    }

    /// The same, to be kept.
    pub(crate) fn extension_arc<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.extensions.get_arc()
    }

    /// The request's `_meta`, as JSON.
    #[must_use]
    pub const fn meta(&self) -> Option<&RawJson> {
        self.meta.as_ref()
    }

    /// Lets the transport close the stream that this request's messages travel on, where it has
    /// one of its own that the client can take up again; what comes later waits there. Good for
    /// long calls, which then don't hold a connection. Does nothing elsewhere.
    ///
    /// Specification: [Sending messages to the server](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server).
    pub fn close_stream(&self) {
        self.replies.close_stream();
    }

    /// Waits until the peer cancels the request. After that the handler is polled once more,
    /// and dropped.
    pub async fn cancelled(&self) {
        self.replies.cancelled().await;
    }

    /// Whether the peer has canceled the request.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.replies.is_cancelled()
    }

    pub(crate) const fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    pub(crate) const fn replies(&self) -> &Replies {
        &self.replies
    }

    /// The way to report progress; it does nothing unless the peer has asked for it.
    ///
    /// Specification: [Progress](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress).
    #[must_use]
    pub fn progress(&self) -> crate::progress::Progress {
        let token = self.meta.as_ref().and_then(|meta| {
            meta.parse::<mcp_types::MetaPeek>().ok().and_then(|peek| peek.progress_token)
        });
        crate::progress::Progress::new(token, self.revision(), self.replies.clone())
    }

    /// The trace that what is asked belongs to.
    fn trace(&self) -> Option<&TraceContext> {
        let outgoing = self.extensions.get::<OutgoingTrace>().map(|outgoing| &outgoing.0);
        let incoming = || self.extensions.get::<PeerFacts>().map(|facts| &facts.trace);
        outgoing.or_else(incoming).filter(|trace| !trace.is_empty())
    }

    /// Sends a request to the peer on behalf of this one, and reads its result.
    pub(crate) async fn ask<P, R>(
        &self,
        method: &'static str,
        params: &P,
    ) -> Result<R, RequestError>
    where
        P: Serialize + ?Sized,
        R: DeserializeOwned,
    {
        let ask = self.ask_of(method, params)?;
        self.put(ask).await
    }

    /// The same, for a request that asks to be run as a task.
    #[cfg(feature = "tasks")]
    pub(crate) async fn ask_for_task<P, R>(
        &self,
        method: &'static str,
        params: &P,
    ) -> Result<R, RequestError>
    where
        P: Serialize + ?Sized,
        R: DeserializeOwned,
    {
        let mut ask = self.ask_of(method, params)?;
        ask.notes.insert(mcp_lifecycle::TaskAugmented);
        self.put(ask).await
    }

    fn ask_of<P: Serialize + ?Sized>(
        &self,
        method: &'static str,
        params: &P,
    ) -> Result<Ask, RequestError> {
        let params = RawJson::from_serialize(params).map_err(RequestError::Encode)?;
        let params = match self.trace() {
            Some(trace) => with_trace(params, trace).map_err(RequestError::Encode)?,
            None => params,
        };
        Ok(Ask::new(Name::from_static(method), Some(params)))
    }

    async fn put<R: DeserializeOwned>(&self, ask: Ask) -> Result<R, RequestError> {
        let response = self.replies.ask(ask).await?;
        response.outcome.map_err(RequestError::Refused)?.parse().map_err(RequestError::Decode)
    }
}

/// Puts a trace into the `_meta` of parameters, beside what is there.
fn with_trace(params: RawJson, trace: &TraceContext) -> Result<RawJson, serde_json::Error> {
    let mut members: JsonObject = params.parse()?;
    let meta = members.get("_meta").map(mcp_types::JsonValue::to::<JsonObject>).transpose()?;
    let mut meta = meta.unwrap_or_default();
    let parts = [
        ("traceparent", &trace.traceparent),
        ("tracestate", &trace.tracestate),
        ("baggage", &trace.baggage),
    ];
    for (name, value) in parts {
        if let Some(value) = value
            && !meta.contains(name)
        {
            meta.insert(name, &**value)?;
        }
    }
    members.insert("_meta", &meta)?;
    RawJson::from_serialize(&members)
}
