//! OAuth 2.1 for MCP, both halves.

mod crypto;
mod secret;
mod text;
pub use crate::crypto::NoRandomness;
pub use crate::secret::Secret;

mod identifier;
mod scope;
pub use crate::identifier::{InvalidIdentifier, Issuer, Resource, ResourceMatch};
pub use crate::scope::ScopeSet;

pub mod challenge;
mod json;
pub mod metadata;
pub mod well_known;

pub mod jose;

mod fetch;
pub use crate::fetch::{
    FetchError, FetchPolicy, FetchRequest, FetchResponse, GuardedFetcher, Reach, Roots, Rule,
};

mod client_auth;
mod dpop;

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "client")]
mod store;
#[cfg(feature = "client")]
pub use crate::client::{
    AuthError, AuthErrorKind, ClientAuthMethod, Login, OAuthAuthorizer, OAuthClient, Record,
    Redirect, Registration,
};
#[cfg(feature = "client")]
pub use crate::store::{FileStore, MemoryStore};

#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "server")]
pub use crate::server::{ResourceServer, ScopePolicy};

pub mod v1;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
