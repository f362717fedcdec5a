use std::collections::BTreeMap;
use std::task::Waker;

/// The wakers of futures that wait for the same thing, in the order in which they began to.
///
/// Each future has one place and gives it up when it is dropped, so there are never more wakers
/// than futures. A waker runs foreign code, and so may its drop: what comes out of here is
/// woken and dropped outside of whatever lock the list is under.
#[derive(Debug, Default)]
pub(crate) struct WaitList {
    waiting: BTreeMap<u64, Waker>,
    next: u64,
}

/// A future's place. It keeps its turn when it has to wait once more.
#[derive(Debug, Default)]
pub(crate) struct Place(Option<u64>);

impl WaitList {
    /// Waits at `place`; hands back the waker that was there before.
    #[must_use = "a waker is dropped outside of locks"]
    pub(crate) fn wait(&mut self, place: &mut Place, waker: &Waker) -> Option<Waker> {
        let key = *place.0.get_or_insert_with(|| {
            self.next += 1;
            self.next
        });
        if self.waiting.get(&key).is_some_and(|known| known.will_wake(waker)) {
            return None;
        }
        self.waiting.insert(key, waker.clone())
    }

    /// Gives `place` up. `None` when nobody waits there (any more).
    #[must_use = "a waker is dropped outside of locks"]
    pub(crate) fn leave(&mut self, place: &mut Place) -> Option<Waker> {
        self.waiting.remove(&place.0.take()?)
    }

    /// The one that has waited longest.
    #[must_use = "who is taken out of the list has to be woken"]
    pub(crate) fn pop(&mut self) -> Option<Waker> {
        self.waiting.pop_first().map(|(_, waker)| waker)
    }

    /// All of them.
    #[must_use = "who is taken out of the list has to be woken"]
    pub(crate) fn take(&mut self) -> Waiters {
        // Nearly always: most exchanges end before anybody waits for them.
        let nobody = self.waiting.is_empty();
        Waiters((!nobody).then(|| std::mem::take(&mut self.waiting)))
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }
}

impl Place {
    /// Whether a future has this place.
    pub(crate) fn is_taken(&self) -> bool {
        self.0.is_some()
    }
}

/// Everybody who waited.
#[derive(Debug, Default)]
pub(crate) struct Waiters(Option<BTreeMap<u64, Waker>>);

impl Waiters {
    pub(crate) fn wake(self) {
        self.0.into_iter().flat_map(BTreeMap::into_values).for_each(Waker::wake);
    }
}
