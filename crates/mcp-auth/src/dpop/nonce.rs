use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use hyper::HeaderMap;
use hyper::header::DATE;
use url::Url;

/// How many servers' nonces are kept.
const MAX_NONCES: usize = 64;
/// The longest nonce that is taken, in bytes.
const MAX_LEN: usize = 512;

/// In which role a server is talked to: both may live on one origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    Authorization,
    Resource,
}

/// A clock that is off by less makes no proof invalid.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(60);

/// What servers have told about the proofs that they want: the newest nonce of each, and the
/// clocks that differ from ours.
#[derive(Debug, Default)]
pub(crate) struct Nonces {
    nonces: Mutex<HashMap<(String, Role), String>>,
    clocks: Mutex<HashMap<String, Offset>>,
}

/// How far a server's clock is ahead of ours, or behind.
#[derive(Clone, Copy, Debug)]
enum Offset {
    Ahead(Duration),
    Behind(Duration),
}

impl Nonces {
    /// Takes the nonce out of an answer; says whether there was a new one.
    pub(crate) fn learn(&self, url: &Url, role: Role, headers: &HeaderMap) -> bool {
        let Some(nonce) = headers.get("dpop-nonce").and_then(|value| value.to_str().ok()) else {
            return false;
        };
        if nonce.is_empty() || nonce.len() > MAX_LEN {
            return false;
        }
        let mut known = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (url.origin().ascii_serialization(), role);
        if !known.contains_key(&key) && known.len() >= MAX_NONCES {
            // A nonce that is forgotten costs one round trip.
            known.clear();
        }
        known.insert(key, nonce.to_owned()).as_deref() != Some(nonce)
    }

    pub(crate) fn newest(&self, url: &Url, role: Role) -> Option<String> {
        let known = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&(url.origin().ascii_serialization(), role)).cloned()
    }

    /// Looks at the clock of a server that has refused a proof made at `made_at`, while ours
    /// says `now`; says whether another proof has a chance.
    pub(crate) fn learn_clock(
        &self,
        url: &Url,
        headers: &HeaderMap,
        made_at: SystemTime,
        now: SystemTime,
    ) -> bool {
        let date = headers.get(DATE).and_then(|value| value.to_str().ok());
        let Some(theirs) = date.and_then(|date| httpdate::parse_http_date(date).ok()) else {
            return false;
        };
        let off = theirs.duration_since(made_at).unwrap_or_else(|error| error.duration());
        if off <= CLOCK_TOLERANCE {
            return false;
        }
        let offset = match theirs.duration_since(now) {
            Ok(ahead) => Offset::Ahead(ahead),
            Err(error) => Offset::Behind(error.duration()),
        };
        tracing::warn!(?offset, host = url.host_str(), "the clock of a server differs from ours");
        let mut clocks = self.clocks.lock().unwrap_or_else(PoisonError::into_inner);
        if clocks.len() >= MAX_NONCES {
            clocks.clear();
        }
        clocks.insert(url.origin().ascii_serialization(), offset);
        true
    }

    /// What the clock of a server says, as far as that is known.
    pub(crate) fn time_at(&self, url: &Url, now: SystemTime) -> SystemTime {
        let clocks = self.clocks.lock().unwrap_or_else(PoisonError::into_inner);
        match clocks.get(&url.origin().ascii_serialization()) {
            None => now,
            Some(Offset::Ahead(ahead)) => now.checked_add(*ahead).unwrap_or(now),
            Some(Offset::Behind(behind)) => now.checked_sub(*behind).unwrap_or(now),
        }
    }
}
