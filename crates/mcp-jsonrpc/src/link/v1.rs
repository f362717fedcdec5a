//! Version 1 of the boundary [`Link`], and of what makes one: [`Connector`] and [`IntoLink`].

use std::error::Error;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::service::v1::BoxFuture;
use crate::{Fault, Message, Outgoing, RequestId};

/// A duplex of messages to one peer: a pipe, a connection, or two queues in memory.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come with a
/// default body. It is object-safe, and `Box<dyn Link>` is a `Link`.
///
/// # Contract
///
/// - One owner calls, from one task at a time. A method that answers `Pending` has arranged for
///   the waker of its *latest* call to be woken. All of them are cancel safe: a caller may stop
///   polling one at any time, and nothing is lost.
/// - Receiving and sending don't wait for each other: a link never stops receiving because it
///   can't send, so two peers that both send more than the pipe holds can't block each other.
/// - [`start_send`](Self::start_send) follows a `Ready` of [`poll_ready`](Self::poll_ready), and
///   is for one message. The link may hold what it was given until
///   [`poll_flush`](Self::poll_flush), so that what is ready together is written together.
/// - It holds no more than so much: a link that nobody reads at the other end stops being ready.
/// - Messages arrive in the order in which they were sent, each once, or the link ends. A frame
///   that is no message is handed over as [`Incoming::Malformed`], and costs only itself.
/// - [`poll_recv`](Self::poll_recv) answers an error once the link has ended, and the same one
///   from then on: [`LinkError::Closed`] when the peer closed it in good order, with everything
///   that came before it delivered first. Where the medium knows more, such as how a child
///   process ended, this is the method that says it.
/// - After [`poll_close`](Self::poll_close) nothing more is sent, and it may be called again.
/// - Dropping a link ends it at once, without waiting for anything.
///
/// How a connection comes about, and what delimits a message, is for each link to document. The
/// contract is proved by the suite `testing::link_suite`, behind the feature `testing`.
pub trait Link: Send + 'static {
    /// The next message, or fault, that came in.
    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Result<Incoming, LinkError>>;

    /// Whether there is room for one more message. Pushes buffered bytes on to make room.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>>;

    /// Takes one message.
    ///
    /// # Errors
    ///
    /// When the link has ended, or never carries such a message; the message is lost.
    fn start_send(&mut self, message: Outgoing) -> Result<(), LinkError>;

    /// Hands everything that was taken to the medium.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>>;

    /// Flushes, then tells the peer that nothing more comes. Receiving may go on.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>>;

    /// Gives up our own request `id`, however this medium says so.
    ///
    /// `notice` is the notification that says it in the protocol's words, where there is one.
    /// The default sends it; a medium in which each request has a stream of its own may cut
    /// that stream instead. Called at most once for a request, with room for one message.
    ///
    /// # Errors
    ///
    /// As [`start_send`](Self::start_send).
    fn abandon(&mut self, id: &RequestId, notice: Option<Outgoing>) -> Result<(), LinkError> {
        let _ = id;
        notice.map_or(Ok(()), |notice| self.start_send(notice))
    }

    /// What this link does beyond the required minimum.
    fn features(&self) -> LinkFeatures {
        LinkFeatures::default()
    }
}

/// What a link does beyond the required minimum. Everything is `false` by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkFeatures {
    /// Each request has a stream of its own, whose end is an event.
    pub stream_per_request: bool,
    /// Giving a request up closes its stream.
    pub abandon_by_close: bool,
    /// A stream that is cut can be taken up again where it was.
    pub resumable: bool,
    /// The peer can't send requests over this link.
    pub no_peer_requests: bool,
}

/// What came in.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Incoming {
    /// One message.
    Message(Message, Stream),
    /// An array of messages. Whether the revision in force has batches is for the receiver to
    /// decide.
    Batch(Vec<Result<Message, Fault>>),
    /// A frame that is no message. It was skipped, and cost only itself.
    Malformed(Fault),
    /// The stream that belonged to our request `id` is over without a response. This fails
    /// that request, and nothing else.
    StreamEnded {
        /// The request.
        id: RequestId,
        /// Why.
        cause: LinkError,
    },
}

/// Where a message came in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stream {
    /// On the one stream that everything shares, or on one that belongs to no request.
    #[default]
    Shared,
    /// On the stream of our request with this id.
    Of(RequestId),
}

/// A link, or one of its streams, has ended.
///
/// Cheap to clone: every call that waited gets one.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The link was closed in good order, by the peer or by this side.
    #[error("the link is closed")]
    Closed,
    /// A message that this link never carries, for example one over its size limit.
    #[error("the link does not carry this message: {reason}")]
    Refused {
        /// Why not.
        reason: &'static str,
    },
    /// The medium failed. The source says how; a link over a child process puts its exit
    /// status and the last lines of its error output there.
    #[error("the link failed")]
    Failed(#[source] Arc<dyn Error + Send + Sync>),
}

impl LinkError {
    /// The medium failed with `cause`.
    pub fn failed(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(Arc::from(cause.into()))
    }

    /// Whether this was an end in good order.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        matches!(self, Self::Closed)
    }
}

/// Equal when they are the same kind of end; causes can't be compared.
impl PartialEq for LinkError {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Closed, Self::Closed) => true,
            (Self::Refused { reason: a }, Self::Refused { reason: b }) => a == b,
            (Self::Failed(a), Self::Failed(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl<L: Link + ?Sized> Link for Box<L> {
    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Result<Incoming, LinkError>> {
        (**self).poll_recv(cx)
    }
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        (**self).poll_ready(cx)
    }
    fn start_send(&mut self, message: Outgoing) -> Result<(), LinkError> {
        (**self).start_send(message)
    }
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        (**self).poll_flush(cx)
    }
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        (**self).poll_close(cx)
    }
    fn abandon(&mut self, id: &RequestId, notice: Option<Outgoing>) -> Result<(), LinkError> {
        (**self).abandon(id, notice)
    }
    fn features(&self) -> LinkFeatures {
        (**self).features()
    }
}

/// The few combinators that all callers want.
///
/// This is a **sealed** trait by its blanket implementation.
pub trait LinkExt: Link {
    /// Waits for the next thing that comes in.
    ///
    /// # Errors
    ///
    /// When the link has ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    fn recv(&mut self) -> impl Future<Output = Result<Incoming, LinkError>> + Send {
        poll_fn(|cx| self.poll_recv(cx))
    }

    /// Sends one message and flushes.
    ///
    /// # Errors
    ///
    /// When the link has ended, or never carries such a message.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the message if there was no room yet; else it is on its way.
    fn send(&mut self, message: Outgoing) -> impl Future<Output = Result<(), LinkError>> + Send {
        let mut message = Some(message);
        poll_fn(move |cx| {
            if message.is_some() {
                std::task::ready!(self.poll_ready(cx))?;
                if let Some(message) = message.take() {
                    self.start_send(message)?;
                }
            }
            self.poll_flush(cx)
        })
    }

    /// Flushes, then tells the peer that nothing more comes.
    ///
    /// # Errors
    ///
    /// When the link ended before everything was flushed.
    fn close(&mut self) -> impl Future<Output = Result<(), LinkError>> + Send {
        poll_fn(|cx| self.poll_close(cx))
    }
}

impl<L: Link + ?Sized> LinkExt for L {}

/// Opens links to one peer, as often as it takes: after a crash, or for a second attempt in an
/// older form of the protocol.
///
/// This is an **open** trait. Opening holds nothing on failure, and dropping the future leaves
/// nothing behind.
pub trait Connector: Send + Sync + 'static {
    /// What is opened.
    type Link: Link;

    /// Opens a link.
    fn open(&self) -> impl Future<Output = Result<Self::Link, LinkError>> + Send;
}

/// Whatever a conversation can be held over: a link, or what makes one.
///
/// This is an **open** trait: a transport implements it for what its links are made of, such as
/// a command or an address, so that it can be handed over in place of a link. Every [`Link`] is
/// taken as it is. Within `v1`, new methods always come with a default body. Its object-safe twin
/// is [`DynIntoLink`], and `Box<dyn DynIntoLink>` is an `IntoLink`.
///
/// # Contract
///
/// - Whoever holds the conversation calls it, once for each conversation, and waits no longer
///   than it has time for.
/// - The link that comes of it is open: nothing was received from it yet, and nothing sent.
/// - An error means that there is no link, and nothing is held: no process, no connection.
/// - Dropping the future gives the opening up, and leaves nothing behind.
///
/// The contract is proved by the suite `testing::into_link_suite`, behind the feature `testing`.
pub trait IntoLink: Send {
    /// What comes of it.
    type Link: Link;

    /// Opens the link.
    fn into_link(self) -> impl Future<Output = Result<Self::Link, LinkError>> + Send;
}

impl<L: Link> IntoLink for L {
    type Link = L;

    async fn into_link(self) -> Result<L, LinkError> {
        Ok(self)
    }
}

/// [`IntoLink`] as an object, for those who keep several of different types.
///
/// This is a **sealed** trait by its blanket implementation.
pub trait DynIntoLink: Send {
    /// Opens the link.
    fn into_link_dyn(self: Box<Self>) -> BoxFuture<'static, Result<Box<dyn Link>, LinkError>>;
}

impl<T: IntoLink + 'static> DynIntoLink for T {
    fn into_link_dyn(self: Box<Self>) -> BoxFuture<'static, Result<Box<dyn Link>, LinkError>> {
        Box::pin(async move {
            let link: Box<dyn Link> = Box::new((*self).into_link().await?);
            Ok(link)
        })
    }
}

impl IntoLink for Box<dyn DynIntoLink> {
    type Link = Box<dyn Link>;

    fn into_link(self) -> impl Future<Output = Result<Box<dyn Link>, LinkError>> + Send {
        self.into_link_dyn()
    }
}
