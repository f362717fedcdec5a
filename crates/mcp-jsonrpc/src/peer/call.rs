use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::shared::Shared;
use crate::service::v1::{Ask, AskError};
use crate::wait::Place;
use crate::{RequestId, Response};

/// A request of ours that waits for its response.
///
/// # Cancel safety
///
/// Dropping it gives the request up: the peer is told, as far as the protocol wants that and
/// the request was sent, and a response that still comes is dropped.
#[must_use = "futures do nothing unless polled"]
pub struct PendingCall {
    shared: Arc<Shared>,
    ask: Ask,
    stage: Stage,
    id: Option<i64>,
}

enum Stage {
    /// Not queued yet; it may have a place in the line for room.
    New(Place),
    /// Queued, or sent.
    Waiting,
    Over,
}

impl PendingCall {
    pub(super) fn new(shared: Arc<Shared>, ask: Ask) -> Self {
        Self { shared, ask, stage: Stage::New(Place::default()), id: None }
    }

    /// The id of the request, once it was queued.
    #[must_use]
    pub fn id(&self) -> Option<RequestId> {
        self.id.map(RequestId::from)
    }

    /// Gives the request up, and tells the peer why.
    pub fn abandon(mut self, reason: impl Into<String>) {
        self.give_up(Some(reason.into()));
    }

    fn give_up(&mut self, reason: Option<String>) {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::New(mut place) => self.shared.leave(&mut place),
            Stage::Waiting => {
                if let Some(id) = self.id {
                    self.shared.give_up(id, &self.ask.notes, reason);
                }
            }
            Stage::Over => {}
        }
    }
}

impl Future for PendingCall {
    type Output = Result<Response, AskError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { shared, ask, stage, id } = self.get_mut();
        let polled = match (&mut *stage, *id) {
            (Stage::New(place), _) => match shared.poll_start(cx, ask, place) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(started)) => {
                    *id = Some(started);
                    *stage = Stage::Waiting;
                    return Poll::Pending;
                }
                Poll::Ready(Err(error)) => {
                    shared.leave(place);
                    Poll::Ready(Err(error))
                }
            },
            (Stage::Waiting, Some(id)) => shared.poll_response(cx, id),
            (Stage::Waiting, None) | (Stage::Over, _) => Poll::Ready(Err(AskError::Over)),
        };
        if polled.is_ready() {
            *stage = Stage::Over;
        }
        polled
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.give_up(None);
    }
}

impl fmt::Debug for PendingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingCall")
            .field("method", &self.ask.method)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
