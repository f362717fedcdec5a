use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mcp_jsonrpc::ErrorObject;
use mcp_jsonrpc::service::v1::{Inbound, Layer, Replies, Reply, Service};
use mcp_lifecycle::Session;

use super::handled;
use crate::bucket::Bucket;

/// A bound on how many calls are made in a time. What is over it is answered by `-32603`, with
/// `{"retryAfterMs": …}` as its data.
///
/// Each session has an allowance of its own, which goes with the session; calls without a
/// session share one. [`by`](Self::by) makes it one for each principal, or whatever else.
///
/// ```
/// use std::time::Duration;
///
/// use mcp_server::layer::RateLimit;
///
/// // Twenty at once, and ten a second in the long run.
/// let limit = RateLimit::new(10, Duration::from_secs(1)).burst(20);
/// ```
#[derive(Clone)]
pub struct RateLimit {
    allowance: Allowance,
    methods: Option<Arc<[String]>>,
    key: Option<KeyFn>,
}

type KeyFn = Arc<dyn Fn(&Inbound) -> Option<String> + Send + Sync>;

#[derive(Clone, Copy, Debug)]
struct Allowance {
    burst: u32,
    /// The time in which one call is earned.
    interval: Duration,
}

/// Keys that are remembered. When there are more, those that have not been used up are
/// forgotten; if none can be, further ones share one allowance.
const MOST_KEYS: usize = 10_000;

impl RateLimit {
    /// At most `calls` in `time`, and as many at once. Less than 1 counts as 1.
    #[must_use]
    pub fn new(calls: u32, time: Duration) -> Self {
        let calls = calls.max(1);
        let allowance = Allowance { burst: calls, interval: time / calls };
        Self { allowance, methods: None, key: None }
    }

    /// Sets how many calls may be made at once after a pause. Less than 1 counts as 1.
    #[must_use]
    pub fn burst(mut self, calls: u32) -> Self {
        self.allowance.burst = calls.max(1);
        self
    }

    /// Is about these methods only, such as `completion/complete`, and about any method that is
    /// named.
    #[must_use]
    pub fn methods<M: Into<String>>(mut self, methods: impl IntoIterator<Item = M>) -> Self {
        self.methods = Some(methods.into_iter().map(Into::into).collect());
        self
    }

    /// Gives an allowance to each key that `key` makes of a request; requests of which it makes
    /// none are not bounded.
    #[must_use]
    pub fn by<F>(mut self, key: F) -> Self
    where
        F: Fn(&Inbound) -> Option<String> + Send + Sync + 'static,
    {
        self.key = Some(Arc::new(key));
        self
    }
}

impl fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit").field("allowance", &self.allowance).finish_non_exhaustive()
    }
}

impl<S: Service> Layer<S> for RateLimit {
    type Service = Bounded<S>;

    fn layer(&self, inner: S) -> Bounded<S> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let buckets = Buckets {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            shared: Mutex::default(),
            by_key: Mutex::default(),
        };
        Bounded { inner, limit: self.clone(), buckets: Arc::new(buckets) }
    }
}

/// A service behind a [`RateLimit`]. Clones share the bound.
#[derive(Clone, Debug)]
pub struct Bounded<S> {
    inner: S,
    limit: RateLimit,
    buckets: Arc<Buckets>,
}

#[derive(Debug)]
struct Buckets {
    /// A session may be behind several limits.
    id: u64,
    shared: Mutex<Bucket>,
    by_key: Mutex<HashMap<String, Bucket>>,
}

/// The allowances that a session has, by limit.
#[derive(Debug, Default)]
struct OfSession(Mutex<Vec<(u64, Bucket)>>);

impl<S: Service> Bounded<S> {
    fn is_about(&self, inbound: &Inbound) -> bool {
        match &self.limit.methods {
            None => handled(inbound).is_some(),
            Some(methods) => {
                let method = inbound.method().as_str();
                inbound.id().is_some() && methods.iter().any(|known| known == method)
            }
        }
    }

    /// Uses one call up; answers how long to wait when there is none.
    fn take(&self, inbound: &Inbound, now: Instant) -> Result<(), Duration> {
        let Allowance { burst, interval } = self.limit.allowance;
        if let Some(key) = &self.limit.key {
            let Some(key) = key(inbound) else { return Ok(()) };
            let mut keys = self.buckets.by_key.lock().unwrap_or_else(PoisonError::into_inner);
            if keys.len() >= MOST_KEYS && !keys.contains_key(&key) {
                keys.retain(|_, bucket| !bucket.is_full(now));
            }
            if keys.len() < MOST_KEYS || keys.contains_key(&key) {
                return keys.entry(key).or_default().take(now, burst, interval);
            }
        } else if let Some(session) = inbound.extensions.get::<Session>()
            && let Ok(of_session) = session.attach(OfSession::default)
        {
            let mut limits = of_session.0.lock().unwrap_or_else(PoisonError::into_inner);
            let id = self.buckets.id;
            if let Some((_, bucket)) = limits.iter_mut().find(|(known, _)| *known == id) {
                return bucket.take(now, burst, interval);
            }
            let mut bucket = Bucket::default();
            let taken = bucket.take(now, burst, interval);
            limits.push((id, bucket));
            return taken;
        }
        let mut shared = self.buckets.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.take(now, burst, interval)
    }
}

impl<S: Service> Service for Bounded<S> {
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        if self.is_about(&inbound)
            && let Err(wait) = self.take(&inbound, crate::bucket::now())
        {
            let Some(id) = inbound.id() else { return Reply::Silent };
            tracing::debug!(%id, method = inbound.method().as_str(), "over the rate limit");
            let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
            let error = ErrorObject::internal("too many requests")
                .with_data_from(&serde_json::json!({ "retryAfterMs": wait }));
            return Reply::error(id, &error);
        }
        self.inner.call(inbound, replies).await
    }
}
