use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::context::Context;
use crate::v1::{Approver, BoxFuture, Decision, Wish};

/// How often a server may use the model and ask the person: an [`Approver`] that refuses what
/// comes too often, before anybody is asked.
///
/// Each client has an allowance of its own for sampling, and another one for elicitation: some
/// at once, and then one in each interval. Roots are let pass.
///
/// ```
/// use std::time::Duration;
/// use mcp_client::Client;
/// use mcp_client::host::RateLimit;
///
/// // Three at once, then one in ten seconds; who is left is the person's to decide.
/// let limit = RateLimit::new(3, Duration::from_secs(10));
/// let builder = Client::builder("my-app", "1.0").approver(limit);
/// ```
///
/// Specification: [sampling](https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#security-considerations),
/// [elicitation](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#security-considerations).
#[derive(Debug)]
pub struct RateLimit<A = ()> {
    burst: u32,
    interval: Duration,
    /// Until when what was taken has been earned: of the model, and of the person.
    earned_at: Mutex<[Option<Instant>; 2]>,
    next: A,
}

impl RateLimit {
    /// Lets `burst` requests of a kind through at once, and one more in each `interval`. At least
    /// one at once.
    #[must_use]
    pub fn new(burst: u32, interval: Duration) -> Self {
        Self { burst: burst.max(1), interval, earned_at: Mutex::default(), next: () }
    }

    /// Asks `approver` about what doesn't come too often.
    pub fn then<A: Approver>(self, approver: A) -> RateLimit<A> {
        let Self { burst, interval, earned_at, next: () } = self;
        RateLimit { burst, interval, earned_at, next: approver }
    }
}

impl<A> RateLimit<A> {
    /// Takes one of the allowance, if there is one.
    fn take(&self, wish: &Wish, now: Instant) -> bool {
        let kind = match wish {
            Wish::Sampling(_) => 0,
            Wish::Elicitation(_) => 1,
            Wish::Roots => return true,
        };
        let mut earned_at = self.earned_at.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(slot) = earned_at.get_mut(kind) else { return true };
        let at = slot.filter(|at| *at > now).unwrap_or(now);
        let most = self.interval.saturating_mul(self.burst - 1);
        if at.saturating_duration_since(now) > most {
            return false;
        }
        // A time that can't be told never comes.
        *slot = at.checked_add(self.interval).or(Some(at));
        true
    }
}

impl Approver for RateLimit {
    fn approve(&self, wish: Wish, cx: Context) -> BoxFuture<'_, Decision> {
        let allowed = self.take(&wish, cx.client().clock().now());
        Box::pin(std::future::ready(told(allowed)))
    }
}

impl<A: Approver> Approver for RateLimit<A> {
    fn approve(&self, wish: Wish, cx: Context) -> BoxFuture<'_, Decision> {
        if self.take(&wish, cx.client().clock().now()) {
            return self.next.approve(wish, cx);
        }
        Box::pin(std::future::ready(told(false)))
    }
}

fn told(allowed: bool) -> Decision {
    if allowed {
        return Decision::Allow;
    }
    tracing::warn!("the server asks too often");
    Decision::Refuse
}
