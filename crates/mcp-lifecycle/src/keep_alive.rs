//! Pings at intervals, and what their absence means.

use std::time::{Duration, Instant};

/// When to ping, and when to give a peer up.
///
/// Any answer to a ping shows that the peer lives, an error too, and so does any other message.
///
/// Specification: [ping](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeepAliveConfig {
    /// How long a silence is before the peer is pinged; at least [`Self::MIN_INTERVAL`].
    pub interval: Duration,
    /// How long an answer may take.
    pub timeout: Duration,
    /// How many pings in a row may stay unanswered before the peer counts as gone; at least 1.
    pub max_missed: u32,
}

impl KeepAliveConfig {
    /// The shortest interval. Who asks for a shorter one gets this one.
    pub const MIN_INTERVAL: Duration = Duration::from_secs(1);

    /// Pings after each `interval` of silence; an answer may take 15 seconds, and the third
    /// missing one ends it.
    #[must_use]
    pub const fn every(interval: Duration) -> Self {
        Self { interval, timeout: Duration::from_secs(15), max_missed: 3 }
    }

    /// Sets how long an answer may take.
    #[must_use]
    pub const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how many pings in a row may stay unanswered.
    #[must_use]
    pub const fn with_max_missed(mut self, max_missed: u32) -> Self {
        self.max_missed = max_missed;
        self
    }
}

/// Pings one peer: at most one ping is under way at a time.
///
/// ```text
///          due                 answered, or anything else heard
/// Waiting ─────▶ Pinging ──────────────────────────────────▶ Waiting
///                   │ timed out, not for the last time: at once ─▶ Pinging
///                   └ timed out for the last time ─────────────▶ Gone
/// ```
#[derive(Clone, Debug)]
pub struct KeepAlive {
    config: KeepAliveConfig,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Invariant: nothing was heard for less than the interval before `ping_at`.
    Waiting {
        ping_at: Option<Instant>,
    },
    Pinging {
        give_up_at: Option<Instant>,
        missed: u32,
    },
    Gone,
}

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeepAliveAction {
    /// Nothing.
    Wait,
    /// Send a ping.
    Ping,
    /// The peer counts as gone: fail what waits for it, and close.
    Gone,
}

impl KeepAlive {
    /// Starts now.
    #[must_use]
    pub fn start(now: Instant, config: KeepAliveConfig) -> Self {
        let mut this = Self { config, state: State::Gone };
        this.state = this.waiting(now);
        this
    }

    /// When to look again; `None` for never.
    #[must_use]
    pub const fn next(&self) -> Option<Instant> {
        match self.state {
            State::Waiting { ping_at } => ping_at,
            State::Pinging { give_up_at, .. } => give_up_at,
            State::Gone => None,
        }
    }

    /// The time has come, or it hasn't.
    pub fn handle(&mut self, now: Instant) -> KeepAliveAction {
        let passed = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        match self.state {
            State::Waiting { ping_at } if passed(ping_at) => self.ping(now, 0),
            State::Pinging { give_up_at, missed } if passed(give_up_at) => {
                let missed = missed + 1;
                tracing::warn!(missed, timeout = ?self.config.timeout, "ping without an answer");
                if missed < self.config.max_missed.max(1) {
                    self.ping(now, missed)
                } else {
                    self.state = State::Gone;
                    KeepAliveAction::Gone
                }
            }
            State::Waiting { .. } | State::Pinging { .. } => KeepAliveAction::Wait,
            State::Gone => KeepAliveAction::Gone,
        }
    }

    /// The peer was heard: it answered a ping, by a result or an error, or sent anything else.
    pub fn heard(&mut self, now: Instant) {
        match self.state {
            State::Waiting { .. } | State::Pinging { .. } => self.state = self.waiting(now),
            // Whoever was told so has closed by now.
            State::Gone => {}
        }
    }

    fn ping(&mut self, now: Instant, missed: u32) -> KeepAliveAction {
        self.state = State::Pinging { give_up_at: now.checked_add(self.config.timeout), missed };
        KeepAliveAction::Ping
    }

    fn waiting(&self, now: Instant) -> State {
        let interval = self.config.interval.max(KeepAliveConfig::MIN_INTERVAL);
        State::Waiting { ping_at: now.checked_add(interval) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ManualClock;

    const SECOND: Duration = Duration::from_secs(1);

    /// Runs for a minute, with a peer that answers those pings whose number is listed, and
    /// says at which second what was done.
    fn check(config: KeepAliveConfig, answers: &[usize]) -> String {
        let start = ManualClock::new().instant();
        let mut keep_alive = KeepAlive::start(start, config);
        let (mut log, mut pings) = (Vec::new(), 0);
        while let Some(at) = keep_alive.next().filter(|at| *at <= start + 60 * SECOND) {
            match keep_alive.handle(at) {
                KeepAliveAction::Ping => {
                    pings += 1;
                    log.push(format!("{}s ping", (at - start).as_secs()));
                    if answers.contains(&pings) {
                        keep_alive.heard(at + SECOND / 10);
                    }
                }
                KeepAliveAction::Gone => log.push(format!("{}s gone", (at - start).as_secs())),
                KeepAliveAction::Wait => panic!("woken for nothing"),
            }
        }
        log.join(", ")
    }

    // Shows: PING-006, PING-007
    #[test]
    fn a_silent_peer_is_pinged_at_the_interval() {
        let all: Vec<_> = (1..100).collect();
        assert_eq!(check(KeepAliveConfig::every(20 * SECOND), &all), "20s ping, 40s ping");
        assert_eq!(check(KeepAliveConfig::every(5 * SECOND), &all).matches("ping").count(), 11);
    }

    // Shows: PING-002, PING-003, PING-008, PING-010, PING-011, FC-027
    #[test]
    fn the_peer_is_gone_after_the_set_number_of_misses_and_not_before() {
        let config = KeepAliveConfig::every(10 * SECOND).with_timeout(2 * SECOND);
        assert_eq!(check(config, &[]), "10s ping, 12s ping, 14s ping, 16s gone");
        assert_eq!(check(config.with_max_missed(1), &[]), "10s ping, 12s gone");
        assert_eq!(
            check(config, &[3]),
            "10s ping, 12s ping, 14s ping, 24s ping, 26s ping, 28s ping, 30s gone"
        );
    }

    // Shows: PING-009
    #[test]
    fn pings_are_never_sent_in_a_hurry() {
        let hurried = check(KeepAliveConfig::every(Duration::ZERO), &(1..100).collect::<Vec<_>>());
        assert!(hurried.matches("ping").count() <= 60);
    }

    #[test]
    fn a_peer_that_talks_is_not_pinged() {
        let start = ManualClock::new().instant();
        let mut keep_alive = KeepAlive::start(start, KeepAliveConfig::every(10 * SECOND));
        for second in 1..100 {
            let now = start + second * SECOND;
            assert_eq!(keep_alive.handle(now), KeepAliveAction::Wait);
            keep_alive.heard(now);
        }
    }

    #[test]
    fn who_is_gone_stays_gone() {
        let start = ManualClock::new().instant();
        let config = KeepAliveConfig::every(SECOND).with_timeout(SECOND).with_max_missed(0);
        let mut keep_alive = KeepAlive::start(start, config);
        keep_alive.handle(start + SECOND);
        assert_eq!(keep_alive.handle(start + 2 * SECOND), KeepAliveAction::Gone);
        keep_alive.heard(start + 2 * SECOND);
        assert_eq!(keep_alive.handle(start + 3 * SECOND), KeepAliveAction::Gone);
        assert_eq!(keep_alive.next(), None);
    }
}
