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

pub mod v1;
