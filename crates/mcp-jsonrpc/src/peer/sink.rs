use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use super::call::PendingCall;
use super::shared::Shared;
use crate::service::v1::{
    Ask, AskError, BoxFuture, CancelSignal, ReplySink, SendError, TrySendError,
};
use crate::wait::{Place, WaitList};
use crate::{Outgoing, Response};

/// The replies of one exchange over a link.
pub(super) struct ExchangeSink {
    shared: Arc<Shared>,
    over: AtomicBool,
    canceled: CancelSignal,
    /// What this exchange has asked the peer: given up with it.
    asks: Mutex<WaitList>,
}

impl ExchangeSink {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            over: AtomicBool::new(false),
            canceled: CancelSignal::new(),
            asks: Mutex::default(),
        }
    }

    fn asks(&self) -> MutexGuard<'_, WaitList> {
        self.asks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From here on nothing is sent.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Release);
        let asks = self.asks().take();
        asks.wake();
    }

    /// The same, since the peer wants it so.
    pub(super) fn cancel(&self) {
        self.end();
        self.canceled.give();
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}

impl ReplySink for ExchangeSink {
    fn poll_notify(
        &self,
        cx: &mut Context<'_>,
        notification: &mut Option<Outgoing>,
    ) -> Poll<Result<(), SendError>> {
        self.shared.poll_notify(cx, notification, Some(&self.over))
    }

    fn try_notify(&self, notification: Outgoing) -> Result<(), TrySendError> {
        self.shared.try_notify(notification, Some(&self.over))
    }

    fn ask(&self, ask: Ask) -> BoxFuture<'_, Result<Response, AskError>> {
        let call = PendingCall::new(Arc::clone(&self.shared), ask);
        Box::pin(ExchangeAsk { sink: self, call: Some(call), place: Place::default() })
    }

    fn cancel_signal(&self) -> Option<&CancelSignal> {
        Some(&self.canceled)
    }

    fn poll_cancelled(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.canceled.poll_given(cx)
    }

    fn is_cancelled(&self) -> bool {
        self.canceled.is_given()
    }
}

/// A request of ours on behalf of an exchange: it ends with that at the latest, whoever polls
/// it.
struct ExchangeAsk<'a> {
    sink: &'a ExchangeSink,
    call: Option<PendingCall>,
    place: Place,
}

impl Future for ExchangeAsk<'_> {
    type Output = Result<Response, AskError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { sink, call, place } = self.get_mut();
        let before = sink.asks().wait(place, cx.waker());
        drop(before);
        if sink.is_over() {
            // Gives it up.
            *call = None;
        }
        call.as_mut().map_or(Poll::Ready(Err(AskError::Over)), |call| Pin::new(call).poll(cx))
    }
}

impl Drop for ExchangeAsk<'_> {
    fn drop(&mut self) {
        let waker = self.sink.asks().leave(&mut self.place);
        drop(waker);
    }
}
