use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::v1::Verified;

/// How long a verified token is believed.
const BELIEVED: Duration = Duration::from_secs(60);

/// Tokens that were verified a moment ago, by a hash of each.
pub(super) struct Known {
    limit: usize,
    tokens: Mutex<HashMap<[u8; 32], (Verified, SystemTime)>>,
}

impl Known {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, tokens: Mutex::default() }
    }

    pub(super) fn find(&self, digest: &[u8; 32], now: SystemTime) -> Option<Verified> {
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        let (verified, until) = tokens.get(digest)?;
        (now < *until).then(|| verified.clone())
    }

    pub(super) fn keep(&self, digest: [u8; 32], verified: &Verified, now: SystemTime) {
        let soon = now + BELIEVED;
        let until = verified.expires_at.map_or(soon, |end| end.min(soon));
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        if tokens.len() >= self.limit {
            tokens.retain(|_, (_, until)| now < *until);
        }
        // Full of tokens that are good: this one is verified again.
        if tokens.len() < self.limit {
            tokens.insert(digest, (verified.clone(), until));
        }
    }
}
