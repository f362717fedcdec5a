//! How far our requests have come, as the server says.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Instant;

use mcp_lifecycle::{ProgressTable, ProgressVerdict};
use mcp_types::{ProgressNotificationParams, ProgressToken};

/// How far a request has come.
///
/// Specification: [progress](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How far. Each value is larger than the one before it; the unit is the server's.
    pub progress: f64,
    /// How far it goes, where the server says so. It may change, and may be smaller.
    pub total: Option<f64>,
    /// What is being done, for people.
    pub message: Option<String>,
}

impl Progress {
    /// Progress as a server might report it.
    #[must_use]
    pub const fn new(progress: f64, total: Option<f64>) -> Self {
        Self { progress, total, message: None }
    }

    /// How much of the whole is done, from 0 to 1, where the server says what the whole is.
    #[must_use]
    pub fn fraction(&self) -> Option<f64> {
        let total = self.total.filter(|total| *total > 0.0)?;
        Some((self.progress / total).clamp(0.0, 1.0))
    }
}

/// Reports of one request that wait for its task. When there are more the oldest are dropped:
/// a newer one says all that they did.
const QUEUED: usize = 64;

/// The requests whose progress is watched.
#[derive(Debug, Default)]
pub(crate) struct Watches(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    table: ProgressTable,
    /// Has an entry for each token of the table.
    watched: BTreeMap<ProgressToken, Watched>,
}

#[derive(Debug, Default)]
struct Watched {
    /// Whether somebody wants to see the reports, or only that there are some.
    observed: bool,
    queue: VecDeque<Progress>,
    /// When the server last showed that it is at work.
    alive: Option<Instant>,
    waker: Option<Waker>,
}

/// What has come since the last look.
#[derive(Debug, Default)]
pub(crate) struct News {
    pub(crate) reports: VecDeque<Progress>,
    pub(crate) alive: Option<Instant>,
}

impl Watches {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A token for a request that is about to be sent; `None` when too many are under way.
    pub(crate) fn start(&self, observed: bool) -> Option<ProgressToken> {
        let mut state = self.lock();
        match state.table.start() {
            Ok(token) => {
                let watched = Watched { observed, ..Watched::default() };
                state.watched.insert(token.clone(), watched);
                Some(token)
            }
            Err(error) => {
                tracing::warn!(%error, "a request is sent without a progress token");
                None
            }
        }
    }

    /// A progress notification came in.
    pub(crate) fn take(&self, params: ProgressNotificationParams, now: Instant) {
        let mut state = self.lock();
        let verdict = state.table.take(&params.progress_token, params.progress);
        let Some(watched) = state.watched.get_mut(&params.progress_token) else { return };
        if verdict.is_sign_of_life() {
            watched.alive = Some(now);
        }
        if verdict != ProgressVerdict::Deliver || !watched.observed {
            return;
        }
        if watched.queue.len() == QUEUED {
            watched.queue.pop_front();
        }
        let ProgressNotificationParams { progress, total, message, .. } = params;
        watched.queue.push_back(Progress { progress, total, message });
        if let Some(waker) = watched.waker.take() {
            drop(state);
            waker.wake();
        }
    }

    /// What has come for a request; `waker` is woken when more does.
    pub(crate) fn news(&self, token: &ProgressToken, waker: &Waker) -> News {
        let mut state = self.lock();
        let Some(watched) = state.watched.get_mut(token) else { return News::default() };
        if watched.observed && !watched.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            watched.waker = Some(waker.clone());
        }
        News { reports: std::mem::take(&mut watched.queue), alive: watched.alive.take() }
    }

    /// The request is over.
    pub(crate) fn end(&self, token: &ProgressToken) {
        let mut state = self.lock();
        state.table.end(token);
        state.watched.remove(token);
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.lock().watched.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(watches: &Watches, token: &ProgressToken, progress: f64) {
        watches.take(ProgressNotificationParams::new(token.clone(), progress), Instant::now());
    }

    // Shows: FC-028, FC-029
    #[test]
    fn only_growing_values_of_known_tokens_are_delivered() {
        let watches = Watches::default();
        let token = watches.start(true).unwrap();
        for value in [5.0, 5.0, 3.0, 7.0] {
            report(&watches, &token, value);
        }
        report(&watches, &"tool-call-4".into(), 0.0);
        let news = watches.news(&token, Waker::noop());
        let values: Vec<_> = news.reports.iter().map(|report| report.progress).collect();
        assert_eq!(values, [5.0, 7.0]);
        assert!(news.alive.is_some());
        watches.end(&token);
        report(&watches, &token, 9.0);
        assert_eq!(watches.len(), 0);
        assert!(watches.news(&token, Waker::noop()).reports.is_empty());
    }

    #[test]
    fn the_newest_reports_are_kept() {
        let watches = Watches::default();
        let token = watches.start(true).unwrap();
        for value in 0..1000 {
            report(&watches, &token, f64::from(value));
        }
        let news = watches.news(&token, Waker::noop());
        assert_eq!(news.reports.len(), QUEUED);
        assert_eq!(news.reports.back().unwrap().progress, 999.0);
    }

    #[test]
    fn what_nobody_looks_at_is_only_a_sign_of_life() {
        let watches = Watches::default();
        let token = watches.start(false).unwrap();
        report(&watches, &token, 1.0);
        let news = watches.news(&token, Waker::noop());
        assert!(news.reports.is_empty() && news.alive.is_some());
    }

    #[test]
    fn a_fraction_needs_a_total() {
        assert_eq!(Progress::new(1.0, Some(4.0)).fraction(), Some(0.25));
        assert_eq!(Progress::new(7.0, Some(6.0)).fraction(), Some(1.0));
        assert_eq!(Progress::new(7.0, Some(0.0)).fraction(), None);
        assert_eq!(Progress::new(7.0, None).fraction(), None);
    }
}
