use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::BoxFuture;
use crate::jose::Thumbprint;
use crate::{Issuer, ScopeSet, Secret};

/// Decides whether a token is genuine and alive, and says what it says. Whether it is meant
/// for this server is decided by [`ResourceServer`](crate::server::ResourceServer), for every
/// verifier alike.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come with a
/// default body. It is object-safe. The suite `testing::token_verifier_suite` proves an
/// implementation.
///
/// # Contract
///
/// - Called once for each request that carries a token, several at a time.
/// - [`Unverified::Unavailable`] means that it could not be checked: the client is told to come
///   back, not to log in anew. Every other answer turns the token away.
/// - A verifier that gives no audience gets its tokens refused.
/// - The token is lent for the length of the call. Keeping it is the one way left to misuse it.
///
/// # Cancel safety
///
/// The future is dropped when the client goes away.
pub trait TokenVerifier: Send + Sync + 'static {
    /// Verifies a token.
    fn verify<'a>(
        &'a self,
        token: PresentedToken<'a>,
    ) -> BoxFuture<'a, Result<Verified, Unverified>>;
}

impl<V: TokenVerifier + ?Sized> TokenVerifier for Arc<V> {
    fn verify<'a>(
        &'a self,
        token: PresentedToken<'a>,
    ) -> BoxFuture<'a, Result<Verified, Unverified>> {
        (**self).verify(token)
    }
}

/// A token as a client presented it.
#[derive(Clone, Copy)]
pub struct PresentedToken<'a>(&'a Secret);

impl<'a> PresentedToken<'a> {
    /// A token that was presented.
    pub fn new(token: &'a Secret) -> Self {
        Self(token)
    }

    /// The token.
    #[must_use]
    pub fn expose(&self) -> &'a str {
        self.0.expose()
    }
}

impl fmt::Debug for PresentedToken<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PresentedToken(<redacted>)")
    }
}

/// What a genuine token says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verified {
    /// Who issued it.
    pub issuer: Issuer,
    /// Whom it speaks for.
    pub subject: Option<String>,
    /// The client that got it.
    pub client_id: Option<String>,
    /// For whom it is meant.
    pub audiences: Vec<String>,
    /// What it allows.
    pub scopes: ScopeSet,
    /// When it ends.
    pub expires_at: Option<SystemTime>,
    /// Whether its end is watched over elsewhere, so that it may have none of its own.
    pub alive_by_word: bool,
    /// The key that it is bound to (`cnf.jkt`).
    pub bound_to: Option<Thumbprint>,
    /// All that it says.
    pub claims: serde_json::Map<String, serde_json::Value>,
}

impl Verified {
    /// A token of `issuer` that says nothing yet.
    pub fn new(issuer: Issuer) -> Self {
        Self {
            issuer,
            subject: None,
            client_id: None,
            audiences: Vec::new(),
            scopes: ScopeSet::new(),
            expires_at: None,
            alive_by_word: false,
            bound_to: None,
            claims: serde_json::Map::new(),
        }
    }
}

/// A token was not found genuine and alive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unverified {
    /// It is no token of the kind that is expected.
    #[error("the token is malformed")]
    Malformed,
    /// Its issuer did not make it.
    #[error("the token is not genuine")]
    NotGenuine,
    /// Its time is over.
    #[error("the token has expired")]
    Expired,
    /// Its time has not come.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// Somebody else issued it.
    #[error("the token is from another issuer")]
    OtherIssuer,
    /// Its issuer says that it is not active.
    #[error("the token is not active")]
    Inactive,
    /// It is bound in a way that can't be checked here.
    #[error("the token is bound in a way that is not supported")]
    Binding,
    /// It could not be checked.
    #[error("the token can't be checked now")]
    Unavailable {
        /// When to come back.
        retry_after: Duration,
        /// The cause.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

impl Unverified {
    /// It could not be checked.
    pub fn unavailable(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unavailable { retry_after: Duration::from_secs(5), source: source.into() }
    }
}
