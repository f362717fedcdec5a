use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::wait::{Place, WaitList};

/// Says once, to everybody who waits for it, that an exchange was canceled: what a
/// [`ReplySink`](super::v1::ReplySink) keeps for its exchange.
///
/// It holds one waker for each future that waits, and none for those that are gone, however
/// long the exchange lasts.
#[derive(Default)]
pub struct CancelSignal {
    given: AtomicBool,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    futures: WaitList,
    /// Of those who poll and have no future that could give its place up.
    polls: Vec<Waker>,
}

impl CancelSignal {
    /// A signal that was not given.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the signal. Answers whether it was the first time.
    pub fn give(&self) -> bool {
        let first = !self.given.swap(true, Ordering::AcqRel);
        let (futures, polls) = {
            let mut waiting = self.lock();
            (waiting.futures.take(), std::mem::take(&mut waiting.polls))
        };
        futures.wake();
        polls.into_iter().for_each(Waker::wake);
        first
    }

    /// Whether it was given.
    #[must_use]
    pub fn is_given(&self) -> bool {
        self.given.load(Ordering::Acquire)
    }

    /// Waits until it is given.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing behind.
    pub fn given(&self) -> impl Future<Output = ()> + Send + '_ {
        Given { signal: self, place: Place::default() }
    }

    /// Ready once it is given. Keeps one waker for each task that polls, until then.
    pub fn poll_given(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_given() {
            return Poll::Ready(());
        }
        {
            let mut waiting = self.lock();
            if !waiting.polls.iter().any(|known| known.will_wake(cx.waker())) {
                waiting.polls.push(cx.waker().clone());
            }
        }
        // Looked at again: it may have come between the look and the lock.
        if self.is_given() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl fmt::Debug for CancelSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CancelSignal").field(&self.is_given()).finish()
    }
}

/// See [`CancelSignal::given`].
struct Given<'a> {
    signal: &'a CancelSignal,
    place: Place,
}

impl Future for Given<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { signal, place } = self.get_mut();
        if signal.is_given() {
            return Poll::Ready(());
        }
        let before = signal.lock().futures.wait(place, cx.waker());
        drop(before);
        if signal.is_given() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Given<'_> {
    fn drop(&mut self) {
        if self.place.is_taken() {
            let waker = self.signal.lock().futures.leave(&mut self.place);
            drop(waker);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    use super::*;

    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn everybody_who_waits_is_woken_once() {
        let signal = CancelSignal::new();
        let count = Arc::new(Count(AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&count));
        let mut cx = Context::from_waker(&waker);
        let (mut a, mut b) = (pin!(signal.given()), pin!(signal.given()));
        for _ in 0..3 {
            assert!(a.as_mut().poll(&mut cx).is_pending());
            assert!(b.as_mut().poll(&mut cx).is_pending());
            assert!(signal.poll_given(&mut cx).is_pending());
        }
        assert!(signal.give());
        assert!(!signal.give());
        assert_eq!(count.0.load(Ordering::Relaxed), 3);
        assert!(a.poll(&mut cx).is_ready() && b.poll(&mut cx).is_ready());
        assert!(signal.poll_given(&mut cx).is_ready());
    }

    /// An exchange may last for days, and look at the signal each time that it does something.
    #[test]
    fn a_future_that_is_gone_leaves_nothing() {
        let signal = CancelSignal::new();
        for _ in 0..100 {
            let waker = Waker::from(Arc::new(Count(AtomicUsize::new(0))));
            let mut cx = Context::from_waker(&waker);
            assert!(pin!(signal.given()).poll(&mut cx).is_pending());
        }
        assert_eq!(signal.lock().futures.len(), 0);
    }
}
