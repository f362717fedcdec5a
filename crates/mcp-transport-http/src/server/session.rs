//! What is remembered of a client between its requests.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use mcp_jsonrpc::link::v1::LinkError;
use mcp_jsonrpc::peer::{Arrival, NotificationVerdict, Protocol, RequestVerdict};
use mcp_jsonrpc::service::v1::{
    Ask, AskError, CancelSignal, PeerOutlet, Reply, SendError, TrySendError,
};
use mcp_jsonrpc::{
    Extensions, FaultKind, Head, Name, Notification, Outgoing, RawJson, Request, RequestId,
    Response,
};
use mcp_lifecycle::{Phase, Profile, ServerSession};
use mcp_types::Revision;

use super::asks::{ExchangeTag, Slot, Start};

use super::config::Limits;
use super::core::Core;
use super::exchange::{Exchange, remember};
use super::outlet::SessionOutlet;
use super::post::INITIALIZE;
use crate::SessionId;
use crate::v1::{Principal, SessionRecord};

/// How many GET streams without a connection are remembered, so that they go on where they
/// were.
const PARTED: usize = 8;

/// How often a store is told that a session is in use, in milliseconds.
const STORE_TOUCH: u64 = 30_000;

pub(super) struct Session {
    pub(super) core: Arc<Core>,
    pub(super) id: SessionId,
    /// Marks the event ids of this session.
    pub(super) tag: u32,
    pub(super) principal: Option<Principal>,
    /// The protocol's rules. Set right after the session was made, since they hold a way back
    /// to it.
    gate: OnceLock<Mutex<ServerSession>>,
    /// Given once the client has said that it is ready, or the session is over.
    ready: CancelSignal,
    /// When a request last came, in milliseconds of the core's clock.
    seen: AtomicU64,
    /// When the store was last told that the session is in use.
    told: AtomicU64,
    /// The key of its entry in the queue of the table; written under the queue's lock.
    queued: (AtomicU64, AtomicU64),
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    closed: bool,
    /// GET streams were ended by the server's shutdown.
    leaving: bool,
    exchanges: Vec<Arc<Exchange>>,
    next_stream: u64,
    /// The open GET streams, oldest first.
    listeners: Vec<Listener>,
    /// Most sessions never have any, and there may be many thousands of them.
    mail: Option<Box<Mail>>,
    asks: BTreeMap<i64, Slot>,
    next_ask: i64,
}

/// What is sent outside of exchanges.
#[derive(Default)]
struct Mail {
    /// GET streams whose connection is gone.
    parted: VecDeque<Parted>,
    /// Messages for the newest GET stream.
    queue: VecDeque<Bytes>,
    bytes: usize,
    /// Who waits for room in the queue, or for a GET stream.
    room: Vec<Waker>,
}

struct Listener {
    stream: u64,
    /// Tells apart two connections of the same stream.
    serial: u64,
    /// The number of the last message that was given out.
    last: u64,
    waker: Option<Waker>,
}

/// Where a GET stream was when its connection went.
#[derive(Clone, Copy, Debug)]
struct Parted {
    stream: u64,
    last: u64,
}

/// Why an exchange can't begin.
pub(super) enum Unfit {
    Closed,
    Duplicate,
    Full,
}

/// What a GET stream is to do.
pub(super) enum Listened {
    /// The next message, and its number in the stream.
    Message(u64, Bytes),
    /// Another connection took its place, or the session is over.
    End,
    /// The server lets its connections go; the client may come back.
    Leave,
}

impl Session {
    /// Makes a session; `gate` is made with a way to the peer.
    pub(super) fn new(
        core: Arc<Core>,
        id: SessionId,
        tag: u32,
        principal: Option<Principal>,
    ) -> Arc<Self> {
        let now = core.now();
        let seen = AtomicU64::new(now);
        Arc::new(Self {
            core,
            id,
            tag,
            principal,
            gate: OnceLock::new(),
            ready: CancelSignal::new(),
            seen,
            told: AtomicU64::new(now),
            queued: (AtomicU64::new(0), AtomicU64::new(0)),
            state: Mutex::new(State { next_stream: 1, next_ask: 1, ..State::default() }),
        })
    }

    /// Takes a session up again, as far as what was negotiated; `None` when this server
    /// would not have opened it.
    ///
    /// Its streams get numbers that no earlier life of the session can have given.
    pub(super) fn revive(core: &Arc<Core>, record: SessionRecord) -> Option<Arc<Self>> {
        let mut random = [0; 4];
        core.ids.fill(&mut random).ok()?;
        let session = Self::new(Arc::clone(core), record.id, record.tag, record.principal);
        session.lock().next_stream = u64::from(u32::from_le_bytes(random)) << 24 | 1;
        session.open(core.service.profile());
        let id = RequestId::from(0);
        let method = Name::from_static(INITIALIZE);
        let params = RawJson::new(record.initialize).ok()?;
        let request = Request::new(id.clone(), method.clone(), Some(params));
        let served = session.with_gate(|gate| {
            let verdict = gate.request(&request, Arrival::default());
            let answer = Reply::Response(Outgoing::result_raw(id.clone(), b"{}"));
            gate.answered(&id, &method, &answer);
            let ready = Notification::new("notifications/initialized", None);
            gate.notification(&ready, Arrival::default());
            matches!(verdict, RequestVerdict::Serve(_))
        });
        served.unwrap_or_default().then_some(session)
    }

    /// Whether it is time to tell the store that this session is in use.
    pub(super) fn is_store_touch_due(&self) -> bool {
        let now = self.core.now();
        let told = self.told.load(Ordering::Relaxed);
        // Two requests at once may both tell; that does no harm.
        let due = STORE_TOUCH <= now.saturating_sub(told);
        if due {
            self.told.store(now, Ordering::Relaxed);
        }
        due
    }

    /// A way to the client outside of its requests, where it may open streams.
    pub(super) fn outlet(self: &Arc<Self>) -> Option<PeerOutlet> {
        let listen = self.core.config.listen;
        listen.then(|| PeerOutlet::new(Arc::new(SessionOutlet(Arc::downgrade(self)))))
    }

    /// Sets the rules, from what the server offers.
    pub(super) fn open(self: &Arc<Self>, profile: Arc<Profile>) {
        let id = Some(self.id.to_arc());
        let gate = ServerSession::new(profile, self.outlet(), id, Extensions::new());
        let _ = self.gate.set(Mutex::new(gate));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_gate<T>(&self, use_it: impl FnOnce(&mut ServerSession) -> T) -> Option<T> {
        let gate = self.gate.get()?;
        let mut gate = gate.lock().unwrap_or_else(PoisonError::into_inner);
        let result = use_it(&mut gate);
        let ready = matches!(gate.phase(), Phase::Initialized | Phase::Closed);
        drop(gate);
        if ready && !self.ready.is_given() {
            self.ready.give();
        }
        Some(result)
    }

    /// Waits for `notifications/initialized`, for [`Times::ready`](super::Times::ready) at
    /// most: it comes on a connection of its own, and a request may overtake it.
    pub(super) async fn wait_until_ready(&self) {
        if !self.ready.is_given() {
            let limit = self.core.config.times.ready;
            // If it doesn't come, the protocol's rules say so.
            let _ = tokio::time::timeout(limit, self.ready.given()).await;
        }
    }

    pub(super) fn request(&self, request: &Request, arrival: Arrival) -> Option<RequestVerdict> {
        self.with_gate(|gate| gate.request(request, arrival))
    }

    pub(super) fn notification(
        &self,
        notification: &Notification,
        arrival: Arrival,
    ) -> Option<NotificationVerdict> {
        self.with_gate(|gate| gate.notification(notification, arrival))
    }

    pub(super) fn answered(&self, id: &RequestId, method: &Name, reply: &Reply) {
        self.with_gate(|gate| gate.answered(id, method, reply));
        if method == INITIALIZE
            && let Reply::Response(response) = reply
            && !matches!(response.head(), Head::Result { .. })
        {
            // The handshake failed after the answer had begun.
            self.core.table.remove(&self.id);
            if let Some(store) = &self.core.store {
                self.core.settle(store.remove(&self.id));
            }
        }
    }

    pub(super) fn abandon(&self, id: &RequestId, ask: &Ask) -> Option<Outgoing> {
        self.with_gate(|gate| gate.abandon_noted(id, &ask.method, &ask.notes, None)).flatten()
    }

    pub(super) fn revision(&self) -> Option<Revision> {
        self.with_gate(|gate| gate.revision()).flatten()
    }

    // --- Life ---

    /// A sign of life from the client.
    pub(super) fn touch(&self) {
        self.seen.store(self.core.now(), Ordering::Relaxed);
    }

    /// When the last sign of life came; `None` while an exchange runs.
    pub(super) fn idle_since(&self) -> Option<u64> {
        let busy = !self.lock().exchanges.is_empty();
        (!busy).then(|| self.seen.load(Ordering::Relaxed))
    }

    pub(super) fn queued(&self) -> (u64, u64) {
        (self.queued.0.load(Ordering::Relaxed), self.queued.1.load(Ordering::Relaxed))
    }

    pub(super) fn set_queued(&self, key: (u64, u64)) {
        self.queued.0.store(key.0, Ordering::Relaxed);
        self.queued.1.store(key.1, Ordering::Relaxed);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Ends the session: its exchanges, its streams, its requests.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        if mem::replace(&mut state.closed, true) {
            return;
        }
        let exchanges = mem::take(&mut state.exchanges);
        let listeners = mem::take(&mut state.listeners);
        let mail = state.mail.take();
        for slot in state.asks.values_mut() {
            slot.finish(Err(AskError::Link(LinkError::Closed)));
        }
        drop(state);
        self.with_gate(ServerSession::close);
        exchanges.iter().for_each(|exchange| exchange.cancel());
        listeners
            .into_iter()
            .filter_map(|listener| listener.waker)
            .chain(mail.into_iter().flat_map(|mail| mail.room))
            .for_each(Waker::wake);
        // With a store the session may go on elsewhere, and its events with it.
        if self.core.store.is_none() {
            self.forget_events();
        }
    }

    /// Drops its events from the log.
    pub(super) fn forget_events(&self) {
        if let Some(log) = &self.core.log {
            self.core.settle(log.forget(&self.id));
        }
    }

    // --- Exchanges ---

    pub(super) fn register(&self, exchange: &Arc<Exchange>) -> Result<(), Unfit> {
        let limit = self.core.config.limits.session_exchanges;
        let mut state = self.lock();
        if state.closed {
            return Err(Unfit::Closed);
        }
        let taken = |id: &RequestId| state.exchanges.iter().any(|other| other.serves(id));
        if exchange.id.iter().chain(exchange.member_ids()).any(taken) {
            return Err(Unfit::Duplicate);
        }
        if limit <= state.exchanges.len() {
            return Err(Unfit::Full);
        }
        state.exchanges.push(Arc::clone(exchange));
        Ok(())
    }

    pub(super) fn unregister(&self, exchange: &Exchange, asked: bool) {
        let tag = ExchangeTag::of(exchange);
        let mut state = self.lock();
        let at = state.exchanges.iter().position(|other| std::ptr::eq(&**other, exchange));
        let gone = at.map(|at| state.exchanges.swap_remove(at));
        if state.exchanges.is_empty() {
            state.exchanges = Vec::new();
        }
        if asked {
            for slot in state.asks.values_mut().filter(|slot| slot.belongs_to(tag)) {
                slot.finish(Err(AskError::Over));
            }
        }
        drop(state);
        drop(gone);
        self.touch();
    }

    /// The client cancels its request `id`. One that is unknown has been answered already.
    pub(super) fn cancel(&self, id: &RequestId) {
        let exchanges = self.lock().exchanges.clone();
        for exchange in exchanges {
            if exchange.id.as_ref() == Some(id) {
                exchange.cancel();
            } else {
                exchange.cancel_member(id);
            }
        }
    }

    pub(super) fn exchange_of_stream(&self, stream: u64) -> Option<Arc<Exchange>> {
        let exchanges = self.lock().exchanges.clone();
        exchanges.into_iter().find(|exchange| exchange.stream() == Some(stream))
    }

    /// A number for a new stream.
    pub(super) fn next_stream(&self) -> u64 {
        let mut state = self.lock();
        let number = state.next_stream;
        state.next_stream += 1;
        number
    }

    /// Whether a stream of this number was ever begun.
    pub(super) fn had_stream(&self, stream: u64) -> bool {
        (1..self.lock().next_stream).contains(&stream)
    }

    // --- Streams of the session ---

    /// Opens a GET stream behind message `last`. When there are too many, the oldest ends.
    ///
    /// Answers with the connection's serial; `None` when the session is over.
    pub(super) fn listen(&self, stream: u64, last: u64) -> Option<u64> {
        let limit = self.core.config.limits.session_streams.max(1);
        let mut state = self.lock();
        if state.closed {
            return None;
        }
        let mut gone = Vec::new();
        if let Some(at) = state.listeners.iter().position(|other| other.stream == stream) {
            gone.push(state.listeners.remove(at));
        }
        while limit <= state.listeners.len() {
            let oldest = state.listeners.remove(0);
            state.remember_parted(oldest.stream, oldest.last);
            gone.push(oldest);
        }
        let mut room = Vec::new();
        if let Some(mail) = &mut state.mail {
            mail.parted.retain(|parted| parted.stream != stream);
            room = mem::take(&mut mail.room);
        }
        let serial = self.core.serial();
        state.listeners.push(Listener { stream, serial, last, waker: None });
        drop(state);
        gone.into_iter().filter_map(|listener| listener.waker).chain(room).for_each(Waker::wake);
        Some(serial)
    }

    /// Takes a GET stream away from its connection, if it has one; answers with the number
    /// of its last message. `None` when this is no GET stream, or one long gone.
    pub(super) fn displace(&self, stream: u64) -> Option<u64> {
        let mut state = self.lock();
        let at = state.listeners.iter().position(|other| other.stream == stream);
        let Some(listener) = at.map(|at| state.listeners.remove(at)) else {
            let mut parted = state.mail.iter().flat_map(|mail| &mail.parted);
            return parted.find(|parted| parted.stream == stream).map(|parted| parted.last);
        };
        state.remember_parted(stream, listener.last);
        drop(state);
        listener.waker.into_iter().for_each(Waker::wake);
        Some(listener.last)
    }

    /// The next message for the GET stream `serial`: only the newest stream gets any.
    pub(super) fn poll_message(&self, serial: u64, cx: &mut Context<'_>) -> Poll<Listened> {
        let limits = &self.core.config.limits;
        let mut state = self.lock();
        let leaving = state.leaving && !state.closed;
        let State { listeners, mail, .. } = &mut *state;
        let count = listeners.len();
        let found = listeners.iter_mut().enumerate().find(|(_, other)| other.serial == serial);
        let Some((at, listener)) = found else {
            return Poll::Ready(if leaving { Listened::Leave } else { Listened::End });
        };
        if at + 1 == count
            && let Some(mail) = mail
            && let Some(message) = mail.queue.pop_front()
        {
            listener.last += 1;
            mail.bytes -= message.len();
            if mail.queue.is_empty() {
                mail.queue = VecDeque::new();
            }
            if !mail.is_full(limits) {
                mail.room.drain(..).for_each(Waker::wake);
            }
            return Poll::Ready(Listened::Message(listener.last, message));
        }
        listener.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// The connection `serial` of a GET stream is gone.
    pub(super) fn part(&self, serial: u64) {
        let mut state = self.lock();
        let at = state.listeners.iter().position(|listener| listener.serial == serial);
        let Some(gone) = at.map(|at| state.listeners.remove(at)) else { return };
        state.remember_parted(gone.stream, gone.last);
        let next = state.listeners.last_mut().and_then(|listener| listener.waker.take());
        drop(state);
        next.into_iter().for_each(Waker::wake);
    }

    /// Ends all GET streams; they can be resumed.
    pub(super) fn end_listeners(&self) {
        let mut state = self.lock();
        state.leaving = true;
        let gone = mem::take(&mut state.listeners);
        for listener in &gone {
            state.remember_parted(listener.stream, listener.last);
        }
        drop(state);
        gone.into_iter().filter_map(|listener| listener.waker).for_each(Waker::wake);
    }

    /// Queues a message that belongs to no exchange.
    pub(super) fn push(&self, message: Bytes) -> Result<(), TrySendError> {
        let limits = &self.core.config.limits;
        let mut state = self.lock();
        if state.closed {
            return Err(TrySendError::Closed);
        }
        if state.is_full(limits) {
            return Err(TrySendError::Full);
        }
        state.push(message);
        Ok(())
    }

    pub(super) fn poll_push(
        &self,
        cx: &mut Context<'_>,
        message: &mut Option<Outgoing>,
    ) -> Poll<Result<(), SendError>> {
        let limits = &self.core.config.limits;
        let mut state = self.lock();
        if state.closed {
            return Poll::Ready(Err(SendError::default()));
        }
        if state.is_full(limits) {
            remember(&mut state.mail().room, cx.waker());
            return Poll::Pending;
        }
        if let Some(message) = message.take() {
            state.push(message.into_frame());
        }
        Poll::Ready(Ok(()))
    }

    // --- Requests of ours ---

    /// Takes note of a request that is about to be sent.
    pub(super) fn open_ask(&self, exchange: Option<ExchangeTag>) -> Result<i64, AskError> {
        self.lock().open_ask(self.core.config.limits.session_asks, exchange)
    }

    /// Sends a request on the session's own stream, if one is open and has room.
    pub(super) fn start_ask(
        &self,
        cx: &mut Context<'_>,
        frame: impl FnOnce(i64) -> Bytes,
    ) -> Result<Start, AskError> {
        let limits = &self.core.config.limits;
        let mut state = self.lock();
        let listening = !state.listeners.is_empty();
        let full = state.is_full(limits);
        if !state.closed && (!listening || full) {
            remember(&mut state.mail().room, cx.waker());
            return Ok(Start::NotYet { listening });
        }
        let id = state.open_ask(limits.session_asks, None)?;
        state.push(frame(id));
        Ok(Start::Sent(id))
    }

    pub(super) fn poll_ask(
        &self,
        id: i64,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Response, AskError>> {
        let mut state = self.lock();
        if let Some(Slot::Waiting { waker, .. }) = state.asks.get_mut(&id) {
            *waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(match state.asks.remove(&id) {
            Some(Slot::Done(outcome)) => outcome,
            Some(Slot::Waiting { .. }) | None => Err(AskError::Over),
        })
    }

    /// Forgets a request; answers whether it was still waiting.
    pub(super) fn close_ask(&self, id: i64) -> bool {
        matches!(self.lock().asks.remove(&id), Some(Slot::Waiting { .. }))
    }

    /// A response came that can't be read.
    pub(super) fn fail_ask(&self, id: &RequestId, kind: FaultKind) {
        if let Some(id) = id.as_i64()
            && let Some(slot) = self.lock().asks.get_mut(&id)
        {
            slot.finish(Err(AskError::Malformed(kind)));
        }
    }

    /// Hands a response to whoever waits for it; `false` when nobody does.
    pub(super) fn answer(&self, response: Response) -> bool {
        let Some(id) = response.id.as_ref().and_then(RequestId::as_i64) else { return false };
        match self.lock().asks.get_mut(&id) {
            Some(slot @ Slot::Waiting { .. }) => {
                slot.finish(Ok(response));
                true
            }
            Some(Slot::Done(_)) | None => false,
        }
    }
}

impl Mail {
    fn is_full(&self, limits: &Limits) -> bool {
        limits.queued <= self.queue.len() || limits.queued_bytes <= self.bytes
    }
}

impl State {
    fn mail(&mut self) -> &mut Mail {
        self.mail.get_or_insert_default()
    }

    /// Whether the queue takes no more.
    fn is_full(&self, limits: &Limits) -> bool {
        match &self.mail {
            Some(mail) => mail.is_full(limits),
            None => limits.queued == 0 || limits.queued_bytes == 0,
        }
    }

    fn remember_parted(&mut self, stream: u64, last: u64) {
        let parted = &mut self.mail().parted;
        if PARTED <= parted.len() {
            parted.pop_front();
        }
        parted.push_back(Parted { stream, last });
    }

    fn push(&mut self, message: Bytes) {
        let mail = self.mail();
        mail.bytes += message.len();
        mail.queue.push_back(message);
        if let Some(waker) = self.listeners.last_mut().and_then(|newest| newest.waker.take()) {
            waker.wake();
        }
    }

    fn open_ask(&mut self, limit: usize, exchange: Option<ExchangeTag>) -> Result<i64, AskError> {
        if self.closed {
            return Err(AskError::Link(LinkError::Closed));
        }
        if limit <= self.asks.len() {
            return Err(AskError::TooMany { limit });
        }
        let id = self.next_ask;
        self.next_ask += 1;
        self.asks.insert(id, Slot::Waiting { exchange, waker: None });
        Ok(id)
    }
}

impl Slot {
    fn belongs_to(&self, tag: ExchangeTag) -> bool {
        matches!(self, Self::Waiting { exchange: Some(own), .. } if *own == tag)
    }

    /// Ends the wait, if it hasn't ended.
    fn finish(&mut self, outcome: Result<Response, AskError>) {
        if let Self::Waiting { waker, .. } = self {
            let waker = waker.take();
            *self = Self::Done(outcome);
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("tag", &self.tag).finish_non_exhaustive()
    }
}
