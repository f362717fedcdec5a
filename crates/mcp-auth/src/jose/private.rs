use std::fmt;
use std::sync::Arc;

use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair as _, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256,
    RSA_PSS_SHA384, RSA_PSS_SHA512, RsaKeyPair,
};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::Value;

use super::{Algorithm, PublicKey, encode};
use crate::{Secret, crypto};

/// A private key that lives in this process. Cheap to clone; prints nothing of itself.
#[derive(Clone)]
pub struct PrivateKey {
    pair: Arc<Pair>,
    algorithm: Algorithm,
    public: PublicKey,
    /// PKCS#8, base64; kept only for keys that we made, which have to be stored.
    stored: Option<Secret>,
}

enum Pair {
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl PrivateKey {
    /// Makes a new key for ES256.
    ///
    /// # Errors
    ///
    /// When the system has no random bytes to give.
    pub fn generate() -> Result<Self, InvalidKey> {
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &SystemRandom::new())
            .map_err(|_| InvalidKey::NoRandomness)?;
        let mut key = Self::from_pkcs8(document.as_ref(), Algorithm::Es256)?;
        key.stored = Some(Secret::new(crypto::base64url(document.as_ref())));
        Ok(key)
    }

    /// Reads a PEM file with a PKCS#8 key (`BEGIN PRIVATE KEY`).
    ///
    /// # Errors
    ///
    /// When there is none in it, or it doesn't fit `algorithm`.
    pub fn from_pem(pem: &Secret, algorithm: Algorithm) -> Result<Self, InvalidKey> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.expose().as_bytes())
            .map_err(|_| InvalidKey::Pem)?;
        Self::from_pkcs8(der.secret_pkcs8_der(), algorithm)
    }

    /// Reads a PKCS#8 key.
    ///
    /// # Errors
    ///
    /// When it isn't one, or doesn't fit `algorithm`.
    pub fn from_pkcs8(der: &[u8], algorithm: Algorithm) -> Result<Self, InvalidKey> {
        let random = SystemRandom::new();
        let ecdsa = |parameters| {
            EcdsaKeyPair::from_pkcs8(parameters, der, &random).map_err(|_| InvalidKey::Unfit)
        };
        let (pair, public) = match algorithm {
            Algorithm::Es256 => {
                let pair = ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING)?;
                let public = PublicKey::p256(pair.public_key().as_ref());
                (Pair::Ecdsa(pair), public)
            }
            Algorithm::Es384 => {
                let pair = ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING)?;
                let public = PublicKey::p384(pair.public_key().as_ref());
                (Pair::Ecdsa(pair), public)
            }
            Algorithm::EdDsa => {
                let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der)
                    .map_err(|_| InvalidKey::Unfit)?;
                let public = PublicKey::ed25519(pair.public_key().as_ref());
                (Pair::Ed25519(pair), public)
            }
            _ => {
                let pair = RsaKeyPair::from_pkcs8(der).map_err(|_| InvalidKey::Unfit)?;
                let parts = ring::rsa::PublicKeyComponents::<Vec<u8>>::from(pair.public());
                let public = PublicKey::rsa(&parts.n, &parts.e);
                (Pair::Rsa(pair), public)
            }
        };
        Ok(Self { pair: Arc::new(pair), algorithm, public, stored: None })
    }

    /// Reads a key in the form in which it is stored.
    pub(crate) fn from_stored(stored: &Secret) -> Result<Self, InvalidKey> {
        let der = crypto::from_base64url(stored.expose()).ok_or(InvalidKey::Unfit)?;
        let mut key = Self::from_pkcs8(&der, Algorithm::Es256)?;
        key.stored = Some(stored.clone());
        Ok(key)
    }

    /// The form in which a key that we made is stored.
    pub(crate) fn stored(&self) -> Option<&Secret> {
        self.stored.as_ref()
    }

    /// The key with an id, which is named in what it signs.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Box<str>>) -> Self {
        self.public = self.public.with_id(id);
        self
    }

    /// Its algorithm.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The public half.
    #[must_use]
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs `message`.
    ///
    /// # Errors
    ///
    /// When the system has no random bytes to give.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        let random = SystemRandom::new();
        match &*self.pair {
            Pair::Ecdsa(pair) => {
                let signature = pair.sign(&random, message).map_err(|_| SignError::new(Failed))?;
                Ok(signature.as_ref().to_vec())
            }
            Pair::Ed25519(pair) => Ok(pair.sign(message).as_ref().to_vec()),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let parameters: &dyn ring::signature::RsaEncoding = match self.algorithm {
                    Algorithm::Rs384 => &RSA_PKCS1_SHA384,
                    Algorithm::Rs512 => &RSA_PKCS1_SHA512,
                    Algorithm::Ps256 => &RSA_PSS_SHA256,
                    Algorithm::Ps384 => &RSA_PSS_SHA384,
                    Algorithm::Ps512 => &RSA_PSS_SHA512,
                    // The other algorithms have keys of other types.
                    _ => &RSA_PKCS1_SHA256,
                };
                pair.sign(parameters, &random, message, &mut signature)
                    .map_err(|_| SignError::new(Failed))?;
                Ok(signature)
            }
        }
    }

    /// A signed token with this header and these claims.
    ///
    /// # Errors
    ///
    /// As [`sign`](Self::sign).
    pub fn sign_token(&self, header: &Value, claims: &Value) -> Result<String, SignError> {
        let mut token = encode(header, claims);
        let signature = self.sign(token.as_bytes())?;
        token.push('.');
        token.push_str(&crypto::base64url(&signature));
        Ok(token)
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey")
            .field("algorithm", &self.algorithm)
            .field("public", &self.public)
            .finish_non_exhaustive()
    }
}

/// A private key can't be read or made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidKey {
    /// There is no PKCS#8 key in the PEM text.
    #[error("there is no PKCS#8 private key in the PEM text")]
    Pem,
    /// It isn't a key for the algorithm.
    #[error("the private key does not fit the algorithm")]
    Unfit,
    /// The system has no random bytes to give.
    #[error("the system has no random bytes to give")]
    NoRandomness,
}

/// A signature can't be made.
///
/// The cause is the signer's own.
#[derive(Debug, thiserror::Error)]
#[error("the signature can't be made")]
pub struct SignError(#[source] Box<dyn std::error::Error + Send + Sync>);

impl SignError {
    /// Wraps the signer's own error.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(source.into())
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the key refused to sign")]
struct Failed;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::jose::Compact;

    #[test]
    fn what_a_key_signed_its_public_half_verifies_and_no_other_does() {
        let (key, other) = (PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap());
        let token = key.sign_token(&json!({"alg": "ES256"}), &json!({"sub": "x"})).unwrap();
        let read = Compact::read(&token).unwrap();
        let jwk = key.public().to_jwk();
        assert!(read.verify(&PublicKey::from_jwk(jwk.as_object().unwrap()).unwrap()));
        assert!(!read.verify(other.public()));
        let tampered = token.replacen(&token[..1], "f", 1);
        assert!(Compact::read(&tampered).map_or(true, |read| !read.verify(key.public())));
    }

    // Shows: RS-JW-1
    #[test]
    fn a_signature_counts_only_with_the_algorithm_that_fits_the_key() {
        let key = PrivateKey::generate().unwrap();
        let signature = key.sign(b"message").unwrap();
        for algorithm in Algorithm::ALL {
            let verified = key.public().verify(algorithm, b"message", &signature);
            assert_eq!(verified, algorithm == Algorithm::Es256, "{algorithm}");
        }
    }

    #[test]
    fn a_stored_key_is_the_same_key() {
        let key = PrivateKey::generate().unwrap();
        let again = PrivateKey::from_stored(key.stored().unwrap()).unwrap();
        assert_eq!(again.public(), key.public());
        assert!(!format!("{key:?}").contains(key.stored().unwrap().expose()));
    }

    #[test]
    fn text_that_is_no_key_is_refused() {
        let pem = Secret::new("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
        assert_eq!(PrivateKey::from_pem(&pem, Algorithm::Es256).unwrap_err(), InvalidKey::Unfit);
        assert_eq!(
            PrivateKey::from_pem(&Secret::new("x"), Algorithm::Es256).unwrap_err(),
            InvalidKey::Pem
        );
    }
}
