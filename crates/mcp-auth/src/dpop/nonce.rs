use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use hyper::HeaderMap;
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

/// The newest nonce of each server.
#[derive(Debug, Default)]
pub(crate) struct Nonces(Mutex<HashMap<(String, Role), String>>);

impl Nonces {
    /// Takes the nonce out of an answer; says whether there was a new one.
    pub(crate) fn learn(&self, url: &Url, role: Role, headers: &HeaderMap) -> bool {
        let Some(nonce) = headers.get("dpop-nonce").and_then(|value| value.to_str().ok()) else {
            return false;
        };
        if nonce.is_empty() || nonce.len() > MAX_LEN {
            return false;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (url.origin().ascii_serialization(), role);
        if !known.contains_key(&key) && known.len() >= MAX_NONCES {
            // A nonce that is forgotten costs one round trip.
            known.clear();
        }
        known.insert(key, nonce.to_owned()).as_deref() != Some(nonce)
    }

    pub(crate) fn newest(&self, url: &Url, role: Role) -> Option<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&(url.origin().ascii_serialization(), role)).cloned()
    }
}
