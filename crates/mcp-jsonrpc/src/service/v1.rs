//! Version 1 of the boundary [`Service`], and of what a service answers through.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

pub use super::cancel::CancelSignal;
use crate::link::v1::LinkError;
use crate::{
    ErrorObject, Extensions, FaultKind, Message, Name, Notification, Outgoing, RawJson, Request,
    RequestId, Response,
};

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Takes one inbound message, and answers it if it is a request.
///
/// A server, a client, a proxy and every middleware implement this trait, so any of them can
/// stand where another stood.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come with a
/// default body. [`DynService`] is its object-safe twin.
///
/// # Contract
///
/// - Called once for each request and notification that was admitted, in the order in which
///   they came in; the futures run side by side. Responses never get here.
/// - The future's output is the answer: exactly one, after everything that the exchange sent
///   through `replies`. A request is answered by its result or its error; a notification by
///   [`Reply::Silent`], and anything else that it is answered by is dropped.
/// - An error for the peer is an answer, too. There is no other kind of failure here. A panic
///   costs its own exchange, and is answered by an internal error.
///
/// As much of this as can be said of any service is proved by the suite
/// `testing::service_suite`, behind the feature `testing`.
///
/// # Cancel safety
///
/// Dropping the returned future cancels the exchange: leave nothing running and send nothing
/// more. Whether a lost connection drops it is the transport's decision. Before a peer's
/// cancellation drops it, [`Replies::cancelled`] is woken and the future polled once more.
pub trait Service: Send + Sync + 'static {
    /// Handles `inbound`; what else belongs to it goes to `replies`.
    fn call(&self, inbound: Inbound, replies: Replies) -> impl Future<Output = Reply> + Send;
}

#[expect(unnameable_types, reason = "that is what seals the traits below")]
mod sealed {
    pub trait Sealed {}
    impl<S: super::Service> Sealed for S {}
}

/// The object-safe twin of [`Service`].
///
/// This is a **sealed** trait: every `Service` has it, and nothing else can.
pub trait DynService: sealed::Sealed + Send + Sync + 'static {
    /// See [`Service::call`].
    fn call_dyn(&self, inbound: Inbound, replies: Replies) -> BoxFuture<'_, Reply>;
}

impl<S: Service> DynService for S {
    fn call_dyn(&self, inbound: Inbound, replies: Replies) -> BoxFuture<'_, Reply> {
        Box::pin(self.call(inbound, replies))
    }
}

/// A shared service whose type is forgotten; itself a [`Service`].
#[derive(Clone)]
pub struct SharedService(Arc<dyn DynService>);

impl SharedService {
    /// Forgets the type of `service`.
    pub fn new(service: impl Service) -> Self {
        Self(Arc::new(service))
    }
}

impl fmt::Debug for SharedService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedService")
    }
}

impl Service for SharedService {
    fn call(&self, inbound: Inbound, replies: Replies) -> impl Future<Output = Reply> + Send {
        self.0.call_dyn(inbound, replies)
    }
}

impl<S: Service> Service for Arc<S> {
    fn call(&self, inbound: Inbound, replies: Replies) -> impl Future<Output = Reply> + Send {
        (**self).call(inbound, replies)
    }
}

/// Puts a service around a service.
///
/// This is an **open** trait. The shape is that of `tower::Layer`.
pub trait Layer<S> {
    /// What comes out.
    type Service: Service;

    /// Wraps `inner`.
    fn layer(&self, inner: S) -> Self::Service;
}

/// One message that came in and was admitted, with what is known about it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Inbound {
    /// The message.
    pub call: Call,
    /// What the layers below know: the peer's facts, the session, the principal. Nothing here
    /// says that there is a session.
    pub extensions: Extensions,
}

/// A message that a [`Service`] takes.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC has these two, and will have no third")]
pub enum Call {
    /// Wants a response.
    Request(Request),
    /// Wants none.
    Notification(Notification),
}

impl Inbound {
    /// A message about which nothing is known.
    #[must_use]
    pub const fn new(call: Call) -> Self {
        Self { call, extensions: Extensions::new() }
    }

    /// Adds what is known.
    #[must_use]
    pub fn with_extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    /// The method.
    #[must_use]
    pub const fn method(&self) -> &Name {
        match &self.call {
            Call::Request(request) => &request.method,
            Call::Notification(notification) => &notification.method,
        }
    }

    /// The parameters, raw.
    #[must_use]
    pub const fn params(&self) -> Option<&RawJson> {
        match &self.call {
            Call::Request(request) => request.params.as_ref(),
            Call::Notification(notification) => notification.params.as_ref(),
        }
    }

    /// The id, of a request.
    #[must_use]
    pub const fn id(&self) -> Option<&RequestId> {
        match &self.call {
            Call::Request(request) => Some(&request.id),
            Call::Notification(_) => None,
        }
    }
}

impl From<Call> for Message {
    fn from(call: Call) -> Self {
        match call {
            Call::Request(request) => Self::Request(request),
            Call::Notification(notification) => Self::Notification(notification),
        }
    }
}

/// The end of an exchange.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Reply {
    /// The response, ready to send. Its id is the request's.
    Response(Outgoing),
    /// Nothing is sent: the answer to a notification, or to a request that was canceled.
    Silent,
}

impl Reply {
    /// A result, or `-32603` when it can't be written as JSON.
    pub fn result<T: serde::Serialize + ?Sized>(id: &RequestId, result: &T) -> Self {
        match Outgoing::result(id.clone(), result) {
            Ok(response) => Self::Response(response),
            Err(_) => {
                Self::error(id, &ErrorObject::internal("the result can't be written as JSON"))
            }
        }
    }

    /// An error.
    #[must_use]
    pub fn error(id: &RequestId, error: &ErrorObject) -> Self {
        Self::Response(Outgoing::error(Some(id.clone()), error))
    }
}

/// Where everything goes that belongs to one exchange: progress, log messages, nested requests.
/// The response doesn't; it is the service's output.
///
/// Cheap to clone.
#[derive(Clone)]
pub struct Replies(Option<Arc<dyn ReplySink>>);

impl Replies {
    /// Replies that go to `sink`.
    pub fn new(sink: Arc<dyn ReplySink>) -> Self {
        Self(Some(sink))
    }

    /// Replies that lead nowhere: notifications are dropped, and nothing can be asked.
    #[must_use]
    pub const fn nowhere() -> Self {
        Self(None)
    }

    /// Sends a notification that belongs to this exchange, and waits for room for it.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the exchange is over, or its peer gone.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is ready sends nothing.
    pub async fn notify(&self, notification: Outgoing) -> Result<(), SendError> {
        let Some(sink) = &self.0 else { return Ok(()) };
        let mut notification = Some(notification);
        poll_fn(|cx| sink.poll_notify(cx, &mut notification)).await
    }

    /// Sends a notification if there is room for it now.
    ///
    /// # Errors
    ///
    /// [`TrySendError::Full`] when there is no room, [`TrySendError::Closed`] when there won't
    /// be.
    pub fn try_notify(&self, notification: Outgoing) -> Result<(), TrySendError> {
        self.0.as_ref().map_or(Ok(()), |sink| sink.try_notify(notification))
    }

    /// Asks the peer something on behalf of this exchange, and waits for the response.
    ///
    /// # Errors
    ///
    /// [`AskError`] when no response came. An error that the peer sent is a response.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives the request up, and tells the peer so.
    pub async fn ask(&self, ask: Ask) -> Result<Response, AskError> {
        match &self.0 {
            Some(sink) => sink.ask(ask).await,
            None => Err(AskError::Unavailable),
        }
    }

    /// Whether [`ask`](Self::ask) can reach the peer at all.
    #[must_use]
    pub fn can_ask(&self) -> bool {
        self.0.as_ref().is_some_and(|sink| sink.can_ask())
    }

    /// Lets the transport close the stream that this exchange's messages travel on, where each
    /// exchange has one and the peer can take it up again later; does nothing elsewhere. What is
    /// sent afterwards waits there for the peer.
    pub fn close_stream(&self) {
        if let Some(sink) = &self.0 {
            sink.close_stream();
        }
    }

    /// Waits until the peer cancels this exchange. Never ready if it doesn't.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub async fn cancelled(&self) {
        let Some(sink) = &self.0 else { return std::future::pending().await };
        match sink.cancel_signal() {
            Some(signal) => signal.given().await,
            None => poll_fn(|cx| sink.poll_cancelled(cx)).await,
        }
    }

    /// Whether the peer has canceled this exchange.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.as_ref().is_some_and(|sink| sink.is_cancelled())
    }
}

impl fmt::Debug for Replies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Replies" } else { "Replies(nowhere)" })
    }
}

/// What a transport or a driver implements, so that [`Replies`] work.
///
/// This is an **open** trait. Within `v1`, new methods always come with a default body.
///
/// # Contract
///
/// What is taken is sent in order, before the exchange's response. Once the exchange is over,
/// or was canceled, everything is refused as closed. Several tasks may call at once.
pub trait ReplySink: Send + Sync + 'static {
    /// Takes the notification out of its slot as soon as there is room.
    fn poll_notify(
        &self,
        cx: &mut Context<'_>,
        notification: &mut Option<Outgoing>,
    ) -> Poll<Result<(), SendError>>;

    /// Takes the notification if there is room now.
    ///
    /// # Errors
    ///
    /// When there is none, now or ever.
    fn try_notify(&self, notification: Outgoing) -> Result<(), TrySendError>;

    /// Sends a request of ours, and waits for its response. Dropping the future gives it up.
    fn ask(&self, ask: Ask) -> BoxFuture<'_, Result<Response, AskError>>;

    /// Whether requests of ours can reach the peer.
    fn can_ask(&self) -> bool {
        true
    }

    /// Closes the stream of this exchange, if it has one that the peer can take up again.
    fn close_stream(&self) {}

    /// The signal that the peer has canceled the exchange, where the sink keeps one: then nobody
    /// polls, and futures that are gone leave no waker behind. A sink around a sink hands on
    /// what that one has.
    fn cancel_signal(&self) -> Option<&CancelSignal> {
        None
    }

    /// Ready once the peer has canceled the exchange. Wakes every waker it was given.
    fn poll_cancelled(&self, cx: &mut Context<'_>) -> Poll<()>;

    /// Whether the peer has canceled the exchange.
    fn is_cancelled(&self) -> bool;
}

/// A way to a peer that belongs to no exchange: for messages that nobody asked for, such as
/// "the list of tools has changed". Found in the extensions of an [`Inbound`] as a
/// [`PeerOutlet`], where the peer can be reached outside of exchanges at all.
///
/// This is an **open** trait. Within `v1`, new methods always come with a default body.
pub trait Outlet: Send + Sync + 'static {
    /// Sends a notification if there is room for it.
    ///
    /// # Errors
    ///
    /// [`TrySendError::Full`] when there is no room now, [`TrySendError::Closed`] when the peer
    /// is gone for good.
    fn try_notify(&self, notification: Outgoing) -> Result<(), TrySendError>;

    /// Sends a request of ours, and waits for its response. Dropping the future gives it up.
    fn ask(&self, ask: Ask) -> BoxFuture<'_, Result<Response, AskError>>;

    /// Whether the peer is gone for good.
    fn is_closed(&self) -> bool;

    /// Ready once the peer is gone for good; never where that can't be told.
    fn closed(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

/// A shared [`Outlet`], in a form that fits into [`Extensions`].
#[derive(Clone)]
pub struct PeerOutlet(pub(crate) Arc<dyn Outlet>);

impl PeerOutlet {
    /// Shares `outlet`.
    pub fn new(outlet: Arc<dyn Outlet>) -> Self {
        Self(outlet)
    }

    /// The outlet.
    #[must_use]
    pub fn as_arc(&self) -> &Arc<dyn Outlet> {
        &self.0
    }
}

impl std::ops::Deref for PeerOutlet {
    type Target = dyn Outlet;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for PeerOutlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PeerOutlet")
    }
}

/// A request of ours that has no id yet: whoever sends it gives it one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ask {
    /// What is wanted.
    pub method: Name,
    /// An object, when there are any.
    pub params: Option<RawJson>,
    /// Typed facts for the layers below.
    pub notes: Extensions,
}

impl Ask {
    /// A request for `method`.
    pub fn new(method: impl Into<Name>, params: Option<RawJson>) -> Self {
        Self { method: method.into(), params, notes: Extensions::new() }
    }
}

/// A notification can't be sent: the exchange is over, or its peer gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("the exchange is over")]
#[non_exhaustive]
pub struct SendError;

/// A notification can't be sent right now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrySendError {
    /// There is no room now.
    #[error("the queue to the peer is full")]
    Full,
    /// The exchange is over, or its peer gone.
    #[error("the exchange is over")]
    Closed,
}

/// A request of ours got no response.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The peer can't be asked on this road.
    #[error("the peer can't be asked here")]
    Unavailable,
    /// Too many of our requests are waiting for their responses.
    #[error("more than {limit} requests are waiting for a response")]
    TooMany {
        /// The limit that was in force.
        limit: usize,
    },
    /// The response came, but can't be read.
    #[error("the response can't be read")]
    Malformed(#[source] FaultKind),
    /// The exchange on whose behalf we asked is over.
    #[error("the exchange is over")]
    Over,
    /// The link, or the request's stream, has ended.
    #[error("the link to the peer is gone")]
    Link(#[source] LinkError),
}
