use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use super::shared::{Shared, remember};
use crate::service::v1::{Ask, AskError, BoxFuture, Reply, ReplySink, SendError, TrySendError};
use crate::{Name, Outgoing, RequestId, Response};

/// The exchanges that are open: futures that are polled in the driver's own task, each woken by
/// itself. No spawn, and no channel.
pub(super) struct Exchanges {
    slots: Vec<Slot>,
    free: Vec<usize>,
    by_id: HashMap<RequestId, usize>,
    woken: Arc<Woken>,
    scratch: Vec<usize>,
}

struct Slot {
    running: Option<Running>,
    wake: Arc<SlotWake>,
    waker: Waker,
}

struct Running {
    future: BoxFuture<'static, Reply>,
    exchange: Exchange,
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

struct Woken {
    list: Mutex<WokenList>,
}

#[derive(Default)]
struct WokenList {
    slots: Vec<usize>,
    driver: Option<Waker>,
}

struct SlotWake {
    index: usize,
    queued: AtomicBool,
    woken: Arc<Woken>,
}

impl Wake for SlotWake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.queued.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut list = self.woken.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.slots.push(self.index);
        if let Some(driver) = &list.driver {
            driver.wake_by_ref();
        }
    }
}

impl Exchanges {
    pub(super) fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            by_id: HashMap::new(),
            woken: Arc::new(Woken { list: Mutex::default() }),
            scratch: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn contains(&self, id: &RequestId) -> bool {
        self.by_id.contains_key(id)
    }

    pub(super) fn register_driver(&self, waker: &Waker) {
        let mut list = self.woken.list.lock().unwrap_or_else(PoisonError::into_inner);
        if !list.driver.as_ref().is_some_and(|known| known.will_wake(waker)) {
            list.driver = Some(waker.clone());
        }
    }

    /// Takes an exchange on and polls it for the first time: most are over then.
    pub(super) fn start(
        &mut self,
        exchange: Exchange,
        future: BoxFuture<'static, Reply>,
    ) -> Option<(Exchange, Reply)> {
        let index = self.free.pop().unwrap_or_else(|| {
            let wake = Arc::new(SlotWake {
                index: self.slots.len(),
                queued: AtomicBool::new(false),
                woken: Arc::clone(&self.woken),
            });
            let waker = Waker::from(Arc::clone(&wake));
            self.slots.push(Slot { running: None, wake, waker });
            self.slots.len() - 1
        });
        if let Some(slot) = self.slots.get_mut(index) {
            let mut running = Running { future, exchange };
            if let Poll::Ready(reply) =
                running.future.as_mut().poll(&mut Context::from_waker(&slot.waker))
            {
                self.free.push(index);
                return Some((running.exchange, reply));
            }
            if let Some(id) = &running.exchange.id {
                self.by_id.insert(id.clone(), index);
            }
            slot.running = Some(running);
        }
        None
    }

    /// Polls every exchange that was woken, and hands over those that are over.
    pub(super) fn poll_woken(&mut self, mut over: impl FnMut(Exchange, Reply)) -> bool {
        let mut scratch = std::mem::take(&mut self.scratch);
        {
            let mut list = self.woken.list.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut scratch, &mut list.slots);
        }
        let any = !scratch.is_empty();
        for index in scratch.drain(..) {
            let Some(slot) = self.slots.get_mut(index) else { continue };
            slot.wake.queued.store(false, Ordering::Release);
            // A waker may outlive its exchange; whoever has the slot now is polled in vain.
            let Some(running) = &mut slot.running else { continue };
            if let Poll::Ready(reply) =
                running.future.as_mut().poll(&mut Context::from_waker(&slot.waker))
                && let Some(running) = slot.running.take()
            {
                self.free.push(index);
                if let Some(id) = &running.exchange.id {
                    self.by_id.remove(id);
                }
                over(running.exchange, reply);
            }
        }
        self.scratch = scratch;
        any
    }

    /// Cancels the exchange of request `id`: its future learns of it, is polled once more, and
    /// dropped.
    pub(super) fn cancel(&mut self, id: &RequestId) -> Option<Exchange> {
        let index = self.by_id.remove(id)?;
        let slot = self.slots.get_mut(index)?;
        let mut running = slot.running.take()?;
        self.free.push(index);
        running.exchange.sink.cancel();
        let _ = running.future.as_mut().poll(&mut Context::from_waker(&slot.waker));
        Some(running.exchange)
    }

    /// Drops all of them.
    pub(super) fn clear(&mut self) {
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if let Some(running) = slot.running.take() {
                running.exchange.sink.end();
                self.free.push(index);
            }
        }
        self.by_id.clear();
    }
}

/// The replies of one exchange over a link.
pub(super) struct ExchangeSink {
    shared: Arc<Shared>,
    over: AtomicBool,
    cancelled: AtomicBool,
    wakers: Mutex<Vec<Waker>>,
}

impl ExchangeSink {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            over: AtomicBool::new(false),
            cancelled: AtomicBool::new(false),
            wakers: Mutex::new(Vec::new()),
        }
    }

    /// From here on nothing is sent.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    fn cancel(&self) {
        self.end();
        self.cancelled.store(true, Ordering::Release);
        let mut wakers = self.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        wakers.drain(..).for_each(Waker::wake);
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}

impl ReplySink for ExchangeSink {
    fn poll_notify(
        &self,
        cx: &mut Context<'_>,
        notification: &mut Option<Outgoing>,
    ) -> Poll<Result<(), SendError>> {
        if self.is_over() {
            return Poll::Ready(Err(SendError));
        }
        self.shared.poll_notify(cx, notification)
    }

    fn try_notify(&self, notification: Outgoing) -> Result<(), TrySendError> {
        if self.is_over() {
            return Err(TrySendError::Closed);
        }
        self.shared.try_notify(notification)
    }

    fn ask(&self, ask: Ask) -> BoxFuture<'_, Result<Response, AskError>> {
        if self.is_over() {
            return Box::pin(std::future::ready(Err(AskError::Over)));
        }
        Box::pin(super::Peer { shared: Arc::clone(&self.shared) }.call(ask))
    }

    fn poll_cancelled(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_cancelled() {
            return Poll::Ready(());
        }
        let mut wakers = self.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        remember(&mut wakers, cx.waker());
        // Looked at again: it may have come between the look and the lock.
        if self.is_cancelled() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }
}
