use std::collections::HashMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use super::Peer;
use super::exchange::{Exchange, ExchangeSink, Exchanges};
use super::protocol::{Arrival, Event, NotificationVerdict, Protocol, RequestVerdict};
use super::shared::{Command, Shared};
use crate::link::v1::{Incoming, Link, LinkError};
use crate::service::v1::{AskError, BoxFuture, Call, Inbound, PeerOutlet, Replies, Reply, Service};
use crate::{
    ErrorObject, Extensions, Fault, FaultKind, Message, Name, Notification, Outgoing, Request,
    RequestId, Response,
};

/// Messages that are handled before other tasks get their turn.
const BUDGET: usize = 128;

/// What one [`Driver`] may hold.
#[derive(Clone)]
#[non_exhaustive]
pub struct DriverConfig {
    /// Exchanges of the peer that are open at once; 256 by default. A request beyond them is
    /// answered by [`Protocol::overloaded`], a notification beyond them is dropped.
    pub max_exchanges: usize,
    /// Requests of ours that wait for a response; 1024 by default. One more fails with
    /// [`AskError::TooMany`].
    pub max_pending: usize,
    /// Messages that wait to be sent; 256 by default. Who sends more waits, and nothing more
    /// is received while more than twice as many wait, since then the peer doesn't read.
    pub max_queued: usize,
    /// Bytes that wait to be sent; 4 MiB by default, exceeded by one message at most.
    pub max_queued_bytes: usize,
    /// Bounds how long exchanges go on after the peer has closed its side: they are dropped
    /// when this future is ready. `None`, the default, waits for all of them.
    pub drain: Option<Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>>,
}

impl DriverConfig {
    /// The defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            max_exchanges: 256,
            max_pending: 1024,
            max_queued: 256,
            max_queued_bytes: 4 * 1024 * 1024,
            drain: None,
        }
    }

    /// Sets [`drain`](Self::drain).
    #[must_use]
    pub fn with_drain(
        mut self,
        limit: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        self.drain = Some(Arc::new(limit));
        self
    }
}

impl Default for DriverConfig {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for DriverConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DriverConfig")
            .field("max_exchanges", &self.max_exchanges)
            .field("max_pending", &self.max_pending)
            .field("max_queued", &self.max_queued)
            .field("max_queued_bytes", &self.max_queued_bytes)
            .finish_non_exhaustive()
    }
}

/// Drives one peer: receives, asks the [`Protocol`], calls the [`Service`], sends.
///
/// Dropping it drops the link and every open exchange, and fails every call that waits.
pub struct Driver<L, P, S> {
    link: L,
    protocol: P,
    service: Arc<S>,
    config: DriverConfig,
    shared: Arc<Shared>,
    exchanges: Exchanges,
    batches: HashMap<u64, Batch>,
    next_batch: u64,
    /// Why nothing more comes in.
    received_all: Option<LinkError>,
    drain: Option<BoxFuture<'static, ()>>,
}

/// A batch whose responses are being gathered.
#[derive(Default)]
struct Batch {
    open: usize,
    responses: Vec<Outgoing>,
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
        let shared =
            Arc::new(Shared::new(config.max_pending, config.max_queued, config.max_queued_bytes));
        let peer = Peer { shared: Arc::clone(&shared) };
        let driver = Self {
            link,
            protocol: protocol(PeerOutlet::new(Arc::new(peer.clone()))),
            service: Arc::new(service),
            config,
            shared,
            exchanges: Exchanges::new(),
            batches: HashMap::new(),
            next_batch: 0,
            received_all: None,
            drain: None,
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
        poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<LinkError> {
        let closing = self.shared.register_driver(cx.waker());
        self.exchanges.register_driver(cx.waker());
        let mut budget = BUDGET;
        loop {
            let mut busy = self.receive(cx, &mut budget);
            busy |= self.poll_exchanges();
            match self.send(cx) {
                Ok(sent) => busy |= sent,
                Err(cause) => return Poll::Ready(self.end(cause)),
            }
            if !busy {
                break;
            }
            if budget == 0 {
                cx.waker().wake_by_ref();
                break;
            }
        }
        if let Poll::Ready(Err(cause)) = self.link.poll_flush(cx) {
            return Poll::Ready(self.end(cause));
        }
        let over = match &self.received_all {
            // The medium is broken: nobody can be answered.
            Some(cause) if !cause.is_closed() => return Poll::Ready(self.end(cause.clone())),
            Some(_) => self.drained(cx),
            None => closing,
        };
        if over && self.shared.queued() == 0 {
            let closed = ready!(self.link.poll_close(cx));
            let cause = closed.err().or(self.received_all.take()).unwrap_or(LinkError::Closed);
            return Poll::Ready(self.end(cause));
        }
        Poll::Pending
    }

    /// Whether every exchange is over, or out of time.
    fn drained(&mut self, cx: &mut Context<'_>) -> bool {
        if self.exchanges.len() == 0 {
            return true;
        }
        if let Some(limit) = &mut self.drain
            && limit.as_mut().poll(cx).is_ready()
        {
            self.exchanges.clear();
            return true;
        }
        false
    }

    fn end(&mut self, cause: LinkError) -> LinkError {
        self.exchanges.clear();
        self.shared.end(cause.clone());
        cause
    }

    fn receive(&mut self, cx: &mut Context<'_>, budget: &mut usize) -> bool {
        let mut busy = false;
        while *budget > 0
            && self.received_all.is_none()
            && self.shared.queued() <= 2 * self.config.max_queued
        {
            let Poll::Ready(incoming) = self.link.poll_recv(cx) else { break };
            busy = true;
            *budget -= 1;
            match incoming {
                Ok(Incoming::Message(message, _)) => {
                    self.message(message, None);
                }
                Ok(Incoming::Batch(messages)) => self.batch(messages),
                Ok(Incoming::Malformed(fault)) => {
                    if let Some(answer) = self.protocol.malformed(&fault) {
                        self.shared.push_response(answer);
                    }
                    // A response that can't be read still ends the call that waits for it.
                    self.fail_by_fault(&fault);
                }
                Ok(Incoming::StreamEnded { id, cause }) => {
                    self.shared.complete(&id, Err(AskError::Link(cause)));
                }
                Err(cause) => {
                    self.protocol.observe(&Event::Ended { cause: &cause });
                    self.shared.fail_pending(&cause);
                    self.drain = self.config.drain.as_ref().map(|limit| limit());
                    self.received_all = Some(cause);
                }
            }
        }
        busy
    }

    fn fail_by_fault(&self, fault: &Fault) {
        if fault.response
            && let Some(id) = &fault.id
        {
            self.shared.complete(id, Err(AskError::Malformed(fault.kind)));
        }
    }

    /// Answers whether an exchange was opened that is still open, as a member of `batch`.
    fn message(&mut self, message: Message, batch: Option<u64>) {
        let arrival = Arrival { in_batch: batch.is_some() };
        match message {
            Message::Request(request) => self.request(request, arrival, batch),
            Message::Notification(notification) => self.notification(notification, arrival),
            Message::Response(response) => self.response(response),
        }
    }

    fn request(&mut self, request: Request, arrival: Arrival, batch: Option<u64>) {
        let refusal = if self.exchanges.contains(&request.id) {
            ErrorObject::invalid_request("a request with this id is being served")
        } else if self.exchanges.len() >= self.config.max_exchanges {
            self.protocol.overloaded()
        } else {
            match self.protocol.request(&request, arrival) {
                RequestVerdict::Serve(extensions) => {
                    let exchange = Exchange {
                        id: Some(request.id.clone()),
                        method: request.method.clone(),
                        sink: Arc::new(ExchangeSink::new(Arc::clone(&self.shared))),
                        batch,
                    };
                    let inbound = Inbound::new(Call::Request(request)).with_extensions(extensions);
                    return self.start(exchange, inbound);
                }
                RequestVerdict::Refuse(error) => error,
            }
        };
        self.respond(batch, Outgoing::error(Some(request.id), &refusal));
    }

    fn notification(&mut self, notification: Notification, arrival: Arrival) {
        match self.protocol.notification(&notification, arrival) {
            NotificationVerdict::Serve(_) if self.exchanges.len() >= self.config.max_exchanges => {
                let event = Event::NotificationDropped { method: &notification.method };
                self.protocol.observe(&event);
            }
            NotificationVerdict::Serve(extensions) => {
                let exchange = Exchange {
                    id: None,
                    method: notification.method.clone(),
                    sink: Arc::new(ExchangeSink::new(Arc::clone(&self.shared))),
                    batch: None,
                };
                let inbound =
                    Inbound::new(Call::Notification(notification)).with_extensions(extensions);
                self.start(exchange, inbound);
            }
            NotificationVerdict::Cancel { id } => {
                if let Some(exchange) = self.exchanges.cancel(&id) {
                    self.protocol.observe(&Event::Canceled { id: &id });
                    self.close_member(exchange.batch, None);
                }
            }
            NotificationVerdict::Drop => {}
        }
    }

    fn response(&mut self, response: Response) {
        let known = match response.id.clone() {
            Some(id) => self.shared.complete(&id, Ok(response.clone())),
            None => false,
        };
        if !known {
            self.protocol.observe(&Event::UnknownResponse { id: response.id.as_ref() });
        }
    }

    fn batch(&mut self, messages: Vec<Result<Message, Fault>>) {
        if !self.protocol.batches() {
            let fault = Fault::new(FaultKind::NoBatches);
            if let Some(answer) = self.protocol.malformed(&fault) {
                self.shared.push_response(answer);
            }
            return;
        }
        self.next_batch += 1;
        let number = self.next_batch;
        // One more than there are members, so that it isn't complete before all were read.
        self.batches.insert(number, Batch { open: 1, responses: Vec::new() });
        for message in messages {
            match message {
                Ok(message) => {
                    if matches!(message, Message::Request(_))
                        && let Some(batch) = self.batches.get_mut(&number)
                    {
                        batch.open += 1;
                    }
                    self.message(message, Some(number));
                }
                Err(fault) => {
                    self.fail_by_fault(&fault);
                    if let Some(answer) = self.protocol.malformed(&fault)
                        && let Some(batch) = self.batches.get_mut(&number)
                    {
                        batch.responses.push(answer);
                    }
                }
            }
        }
        self.close_member(Some(number), None);
    }

    fn start(&mut self, exchange: Exchange, inbound: Inbound) {
        let service = Arc::clone(&self.service);
        let replies = Replies::new(Arc::<ExchangeSink>::clone(&exchange.sink));
        let future = Box::pin(async move { service.call(inbound, replies).await });
        if let Some((exchange, reply)) = self.exchanges.start(exchange, future) {
            self.over(&exchange, reply);
        }
    }

    fn poll_exchanges(&mut self) -> bool {
        let mut over = Vec::new();
        let busy = self.exchanges.poll_woken(|exchange, reply| over.push((exchange, reply)));
        for (exchange, reply) in over {
            self.over(&exchange, reply);
        }
        busy
    }

    fn over(&mut self, exchange: &Exchange, reply: Reply) {
        exchange.sink.end();
        let Some(id) = &exchange.id else { return };
        self.protocol.answered(id, &exchange.method, &reply);
        match reply {
            Reply::Response(response) => self.respond(exchange.batch, response),
            Reply::Silent => self.close_member(exchange.batch, None),
        }
    }

    fn respond(&mut self, batch: Option<u64>, response: Outgoing) {
        match batch {
            None => self.shared.push_response(response),
            Some(_) => self.close_member(batch, Some(response)),
        }
    }

    /// One member of the batch is done; the last one sends the array.
    fn close_member(&mut self, number: Option<u64>, response: Option<Outgoing>) {
        let Some(number) = number else { return };
        let Some(batch) = self.batches.get_mut(&number) else { return };
        batch.responses.extend(response);
        batch.open = batch.open.saturating_sub(1);
        if batch.open == 0
            && let Some(batch) = self.batches.remove(&number)
            && !batch.responses.is_empty()
        {
            self.shared.push_response(Outgoing::batch(&batch.responses));
        }
    }

    fn send(&mut self, cx: &mut Context<'_>) -> Result<bool, LinkError> {
        let mut busy = false;
        while self.shared.queued() > 0 {
            match self.link.poll_ready(cx) {
                Poll::Ready(ready) => ready?,
                Poll::Pending => break,
            }
            let sent = match self.shared.pop() {
                Some(Command::Send(message)) => self.send_one(message),
                Some(Command::Abandon { id, method, notes, reason }) => {
                    self.abandon(id, &method, &notes, reason.as_deref())
                }
                None => break,
            };
            sent?;
            busy = true;
        }
        Ok(busy)
    }

    fn send_one(&mut self, message: Outgoing) -> Result<(), LinkError> {
        let head = message.head().clone();
        match self.link.start_send(message) {
            // Only this message is lost. Whoever waits for it has to know.
            Err(LinkError::Refused { reason }) => {
                match head {
                    crate::Head::Request { id, .. } => {
                        let cause = LinkError::Refused { reason };
                        self.shared.complete(&id, Err(AskError::Link(cause)));
                    }
                    crate::Head::Result { id } => {
                        let error = ErrorObject::internal(reason);
                        self.link.start_send(Outgoing::error(Some(id), &error))?;
                    }
                    _ => {}
                }
                Ok(())
            }
            sent => sent,
        }
    }

    fn abandon(
        &mut self,
        id: i64,
        method: &Name,
        notes: &Extensions,
        reason: Option<&str>,
    ) -> Result<(), LinkError> {
        let id = RequestId::from(id);
        let notice = self.protocol.abandon_noted(&id, method, notes, reason);
        self.link.abandon(&id, notice)
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
