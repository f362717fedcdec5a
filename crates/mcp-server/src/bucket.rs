//! Allowances that refill with time.

use std::time::{Duration, Instant};

/// The time, as the runtime has it: tests can stop it.
pub(crate) fn now() -> Instant {
    #[cfg(feature = "tokio")]
    return tokio::time::Instant::now().into_std();
    #[cfg(not(feature = "tokio"))]
    return Instant::now();
}

/// An allowance of which one is earned in each interval, up to a burst.
///
/// It is the instant until which what was taken has been earned (the virtual scheduling of the
/// generic cell rate algorithm): nothing is counted, so nothing runs over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bucket {
    earned_at: Option<Instant>,
}

impl Bucket {
    /// Takes one; answers how long it takes until there is one again when there is none.
    pub(crate) fn take(
        &mut self,
        now: Instant,
        burst: u32,
        interval: Duration,
    ) -> Result<(), Duration> {
        let earned_at = self.earned_at.filter(|at| *at > now).unwrap_or(now);
        let ahead = earned_at.saturating_duration_since(now);
        // Whoever has taken `burst` is `burst` intervals ahead.
        let most = interval.saturating_mul(burst.saturating_sub(1));
        if ahead > most {
            return Err(ahead.saturating_sub(most));
        }
        // A time that can't be told is one that never comes.
        self.earned_at = earned_at.checked_add(interval).or(Some(earned_at));
        Ok(())
    }

    /// Whether nothing is taken that has not been earned.
    pub(crate) fn is_full(&self, now: Instant) -> bool {
        self.earned_at.is_none_or(|at| at <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_allowed_and_then_the_rate() {
        let start = Instant::now();
        let tenth = Duration::from_millis(100);
        let mut bucket = Bucket::default();
        let mut taken = Vec::new();
        for step in 0..50u32 {
            // Every 20 ms.
            let now = start + tenth / 5 * step;
            if bucket.take(now, 3, tenth).is_ok() {
                taken.push(step);
            }
        }
        assert_eq!(&taken[..5], [0, 1, 2, 5, 10]);
        assert_eq!(taken.len(), 3 + 9);
        assert!(!bucket.is_full(start) && bucket.is_full(start + tenth * 60));
    }

    #[test]
    fn who_is_refused_learns_how_long_to_wait() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let mut bucket = Bucket::default();
        assert_eq!(bucket.take(start, 1, second), Ok(()));
        assert_eq!(bucket.take(start, 1, second), Err(second));
        assert_eq!(bucket.take(start + second, 1, second), Ok(()));
    }
}
