#![expect(clippy::panic, reason = "a suite panics when a contract is broken")]

use crate::Secret;
use crate::v1::{PresentedToken, TokenVerifier, Unverified};

/// Tokens for [`token_verifier_suite`].
#[derive(Debug)]
#[non_exhaustive]
pub struct VerifierCases {
    /// One that is good.
    pub good: Secret,
    /// Ones that were good, or are somebody else's: none may pass.
    pub bad: Vec<Secret>,
}

impl VerifierCases {
    /// Makes the cases.
    pub fn new(good: Secret, bad: Vec<Secret>) -> Self {
        Self { good, bad }
    }
}

/// Proves the contract of [`TokenVerifier`] with these tokens.
///
/// # Panics
///
/// When the contract is broken.
pub async fn token_verifier_suite(verifier: &dyn TokenVerifier, cases: &VerifierCases) {
    let verified = verifier
        .verify(PresentedToken::new(&cases.good))
        .await
        .unwrap_or_else(|error| panic!("a good token was refused: {error}"));
    assert!(!verified.audiences.is_empty(), "a good token is meant for nobody");
    assert!(verified.expires_at.is_some() || verified.alive_by_word, "a good token never ends");
    let garbage = ["", "x", ".", "..", "a.b.c", "\u{0}"].map(Secret::from);
    let long = Secret::new("a".repeat(16 * 1024));
    for token in garbage.iter().chain([&long]).chain(&cases.bad) {
        match verifier.verify(PresentedToken::new(token)).await {
            Ok(_) => panic!("a bad token passed"),
            Err(Unverified::Unavailable { .. }) => panic!("a bad token made the verifier fail"),
            Err(_) => {}
        }
    }
}
