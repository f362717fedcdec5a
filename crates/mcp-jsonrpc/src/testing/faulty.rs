use std::collections::VecDeque;
use std::task::{Context, Poll, ready};

use super::random::Random;
use crate::link::v1::{Incoming, Link, LinkError, LinkFeatures};
use crate::{Outgoing, RequestId};

/// What goes wrong, in how many of a hundred messages that come in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Faults {
    /// Where the numbers come from.
    pub seed: u64,
    /// It is lost.
    pub lost: u8,
    /// It comes twice.
    pub doubled: u8,
    /// It overtakes what came before.
    pub reordered: u8,
    /// It comes some polls later.
    pub delayed: u8,
}

impl Faults {
    /// No faults.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed, lost: 0, doubled: 0, reordered: 0, delayed: 0 }
    }

    /// Sets [`lost`](Self::lost).
    #[must_use]
    pub const fn with_lost(mut self, percent: u8) -> Self {
        self.lost = percent;
        self
    }

    /// Sets [`doubled`](Self::doubled).
    #[must_use]
    pub const fn with_doubled(mut self, percent: u8) -> Self {
        self.doubled = percent;
        self
    }

    /// Sets [`reordered`](Self::reordered).
    #[must_use]
    pub const fn with_reordered(mut self, percent: u8) -> Self {
        self.reordered = percent;
        self
    }

    /// Sets [`delayed`](Self::delayed).
    #[must_use]
    pub const fn with_delayed(mut self, percent: u8) -> Self {
        self.delayed = percent;
        self
    }
}

/// A link that breaks its contract on purpose, in what it receives.
///
/// Everything that was held back comes before the end of the link.
#[derive(Debug)]
pub struct Faulty<L> {
    inner: L,
    faults: Faults,
    random: Random,
    held: VecDeque<Incoming>,
    /// Polls before the next one is handed over.
    wait: usize,
    ended: Option<LinkError>,
}

/// As many messages are looked at together.
const WINDOW: usize = 8;

impl<L: Link> Faulty<L> {
    /// Puts faults on `inner`.
    pub fn new(inner: L, faults: Faults) -> Self {
        let random = Random::new(faults.seed);
        Self { inner, faults, random, held: VecDeque::new(), wait: 0, ended: None }
    }

    /// Takes in what there is, and lets chance decide about each.
    fn fill(&mut self, cx: &mut Context<'_>) {
        while self.held.len() < WINDOW && self.ended.is_none() {
            let Poll::Ready(incoming) = self.inner.poll_recv(cx) else { return };
            match incoming {
                Ok(incoming) => self.take_in(incoming),
                Err(cause) => self.ended = Some(cause),
            }
        }
    }

    fn take_in(&mut self, incoming: Incoming) {
        if self.random.chance(self.faults.lost) {
            return;
        }
        if self.random.chance(self.faults.doubled) {
            self.put(incoming.clone());
        }
        self.put(incoming);
    }

    fn put(&mut self, incoming: Incoming) {
        let len = self.held.len();
        let overtaken =
            if self.random.chance(self.faults.reordered) { self.random.below(len + 1) } else { 0 };
        self.held.insert(len - overtaken, incoming);
    }
}

impl<L: Link> Link for Faulty<L> {
    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Result<Incoming, LinkError>> {
        self.fill(cx);
        if self.held.is_empty() {
            return match &self.ended {
                Some(cause) => Poll::Ready(Err(cause.clone())),
                None => Poll::Pending,
            };
        }
        if self.wait == 0 && self.random.chance(self.faults.delayed) {
            self.wait = 1 + self.random.below(4);
        }
        if self.wait > 0 {
            self.wait -= 1;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        match self.held.pop_front() {
            Some(incoming) => Poll::Ready(Ok(incoming)),
            None => Poll::Pending,
        }
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        ready!(self.inner.poll_ready(cx))?;
        Poll::Ready(Ok(()))
    }

    fn start_send(&mut self, message: Outgoing) -> Result<(), LinkError> {
        self.inner.start_send(message)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.inner.poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.inner.poll_close(cx)
    }

    fn abandon(&mut self, id: &RequestId, notice: Option<Outgoing>) -> Result<(), LinkError> {
        self.inner.abandon(id, notice)
    }

    fn features(&self) -> LinkFeatures {
        self.inner.features()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::memory_pair;
    use crate::link::v1::LinkExt;
    use crate::testing::block_on;

    /// What comes out of 200 numbered messages.
    fn through(faults: Faults) -> Vec<i64> {
        block_on(async {
            let (mut near, far) = memory_pair(200);
            let mut far = Faulty::new(far, faults);
            for id in 0..200 {
                near.send(Outgoing::result_raw(id.into(), b"{}")).await.unwrap();
            }
            near.close().await.unwrap();
            let mut got = Vec::new();
            while let Ok(Incoming::Message(message, _)) = far.recv().await {
                got.extend(message.id().and_then(RequestId::as_i64));
            }
            assert_eq!(far.recv().await, Err(LinkError::Closed));
            got
        })
    }

    #[test]
    fn faults_are_as_many_as_was_said_and_the_same_each_time() {
        let all: Vec<i64> = (0..200).collect();
        assert_eq!(through(Faults::new(1)), all);
        assert_eq!(through(Faults::new(1).with_delayed(50)), all);
        assert_eq!(through(Faults::new(1).with_lost(100)), Vec::<i64>::new());
        let lost = through(Faults::new(1).with_lost(30)).len();
        assert!((120..160).contains(&lost), "{lost}");
        let doubled = through(Faults::new(1).with_doubled(30)).len();
        assert!((240..280).contains(&doubled), "{doubled}");
        let mut reordered = through(Faults::new(1).with_reordered(30));
        assert_ne!(reordered, all);
        reordered.sort_unstable();
        assert_eq!(reordered, all);
        let faults = Faults::new(7).with_lost(9).with_doubled(9).with_reordered(9).with_delayed(9);
        assert_eq!(through(faults), through(faults));
        assert_ne!(through(faults), through(Faults { seed: 8, ..faults }));
    }
}
