use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::batch::Batches;
use super::config::DriverConfig;
use super::exchange::{End, Exchange, Exchanges};
use super::handle::Peer;
use super::protocol::{Event, Protocol};
use super::shared::{Load, Shared};
use super::sink::ExchangeSink;
use super::state::Command;
use crate::link::v1::{Link, LinkError};
use crate::service::v1::{AskError, BoxFuture, Inbound, PeerOutlet, Replies, Reply, Service};
use crate::{ErrorObject, Extensions, Head, Name, Outgoing, RequestId};

/// Steps that are taken before other tasks get their turn: a message in, a message out, an
/// exchange polled.
const BUDGET: usize = 256;

/// Drives one peer: receives, asks the [`Protocol`], calls the [`Service`], sends.
///
/// Dropping it drops the link and every open exchange, and fails every call that waits.
pub struct Driver<L, P, S> {
    link: L,
    pub(super) protocol: P,
    service: Arc<S>,
    config: DriverConfig,
    pub(super) shared: Arc<Shared>,
    pub(super) exchanges: Exchanges,
    pub(super) batches: Batches,
    /// Exchanges that were woken, while they are polled.
    woken: Vec<usize>,
    stage: Stage,
    received_all: bool,
    /// Something is to be sent.
    queued: bool,
    /// An answer that nothing stands before: it goes to the link without the queue. Empty
    /// between turns.
    hot: Option<Outgoing>,
    load: Load,
    idle: Idle,
}

/// What the link has answered `Pending` to in this poll: it will wake us.
#[derive(Default)]
struct Idle {
    receive: bool,
    send: bool,
}

enum Stage {
    Open,
    /// The peer has closed its side: what is open goes on, as long as the limit lets it.
    Draining(Option<BoxFuture<'static, ()>>),
    /// It took too long.
    OutOfTime,
    /// This side has closed: what is queued is sent.
    Closing,
    /// Everything is sent.
    ClosingLink,
}

impl<L: Link, P: Protocol, S: Service> Driver<L, P, S> {
    /// A driver, and a handle on its peer. `protocol` is made with that handle, as what it puts
    /// into the extensions of what came in.
    pub fn new(
        link: L,
        service: S,
        config: DriverConfig,
        protocol: impl FnOnce(PeerOutlet) -> P,
    ) -> (Self, Peer) {
        let shared = Arc::new(Shared::new(&config));
        let peer = Peer { shared: Arc::clone(&shared) };
        let driver = Self {
            link,
            protocol: protocol(PeerOutlet::new(Arc::new(peer.clone()))),
            service: Arc::new(service),
            config,
            exchanges: Exchanges::new(Arc::clone(&shared)),
            shared,
            batches: Batches::default(),
            woken: Vec::new(),
            stage: Stage::Open,
            received_all: false,
            queued: false,
            hot: None,
            load: Load::default(),
            idle: Idle::default(),
        };
        (driver, peer)
    }

    /// Runs until the conversation is over; answers with why.
    ///
    /// After the peer has closed its side, open exchanges go on and their responses are sent.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends everything at once.
    pub async fn run(mut self) -> LinkError {
        let cause = poll_fn(|cx| self.poll(cx)).await;
        self.exchanges.clear();
        if !self.received_all {
            self.protocol.observe(&Event::Ended { cause: &cause });
        }
        self.shared.end(cause.clone());
        cause
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<LinkError> {
        self.idle = Idle::default();
        let mut budget = BUDGET;
        let turned = loop {
            match self.turn(cx, &mut budget) {
                Ok(()) if budget == 0 => {
                    cx.waker().wake_by_ref();
                    break Ok(());
                }
                Ok(()) if self.is_idle() && self.shared.park(cx.waker()) => break Ok(()),
                Ok(()) => {}
                Err(cause) => break Err(cause),
            }
        };
        // What was handed over in all those turns is written together. Closing does that, too, and
        // a link that is being closed may refuse to be flushed.
        let closes = matches!(self.stage, Stage::ClosingLink | Stage::OutOfTime);
        let flushed = turned.and_then(|()| match closes {
            true => Ok(()),
            false => match self.link.poll_flush(cx) {
                Poll::Ready(flushed) => flushed,
                Poll::Pending => Ok(()),
            },
        });
        if let Err(cause) = flushed {
            return Poll::Ready(self.broken(cx, cause));
        }
        let closed = match self.stage {
            Stage::ClosingLink => self.link.poll_close(cx),
            Stage::OutOfTime => Poll::Ready(match self.link.poll_close(cx) {
                Poll::Ready(closed) => closed,
                Poll::Pending => Ok(()),
            }),
            Stage::Open | Stage::Draining(_) | Stage::Closing => Poll::Pending,
        };
        closed.map(|closed| closed.err().unwrap_or(LinkError::Closed))
    }

    /// Does what can be done now, as far as the budget goes.
    fn turn(&mut self, cx: &mut Context<'_>, budget: &mut usize) -> Result<(), LinkError> {
        let mut woken = std::mem::take(&mut self.woken);
        let turn = self.shared.turn(&mut woken);
        (self.queued, self.load) = (turn.queued, turn.load);
        if turn.closing && matches!(self.stage, Stage::Open | Stage::Draining(_)) {
            self.drop_exchanges();
            self.stage = Stage::Closing;
        }
        self.receive(cx, budget)?;
        for index in woken.drain(..) {
            *budget = budget.saturating_sub(1);
            if let Some((exchange, end)) = self.exchanges.poll_woken(index) {
                self.over(&exchange, end);
                self.send_hot(cx, budget)?;
            }
        }
        self.woken = woken;
        while *budget > 0 && self.load.room && self.exchanges.fresh() > 0 {
            *budget -= 1;
            if let Some((exchange, end)) = self.exchanges.poll_fresh() {
                self.over(&exchange, end);
                self.send_hot(cx, budget)?;
            }
        }
        if let Stage::Draining(Some(limit)) = &mut self.stage
            && limit.as_mut().poll(cx).is_ready()
        {
            self.drop_exchanges();
            self.stage = Stage::OutOfTime;
        }
        self.send(cx, budget)?;
        let done = match self.stage {
            Stage::Draining(_) => self.exchanges.len() == 0,
            Stage::Closing => true,
            Stage::Open | Stage::OutOfTime | Stage::ClosingLink => false,
        };
        if done && !self.queued && self.shared.close_if_empty() {
            self.stage = Stage::ClosingLink;
        }
        Ok(())
    }

    /// Whether the next turn would do nothing, unless something new has come.
    fn is_idle(&self) -> bool {
        (self.idle.receive || !self.receives())
            && (self.idle.send || !self.queued)
            && (self.exchanges.fresh() == 0 || !self.load.room)
    }

    /// Whether anything more is taken from the link.
    fn receives(&self) -> bool {
        // As many as a peer of our own kind has requests open, at least.
        let answers = self.config.max_queued.saturating_mul(4).max(1024);
        !self.received_all && self.load.answers <= answers
    }

    fn receive(&mut self, cx: &mut Context<'_>, budget: &mut usize) -> Result<(), LinkError> {
        while *budget > 0 && !self.idle.receive && self.receives() {
            let Poll::Ready(incoming) = self.link.poll_recv(cx) else {
                self.idle.receive = true;
                break;
            };
            *budget -= 1;
            match incoming {
                Ok(incoming) if matches!(self.stage, Stage::Open) => {
                    self.incoming(incoming);
                    self.send_hot(cx, budget)?;
                }
                Ok(incoming) => self.last_incoming(incoming),
                Err(cause) => self.received_all(cause)?,
            }
        }
        Ok(())
    }

    /// An error if there is nobody left who could be answered.
    fn received_all(&mut self, cause: LinkError) -> Result<(), LinkError> {
        self.received_all = true;
        self.protocol.observe(&Event::Ended { cause: &cause });
        self.shared.received_all(&cause);
        if !cause.is_closed() {
            return Err(cause);
        }
        if let Stage::Open = self.stage {
            self.stage = Stage::Draining(self.config.drain.as_ref().map(|limit| limit()));
        }
        Ok(())
    }

    /// The medium takes nothing more. What it has brought in before still counts.
    fn broken(&mut self, cx: &mut Context<'_>, cause: LinkError) -> LinkError {
        for _ in 0..BUDGET {
            if self.received_all {
                break;
            }
            match self.link.poll_recv(cx) {
                Poll::Ready(Ok(incoming)) => self.last_incoming(incoming),
                // Where a child process ended, this side of the link knows how.
                Poll::Ready(Err(better)) if !better.is_closed() => return better,
                Poll::Ready(Err(_)) | Poll::Pending => break,
            }
        }
        cause
    }

    /// Whether one more exchange can be begun now, or only once there is room for its answer.
    fn begins_now(&self) -> bool {
        self.load.room && self.exchanges.fresh() == 0
    }

    pub(super) fn is_full(&self) -> bool {
        let fresh = self.exchanges.fresh();
        let same = if self.begins_now() { self.exchanges.len() - fresh } else { fresh };
        same >= self.config.max_exchanges
    }

    pub(super) fn exchange(
        &self,
        id: Option<RequestId>,
        method: Name,
        batch: Option<u64>,
    ) -> Exchange {
        let sink = Arc::new(ExchangeSink::new(Arc::clone(&self.shared)));
        Exchange { id, method, sink, batch }
    }

    pub(super) fn start(&mut self, exchange: Exchange, inbound: Inbound) {
        let service = Arc::clone(&self.service);
        let replies = Replies::new(Arc::<ExchangeSink>::clone(&exchange.sink));
        let future = Box::pin(async move { service.call(inbound, replies).await });
        if !self.begins_now() {
            self.exchanges.start_later(exchange, future);
        } else if let Some((exchange, end)) = self.exchanges.start(exchange, future) {
            self.over(&exchange, end);
        }
    }

    fn over(&mut self, exchange: &Exchange, end: End) {
        exchange.sink.end();
        if let End::Panic = end {
            self.protocol.observe(&Event::Panicked { method: &exchange.method });
        }
        let Some(id) = &exchange.id else { return };
        let reply = match end {
            End::Reply(Reply::Response(response))
                if !response.is_response() || response.id() != Some(id) =>
            {
                Reply::error(id, &ErrorObject::internal("no response was made"))
            }
            End::Reply(reply) => reply,
            End::Panic => Reply::error(id, &ErrorObject::internal("internal error")),
        };
        self.protocol.answered(id, &exchange.method, &reply);
        match reply {
            Reply::Response(response) => self.respond(exchange.batch, response),
            Reply::Silent => self.close_member(exchange.batch, None),
        }
    }

    /// Drops what is open. Responses to a batch that were made are sent.
    fn drop_exchanges(&mut self) {
        self.exchanges.clear();
        for responses in self.batches.take_all() {
            self.push_batch(responses);
        }
    }

    pub(super) fn respond(&mut self, batch: Option<u64>, response: Outgoing) {
        match batch {
            // Its exchange sends nothing more: whatever that has queued before is seen here.
            None if self.hot.is_none() && !self.idle.send && self.shared.is_empty() => {
                self.hot = Some(response);
            }
            None => self.push(Some(Command::Send(response))),
            Some(_) => self.close_member(batch, Some(response)),
        }
    }

    /// One member of the batch is done; the last one sends the array.
    pub(super) fn close_member(&mut self, batch: Option<u64>, response: Option<Outgoing>) {
        if let Some(number) = batch
            && let Some(responses) = self.batches.close(number, response)
        {
            self.push_batch(responses);
        }
    }

    fn push_batch(&mut self, responses: Vec<Outgoing>) {
        if !responses.is_empty() {
            self.push(Some(Command::Batch(responses)));
        }
    }

    pub(super) fn push(&mut self, answer: Option<Command>) {
        if let Some(answer) = answer {
            self.load = self.shared.push_answer(answer);
            self.queued = true;
        }
    }

    fn send(&mut self, cx: &mut Context<'_>, budget: &mut usize) -> Result<(), LinkError> {
        while *budget > 0 && self.queued && !self.idle.send {
            let Poll::Ready(ready) = self.link.poll_ready(cx) else {
                self.idle.send = true;
                break;
            };
            ready?;
            *budget -= 1;
            let (command, more, load) = self.shared.pop();
            (self.queued, self.load) = (more, load);
            match command {
                Some(Command::Send(message)) => self.send_one(message)?,
                Some(Command::Batch(responses)) => self.send_batch(responses)?,
                Some(Command::Abandon { id, method, notes, reason }) => {
                    self.abandon(id.into(), &method, &notes, reason.as_deref())?;
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Hands an answer that was just made to the link, or queues it when that takes none now.
    fn send_hot(&mut self, cx: &mut Context<'_>, budget: &mut usize) -> Result<(), LinkError> {
        let Some(response) = self.hot.take() else { return Ok(()) };
        match self.link.poll_ready(cx) {
            Poll::Ready(ready) => {
                ready?;
                *budget = budget.saturating_sub(1);
                self.send_one(response)
            }
            Poll::Pending => {
                self.idle.send = true;
                self.push(Some(Command::Send(response)));
                Ok(())
            }
        }
    }

    fn send_one(&mut self, message: Outgoing) -> Result<(), LinkError> {
        let (request, result) = match message.head() {
            Head::Request { id, .. } => (Some(id.clone()), None),
            Head::Result { id } => (None, Some(id.clone())),
            Head::Notification { .. } | Head::Error { .. } | Head::Batch => (None, None),
        };
        let Err(cause) = self.link.start_send(message) else { return Ok(()) };
        let LinkError::Refused { reason } = cause else { return Err(cause) };
        // Only this message is lost. Whoever waits for it has to know.
        if let Some(id) = request {
            self.shared.complete(&id, Err(AskError::Link(LinkError::Refused { reason })));
        }
        if let Some(id) = result {
            let error = Outgoing::error(Some(id), &ErrorObject::internal(reason));
            self.push(Some(Command::Send(error)));
        }
        Ok(())
    }

    fn send_batch(&mut self, responses: Vec<Outgoing>) -> Result<(), LinkError> {
        match self.link.start_send(Outgoing::batch(&responses)) {
            Err(LinkError::Refused { .. }) => {
                // One by one they may be small enough.
                for response in responses {
                    self.push(Some(Command::Send(response)));
                }
                Ok(())
            }
            sent => sent,
        }
    }

    fn abandon(
        &mut self,
        id: RequestId,
        method: &Name,
        notes: &Extensions,
        reason: Option<&str>,
    ) -> Result<(), LinkError> {
        let notice = self.protocol.abandon_noted(&id, method, notes, reason);
        match self.link.abandon(&id, notice) {
            // The peer isn't told, then.
            Err(LinkError::Refused { .. }) => Ok(()),
            told => told,
        }
    }
}

impl<L, P, S> Drop for Driver<L, P, S> {
    fn drop(&mut self) {
        self.exchanges.clear();
        self.shared.end(LinkError::Closed);
    }
}

impl<L: fmt::Debug, P: fmt::Debug, S> fmt::Debug for Driver<L, P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver")
            .field("link", &self.link)
            .field("protocol", &self.protocol)
            .field("exchanges", &self.exchanges.len())
            .field("received_all", &self.received_all)
            .finish_non_exhaustive()
    }
}
