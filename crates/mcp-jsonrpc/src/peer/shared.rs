use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::config::DriverConfig;
use super::state::{Command, Slot, State};
use crate::link::v1::LinkError;
use crate::service::v1::{Ask, AskError, SendError, TrySendError};
use crate::wait::Place;
use crate::{Extensions, Outgoing, RequestId, Response};

/// What the driver and the handles share: the queue of what is to be sent, and the requests of
/// ours that wait for a response.
///
/// Wakers and messages are foreign code, which may come back here when it is woken or dropped.
/// So neither happens under the lock.
pub(super) struct Shared {
    state: Mutex<State>,
    max_pending: usize,
    max_queued: usize,
    max_queued_bytes: usize,
}

/// What the driver is told at the start of a turn.
pub(super) struct Turn {
    /// Something is to be sent.
    pub(super) queued: bool,
    pub(super) closing: bool,
    pub(super) load: Load,
}

/// What is known about the queue.
#[derive(Clone, Copy, Default)]
pub(super) struct Load {
    /// There is room for one more message.
    pub(super) room: bool,
    pub(super) answers: usize,
}

impl Shared {
    pub(super) fn new(config: &DriverConfig) -> Self {
        Self {
            state: Mutex::default(),
            max_pending: config.max_pending,
            max_queued: config.max_queued.max(1),
            max_queued_bytes: config.max_queued_bytes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_room(&self, state: &State) -> bool {
        // One message always fits: there is none that never does.
        state.queue.is_empty()
            || (state.queue.len() < self.max_queued && state.queued_bytes < self.max_queued_bytes)
    }

    fn load(&self, state: &State) -> Load {
        Load { room: self.has_room(state), answers: state.queued_answers }
    }

    /// Who is to be woken for the room that there is.
    fn next_for_room(&self, state: &mut State) -> Option<Waker> {
        if self.has_room(state) { state.room.pop() } else { None }
    }
}

/// What senders call.
impl Shared {
    /// Queues the notification as soon as there is room. `over` says that its exchange is.
    pub(super) fn poll_notify(
        self: &Arc<Self>,
        cx: &mut Context<'_>,
        slot: &mut Option<Outgoing>,
        over: Option<&AtomicBool>,
    ) -> Poll<Result<(), SendError>> {
        let Some(mut notification) = slot.take() else { return Poll::Ready(Ok(())) };
        // The place in the line is kept with what waits, and given up when that is dropped.
        let ticket = notification.notes.remove::<Ticket>();
        let mut state = self.lock();
        if state.refuses(over) {
            *slot = Some(notification);
            return Poll::Ready(Err(SendError));
        }
        if self.has_room(&state) {
            let driver = state.push(Command::Send(notification));
            let next = self.next_for_room(&mut state);
            drop(state);
            wake([driver, next]);
            return Poll::Ready(Ok(()));
        }
        let ticket = ticket.unwrap_or_else(|| Arc::new(Ticket::new(Arc::clone(self))));
        let before = state.room.wait(&mut ticket.place(), cx.waker());
        drop(state);
        drop(before);
        notification.notes.insert_arc(ticket);
        *slot = Some(notification);
        Poll::Pending
    }

    /// Queues the notification if there is room. `over` says that its exchange is.
    pub(super) fn try_notify(
        &self,
        notification: Outgoing,
        over: Option<&AtomicBool>,
    ) -> Result<(), TrySendError> {
        let mut state = self.lock();
        if state.refuses(over) {
            return Err(TrySendError::Closed);
        }
        if !self.has_room(&state) {
            return Err(TrySendError::Full);
        }
        let driver = state.push(Command::Send(notification));
        drop(state);
        wake([driver, None]);
        Ok(())
    }

    /// Queues a request as soon as there is room, under an id of its own.
    pub(super) fn poll_start(
        &self,
        cx: &mut Context<'_>,
        ask: &Ask,
        place: &mut Place,
    ) -> Poll<Result<i64, AskError>> {
        let mut state = self.lock();
        if let Some(error) = self.refuses_request(&state) {
            drop(state);
            return Poll::Ready(Err(error));
        }
        if !self.has_room(&state) {
            let before = state.room.wait(place, cx.waker());
            drop(state);
            drop(before);
            return Poll::Pending;
        }
        state.last_id += 1;
        let id = state.last_id;
        let mut request = Outgoing::request_raw(id.into(), ask.method.clone(), ask.params.as_ref());
        request.notes = ask.notes.clone();
        let waiting = Slot::Waiting {
            method: ask.method.clone(),
            waker: Some(cx.waker().clone()),
            sent: false,
        };
        state.pending.insert(id, waiting);
        let driver = state.push(Command::Send(request));
        let gone = state.room.leave(place);
        let next = self.next_for_room(&mut state);
        drop(state);
        wake([driver, next]);
        drop(gone);
        Poll::Ready(Ok(id))
    }

    fn refuses_request(&self, state: &State) -> Option<AskError> {
        let gone = state.ended.as_ref().or(state.received_all.as_ref());
        if let Some(cause) = gone {
            return Some(AskError::Link(cause.clone()));
        }
        if state.closing {
            return Some(AskError::Link(LinkError::Closed));
        }
        (state.pending.len() >= self.max_pending)
            .then_some(AskError::TooMany { limit: self.max_pending })
    }

    /// Gives a place in the line for room up; whoever was woken for room hands it on.
    pub(super) fn leave(&self, place: &mut Place) {
        if !place.is_taken() {
            return;
        }
        let mut state = self.lock();
        let waiting = state.room.leave(place);
        let next = if waiting.is_none() { self.next_for_room(&mut state) } else { None };
        drop(state);
        wake([next, None]);
        drop(waiting);
    }

    /// The response to request `id`.
    pub(super) fn poll_response(
        &self,
        cx: &mut Context<'_>,
        id: i64,
    ) -> Poll<Result<Response, AskError>> {
        let mut state = self.lock();
        if let Some(Slot::Waiting { waker, .. }) = state.pending.get_mut(&id) {
            let before = match waker {
                Some(known) if known.will_wake(cx.waker()) => None,
                _ => waker.replace(cx.waker().clone()),
            };
            drop(state);
            drop(before);
            return Poll::Pending;
        }
        match state.pending.remove(&id) {
            Some(Slot::Done(outcome)) => Poll::Ready(outcome),
            // It was taken before.
            Some(Slot::Waiting { .. }) | None => Poll::Ready(Err(AskError::Over)),
        }
    }

    /// Gives request `id` up, and has the peer told so if it has heard of it.
    pub(super) fn give_up(&self, id: i64, notes: &Extensions, reason: Option<String>) {
        let mut state = self.lock();
        let slot = state.pending.remove(&id);
        let (mut driver, mut next, mut unsent) = (None, None, None);
        match &slot {
            Some(Slot::Waiting { sent: false, .. }) => {
                unsent = state.take_unsent(id);
                next = self.next_for_room(&mut state);
            }
            Some(Slot::Waiting { method, .. }) if state.ended.is_none() && !state.closing => {
                let (method, notes) = (method.clone(), notes.clone());
                driver = state.push(Command::Abandon { id, method, notes, reason });
            }
            Some(_) | None => {}
        }
        drop(state);
        wake([driver, next]);
        drop((slot, unsent));
    }

    /// Begins to close: what is queued is still sent, and nothing else.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closing = true;
        let driver = state.tell_driver();
        let room = state.room.take();
        drop(state);
        room.wake();
        wake([driver, None]);
    }

    /// Why everything is over, once it is.
    pub(super) fn poll_ended(&self, cx: &mut Context<'_>, place: &mut Place) -> Poll<LinkError> {
        let mut state = self.lock();
        if let Some(cause) = &state.ended {
            return Poll::Ready(cause.clone());
        }
        let before = state.watchers.wait(place, cx.waker());
        drop(state);
        drop(before);
        Poll::Pending
    }

    /// Gives up waiting for the end.
    pub(super) fn stop_watching(&self, place: &mut Place) {
        if place.is_taken() {
            let waker = self.lock().watchers.leave(place);
            drop(waker);
        }
    }

    pub(super) fn is_ended(&self) -> bool {
        self.lock().ended.is_some()
    }

    /// How many requests wait for a response, and how many messages to be sent.
    pub(super) fn counts(&self) -> (usize, usize) {
        let state = self.lock();
        let waiting =
            state.pending.values().filter(|slot| matches!(slot, Slot::Waiting { .. })).count();
        (waiting, state.queue.len())
    }
}

#[cfg(test)]
impl Shared {
    /// How many wait for room, and for the end.
    pub(super) fn waiting(&self) -> (usize, usize) {
        let state = self.lock();
        (state.room.len(), state.watchers.len())
    }
}

/// What the driver calls, and the wakers of its exchanges.
impl Shared {
    /// Starts a turn: hands over the exchanges that were woken, into `woken`, which is empty.
    pub(super) fn turn(&self, woken: &mut Vec<usize>) -> Turn {
        let mut state = self.lock();
        state.news = false;
        std::mem::swap(&mut state.woken, woken);
        let load = self.load(&state);
        Turn { queued: !state.queue.is_empty(), closing: state.closing, load }
    }

    /// Has the driver woken from here on; `false` if there is something new already.
    pub(super) fn park(&self, waker: &Waker) -> bool {
        let mut state = self.lock();
        if state.news {
            return false;
        }
        let before = state.driver.replace(waker.clone());
        drop(state);
        drop(before);
        true
    }

    /// Exchange `index` wants to be polled.
    pub(super) fn wake_exchange(&self, index: usize) {
        let mut state = self.lock();
        if state.ended.is_some() {
            return;
        }
        state.woken.push(index);
        let driver = state.tell_driver();
        drop(state);
        wake([driver, None]);
    }

    /// Whether nothing is queued. Asked under the lock: a notification of an exchange that is over
    /// is either seen here or refused.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().queue.is_empty()
    }

    /// Queues an answer whatever the queue holds: their number is bounded by the driver, which
    /// alone calls this, and looks at the queue before it waits.
    pub(super) fn push_answer(&self, answer: Command) -> Load {
        let mut state = self.lock();
        state.enqueue(answer);
        self.load(&state)
    }

    /// The next thing to send, and whether there is more.
    pub(super) fn pop(&self) -> (Option<Command>, bool, Load) {
        let mut state = self.lock();
        let command = state.pop();
        let next = self.next_for_room(&mut state);
        let (more, load) = (!state.queue.is_empty(), self.load(&state));
        drop(state);
        wake([next, None]);
        (command, more, load)
    }

    /// Takes nothing more, if nothing is left to be sent.
    pub(super) fn close_if_empty(&self) -> bool {
        let mut state = self.lock();
        if !state.queue.is_empty() {
            return false;
        }
        state.closing = true;
        let room = state.room.take();
        drop(state);
        room.wake();
        true
    }

    /// Hands a response to the call that waits for it; `false` when there is none.
    pub(super) fn complete(&self, id: &RequestId, outcome: Result<Response, AskError>) -> bool {
        let Some(id) = id.as_i64() else { return false };
        let mut state = self.lock();
        // The second response to a request is as unknown as any.
        let Some(slot @ Slot::Waiting { sent: true, .. }) = state.pending.get_mut(&id) else {
            return false;
        };
        let before = std::mem::replace(slot, Slot::Done(outcome));
        drop(state);
        if let Slot::Waiting { waker, .. } = before {
            wake([waker, None]);
        }
        true
    }

    /// Nothing comes from the peer any more: fails every call, now and later. Sending goes on.
    pub(super) fn received_all(&self, cause: &LinkError) {
        let mut state = self.lock();
        state.received_all.get_or_insert_with(|| cause.clone());
        let calls = state.fail_pending(cause);
        let room = state.room.take();
        drop(state);
        room.wake();
        calls.into_iter().flatten().for_each(Waker::wake);
    }

    /// The driver is gone.
    pub(super) fn end(&self, cause: LinkError) {
        let mut state = self.lock();
        let calls = state.fail_pending(&cause);
        state.ended.get_or_insert(cause);
        state.queued_bytes = 0;
        state.queued_answers = 0;
        state.woken.clear();
        let dropped = (std::mem::take(&mut state.queue), state.driver.take());
        let (room, watchers) = (state.room.take(), state.watchers.take());
        drop(state);
        room.wake();
        watchers.wake();
        calls.into_iter().flatten().for_each(Waker::wake);
        drop(dropped);
    }
}

fn wake(wakers: [Option<Waker>; 2]) {
    wakers.into_iter().flatten().for_each(Waker::wake);
}

/// A notification's place in the line for room.
struct Ticket {
    shared: Arc<Shared>,
    place: Mutex<Place>,
}

impl Ticket {
    fn new(shared: Arc<Shared>) -> Self {
        Self { shared, place: Mutex::default() }
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let place = self.place.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.shared.leave(place);
    }
}
