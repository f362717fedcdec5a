use std::fmt;

use subtle::ConstantTimeEq as _;

use crate::v1::{BoxFuture, PresentedToken, TokenVerifier, Unverified, Verified};
use crate::{Issuer, Resource, ScopeSet, Secret, crypto};

/// Tokens that are written down in the configuration: for development, on loopback.
///
/// Kept as digests, compared in constant time.
#[derive(Clone, Default)]
pub struct StaticTokens {
    entries: Vec<Entry>,
    pub(in crate::server) anywhere: bool,
}

#[derive(Clone)]
struct Entry {
    digest: [u8; 32],
    subject: String,
    scopes: ScopeSet,
}

impl StaticTokens {
    /// No token yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a token that speaks for `subject`.
    #[must_use]
    pub fn with(mut self, token: &Secret, subject: impl Into<String>, scopes: ScopeSet) -> Self {
        let digest = crypto::sha256(token.expose().as_bytes());
        self.entries.push(Entry { digest, subject: subject.into(), scopes });
        self
    }

    /// Lets the tokens be used by servers that are not on loopback. They never end and can't
    /// be called back.
    #[must_use]
    pub fn dangerous_beyond_loopback(mut self) -> Self {
        self.anywhere = true;
        self
    }

    /// A verifier of these tokens for one resource: being written down here makes them meant
    /// for it.
    pub(in crate::server) fn for_resource(self, issuer: Issuer, resource: &Resource) -> Fixed {
        Fixed { tokens: self, issuer, audience: resource.as_str().to_owned() }
    }
}

impl fmt::Debug for StaticTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StaticTokens({})", self.entries.len())
    }
}

#[derive(Debug)]
pub(in crate::server) struct Fixed {
    tokens: StaticTokens,
    issuer: Issuer,
    audience: String,
}

impl TokenVerifier for Fixed {
    fn verify<'a>(
        &'a self,
        token: PresentedToken<'a>,
    ) -> BoxFuture<'a, Result<Verified, Unverified>> {
        let digest = crypto::sha256(token.expose().as_bytes());
        // All are compared, whichever fits.
        let mut found = None;
        for entry in &self.tokens.entries {
            if bool::from(entry.digest.ct_eq(&digest)) {
                found = Some(entry);
            }
        }
        let verified = found.map(|entry| {
            let mut verified = Verified::new(self.issuer.clone());
            verified.subject = Some(entry.subject.clone());
            verified.audiences = vec![self.audience.clone()];
            verified.scopes = entry.scopes.clone();
            verified.alive_by_word = true;
            verified
        });
        Box::pin(std::future::ready(verified.ok_or(Unverified::NotGenuine)))
    }
}
