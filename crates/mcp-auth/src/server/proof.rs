use std::sync::Arc;
use std::time::SystemTime;

use hyper::http::request::Parts;
use url::Url;

use crate::dpop::{Expected, ProofFault, ReplayWindow, ServerNonces, check};
use crate::jose::{Algorithm, Thumbprint};
use crate::v1::{ProofDigest, ReplayStore};
use crate::{NoRandomness, Secret, crypto};

/// Whether and how proofs of possession are demanded (RFC 9449).
#[cfg_attr(
    not(feature = "unstable-dpop"),
    expect(unreachable_pub, reason = "public once the feature is on")
)]
#[derive(Clone)]
#[non_exhaustive]
pub struct DpopRules {
    /// Whether bearer tokens are refused.
    pub required: bool,
    /// The algorithms that are taken.
    pub algorithms: Vec<Algorithm>,
    /// Whether proofs need a nonce of ours.
    pub nonces: bool,
    /// The key that nonces are made with, at least 32 bytes; the same on all replicas. Made at
    /// random without one.
    pub nonce_key: Option<Secret>,
    /// Where proofs that were shown are remembered; in memory by default.
    pub replays: Arc<dyn ReplayStore>,
}

impl std::fmt::Debug for DpopRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DpopRules")
            .field("required", &self.required)
            .field("algorithms", &self.algorithms)
            .field("nonces", &self.nonces)
            .finish_non_exhaustive()
    }
}

impl Default for DpopRules {
    fn default() -> Self {
        Self {
            required: false,
            algorithms: vec![Algorithm::Es256, Algorithm::EdDsa],
            nonces: false,
            nonce_key: None,
            replays: Arc::new(ReplayWindow::default()),
        }
    }
}

/// Checks proofs.
pub(super) struct Proofs {
    pub(super) rules: DpopRules,
    nonces: Option<ServerNonces>,
}

/// What is wrong with a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unproven {
    Proof,
    Nonce,
    /// The token is bound to another key.
    Token,
    /// It can't be said now.
    Unavailable,
}

impl Proofs {
    pub(super) fn new(rules: DpopRules) -> Result<Self, NoRandomness> {
        let nonces = match (rules.nonces, &rules.nonce_key) {
            (false, _) => None,
            (true, Some(key)) => Some(ServerNonces::with_key(key.expose().as_bytes())),
            (true, None) => Some(ServerNonces::new()?),
        };
        Ok(Self { rules, nonces })
    }

    pub(super) fn names(&self) -> String {
        self.rules.algorithms.iter().map(|a| a.name()).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn nonce(&self, now: SystemTime) -> Option<String> {
        Some(self.nonces.as_ref()?.current(now))
    }

    /// Checks the proof that came with a token that is bound to `bound_to`.
    pub(super) async fn check(
        &self,
        head: &Parts,
        url: &Url,
        token: &Secret,
        bound_to: &Thumbprint,
        now: SystemTime,
    ) -> Result<(), Unproven> {
        let expected = Expected {
            method: head.method.as_str(),
            url,
            token,
            bound_to,
            algorithms: &self.rules.algorithms,
            now,
        };
        let proof = check(&head.headers, &expected).map_err(|fault| match fault {
            ProofFault::Invalid => Unproven::Proof,
            ProofFault::OtherKey => Unproven::Token,
        })?;
        if let Some(nonces) = &self.nonces
            && !proof.nonce.is_some_and(|nonce| nonces.accepts(&nonce, now))
        {
            return Err(Unproven::Nonce);
        }
        // Remembered only when all else is right, so that nobody can fill the window.
        let parts = [proof.id.as_bytes(), bound_to.as_str().as_bytes()];
        let digest = ProofDigest::new(crypto::sha256_parts(parts));
        match self.rules.replays.first_time(digest, proof.until, now).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Unproven::Proof),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "no proof can be checked");
                Err(Unproven::Unavailable)
            }
        }
    }
}

impl std::fmt::Debug for Proofs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Proofs").field(&self.rules).finish()
    }
}
