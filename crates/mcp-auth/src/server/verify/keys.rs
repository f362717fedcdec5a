use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use hyper::header::CACHE_CONTROL;
use hyper::{HeaderMap, StatusCode};
use tokio::sync::watch;
use tokio::time::Instant;
use url::Url;

use crate::jose::{Algorithm, KeySet, PublicKey};
use crate::metadata::ServerMetadata;
use crate::v1::{Fetch, Unverified};
use crate::{FetchError, FetchRequest, Issuer, well_known};

/// How large a key set may be, in bytes.
const MAX_SET: usize = 1024 * 1024;
/// The shortest and the longest time that a set is taken for fresh.
const FRESH: (Duration, Duration) = (Duration::from_secs(300), Duration::from_secs(86_400));
/// How long a set is used beyond that while no newer one can be had.
const STALE: Duration = Duration::from_secs(86_400);
/// The time between two fetches that unknown keys cause. This is what a flood of random ids
/// runs against; they are not remembered one by one.
const FLOOR: Duration = Duration::from_secs(30);
/// The time between two fetches while there is no set at all.
const FLOOR_WITHOUT: Duration = Duration::from_secs(5);

/// Where the keys of an issuer come from.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum KeySetSource {
    /// The issuer's metadata names their place.
    #[default]
    Discover,
    /// They are here.
    Url(Url),
    /// They are these.
    Fixed(KeySet),
}

/// The keys of one issuer, fetched when needed.
///
/// One fetch at a time; who needs its outcome waits for it, everybody else uses what is there.
pub(super) struct Keys {
    shared: Arc<Shared>,
}

struct Shared {
    issuer: Issuer,
    source: KeySetSource,
    fetch: Arc<dyn Fetch>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    set: Option<Arc<KeySet>>,
    fresh_until: Option<Instant>,
    /// When the last fetch began.
    tried: Option<Instant>,
    failure: Option<Arc<KeysError>>,
    fetching: Option<Weak<watch::Sender<bool>>>,
}

impl Keys {
    pub(super) fn new(issuer: Issuer, source: KeySetSource, fetch: Arc<dyn Fetch>) -> Self {
        let mut state = State::default();
        if let KeySetSource::Fixed(set) = &source {
            state.set = Some(Arc::new(set.clone()));
        }
        let shared = Shared { issuer, source, fetch, state: Mutex::new(state) };
        Self { shared: Arc::new(shared) }
    }

    /// The keys that may have made a signature: none if the issuer has no such key.
    pub(super) async fn candidates(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Vec<PublicKey>, Unverified> {
        let find = |set: &KeySet| set.candidates(id, algorithm).cloned().collect::<Vec<_>>();
        let waiting = {
            let mut state = self.lock();
            let now = Instant::now();
            let set = state.set.clone();
            let found = set.as_deref().map(find).unwrap_or_default();
            if matches!(self.shared.source, KeySetSource::Fixed(_)) {
                return Ok(found);
            }
            let fresh_until = state.fresh_until.unwrap_or(now);
            if set.is_some() && !found.is_empty() && now < fresh_until + STALE {
                if now >= fresh_until && state.may_fetch(now, FLOOR) {
                    tracing::debug!(issuer = %self.shared.issuer, "the key set is stale");
                    // Fetched beside: the set that is there still serves.
                    drop(self.start(&mut state, now));
                }
                return Ok(found);
            }
            let floor = if set.is_some() { FLOOR } else { FLOOR_WITHOUT };
            let running = state.fetching.as_ref().is_some_and(|f| f.strong_count() > 0);
            if !running && !state.may_fetch(now, floor) {
                // Nothing newer is to be had yet.
                return match (&set, state.failure.clone()) {
                    (Some(_), _) if now < fresh_until + STALE => Ok(found),
                    (_, Some(failure)) => Err(Unverified::unavailable(failure)),
                    _ => Ok(found),
                };
            }
            self.start(&mut state, now)
        };
        let mut waiting = waiting;
        // The sender goes away only when its task is over.
        let _ = waiting.wait_for(|done| *done).await;
        let state = self.lock();
        let serves = state.fresh_until.is_some_and(|until| Instant::now() < until + STALE);
        match (&state.set, state.failure.clone()) {
            (Some(set), _) if serves => Ok(find(set)),
            (_, Some(failure)) => Err(Unverified::unavailable(failure)),
            (_, None) => Err(Unverified::unavailable(KeysError::NoSet)),
        }
    }

    fn start(&self, state: &mut State, now: Instant) -> watch::Receiver<bool> {
        if let Some(sender) = state.fetching.as_ref().and_then(Weak::upgrade) {
            return sender.subscribe();
        }
        let (sender, receiver) = watch::channel(false);
        let sender = Arc::new(sender);
        state.fetching = Some(Arc::downgrade(&sender));
        state.tried = Some(now);
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move {
            let outcome = shared.fetch_set().await;
            shared.take(outcome);
            sender.send_replace(true);
        });
        receiver
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn may_fetch(&self, now: Instant, floor: Duration) -> bool {
        self.tried.is_none_or(|tried| now.duration_since(tried) >= floor)
    }
}

impl Shared {
    fn take(&self, outcome: Result<(KeySet, Duration), KeysError>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match outcome {
            Ok((set, fresh)) => {
                state.set = Some(Arc::new(set));
                state.fresh_until = Some(Instant::now() + fresh);
                state.failure = None;
            }
            // What is there goes on serving.
            Err(error) => {
                tracing::warn!(issuer = %self.issuer, %error, "the key set can't be fetched");
                state.failure = Some(Arc::new(error));
            }
        }
    }

    async fn fetch_set(&self) -> Result<(KeySet, Duration), KeysError> {
        let base = self.issuer.to_url().ok_or(KeysError::NoPlace)?;
        // The operator named the issuer: what it is connected to is where it is.
        let reach = self.fetch.reach(&base).await?;
        let url = match &self.source {
            KeySetSource::Url(url) => url.clone(),
            KeySetSource::Discover | KeySetSource::Fixed(_) => {
                let mut found = None;
                for place in well_known::authorization_server(&self.issuer) {
                    let answer = self.fetch.fetch(FetchRequest::get(place, reach)).await?;
                    if answer.status.is_server_error() {
                        return Err(KeysError::Status(answer.status));
                    }
                    if answer.status != StatusCode::OK {
                        continue;
                    }
                    if let Ok(metadata) = ServerMetadata::read(&answer.body, &self.issuer) {
                        found = metadata.jwks_uri;
                        break;
                    }
                }
                found.ok_or(KeysError::NoPlace)?
            }
        };
        let request = FetchRequest::get(url, reach).with_max_body(MAX_SET);
        let answer = self.fetch.fetch(request).await?;
        if answer.status != StatusCode::OK {
            return Err(KeysError::Status(answer.status));
        }
        let set = KeySet::read(&answer.body).ok_or(KeysError::NoSet)?;
        if set.is_empty() {
            // An empty set would lock everybody out.
            return Err(KeysError::NoSet);
        }
        Ok((set, freshness(&answer.headers)))
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("issuer", &self.shared.issuer).finish_non_exhaustive()
    }
}

fn freshness(headers: &HeaderMap) -> Duration {
    let text = headers.get(CACHE_CONTROL).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let age = text.split(',').find_map(|part| part.trim().strip_prefix("max-age="));
    let age = age.and_then(|age| age.trim_matches('"').parse().ok()).unwrap_or(0);
    Duration::from_secs(age).clamp(FRESH.0, FRESH.1)
}

/// The keys of an issuer can't be had.
#[derive(Debug, thiserror::Error)]
enum KeysError {
    #[error("a request for the keys could not be made")]
    Fetch(#[from] FetchError),
    #[error("the issuer answered with status {0}")]
    Status(StatusCode),
    #[error("the issuer names no place for its keys")]
    NoPlace,
    #[error("the issuer's key set has no usable key")]
    NoSet,
}
