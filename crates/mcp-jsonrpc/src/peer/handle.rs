use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::call::PendingCall;
use super::shared::Shared;
use crate::link::v1::LinkError;
use crate::service::v1::{Ask, AskError, BoxFuture, Outlet, SendError, TrySendError};
use crate::wait::Place;
use crate::{Outgoing, Response};

/// A handle on a peer that a [`Driver`](super::Driver) drives: for requests and notifications of
/// our own. Cheap to clone.
#[derive(Clone)]
pub struct Peer {
    pub(super) shared: Arc<Shared>,
}

impl Peer {
    /// Sends a request, and waits for its response.
    ///
    /// The request is queued when the call is first polled and there is room, under an id that
    /// this peer has never been sent before. There is no time limit here.
    pub fn call(&self, ask: Ask) -> PendingCall {
        PendingCall::new(Arc::clone(&self.shared), ask)
    }

    /// Sends a notification, and waits for room for it.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the peer is gone.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is ready sends nothing.
    pub async fn notify(&self, notification: Outgoing) -> Result<(), SendError> {
        let mut notification = Some(notification);
        poll_fn(|cx| self.shared.poll_notify(cx, &mut notification, None)).await
    }

    /// Ends the conversation in good order: what is queued is sent, then the link closed. Open
    /// exchanges of the peer are dropped, and calls that wait fail.
    ///
    /// A peer that doesn't read holds this up; dropping the driver doesn't wait for it.
    pub fn close(&self) {
        self.shared.close();
    }

    /// Waits until the conversation is over; answers with why.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub async fn closed(&self) -> LinkError {
        Closed { shared: &self.shared, place: Place::default() }.await
    }

    /// How many requests of ours wait for a response.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.shared.counts().0
    }
}

impl Outlet for Peer {
    fn try_notify(&self, notification: Outgoing) -> Result<(), TrySendError> {
        self.shared.try_notify(notification, None)
    }

    fn ask(&self, ask: Ask) -> BoxFuture<'_, Result<Response, AskError>> {
        Box::pin(self.call(ask))
    }

    fn is_closed(&self) -> bool {
        self.shared.is_ended()
    }

    fn closed(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            Self::closed(self).await;
        })
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pending, queued) = self.shared.counts();
        f.debug_struct("Peer")
            .field("pending", &pending)
            .field("queued", &queued)
            .field("ended", &self.shared.is_ended())
            .finish()
    }
}

/// See [`Peer::closed`].
struct Closed<'a> {
    shared: &'a Shared,
    place: Place,
}

impl Future for Closed<'_> {
    type Output = LinkError;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<LinkError> {
        let Self { shared, place } = self.get_mut();
        shared.poll_ended(cx, place)
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.shared.stop_watching(&mut self.place);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Wake, Waker};

    use super::*;
    use crate::peer::DriverConfig;
    use crate::service::v1::Replies;

    struct Unique;

    impl Wake for Unique {
        fn wake(self: Arc<Self>) {}
    }

    /// Polls a future as a task of its own would, and drops it.
    fn try_once(future: impl Future) {
        let waker = Waker::from(Arc::new(Unique));
        assert!(pin!(future).poll(&mut Context::from_waker(&waker)).is_pending());
    }

    /// While nothing goes out, programs try again and again, each time in another task.
    #[test]
    fn futures_that_are_gone_leave_nothing_behind() {
        let config = DriverConfig::new().with_max_queued(1);
        let peer = Peer { shared: Arc::new(Shared::new(&config)) };
        let note = || Outgoing::notification_raw("n".into(), None);
        assert_eq!(peer.try_notify(note()), Ok(()));
        let sink = super::super::sink::ExchangeSink::new(Arc::clone(&peer.shared));
        let replies = Replies::new(Arc::new(sink));
        for _ in 0..100 {
            try_once(peer.notify(note()));
            try_once(peer.call(Ask::new("x", None)));
            try_once(peer.closed());
            try_once(replies.notify(note()));
            try_once(replies.ask(Ask::new("x", None)));
            try_once(replies.cancelled());
        }
        assert_eq!(peer.shared.waiting(), (0, 0));
        assert_eq!(peer.pending(), 0);
    }
}
