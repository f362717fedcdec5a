//! What a call sends through its replies: into the outbox, while there is room.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use mcp_jsonrpc::service::v1::{
    Ask, AskError, BoxFuture, CancelSignal, ReplySink, SendError, TrySendError,
};
use mcp_jsonrpc::{Outgoing, Response};

use super::{Exchange, Hearing, State, remember};
use crate::server::asks::{AskCall, Road};

impl Exchange {
    /// Whether one more message finds room in the outbox.
    fn has_room(&self, state: &State) -> bool {
        let limits = &self.core.config.limits;
        state.outbox.len() < limits.queued && state.outbox_bytes < limits.queued_bytes
    }

    /// Ready with room for a request of ours.
    pub(in crate::server) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<Result<(), AskError>> {
        let mut state = self.lock();
        if state.over {
            return Poll::Ready(Err(AskError::Over));
        }
        if state.hearing == Hearing::Nobody {
            return Poll::Ready(Err(AskError::Unavailable));
        }
        if !self.has_room(&state) {
            remember(&mut state.room, cx.waker());
            return Poll::Pending;
        }
        state.asked = true;
        Poll::Ready(Ok(()))
    }

    /// Emits a message, whether or not there is room. Answers whether it was taken.
    pub(in crate::server) fn push(&self, message: Bytes) -> bool {
        let mut state = self.lock();
        if state.over || state.hearing == Hearing::Nobody {
            return false;
        }
        state.push(message);
        true
    }
}

impl ReplySink for Exchange {
    fn poll_notify(
        &self,
        cx: &mut Context<'_>,
        notification: &mut Option<Outgoing>,
    ) -> Poll<Result<(), SendError>> {
        let mut state = self.lock();
        if state.over {
            return Poll::Ready(Err(SendError::default()));
        }
        if state.hearing == Hearing::Nobody {
            *notification = None;
            return Poll::Ready(Ok(()));
        }
        if !self.has_room(&state) {
            remember(&mut state.room, cx.waker());
            return Poll::Pending;
        }
        if let Some(notification) = notification.take() {
            state.push(notification.into_frame());
        }
        Poll::Ready(Ok(()))
    }

    fn try_notify(&self, notification: Outgoing) -> Result<(), TrySendError> {
        let mut state = self.lock();
        if state.over {
            return Err(TrySendError::Closed);
        }
        if state.hearing == Hearing::Nobody {
            return Ok(());
        }
        if !self.has_room(&state) {
            return Err(TrySendError::Full);
        }
        state.push(notification.into_frame());
        Ok(())
    }

    fn ask(&self, ask: Ask) -> BoxFuture<'_, Result<Response, AskError>> {
        match &self.session {
            Some(session) => Box::pin(AskCall::new(Arc::clone(session), Road::Exchange(self), ask)),
            None => Box::pin(std::future::ready(Err(AskError::Unavailable))),
        }
    }

    fn can_ask(&self) -> bool {
        self.session.is_some() && self.lock().hearing == Hearing::Stream
    }

    fn close_stream(&self) {
        self.suspend();
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
