use std::error::Error;
use std::fmt;
use std::time::SystemTime;

use super::BoxFuture;

/// Remembers which proofs of possession were shown, so that none counts twice
/// ([RFC 9449, section 11.1](https://www.rfc-editor.org/rfc/rfc9449#section-11.1)).
///
/// The default keeps 100,000 in memory. Replicas of a server that share their clients share
/// one of these, or a proof could be shown to each of them once.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come with a
/// default body. It is object-safe.
///
/// # Contract
///
/// - Called once for each proof that is good in every other way, several at a time.
/// - Of two calls with one digest, before its time is over, at most one is answered `true`,
///   on whichever replica they are made.
/// - An error refuses the request, and says that nothing is wrong with the token.
///
/// # Cancel safety
///
/// The future is dropped when the client goes away; the proof may count as shown then.
pub trait ReplayStore: Send + Sync + 'static {
    /// Notes a proof; `false` if it was shown before. After `until` it may be forgotten.
    fn first_time<'a>(
        &'a self,
        proof: ProofDigest,
        until: SystemTime,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<bool, ReplayError>>;
}

/// What a proof is remembered by: a hash of its id and its key. It tells nothing of either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProofDigest([u8; 32]);

impl ProofDigest {
    pub(crate) const fn new(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// It can't be said whether a proof was shown before.
#[derive(Debug)]
pub struct ReplayError(Box<dyn Error + Send + Sync>);

impl ReplayError {
    /// For that reason.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(source.into())
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("shown proofs can't be looked up")
    }
}

impl Error for ReplayError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}
