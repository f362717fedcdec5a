//! The few primitives that everything else is made of.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::{SecureRandom as _, SystemRandom};

/// The system has no random bytes to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system has no random bytes to give")]
#[non_exhaustive]
pub struct NoRandomness;

pub(crate) fn fill_random(bytes: &mut [u8]) -> Result<(), NoRandomness> {
    SystemRandom::new().fill(bytes).map_err(|_| NoRandomness)
}

/// 128 random bits, as base64url.
pub(crate) fn random_id() -> Result<String, NoRandomness> {
    let mut bytes = [0; 16];
    fill_random(&mut bytes)?;
    Ok(base64url(&bytes))
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut digest = [0; 32];
    digest.copy_from_slice(ring::digest::digest(&ring::digest::SHA256, bytes).as_ref());
    digest
}

/// The digest of several parts, each preceded by its length, so that no two lists of parts
/// share one.
pub(crate) fn sha256_parts<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> [u8; 32] {
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part);
    }
    let mut digest = [0; 32];
    digest.copy_from_slice(context.finish().as_ref());
    digest
}

pub(crate) fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn from_base64url(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

pub(crate) fn base64_standard(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a `String` never fails.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moving_a_border_between_parts_changes_the_digest() {
        let digest = |parts: &[&str]| sha256_parts(parts.iter().map(|part| part.as_bytes()));
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
        assert_eq!(digest(&["ab", "c"]), digest(&["ab", "c"]));
    }

    #[test]
    fn padding_is_neither_written_nor_read() {
        assert_eq!(base64url(&[255, 254]), "__4");
        assert_eq!(from_base64url("__4"), Some(vec![255, 254]));
        assert_eq!(from_base64url("__4="), None);
    }
}
