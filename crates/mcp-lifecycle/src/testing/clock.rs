#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a tool for tests, not the core: it needs a first instant, and shares a list"
)]

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use mcp_jsonrpc::service::v1::BoxFuture;

use crate::v1::Clock;

/// A clock that stands still until it is moved. Clones are the same clock.
#[derive(Clone)]
pub struct ManualClock {
    state: Arc<Mutex<State>>,
}

struct State {
    now: Instant,
    sleepers: Vec<Waker>,
}

impl ManualClock {
    /// A clock that stands at some instant.
    #[must_use]
    pub fn new() -> Self {
        let state = State { now: Instant::now(), sleepers: Vec::new() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Moves the clock, and wakes whoever sleeps.
    pub fn advance(&self, by: Duration) {
        let mut state = self.lock();
        state.now += by;
        let sleepers = std::mem::take(&mut state.sleepers);
        drop(state);
        sleepers.into_iter().for_each(Waker::wake);
    }

    /// Where the clock stands.
    #[must_use]
    pub fn instant(&self) -> Instant {
        self.lock().now
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManualClock").field("now", &self.instant()).finish_non_exhaustive()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        self.instant()
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
        let clock = self.clone();
        Box::pin(poll_fn(move |cx| {
            let mut state = clock.lock();
            if deadline <= state.now {
                return Poll::Ready(());
            }
            if !state.sleepers.iter().any(|known| known.will_wake(cx.waker())) {
                state.sleepers.push(cx.waker().clone());
            }
            Poll::Pending
        }))
    }
}
