//! One exchange: a request, the future that answers it, and what it emits on the way.
//!
//! Whoever has the connection drives the exchange: the request's own task while its answer
//! is undecided, then the body of the answer. When the connection is lost, the pump (the
//! future and what it left) moves to a task of its own and goes on into the event log.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};
use mcp_jsonrpc::service::v1::{BoxFuture, CancelSignal, Reply};
use mcp_jsonrpc::{ErrorObject, Name, RequestId};

use super::batch::Member;
use super::core::{Core, Permit};
use super::event_id::EventId;
use super::session::Session;
use crate::sse::EventText;
use crate::v1::{LogError, Step, StreamKey};

mod events;
mod replies;
pub(super) use self::events::{write_event, write_retry};

/// An event stream is handed out in pieces of about this many bytes.
const PIECE: usize = 64 << 10;

/// What the call and the connection share.
pub(super) struct Exchange {
    pub(super) core: Arc<Core>,
    pub(super) session: Option<Arc<Session>>,
    /// Of the request; of a batch, none.
    pub(super) id: Option<RequestId>,
    pub(super) method: Name,
    /// The requests of a batch.
    members: Vec<Arc<Member>>,
    /// Given when the peer cancels the exchange.
    canceled: CancelSignal,
    state: Mutex<State>,
    /// Here while a connection drives the exchange; gone once it is over or detached.
    pump: Mutex<Option<Pump>>,
}

#[derive(Default)]
struct State {
    /// What was emitted and not yet taken by the pump.
    outbox: VecDeque<Bytes>,
    outbox_bytes: usize,
    /// Who waits for room in the outbox.
    room: Vec<Waker>,
    hearing: Hearing,
    /// Nothing more is taken.
    over: bool,
    /// Whether a request of ours went out on behalf of this exchange.
    asked: bool,
    /// Whoever drives the exchange, while it waits.
    driver: Option<Waker>,
    /// The stream's number, once the answer is one.
    stream: Option<u64>,
    /// The last event that is in the log.
    logged: u64,
    /// No more events come.
    complete: bool,
    /// Readers that follow the log.
    readers: Vec<Waker>,
    /// The connection is to be let go, though the exchange goes on.
    suspend: bool,
}

/// Whether somebody will read what is emitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Hearing {
    /// On a stream, or on one that begins when something is emitted.
    #[default]
    Stream,
    /// Nobody: the answer is one JSON body, or the connection went before it began.
    Nobody,
}

/// The call and what it left; owned by whoever drives the exchange.
pub(super) struct Pump {
    call: Option<BoxFuture<'static, Reply>>,
    reply: Option<Reply>,
    /// Taken from the outbox, not yet on the stream.
    taken: VecDeque<Bytes>,
    /// An event that the log has not confirmed.
    append: Option<Append>,
    next: u64,
    _permit: Permit,
}

struct Append {
    step: Step<Result<(), LogError>>,
    event: u64,
    data: Bytes,
    last: bool,
}

/// What came first.
pub(super) enum First {
    /// The response, before anything else.
    Reply(Reply),
    /// Something else, or nothing for a long time.
    Stream,
    /// The exchange was ended from outside.
    Ended,
}

impl Exchange {
    pub(super) fn new(
        core: Arc<Core>,
        session: Option<Arc<Session>>,
        id: Option<RequestId>,
        method: Name,
        hearing: Hearing,
    ) -> Self {
        let state = State { hearing, ..State::default() };
        Self {
            core,
            session,
            id,
            method,
            members: Vec::new(),
            canceled: CancelSignal::new(),
            state: Mutex::new(state),
            pump: Mutex::new(None),
        }
    }

    /// Makes this the exchange of a batch.
    pub(super) fn with_members(mut self, members: Vec<Arc<Member>>) -> Self {
        self.members = members;
        self
    }

    pub(super) fn member_ids(&self) -> impl Iterator<Item = &RequestId> {
        self.members.iter().map(|member| &member.id)
    }

    /// Whether the request `id` is being served here.
    pub(super) fn serves(&self, id: &RequestId) -> bool {
        self.id.as_ref() == Some(id) || self.member_ids().any(|member| member == id)
    }

    pub(super) fn cancel_member(&self, id: &RequestId) {
        self.members.iter().filter(|member| member.id == *id).for_each(|member| member.cancel());
    }

    /// Puts the call in. It runs when the exchange is driven.
    pub(super) fn start(&self, call: BoxFuture<'static, Reply>, permit: Permit) {
        *self.pump() = Some(Pump {
            call: Some(call),
            reply: None,
            taken: VecDeque::new(),
            append: None,
            next: 1,
            _permit: permit,
        });
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pump(&self) -> MutexGuard<'_, Option<Pump>> {
        self.pump.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drives the exchange until it is clear what the answer looks like.
    pub(super) fn poll_first(&self, cx: &mut Context<'_>) -> Poll<First> {
        let mut slot = self.pump();
        let Some(pump) = slot.as_mut() else { return Poll::Ready(First::Ended) };
        let emitted = self.poll_call(pump, cx);
        if emitted {
            return Poll::Ready(First::Stream);
        }
        match pump.reply.take() {
            Some(reply) => {
                let pump = slot.take();
                drop(slot);
                drop(pump);
                self.close();
                Poll::Ready(First::Reply(reply))
            }
            None if self.lock().suspend => Poll::Ready(First::Stream),
            None => Poll::Pending,
        }
    }

    /// Makes the answer a stream.
    pub(super) fn begin_stream(&self) {
        let number = self.session.as_ref().map(|session| session.next_stream());
        self.lock().stream = number;
    }

    /// The number of the stream that the answer is, and the last event in the log.
    pub(super) fn stream(&self) -> Option<u64> {
        self.lock().stream
    }

    /// Whether events carry ids: they do where a client may come back for the rest.
    fn has_ids(&self) -> bool {
        self.session.is_some() && self.core.log.is_some()
    }

    fn key(&self, stream: u64) -> Option<StreamKey> {
        self.session.as_ref().map(|session| StreamKey::new(session.id.clone(), stream))
    }

    /// Polls the call, and takes over what it emitted; answers whether there is any.
    fn poll_call(&self, pump: &mut Pump, cx: &mut Context<'_>) -> bool {
        if let Some(call) = &mut pump.call {
            let cancelled = self.canceled.is_given();
            let polled = catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(cx)));
            match polled {
                Ok(Poll::Ready(_)) if cancelled => pump.reply = Some(Reply::Silent),
                Ok(Poll::Ready(reply)) => pump.reply = Some(reply),
                // Polled once more after the cancellation, so that it could clean up.
                Ok(Poll::Pending) if cancelled => pump.reply = Some(Reply::Silent),
                Ok(Poll::Pending) => {}
                Err(_) => pump.reply = Some(self.panicked()),
            }
            if let Some(reply) = &pump.reply {
                pump.call = None;
                if let (Some(session), Some(id), Reply::Response(_)) =
                    (&self.session, &self.id, reply)
                {
                    session.answered(id, &self.method, reply);
                }
            }
        }
        let mut state = self.lock();
        if !state.outbox.is_empty() {
            pump.taken.append(&mut state.outbox);
            state.outbox_bytes = 0;
            state.room.drain(..).for_each(Waker::wake);
        }
        if pump.reply.is_none() {
            if self.canceled.is_given() {
                // It came while the call was being polled.
                cx.waker().wake_by_ref();
            }
            state.driver = Some(cx.waker().clone());
        }
        !pump.taken.is_empty()
    }

    fn panicked(&self) -> Reply {
        tracing::error!(method = %self.method, "a handler panicked");
        match &self.id {
            Some(id) => Reply::error(id, &ErrorObject::internal("the handler panicked")),
            None => Reply::Silent,
        }
    }

    /// Moves events to the log and to `out`, as far as `out` has room. Ready once there are
    /// no more.
    fn poll_events(
        &self,
        pump: &mut Pump,
        cx: &mut Context<'_>,
        mut out: Option<&mut BytesMut>,
    ) -> Poll<()> {
        loop {
            if let Some(mut append) = pump.append.take() {
                match Pin::new(&mut append.step).poll(cx) {
                    Poll::Pending => {
                        pump.append = Some(append);
                        return Poll::Pending;
                    }
                    Poll::Ready(result) => self.appended(append.event, result, append.last),
                }
                if let Some(out) = &mut out {
                    self.write(append.event, &append.data, out);
                }
                if append.last {
                    return Poll::Ready(());
                }
            }
            if out.as_ref().is_some_and(|out| PIECE <= out.len()) {
                return Poll::Pending;
            }
            let (data, last) = match pump.taken.pop_front() {
                Some(data) => (data, false),
                None => match pump.reply.take() {
                    None => return Poll::Pending,
                    Some(Reply::Response(response)) => (response.into_frame(), true),
                    Some(_) => {
                        self.complete();
                        return Poll::Ready(());
                    }
                },
            };
            let event = pump.next;
            pump.next += 1;
            if let (Some(log), Some(stream)) = (&self.core.log, self.stream())
                && let Some(key) = self.key(stream)
            {
                match log.append(&key, event, data.clone()).try_now() {
                    Ok(result) => self.appended(event, result, last),
                    Err(step) => {
                        pump.append = Some(Append { step, event, data, last });
                        continue;
                    }
                }
            }
            if let Some(out) = &mut out {
                self.write(event, &data, out);
            }
            if last {
                self.complete();
                return Poll::Ready(());
            }
        }
    }

    /// The log has answered.
    fn appended(&self, event: u64, result: Result<(), LogError>, last: bool) {
        if let Err(error) = result {
            tracing::warn!(error = &error as &dyn std::error::Error, "an event was not kept");
        }
        let mut state = self.lock();
        state.logged = event;
        state.readers.drain(..).for_each(Waker::wake);
        drop(state);
        if last {
            self.complete();
        }
    }

    /// Marks the stream as complete, in the log too.
    fn complete(&self) {
        let mut state = self.lock();
        if mem::replace(&mut state.complete, true) {
            return;
        }
        let stream = state.stream;
        drop(state);
        if let (Some(log), Some(stream)) = (&self.core.log, stream)
            && let Some(key) = self.key(stream)
        {
            self.core.settle(log.finish(&key));
        }
        self.lock().readers.drain(..).for_each(Waker::wake);
    }

    fn write(&self, event: u64, data: &[u8], out: &mut BytesMut) {
        match self.event_id(event) {
            Some(id) => write_event(id, data, out),
            None => EventText::new(data).write(out),
        }
    }

    fn event_id(&self, event: u64) -> Option<EventId> {
        if !self.has_ids() {
            return None;
        }
        let session = self.session.as_ref()?;
        Some(EventId::new(session.tag, self.stream()?, event))
    }

    /// Writes the event that lets a client resume from before the first one.
    pub(super) fn prime(&self, out: &mut BytesMut) {
        let knows = self
            .session
            .as_ref()
            .and_then(|s| s.revision())
            .is_some_and(|r| r.has_priming_events());
        if let Some(id) = self.event_id(0).filter(|_| knows) {
            write_event(id, b"", out);
        }
    }

    /// Drives the exchange for the connection that its stream goes to.
    pub(super) fn poll_stream(&self, cx: &mut Context<'_>, out: &mut BytesMut) -> Poll<Streamed> {
        let mut slot = self.pump();
        let Some(pump) = slot.as_mut() else { return Poll::Ready(Streamed::Gone) };
        self.poll_call(pump, cx);
        if self.poll_events(pump, cx, Some(out)).is_ready() {
            let pump = slot.take();
            drop(slot);
            drop(pump);
            self.close();
            return Poll::Ready(Streamed::Complete);
        }
        if pump.taken.is_empty() && pump.append.is_none() && mem::take(&mut self.lock().suspend) {
            // The cursor once more, so that the client comes back to right here.
            if let Some(id) = self.event_id(pump.next - 1) {
                write_retry(id, self.core.config.times.retry, out);
            }
            return Poll::Ready(Streamed::Suspended);
        }
        Poll::Pending
    }

    /// The connection is gone. In a session the exchange goes on in a task of its own, else
    /// it is canceled.
    pub(super) fn release(self: &Arc<Self>) {
        let Some(pump) = self.pump().take() else { return };
        let mut state = self.lock();
        if state.stream.is_none() {
            // No client can name this exchange's stream: it has never begun.
            state.hearing = Hearing::Nobody;
            state.outbox.clear();
            state.room.drain(..).for_each(Waker::wake);
        }
        let go_on = self.session.is_some() && !state.over;
        drop(state);
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) if go_on => {
                runtime.spawn(detached(Arc::clone(self), pump));
            }
            Ok(_) | Err(_) => {
                drop(pump);
                self.close();
            }
        }
    }

    /// The peer cancels the exchange.
    pub(super) fn cancel(&self) {
        let room = {
            let mut state = self.lock();
            state.over = true;
            mem::take(&mut state.room)
        };
        self.canceled.give();
        // Looked for after the signal: whoever begins to wait now sees that it was given.
        let driver = self.lock().driver.take();
        room.into_iter().chain(driver).for_each(Waker::wake);
    }

    /// Lets go of the connection though the exchange goes on; the client will come back.
    /// Answers whether that is possible.
    pub(super) fn suspend(&self) -> bool {
        let revision = self.session.as_ref().and_then(|session| session.revision());
        let mut state = self.lock();
        if state.over || !self.has_ids() || !revision.is_some_and(|r| r.may_close_stream_early()) {
            return false;
        }
        state.suspend = true;
        if let Some(driver) = state.driver.take() {
            driver.wake();
        }
        true
    }

    /// Takes the exchange out of the hands of a connection, for a reader that came back.
    pub(super) fn take_over(self: &Arc<Self>) {
        self.release();
        if let Some(driver) = self.lock().driver.take() {
            // The old connection's body: it finds the pump gone, and ends.
            driver.wake();
        }
    }

    /// Waits until the log has more than the first `after` events, or never will.
    pub(super) fn poll_progress(&self, cx: &mut Context<'_>, after: u64) -> Poll<Progress> {
        let mut state = self.lock();
        if after < state.logged {
            return Poll::Ready(Progress::More { logged: state.logged });
        }
        if state.complete {
            return Poll::Ready(Progress::Complete);
        }
        remember(&mut state.readers, cx.waker());
        Poll::Pending
    }

    /// The exchange is over: nothing more is taken, and nobody waits for it.
    fn close(&self) {
        let mut state = self.lock();
        state.over = true;
        let asked = state.asked;
        let State { room, driver, .. } = &mut *state;
        room.drain(..).for_each(Waker::wake);
        *driver = None;
        drop(state);
        self.complete();
        if let Some(session) = &self.session {
            session.unregister(self, asked);
        }
    }
}

/// What a reader of the log may expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// There are events to read, up to this one.
    More { logged: u64 },
    /// Everything was read, and nothing more comes.
    Complete,
}

/// What has become of a stream after it was driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Streamed {
    /// There are no more events.
    Complete,
    /// There will be more, but not on this connection.
    Suspended,
    /// Another connection has taken over, or the session has ended.
    Gone,
}

/// Drives an exchange that has no connection, into the log.
async fn detached(exchange: Arc<Exchange>, mut pump: Pump) {
    // Also when the runtime drops this task.
    let exchange = CloseOnDrop(exchange);
    let exchange = &exchange.0;
    let limit = exchange.core.config.times.detached;
    let work = std::future::poll_fn(|cx| {
        exchange.poll_call(&mut pump, cx);
        if exchange.stream().is_some() {
            return exchange.poll_events(&mut pump, cx, None);
        }
        pump.taken.clear();
        if pump.reply.is_some() { Poll::Ready(()) } else { Poll::Pending }
    });
    if tokio::time::timeout(limit, work).await.is_err() {
        tracing::warn!(method = %exchange.method, "an exchange without a connection was dropped");
    }
}

struct CloseOnDrop(Arc<Exchange>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl State {
    fn push(&mut self, message: Bytes) {
        self.outbox_bytes += message.len();
        self.outbox.push_back(message);
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("method", &self.method).finish_non_exhaustive()
    }
}

/// Keeps a waker unless it is there already: one task that polls often must not fill the
/// list.
pub(super) fn remember(wakers: &mut Vec<Waker>, waker: &Waker) {
    if !wakers.iter().any(|known| known.will_wake(waker)) {
        wakers.push(waker.clone());
    }
}
