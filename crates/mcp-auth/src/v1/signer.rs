use std::error::Error;
use std::sync::Arc;

use super::BoxFuture;
use crate::jose::{Algorithm, PrivateKey, PublicKey, SignError};
use crate::{Issuer, Secret};

/// Signs with a key that may live elsewhere: in a key management service, on a smart card.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come with a
/// default body. It is object-safe.
///
/// # Contract
///
/// The signature is in the form that JWS has for the algorithm: for ECDSA that is the two
/// numbers side by side.
///
/// # Cancel safety
///
/// Dropping the future gives the signature up.
pub trait Signer: Send + Sync + 'static {
    /// The algorithm of the key.
    fn algorithm(&self) -> Algorithm;

    /// The public half, with its id if it has one.
    fn public_key(&self) -> Option<PublicKey> {
        None
    }

    /// Signs `message`.
    fn sign(&self, message: Vec<u8>) -> BoxFuture<'_, Result<Vec<u8>, SignError>>;
}

impl Signer for PrivateKey {
    fn algorithm(&self) -> Algorithm {
        Self::algorithm(self)
    }

    fn public_key(&self) -> Option<PublicKey> {
        Some(self.public().clone())
    }

    fn sign(&self, message: Vec<u8>) -> BoxFuture<'_, Result<Vec<u8>, SignError>> {
        Box::pin(async move { Self::sign(self, &message) })
    }
}

/// Gives signed assertions that somebody else made: a platform's workload token, an identity
/// provider's ID token.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come with a
/// default body. It is object-safe.
///
/// # Contract
///
/// Asked at the time of use, each time; the answer is never kept. Where an assertion can be
/// made for an audience, it is to be made for `audience`.
///
/// # Cancel safety
///
/// Dropping the future gives the assertion up.
pub trait AssertionSource: Send + Sync + 'static {
    /// A fresh assertion.
    fn assertion<'a>(
        &'a self,
        audience: &'a Issuer,
    ) -> BoxFuture<'a, Result<Secret, AssertionError>>;
}

impl<S: AssertionSource + ?Sized> AssertionSource for Arc<S> {
    fn assertion<'a>(
        &'a self,
        audience: &'a Issuer,
    ) -> BoxFuture<'a, Result<Secret, AssertionError>> {
        (**self).assertion(audience)
    }
}

/// Always the same assertion: for tests, and for one run.
impl AssertionSource for Secret {
    fn assertion<'a>(&'a self, _: &'a Issuer) -> BoxFuture<'a, Result<Secret, AssertionError>> {
        Box::pin(std::future::ready(Ok(self.clone())))
    }
}

/// There is no assertion to be had.
///
/// The cause is the source's own: this is the one place where foreign errors come in.
#[derive(Debug, thiserror::Error)]
#[error("there is no assertion to be had")]
pub struct AssertionError(#[source] Box<dyn Error + Send + Sync>);

impl AssertionError {
    /// Wraps the source's own error.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(source.into())
    }
}
