use std::fmt;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use zeroize::Zeroizing;

use crate::{NoRandomness, Secret, crypto};

/// Encrypts what is stored.
pub(super) struct Seal(LessSafeKey);

impl Seal {
    /// A seal with a key that is made from `secret`.
    pub(super) fn new(secret: &Secret) -> Option<Self> {
        let key = Zeroizing::new(crypto::sha256(secret.expose().as_bytes()));
        UnboundKey::new(&CHACHA20_POLY1305, &*key).ok().map(|key| Self(LessSafeKey::new(key)))
    }

    /// Encrypts `plain` for one `place`: nowhere else it can be opened.
    pub(super) fn close(&self, place: &str, plain: &[u8]) -> Result<String, NoRandomness> {
        let mut nonce = [0; NONCE_LEN];
        crypto::fill_random(&mut nonce)?;
        let mut sealed = plain.to_vec();
        self.0
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(place.as_bytes()),
                &mut sealed,
            )
            .map_err(|_| NoRandomness)?;
        let mut whole = nonce.to_vec();
        whole.append(&mut sealed);
        Ok(crypto::base64url(&whole))
    }

    /// Opens what was closed for that place; `None` if it was changed, moved, or closed with
    /// another key.
    pub(super) fn open(&self, place: &str, sealed: &str) -> Option<Zeroizing<Vec<u8>>> {
        let whole = crypto::from_base64url(sealed)?;
        let (nonce, sealed) = whole.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut buffer = Zeroizing::new(sealed.to_vec());
        let len = self.0.open_in_place(nonce, Aad::from(place.as_bytes()), &mut buffer).ok()?.len();
        buffer.truncate(len);
        Some(buffer)
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_closed_opens_at_its_place_with_its_key_and_not_otherwise() {
        let (a, b) = (Seal::new(&"a".into()).unwrap(), Seal::new(&"b".into()).unwrap());
        let sealed = a.close("here", b"hush").unwrap();
        assert_eq!(a.open("here", &sealed).unwrap().as_slice(), b"hush");
        assert!(a.open("there", &sealed).is_none() && b.open("here", &sealed).is_none());
        assert_ne!(a.close("here", b"hush").unwrap(), sealed);
        let changed =
            sealed.replacen(&sealed[20..21], if &sealed[20..21] == "A" { "B" } else { "A" }, 1);
        assert!(a.open("here", &changed).is_none() || changed == sealed);
        assert!(a.open("here", "").is_none());
    }
}
