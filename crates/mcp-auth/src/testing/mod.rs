//! Tools for tests: a fetcher that follows a script, an authorization server in memory, a
//! browser that needs nobody, and the contract suites of the boundaries in [`v1`](crate::v1).
//!
//! The suites are functions that panic when a contract is broken, so that they run inside of
//! any test.

mod fetch;
pub use self::fetch::{ScriptedFetch, Seen};

mod clock;
pub use self::clock::ManualClock;

#[cfg(all(feature = "client", feature = "server"))]
mod authority;
#[cfg(all(feature = "client", feature = "server"))]
pub use self::authority::{Authority, Behavior, Issued, ResponseIssuer, TokenFault};

#[cfg(feature = "client")]
mod browser;
#[cfg(feature = "client")]
pub use self::browser::FollowingBrowser;

#[cfg(feature = "client")]
mod store_suite;
#[cfg(feature = "client")]
pub use self::store_suite::credential_store_suite;

#[cfg(feature = "server")]
mod verifier_suite;
#[cfg(feature = "server")]
pub use self::verifier_suite::{VerifierCases, token_verifier_suite};
