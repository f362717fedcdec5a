use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ring::hmac;
use subtle::ConstantTimeEq as _;

use crate::{NoRandomness, crypto};

/// How long one nonce is given out.
const SLOT: Duration = Duration::from_secs(150);

/// Nonces for proofs: authenticated time slots, so that replicas with one key need no shared
/// state. Two slots are taken.
pub(crate) struct ServerNonces {
    key: hmac::Key,
}

impl ServerNonces {
    pub(crate) fn new() -> Result<Self, NoRandomness> {
        let mut bytes = [0; 32];
        crypto::fill_random(&mut bytes)?;
        Ok(Self::with_key(&bytes))
    }

    pub(crate) fn with_key(key: &[u8]) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, key) }
    }

    pub(crate) fn current(&self, now: SystemTime) -> String {
        self.of_slot(slot(now))
    }

    pub(crate) fn accepts(&self, nonce: &str, now: SystemTime) -> bool {
        let slot = slot(now);
        [slot, slot.saturating_sub(1)]
            .into_iter()
            .any(|slot| self.of_slot(slot).as_bytes().ct_eq(nonce.as_bytes()).into())
    }

    fn of_slot(&self, slot: u64) -> String {
        crypto::base64url(hmac::sign(&self.key, &slot.to_be_bytes()).as_ref())
    }
}

fn slot(now: SystemTime) -> u64 {
    now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / SLOT.as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: RS-DV-4
    #[test]
    fn a_nonce_is_good_in_its_slot_and_the_next() {
        let nonces = ServerNonces::with_key(&[7; 32]);
        let at = |slot: u32| UNIX_EPOCH + SLOT * slot;
        let nonce = nonces.current(at(10));
        assert!(nonces.accepts(&nonce, at(10)) && nonces.accepts(&nonce, at(11)));
        assert!(!nonces.accepts(&nonce, at(12)) && !nonces.accepts(&nonce, at(9)));
        assert!(!ServerNonces::with_key(&[8; 32]).accepts(&nonce, at(10)));
    }
}
