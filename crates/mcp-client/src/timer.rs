//! The deadlines of all calls under way, behind one timer.
//!
//! A timer for each call would cost more than the call: registering the earliest timer of a
//! runtime wakes its I/O. Here only a deadline that is earlier than the one that is armed wakes
//! anybody, and one that is no longer needed is left to run out.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};
use std::time::Instant;

use mcp_jsonrpc::service::v1::BoxFuture;
use mcp_lifecycle::v1::Clock;

/// Who waits until when. Bounded by the number of calls under way.
#[derive(Debug, Default)]
pub(crate) struct Timers(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    waiting: BTreeMap<Ticket, Waker>,
    next: u64,
    /// When the keeper's timer runs out.
    armed: Option<Instant>,
    keeper: Option<Waker>,
}

/// One deadline that was registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket {
    at: Instant,
    number: u64,
}

impl Timers {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes `waker` once it is `at`.
    pub(crate) fn register(&self, at: Instant, waker: &Waker) -> Ticket {
        let mut state = self.lock();
        let ticket = Ticket { at, number: state.next };
        state.next += 1;
        state.waiting.insert(ticket, waker.clone());
        if state.armed.is_none_or(|armed| at < armed)
            && let Some(keeper) = state.keeper.clone()
        {
            // Whatever a waker does, it does it without our lock.
            drop(state);
            keeper.wake();
        }
        ticket
    }

    /// Puts another waker in; `false` when the deadline has passed already.
    pub(crate) fn renew(&self, ticket: Ticket, waker: &Waker) -> bool {
        match self.lock().waiting.get_mut(&ticket) {
            Some(known) => {
                known.clone_from(waker);
                true
            }
            None => false,
        }
    }

    pub(crate) fn cancel(&self, ticket: Ticket) {
        self.lock().waiting.remove(&ticket);
    }

    /// Wakes everybody whose time has come.
    fn fire(&self, now: Instant) {
        self.lock().armed = None;
        while let Some(waker) = self.take_due(now) {
            waker.wake();
        }
    }

    fn take_due(&self, now: Instant) -> Option<Waker> {
        let mut state = self.lock();
        let entry = state.waiting.first_entry().filter(|entry| entry.key().at <= now)?;
        Some(entry.remove())
    }

    /// When the keeper's timer has to run out, if not at the time that it is set to.
    fn rearm(&self, waker: &Waker) -> Option<Instant> {
        let mut state = self.lock();
        if !state.keeper.as_ref().is_some_and(|known| known.will_wake(waker)) {
            state.keeper = Some(waker.clone());
        }
        let first = state.waiting.keys().next()?.at;
        if state.armed.is_some_and(|armed| armed <= first) {
            return None;
        }
        state.armed = Some(first);
        Some(first)
    }
}

/// Runs the one timer: polled by the task that drives the conversation.
#[derive(Default)]
pub(crate) struct Keeper {
    sleep: Option<BoxFuture<'static, ()>>,
}

impl Keeper {
    /// Wakes whoever has waited long enough, and sees to it that the next one will be.
    pub(crate) fn poll(&mut self, timers: &Timers, clock: &dyn Clock, cx: &mut Context<'_>) {
        loop {
            if let Some(at) = timers.rearm(cx.waker()) {
                self.sleep = Some(clock.sleep_until(at));
            }
            let Some(sleep) = &mut self.sleep else { return };
            if sleep.as_mut().poll(cx).is_pending() {
                return;
            }
            self.sleep = None;
            timers.fire(clock.now());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;
    use std::time::Duration;

    use mcp_lifecycle::testing::ManualClock;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Count {
        fn taken(&self) -> usize {
            self.0.swap(0, Ordering::Relaxed)
        }
    }

    const SECOND: Duration = Duration::from_secs(1);

    struct Setup {
        timers: Timers,
        clock: ManualClock,
        keeper: Keeper,
        count: Arc<Count>,
    }

    impl Setup {
        fn new() -> Self {
            Self {
                timers: Timers::default(),
                clock: ManualClock::new(),
                keeper: Keeper::default(),
                count: Arc::default(),
            }
        }

        fn poll(&mut self) {
            let waker = Waker::from(Arc::clone(&self.count));
            self.keeper.poll(&self.timers, &self.clock, &mut Context::from_waker(&waker));
        }
    }

    #[test]
    fn a_call_is_woken_at_its_deadline_and_not_before() {
        let mut setup = Setup::new();
        setup.poll();
        let call = Arc::<Count>::default();
        let waker = Waker::from(Arc::clone(&call));
        setup.timers.register(setup.clock.now() + 2 * SECOND, &waker);
        assert_eq!(setup.count.taken(), 1, "the keeper hears of it");
        setup.poll();
        setup.clock.advance(SECOND);
        setup.poll();
        assert_eq!(call.taken(), 0);
        setup.clock.advance(SECOND);
        setup.poll();
        assert_eq!(call.taken(), 1);
        assert!(setup.timers.lock().waiting.is_empty());
    }

    #[test]
    fn calls_that_come_and_go_wake_nobody() {
        let mut setup = Setup::new();
        let call = Waker::from(Arc::<Count>::default());
        let start = setup.clock.now() + 60 * SECOND;
        let first = setup.timers.register(start, &call);
        setup.poll();
        setup.timers.cancel(first);
        for later in 0..100 {
            let ticket = setup.timers.register(start + later * SECOND / 10, &call);
            assert!(setup.timers.renew(ticket, &call));
            setup.timers.cancel(ticket);
        }
        assert_eq!(setup.count.taken(), 0);
        // An earlier one does.
        setup.timers.register(start - SECOND, &call);
        assert_eq!(setup.count.taken(), 1);
    }

    #[test]
    fn a_timer_that_nobody_needs_runs_out_once() {
        let mut setup = Setup::new();
        let call = Waker::from(Arc::<Count>::default());
        let ticket = setup.timers.register(setup.clock.now() + SECOND, &call);
        setup.poll();
        setup.timers.cancel(ticket);
        setup.clock.advance(SECOND);
        assert_eq!(setup.count.taken(), 1);
        setup.poll();
        setup.clock.advance(100 * SECOND);
        assert_eq!(setup.count.taken(), 0);
        assert!(!setup.timers.renew(ticket, &call));
    }
}
