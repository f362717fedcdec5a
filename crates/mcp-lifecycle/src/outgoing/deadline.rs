use std::time::{Duration, Instant};

use crate::Culprit;

/// How long a request of ours may take.
///
/// Two limits, both settable for each request, and both on by default: one for silence, which
/// progress may push back, and one for the whole request, which nothing pushes back.
///
/// Specification: [timeouts](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#timeouts).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// The longest silence; 60 seconds by default. `None`: any.
    pub idle: Option<Duration>,
    /// The longest time in all, whatever progress comes; 300 seconds by default. `None`: any.
    pub max: Option<Duration>,
    /// Whether progress ends a silence; [`ProgressReset::WhenObserved`] by default.
    pub reset: ProgressReset,
}

/// Whether a progress notification starts the idle limit afresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProgressReset {
    /// It doesn't.
    Never,
    /// It does, where progress is reported because somebody watches it. No progress is asked
    /// for because of the limit.
    #[default]
    WhenObserved,
    /// It does, and progress is asked for even when nobody watches it.
    Always,
}

impl Timeouts {
    /// The longest silence by default.
    pub const IDLE: Duration = Duration::from_secs(60);
    /// The longest time in all by default.
    pub const MAX: Duration = Duration::from_secs(300);

    /// The defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self { idle: Some(Self::IDLE), max: Some(Self::MAX), reset: ProgressReset::WhenObserved }
    }

    /// Sets the longest silence. A longest time in all that is shorter is raised to it.
    #[must_use]
    pub fn with_idle(mut self, idle: impl Into<Option<Duration>>) -> Self {
        self.idle = idle.into();
        if let (Some(idle), Some(max)) = (self.idle, self.max) {
            self.max = Some(max.max(idle));
        }
        self
    }

    /// Sets the longest time in all.
    #[must_use]
    pub fn with_max(mut self, max: impl Into<Option<Duration>>) -> Self {
        self.max = max.into();
        self
    }

    /// Sets whether progress ends a silence.
    #[must_use]
    pub const fn with_reset(mut self, reset: ProgressReset) -> Self {
        self.reset = reset;
        self
    }

    /// Whether the request has to carry a progress token: because progress is `observed`, or
    /// because it is needed to end a silence.
    #[must_use]
    pub fn wants_token(&self, observed: bool) -> bool {
        observed || (self.idle.is_some() && self.reset == ProgressReset::Always)
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::new()
    }
}

/// The two limits of one request under way.
///
/// It is told the time, and wakes nobody: whoever waits, waits until [`next`](Self::next) and
/// then asks whether the request has [`expired`](Self::expired).
///
/// ```
/// use std::time::{Duration, Instant};
/// use mcp_lifecycle::{Deadline, Timeouts};
///
/// # fn clock() -> Instant { mcp_lifecycle::testing::ManualClock::new().instant() }
/// let start = clock();
/// let second = Duration::from_secs(1);
/// let timeouts = Timeouts::new().with_idle(2 * second).with_max(3 * second);
/// let mut deadline = Deadline::start(start, timeouts);
/// deadline.on_progress(start + second);
/// assert_eq!(deadline.next(), Some(start + 3 * second));
/// assert!(deadline.expired(start + 3 * second).is_some());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    timeouts: Timeouts,
    /// Pushed back by progress; never forward.
    idle_at: Option<Instant>,
    max_at: Option<Instant>,
}

impl Deadline {
    /// The limits of a request that is sent now.
    #[must_use]
    pub fn start(now: Instant, timeouts: Timeouts) -> Self {
        // A time beyond what the clock can say is never.
        let after = |limit: Option<Duration>| limit.and_then(|limit| now.checked_add(limit));
        Self { timeouts, idle_at: after(timeouts.idle), max_at: after(timeouts.max) }
    }

    /// Progress was reported: the silence starts afresh, if it may.
    pub fn on_progress(&mut self, now: Instant) {
        if self.timeouts.reset == ProgressReset::Never {
            return;
        }
        let afresh = self.timeouts.idle.and_then(|limit| now.checked_add(limit));
        self.idle_at = self.idle_at.zip(afresh).map(|(known, afresh)| known.max(afresh));
    }

    /// When to look again; `None` for never.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        match (self.idle_at, self.max_at) {
            (Some(idle), Some(max)) => Some(idle.min(max)),
            (idle, max) => idle.or(max),
        }
    }

    /// Which limit the request has exceeded, if any.
    #[must_use]
    pub fn expired(&self, now: Instant) -> Option<TimedOut> {
        let passed = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if passed(self.max_at) {
            return self.timeouts.max.map(|limit| TimedOut::Max { limit });
        }
        if passed(self.idle_at) {
            return self.timeouts.idle.map(|limit| TimedOut::Idle { limit });
        }
        None
    }
}

/// A request of ours took too long. Nobody said so but we: this is no answer of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimedOut {
    /// Nothing was heard of it for too long.
    #[error("nothing was heard of the request for {} ms", limit.as_millis())]
    Idle {
        /// The limit that was in force.
        limit: Duration,
    },
    /// It took too long in all, whatever progress was reported.
    #[error("the request took longer than {} ms in all", limit.as_millis())]
    Max {
        /// The limit that was in force.
        limit: Duration,
    },
}

impl TimedOut {
    /// The limit that was in force.
    #[must_use]
    pub const fn limit(&self) -> Duration {
        match self {
            Self::Idle { limit } | Self::Max { limit } => *limit,
        }
    }

    /// Who is at fault: time.
    #[must_use]
    pub const fn culprit(&self) -> Culprit {
        Culprit::Environment
    }

    /// Whether the same request may succeed if sent again. It may have been carried out, though.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ManualClock;

    const SECOND: Duration = Duration::from_secs(1);

    // Shows: LIFE-032
    #[test]
    fn a_peer_that_never_answers_is_given_up_after_the_default_limit() {
        let start = ManualClock::new().instant();
        let deadline = Deadline::start(start, Timeouts::default());
        assert_eq!(deadline.next(), Some(start + Timeouts::IDLE));
        assert_eq!(deadline.expired(start + Timeouts::IDLE - SECOND), None);
        assert_eq!(
            deadline.expired(start + Timeouts::IDLE),
            Some(TimedOut::Idle { limit: Timeouts::IDLE })
        );
    }

    // Shows: LIFE-035
    #[test]
    fn two_requests_may_have_two_limits() {
        let start = ManualClock::new().instant();
        let short = Deadline::start(start, Timeouts::new().with_idle(SECOND));
        let long = Deadline::start(start, Timeouts::new().with_idle(2 * SECOND));
        let then = start + SECOND;
        assert!(short.expired(then).is_some() && long.expired(then).is_none());
    }

    // Shows: LIFE-036, LIFE-037
    #[test]
    fn steady_progress_helps_up_to_the_maximum() {
        let start = ManualClock::new().instant();
        let timeouts = Timeouts::new().with_idle(2 * SECOND).with_max(10 * SECOND);
        let mut deadline = Deadline::start(start, timeouts);
        for second in 1..10 {
            let now = start + second * SECOND;
            assert_eq!(deadline.expired(now), None, "{second}");
            deadline.on_progress(now);
        }
        let limit = 10 * SECOND;
        assert_eq!(deadline.next(), Some(start + limit));
        assert_eq!(deadline.expired(start + limit), Some(TimedOut::Max { limit }));
    }

    #[test]
    fn progress_that_must_not_count_does_not() {
        let start = ManualClock::new().instant();
        let timeouts = Timeouts::new().with_idle(2 * SECOND).with_reset(ProgressReset::Never);
        let mut deadline = Deadline::start(start, timeouts);
        deadline.on_progress(start + SECOND);
        assert!(deadline.expired(start + 2 * SECOND).is_some());
    }

    // Shows: FC-030
    #[test]
    fn a_token_is_asked_for_when_only_progress_can_end_a_silence() {
        let timeouts = Timeouts::new().with_idle(Duration::from_millis(300));
        assert!(!timeouts.wants_token(false));
        assert!(timeouts.wants_token(true));
        let timeouts = timeouts.with_reset(ProgressReset::Always);
        assert!(timeouts.wants_token(false));
        let start = ManualClock::new().instant();
        let mut deadline = Deadline::start(start, timeouts);
        for tenth in 1..=10 {
            let now = start + tenth * Duration::from_millis(100);
            assert_eq!(deadline.expired(now), None);
            deadline.on_progress(now);
        }
        assert!(!timeouts.with_idle(None).wants_token(false));
    }

    #[test]
    fn no_limit_is_never_reached() {
        let start = ManualClock::new().instant();
        let timeouts = Timeouts::new().with_idle(None).with_max(None);
        let mut deadline = Deadline::start(start, timeouts);
        deadline.on_progress(start);
        assert_eq!((deadline.next(), deadline.expired(start + 1000 * SECOND)), (None, None));
        let endless = Timeouts::new().with_idle(Duration::MAX);
        assert_eq!(Deadline::start(start, endless).next(), None);
    }

    #[test]
    fn a_longer_silence_raises_the_maximum() {
        let timeouts = Timeouts::new().with_idle(Duration::from_secs(1000));
        assert_eq!(timeouts.max, Some(Duration::from_secs(1000)));
    }
}
