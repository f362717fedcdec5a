use std::time::{Duration, Instant};

use mcp_types::ProgressToken;

/// Decides which of a handler's progress reports the peer gets to see.
///
/// - Nothing without a token: the peer did not ask.
/// - Values grow: one that doesn't is dropped.
/// - At most one for each interval, the newest: what comes faster replaces what waits.
/// - Nothing after the end. What waits then is handed out before the response, so the last
///   value always arrives.
///
/// `T` is whatever belongs to a value: its total, its message. It holds one of them at most.
///
/// ```
/// use mcp_lifecycle::{ProgressReporter, Report};
/// # let now = mcp_lifecycle::testing::ManualClock::new().instant();
///
/// let mut reporter = ProgressReporter::new(Some("token".into()));
/// assert_eq!(reporter.report(now, 5.0, "half"), Report::Send("half"));
/// assert_eq!(reporter.report(now, 5.0, "still half"), Report::Drop);
/// ```
#[derive(Debug)]
pub struct ProgressReporter<T> {
    token: Option<ProgressToken>,
    interval: Duration,
    last: Option<f64>,
    /// Nothing is sent before.
    free_at: Option<Instant>,
    held: Option<T>,
}

/// What is to be done with a progress report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Report<T> {
    /// It is sent.
    Send(T),
    /// It waits until then, see [`ProgressReporter::due`].
    Wait(Instant),
    /// It is not sent.
    Drop,
}

impl<T> ProgressReporter<T> {
    /// A reporter for a request that came with `token`, without a limit to the rate.
    #[must_use]
    pub const fn new(token: Option<ProgressToken>) -> Self {
        Self { token, interval: Duration::ZERO, last: None, free_at: None, held: None }
    }

    /// Sends at most one report in every `interval`.
    #[must_use]
    pub const fn with_interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// The token that every report names; `None` when nothing is ever sent.
    #[must_use]
    pub const fn token(&self) -> Option<&ProgressToken> {
        self.token.as_ref()
    }

    /// A handler reports.
    pub fn report(&mut self, now: Instant, progress: f64, report: T) -> Report<T> {
        let grows = self.last.is_none_or(|last| last < progress);
        // What isn't a number can't be written as JSON.
        if self.token.is_none() || !grows || !progress.is_finite() {
            return Report::Drop;
        }
        self.last = Some(progress);
        match self.free_at {
            Some(free_at) if now < free_at => {
                self.held = Some(report);
                Report::Wait(free_at)
            }
            Some(_) | None => {
                // What waits is older, and smaller.
                self.held = None;
                self.sent(now);
                Report::Send(report)
            }
        }
    }

    /// When a report that waits may be sent.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        self.held.as_ref().and(self.free_at)
    }

    /// The report that waits, if its time has come.
    pub fn take_due(&mut self, now: Instant) -> Option<T> {
        if self.due().is_none_or(|due| now < due) {
            return None;
        }
        self.sent(now);
        self.held.take()
    }

    /// The request is about to be answered: the report that waits, to be sent before the
    /// response. From here on nothing is sent.
    pub fn end(&mut self) -> Option<T> {
        self.token = None;
        self.held.take()
    }

    fn sent(&mut self, now: Instant) {
        self.free_at = now.checked_add(self.interval).filter(|_| !self.interval.is_zero());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ManualClock;

    // Shows: PROGRESS-004, FC-028
    #[test]
    fn nothing_is_reported_without_a_token() {
        let now = ManualClock::new().instant();
        let mut reporter = ProgressReporter::new(None);
        assert_eq!(reporter.report(now, 1.0, ()), Report::Drop);
        assert!(reporter.token().is_none() && reporter.end().is_none());
    }

    // Shows: FC-028
    #[test]
    fn the_token_is_kept_as_it_came() {
        for json in ["0", "\"\"", "\"0\"", "9007199254740993"] {
            let token: ProgressToken = serde_json::from_str(json).unwrap();
            let reporter = ProgressReporter::<()>::new(Some(token));
            assert_eq!(serde_json::to_string(&reporter.token()).unwrap(), json);
        }
    }

    // Shows: PROGRESS-005, FC-029
    #[test]
    fn only_growth_is_sent() {
        let now = ManualClock::new().instant();
        let mut reporter = ProgressReporter::new(Some(1.into()));
        let sent: Vec<f64> = [5.0, 5.0, 3.0, 7.0, 0.1 + 0.2, f64::NAN, f64::INFINITY, 7.5]
            .into_iter()
            .filter(|value| matches!(reporter.report(now, *value, *value), Report::Send(_)))
            .collect();
        assert_eq!(sent, [5.0, 7.0, 7.5]);
    }

    // Shows: PROGRESS-011, PROGRESS-017
    #[test]
    fn a_burst_is_thinned_out_and_the_last_value_arrives() {
        let start = ManualClock::new().instant();
        let tenth = Duration::from_millis(100);
        let mut reporter = ProgressReporter::new(Some(1.into())).with_interval(tenth);
        let mut sent = Vec::new();
        for n in 0..10_000u32 {
            // A second's worth of reports.
            let now = start + n * (tenth / 1000);
            sent.extend(reporter.take_due(now));
            if let Report::Send(n) = reporter.report(now, f64::from(n), n) {
                sent.push(n);
            }
        }
        sent.extend(reporter.end());
        assert!(sent.len() <= 11, "{}", sent.len());
        assert!(sent.is_sorted());
        assert_eq!(sent.last(), Some(&9_999));
    }

    // Shows: PROGRESS-018
    #[test]
    fn nothing_is_sent_after_the_end() {
        let now = ManualClock::new().instant();
        let mut reporter =
            ProgressReporter::new(Some(1.into())).with_interval(Duration::from_secs(1));
        assert_eq!(reporter.report(now, 1.0, "a"), Report::Send("a"));
        assert_eq!(reporter.report(now, 2.0, "b"), Report::Wait(now + Duration::from_secs(1)));
        assert_eq!(reporter.end(), Some("b"));
        assert_eq!(reporter.report(now, 3.0, "c"), Report::Drop);
        assert_eq!((reporter.due(), reporter.end()), (None, None));
    }
}
