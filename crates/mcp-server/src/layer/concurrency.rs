use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use mcp_jsonrpc::ErrorObject;
use mcp_jsonrpc::service::v1::{Inbound, Layer, Replies, Reply, Service};

use super::handled_id;

/// A bound on how many calls run at once, over all peers. Others wait, in the order in which
/// they came; when too many wait, further ones are answered by `-32603`.
///
/// What a client answers to a call that is running is no call: it never waits here.
#[derive(Clone, Copy, Debug)]
pub struct ConcurrencyLimit {
    running: usize,
    waiting: usize,
}

impl ConcurrencyLimit {
    /// At most `running` at once; less than 1 counts as 1. As many as 1,024 wait.
    #[must_use]
    pub const fn new(running: usize) -> Self {
        Self { running: if running == 0 { 1 } else { running }, waiting: 1024 }
    }

    /// Sets how many wait.
    #[must_use]
    pub const fn waiting(mut self, calls: usize) -> Self {
        self.waiting = calls;
        self
    }
}

impl<S: Service> Layer<S> for ConcurrencyLimit {
    type Service = Limited<S>;

    fn layer(&self, inner: S) -> Limited<S> {
        let slots = Slots {
            state: Mutex::new(State { free: self.running, ..State::default() }),
            most_waiting: self.waiting,
        };
        Limited { inner, slots: Arc::new(slots) }
    }
}

/// A service behind a [`ConcurrencyLimit`]. Clones share the bound.
#[derive(Clone, Debug)]
pub struct Limited<S> {
    inner: S,
    slots: Arc<Slots>,
}

impl<S: Service> Service for Limited<S> {
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        let Some(id) = handled_id(&inbound) else {
            return self.inner.call(inbound, replies).await;
        };
        let acquire = Acquire { slots: &self.slots, ticket: None };
        let Some(_slot) = acquire.await else {
            tracing::warn!(%id, "a call was refused: too many wait already");
            return Reply::error(&id, &ErrorObject::internal("the server is busy"));
        };
        self.inner.call(inbound, replies).await
    }
}

/// Who runs, and who waits. Wakers are foreign code: they are woken outside of the lock.
#[derive(Debug)]
struct Slots {
    state: Mutex<State>,
    most_waiting: usize,
}

#[derive(Debug, Default)]
struct State {
    free: usize,
    next: u64,
    waiting: VecDeque<(u64, Waker)>,
}

impl State {
    /// Whoever is to look next whether there is a free slot.
    fn first(&self) -> Option<Waker> {
        self.waiting.front().filter(|_| self.free > 0).map(|(_, waker)| waker.clone())
    }
}

impl Slots {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that may run. Its end is somebody else's beginning.
struct Slot<'a>(&'a Slots);

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.free += 1;
        let first = state.first();
        drop(state);
        if let Some(waker) = first {
            waker.wake();
        }
    }
}

/// Waits for a slot; none when too many wait.
struct Acquire<'a> {
    slots: &'a Slots,
    /// The place in the queue, while there is one.
    ticket: Option<u64>,
}

impl<'a> Future for Acquire<'a> {
    type Output = Option<Slot<'a>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let slots = self.slots;
        let mut state = slots.lock();
        let first = match self.ticket {
            None => state.waiting.is_empty(),
            Some(ticket) => state.waiting.front().is_some_and(|(first, _)| *first == ticket),
        };
        if first && state.free > 0 {
            state.free -= 1;
            if self.ticket.take().is_some() {
                state.waiting.pop_front();
            }
            let next = state.first();
            drop(state);
            if let Some(waker) = next {
                waker.wake();
            }
            return Poll::Ready(Some(Slot(slots)));
        }
        match self.ticket {
            Some(ticket) => {
                let place = state.waiting.iter_mut().find(|(known, _)| *known == ticket);
                let old = place.map(|(_, waker)| std::mem::replace(waker, cx.waker().clone()));
                drop(state);
                drop(old);
            }
            None if state.waiting.len() >= slots.most_waiting => return Poll::Ready(None),
            None => {
                let ticket = state.next;
                state.next = state.next.wrapping_add(1);
                state.waiting.push_back((ticket, cx.waker().clone()));
                drop(state);
                self.ticket = Some(ticket);
            }
        }
        Poll::Pending
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket else { return };
        let mut state = self.slots.lock();
        let at = state.waiting.iter().position(|(known, _)| *known == ticket);
        let own = at.and_then(|at| state.waiting.remove(at));
        // It may have been woken for a slot that somebody else gets now.
        let first = state.first();
        drop(state);
        drop(own);
        if let Some(waker) = first {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Waker;

    use super::*;

    fn slots(free: usize, most_waiting: usize) -> Slots {
        Slots { state: Mutex::new(State { free, ..State::default() }), most_waiting }
    }

    #[test]
    fn slots_are_given_in_order_and_come_back() {
        let slots = slots(1, 2);
        let acquire = || Acquire { slots: &slots, ticket: None };
        let mut cx = Context::from_waker(Waker::noop());
        let (mut a, mut b, mut c, mut d) =
            (pin!(acquire()), Box::pin(acquire()), pin!(acquire()), pin!(acquire()));
        let Poll::Ready(Some(first)) = a.as_mut().poll(&mut cx) else { panic!("one is free") };
        assert!(b.as_mut().poll(&mut cx).is_pending());
        assert!(c.as_mut().poll(&mut cx).is_pending());
        assert!(matches!(d.as_mut().poll(&mut cx), Poll::Ready(None)), "two wait already");
        drop(first);
        assert!(c.as_mut().poll(&mut cx).is_pending(), "it is the other's turn");
        drop(b);
        let Poll::Ready(Some(slot)) = c.as_mut().poll(&mut cx) else { panic!("its turn") };
        drop(slot);
        let state = slots.lock();
        assert_eq!((state.free, state.waiting.len()), (1, 0));
    }
}
