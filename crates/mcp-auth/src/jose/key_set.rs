use serde_json::Value;

use super::{Algorithm, PublicKey};
use crate::json;

/// How many entries of a set are read.
const MAX_KEYS: usize = 100;
/// How many keys are tried for a token that names none.
const MAX_TRIED: usize = 4;

/// The public keys of one issuer.
///
/// What can't be used is dropped when the set is read: shared and private keys, unknown types,
/// weak ones, and whatever is beyond 100 entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySet(Vec<PublicKey>);

impl KeySet {
    /// A set of these keys.
    pub fn new(keys: impl IntoIterator<Item = PublicKey>) -> Self {
        Self(keys.into_iter().take(MAX_KEYS).collect())
    }

    /// Reads a JSON Web Key Set; `None` when it is no such document.
    #[must_use]
    pub fn read(document: &[u8]) -> Option<Self> {
        let object = json::object(document)?;
        let keys = object.get("keys")?.as_array()?;
        let usable = keys
            .iter()
            .take(MAX_KEYS)
            .filter_map(Value::as_object)
            .filter_map(|jwk| PublicKey::from_jwk(jwk).ok());
        Some(Self(usable.collect()))
    }

    /// Whether there is no usable key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys that may have made a signature with `algorithm`: those with the id that the
    /// token names, or else, for a token that names none, the first four that fit.
    pub fn candidates<'s>(
        &'s self,
        id: Option<&'s str>,
        algorithm: Algorithm,
    ) -> impl Iterator<Item = &'s PublicKey> {
        self.0
            .iter()
            .filter(move |key| key.fits(algorithm) && (id.is_none() || key.id() == id))
            .take(MAX_TRIED)
    }

    /// Whether a key with that id is in the set.
    #[must_use]
    pub fn knows(&self, id: &str) -> bool {
        self.0.iter().any(|key| key.id() == Some(id))
    }

    /// The set as a document.
    #[must_use]
    pub fn to_jwks(&self) -> Value {
        serde_json::json!({ "keys": self.0.iter().map(PublicKey::to_jwk).collect::<Vec<_>>() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jose::PrivateKey;

    // Shows: RS-JW-2, RS-JW-3
    #[test]
    fn a_token_that_names_a_key_is_tried_with_that_key_only() {
        let key = |id: &str| PrivateKey::generate().unwrap().public().clone().with_id(id);
        let set = KeySet::new((0..6).map(|n| key(&format!("k{n}"))));
        let again = KeySet::read(set.to_jwks().to_string().as_bytes()).unwrap();
        assert_eq!(again, set);
        assert_eq!(set.candidates(Some("k5"), Algorithm::Es256).count(), 1);
        assert_eq!(set.candidates(None, Algorithm::Es256).count(), MAX_TRIED);
        assert_eq!(set.candidates(Some("k9"), Algorithm::Es256).count(), 0);
        assert_eq!(set.candidates(None, Algorithm::Rs256).count(), 0);
    }

    // Shows: RS-JW-2
    #[test]
    fn a_set_keeps_what_is_usable() {
        let set = KeySet::read(br#"{"keys":[{"kty":"oct","k":"AA"},7,{"kty":"later"}]}"#).unwrap();
        assert!(set.is_empty());
        assert_eq!(KeySet::read(b"{}"), None);
    }
}
