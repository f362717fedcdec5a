use std::fmt;

use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::crypto;

/// A text that must not be seen: a token, a code, a verifier, a client secret.
///
/// It prints as `<redacted>`, can't be displayed or serialized, is compared in constant time
/// and wiped when dropped. [`expose`](Self::expose) is the only way out.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes `text` into custody.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The text. Whoever calls this decides where it goes.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is no text at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A new one of `bytes` random bytes, as base64url.
    pub(crate) fn random(bytes: usize) -> Result<Self, crypto::NoRandomness> {
        let mut buffer = Zeroizing::new(vec![0; bytes]);
        crypto::fill_random(&mut buffer)?;
        Ok(Self::new(crypto::base64url(&buffer)))
    }
}

/// Compares digests, so that not even the length can be told from the time it takes.
impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self == other.expose()
    }
}

impl Eq for Secret {}

impl PartialEq<str> for Secret {
    fn eq(&self, other: &str) -> bool {
        let (a, b) = (crypto::sha256(self.0.as_bytes()), crypto::sha256(other.as_bytes()));
        a.ct_eq(&b).into()
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<redacted>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: RS-LK-1
    #[test]
    fn a_secret_prints_nothing_of_itself() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "<redacted> Some(<redacted>)");
    }

    // Shows: RS-LK-2
    #[test]
    fn secrets_are_equal_when_their_texts_are() {
        assert_eq!(Secret::new("a"), Secret::new("a"));
        assert_ne!(Secret::new("a"), Secret::new("ab"));
        assert!(Secret::new("a") == *"a");
    }

    // Shows: CL-AZ-1
    #[test]
    fn thirty_two_random_bytes_are_forty_three_characters_and_never_the_same() {
        let (a, b) = (Secret::random(32).unwrap(), Secret::random(32).unwrap());
        assert_eq!(a.expose().len(), 43);
        assert_ne!(a, b);
    }
}
