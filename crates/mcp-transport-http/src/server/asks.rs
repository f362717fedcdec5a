//! Requests of ours to the client, and the wait for their responses.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mcp_jsonrpc::service::v1::{Ask, AskError};
use mcp_jsonrpc::{Outgoing, RequestId, Response};
use tokio::time::Sleep;

use super::exchange::Exchange;
use super::session::Session;

/// On which stream a request of ours goes out.
pub(super) enum Road<'a> {
    /// On that of the exchange on whose behalf it is asked.
    Exchange(&'a Exchange),
    /// On a GET stream of the session.
    Session,
}

/// A request of ours that waits for its response. Dropping it gives the request up.
pub(super) struct AskCall<'a> {
    session: Arc<Session>,
    road: Road<'a>,
    ask: Ask,
    id: Option<i64>,
    over: bool,
    /// Bounds the wait for a stream to ask on.
    patience: Option<Pin<Box<Sleep>>>,
}

/// What is known about a request of ours. Lives in the session.
pub(super) enum Slot {
    Waiting { exchange: Option<ExchangeTag>, waker: Option<Waker> },
    Done(Result<Response, AskError>),
}

/// Tells exchanges apart; an address that is only compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ExchangeTag(usize);

impl ExchangeTag {
    pub(super) fn of(exchange: &Exchange) -> Self {
        Self(std::ptr::from_ref(exchange).addr())
    }
}

/// Whether a request may go out on the session's own stream.
pub(super) enum Start {
    Sent(i64),
    /// No GET stream is open, or the queue is full.
    NotYet {
        listening: bool,
    },
}

impl<'a> AskCall<'a> {
    pub(super) fn new(session: Arc<Session>, road: Road<'a>, ask: Ask) -> Self {
        Self { session, road, ask, id: None, over: false, patience: None }
    }

    fn frame(&self, id: i64) -> bytes::Bytes {
        Outgoing::request_raw(id.into(), self.ask.method.clone(), self.ask.params.as_ref())
            .into_frame()
    }

    /// Sends the request as soon as there is a way and room.
    fn poll_start(&mut self, cx: &mut Context<'_>) -> Poll<Result<i64, AskError>> {
        match self.road {
            Road::Exchange(exchange) => {
                std::task::ready!(exchange.poll_room(cx))?;
                let tag = ExchangeTag::of(exchange);
                let id = self.session.open_ask(Some(tag))?;
                if !exchange.push(self.frame(id)) {
                    self.session.close_ask(id);
                    return Poll::Ready(Err(AskError::Over));
                }
                Poll::Ready(Ok(id))
            }
            Road::Session => match self.session.start_ask(cx, |id| self.frame(id))? {
                Start::Sent(id) => Poll::Ready(Ok(id)),
                Start::NotYet { listening } => {
                    if listening {
                        self.patience = None;
                        return Poll::Pending;
                    }
                    let limit = self.session.core.config.times.listener;
                    let patience =
                        self.patience.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
                    std::task::ready!(patience.as_mut().poll(cx));
                    Poll::Ready(Err(AskError::Unavailable))
                }
            },
        }
    }
}

impl Future for AskCall<'_> {
    type Output = Result<Response, AskError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if this.over {
            return Poll::Ready(Err(AskError::Over));
        }
        let id = match this.id {
            Some(id) => id,
            None => match std::task::ready!(this.poll_start(cx)) {
                Ok(id) => *this.id.insert(id),
                Err(error) => {
                    this.over = true;
                    return Poll::Ready(Err(error));
                }
            },
        };
        let outcome = std::task::ready!(this.session.poll_ask(id, cx));
        this.over = true;
        Poll::Ready(outcome)
    }
}

impl Drop for AskCall<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.filter(|_| !self.over) else { return };
        if !self.session.close_ask(id) {
            return;
        }
        // The peer is told on the stream on which it was asked.
        let id = RequestId::from(id);
        let Some(notice) = self.session.abandon(&id, &self.ask) else { return };
        match self.road {
            Road::Exchange(exchange) => {
                exchange.push(notice.into_frame());
            }
            Road::Session => {
                let _ = self.session.push(notice.into_frame());
            }
        }
    }
}
