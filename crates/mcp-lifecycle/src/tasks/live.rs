use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use mcp_jsonrpc::service::v1::{CancelSignal, PeerOutlet, Replies};
use mcp_types::TaskId;

/// What there is of a task only while it runs, in the process in which it does.
pub(super) struct Live {
    pub(super) id: TaskId,
    /// Given to the handler: it is to stop.
    pub(super) cancelled: CancelSignal,
    /// The task is not to run on.
    pub(super) stop: CancelSignal,
    /// Nothing more comes of it.
    pub(super) over: CancelSignal,
    /// The way to the requestor outside of exchanges.
    pub(super) outlet: Option<PeerOutlet>,
    /// Whether the requestor hears at once what is sent by the outlet.
    pub(super) direct: bool,
    /// Whether the requestor can be asked at all.
    pub(super) can_ask: bool,
    state: Mutex<State>,
    /// Questions that wait for the requestor.
    asks: AtomicUsize,
}

#[derive(Default)]
struct State {
    /// The exchanges that wait for what the task comes to, the newest last.
    roads: Vec<(u64, Replies)>,
    next: u64,
    /// Given when a road is added.
    added: Arc<CancelSignal>,
    /// Of the future that runs the task.
    driver: Option<Waker>,
}

/// How many exchanges that wait for one task can carry its messages. More may wait.
const ROADS: usize = 16;

impl Live {
    pub(super) fn new(id: TaskId, outlet: Option<PeerOutlet>, direct: bool, can_ask: bool) -> Self {
        Self {
            id,
            cancelled: CancelSignal::new(),
            stop: CancelSignal::new(),
            over: CancelSignal::new(),
            outlet,
            direct,
            can_ask,
            state: Mutex::default(),
            asks: AtomicUsize::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the task waits for its requestor.
    pub(super) fn needs_input(&self) -> bool {
        self.asks.load(Ordering::Acquire) > 0
    }

    /// Wakes the future that runs the task once something has changed.
    pub(super) fn driven_by(&self, waker: &Waker) {
        let mut state = self.lock();
        let known = state.driver.as_ref().is_some_and(|known| known.will_wake(waker));
        let before = if known { None } else { state.driver.replace(waker.clone()) };
        drop(state);
        drop(before);
    }

    fn wake(&self) {
        let driver = self.lock().driver.take();
        if let Some(driver) = driver {
            driver.wake();
        }
    }

    /// Ends it: nobody asks or tells anything on behalf of the task any more.
    pub(super) fn end(&self) {
        self.over.give();
        let (roads, driver) = {
            let mut state = self.lock();
            (std::mem::take(&mut state.roads), state.driver.take())
        };
        drop((roads, driver));
    }

    /// Lets an exchange carry the task's messages, until the guard is dropped.
    pub(super) fn add_road(self: &Arc<Self>, replies: Replies) -> Road {
        let (number, added) = {
            let mut state = self.lock();
            state.next += 1;
            let number = state.next;
            if state.roads.len() == ROADS {
                state.roads.remove(0);
            }
            state.roads.push((number, replies));
            (number, std::mem::take(&mut state.added))
        };
        added.give();
        Road { live: Arc::clone(self), number }
    }

    pub(super) fn remove_road(&self, number: u64) {
        let mut state = self.lock();
        let at = state.roads.iter().position(|(known, _)| *known == number);
        let road = at.map(|at| state.roads.remove(at));
        drop(state);
        drop(road);
    }

    /// The exchange that began to wait last, if one waits.
    pub(super) fn newest_road(&self) -> Option<(u64, Replies)> {
        self.lock().roads.last().cloned()
    }

    /// Waits for an exchange that began to wait after `number`.
    pub(super) async fn road_after(&self, number: u64) -> (u64, Replies) {
        loop {
            let added = {
                let state = self.lock();
                match state.roads.last() {
                    Some(road) if road.0 > number => return road.clone(),
                    _ => Arc::clone(&state.added),
                }
            };
            added.given().await;
        }
    }
}

/// See [`Live::add_road`].
pub(super) struct Road {
    live: Arc<Live>,
    number: u64,
}

impl Drop for Road {
    fn drop(&mut self) {
        self.live.remove_road(self.number);
    }
}

/// A question that waits for the requestor, for as long as this is there.
pub(super) struct Asking<'a>(&'a Live);

impl<'a> Asking<'a> {
    pub(super) fn begin(live: &'a Live) -> Self {
        if live.asks.fetch_add(1, Ordering::AcqRel) == 0 {
            live.wake();
        }
        Self(live)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if self.0.asks.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.wake();
        }
    }
}
