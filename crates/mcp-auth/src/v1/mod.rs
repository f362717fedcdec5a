//! The boundaries of this crate, version 1.
//!
//! Within `v1` there are only additions; a break is `v2` beside it.

mod fetch;
pub use self::fetch::Fetch;

mod signer;
pub use self::signer::{AssertionError, AssertionSource, Signer};

#[cfg(feature = "client")]
mod store;
#[cfg(feature = "client")]
pub use self::store::{
    CredentialKey, CredentialStore, Generation, LockPurpose, Saved, StoreError, StoreLock, Stored,
};

#[cfg(feature = "client")]
mod browser;
#[cfg(feature = "client")]
pub use self::browser::{Browser, BrowserError, CallbackUrl, Visit, Visited};

#[cfg(feature = "server")]
mod replay;
#[cfg(feature = "server")]
pub use self::replay::{ProofDigest, ReplayError, ReplayStore};

#[cfg(feature = "server")]
mod verifier;
#[cfg(feature = "server")]
pub use self::verifier::{PresentedToken, TokenVerifier, Unverified, Verified};

use std::future::Future;
use std::pin::Pin;

/// A boxed future, as the object-safe boundaries return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
