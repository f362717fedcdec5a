use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use super::shared::Shared;
use super::sink::ExchangeSink;
use crate::service::v1::{BoxFuture, Reply};
use crate::{Name, RequestId};

/// The exchanges that are open: futures that are polled in the driver's own task, each woken by
/// itself. No spawn, and no channel.
pub(super) struct Exchanges {
    shared: Arc<Shared>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    by_id: HashMap<RequestId, usize>,
    /// Those that were not polled yet, since there is no room for what they may answer.
    fresh: VecDeque<usize>,
}

struct Slot {
    running: Option<Running>,
    wake: Arc<SlotWake>,
    waker: Waker,
}

struct Running {
    future: BoxFuture<'static, Reply>,
    exchange: Exchange,
    fresh: bool,
}

/// What is known about an open exchange.
pub(super) struct Exchange {
    /// Of a request.
    pub(super) id: Option<RequestId>,
    pub(super) method: Name,
    pub(super) sink: Arc<ExchangeSink>,
    /// The number of the batch that this is a member of.
    pub(super) batch: Option<u64>,
}

/// How an exchange ended by itself.
pub(super) enum End {
    Reply(Reply),
    /// The service panicked.
    Panic,
}

/// Wakes one exchange. It may outlive that: then whoever has the slot is polled in vain.
struct SlotWake {
    index: usize,
    /// Invariant: if set, the slot is in the list of those that were woken, or about to be.
    queued: AtomicBool,
    shared: Arc<Shared>,
}

impl Wake for SlotWake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            self.shared.wake_exchange(self.index);
        }
    }
}

impl Exchanges {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            slots: Vec::new(),
            free: Vec::new(),
            by_id: HashMap::new(),
            fresh: VecDeque::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn contains(&self, id: &RequestId) -> bool {
        self.by_id.contains_key(id)
    }

    /// How many of them were not polled yet.
    pub(super) fn fresh(&self) -> usize {
        self.fresh.len()
    }

    /// Takes an exchange on, and polls it for the first time: most are over then.
    pub(super) fn start(
        &mut self,
        exchange: Exchange,
        future: BoxFuture<'static, Reply>,
    ) -> Option<(Exchange, End)> {
        let index = self.slot();
        let mut running = Running { future, exchange, fresh: false };
        if let Some(slot) = self.slots.get(index)
            && let Poll::Ready(end) = running.poll(&slot.waker)
        {
            self.free.push(index);
            return Some((running.over(), end));
        }
        self.put(index, running);
        None
    }

    /// Takes an exchange on; [`poll_fresh`](Self::poll_fresh) begins it.
    pub(super) fn start_later(&mut self, exchange: Exchange, future: BoxFuture<'static, Reply>) {
        let index = self.slot();
        self.put(index, Running { future, exchange, fresh: true });
        self.fresh.push_back(index);
    }

    fn slot(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            let index = self.slots.len();
            let (queued, shared) = (AtomicBool::new(false), Arc::clone(&self.shared));
            let wake = Arc::new(SlotWake { index, queued, shared });
            let waker = Waker::from(Arc::clone(&wake));
            self.slots.push(Slot { running: None, wake, waker });
            index
        })
    }

    fn put(&mut self, index: usize, running: Running) {
        if let Some(id) = &running.exchange.id {
            self.by_id.insert(id.clone(), index);
        }
        if let Some(slot) = self.slots.get_mut(index) {
            slot.running = Some(running);
        }
    }

    fn take(&mut self, index: usize) -> Option<Running> {
        let running = self.slots.get_mut(index)?.running.take()?;
        self.free.push(index);
        if let Some(id) = &running.exchange.id {
            self.by_id.remove(id);
        }
        Some(running)
    }

    fn poll(&mut self, index: usize) -> Option<(Exchange, End)> {
        let Slot { running, waker, .. } = self.slots.get_mut(index)?;
        // One that is fresh was woken by a late waker of who had the slot before.
        let running = running.as_mut().filter(|running| !running.fresh)?;
        let Poll::Ready(end) = running.poll(waker) else { return None };
        Some((self.take(index)?.over(), end))
    }

    /// Polls an exchange that was woken.
    pub(super) fn poll_woken(&mut self, index: usize) -> Option<(Exchange, End)> {
        // Before it is polled, so that a wake-up from here on counts.
        self.slots.get(index)?.wake.queued.store(false, Ordering::Release);
        self.poll(index)
    }

    /// Begins the exchange that has been waiting for that the longest.
    pub(super) fn poll_fresh(&mut self) -> Option<(Exchange, End)> {
        let index = self.fresh.pop_front()?;
        self.slots.get_mut(index)?.running.as_mut()?.fresh = false;
        self.poll(index)
    }

    /// Cancels the exchange of request `id`: its future learns of it, is polled once more, and
    /// dropped.
    pub(super) fn cancel(&mut self, id: &RequestId) -> Option<Exchange> {
        let index = *self.by_id.get(id)?;
        let mut running = self.take(index)?;
        running.exchange.sink.cancel();
        if running.fresh {
            self.fresh.retain(|other| *other != index);
        } else if let Some(slot) = self.slots.get(index) {
            let _ = running.poll(&slot.waker);
        }
        Some(running.over())
    }

    /// Drops all of them.
    pub(super) fn clear(&mut self) {
        self.fresh.clear();
        for index in 0..self.slots.len() {
            if let Some(running) = self.take(index) {
                running.exchange.sink.end();
                running.over();
            }
        }
    }
}

impl Running {
    /// A handler that panics costs its own exchange, not the connection.
    fn poll(&mut self, waker: &Waker) -> Poll<End> {
        let future = self.future.as_mut();
        let poll = AssertUnwindSafe(|| future.poll(&mut Context::from_waker(waker)));
        match catch_unwind(poll) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(reply)) => Poll::Ready(End::Reply(reply)),
            Err(_) => Poll::Ready(End::Panic),
        }
    }

    /// Drops the future; that may panic, too.
    fn over(self) -> Exchange {
        let Self { future, exchange, .. } = self;
        let _ = catch_unwind(AssertUnwindSafe(|| drop(future)));
        exchange
    }
}
