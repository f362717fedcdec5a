//! OAuth 2.1 for the Model Context Protocol, both halves: a client that logs in, renews and
//! steps up on its own, and a guard that protects a server.
//!
//! ```text
//!   mcp-transport-http ── Authorizer ──▶ client ─┐              ┌─ server ◀── Guard ── mcp-transport-http
//!                                                ├─ this crate ─┤
//!   CredentialStore, Browser, Signer, Fetch ─────┘              └── TokenVerifier
//! ```
//!
//! # Log a client in
//!
//! ```
//! use mcp_auth::client::{DocumentClient, DynamicClient, SystemBrowser};
//! use mcp_auth::{OAuthClient, Redirect, Registration};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let oauth = OAuthClient::builder()
//!     .interactive(
//!         Registration::new()
//!             .with_document(DocumentClient::new("https://app.example.com/client.json")?)
//!             .with_dynamic(DynamicClient::new("Example App")),
//!         Redirect::loopback(),
//!     )
//!     .browser(SystemBrowser::new(|visit| eprintln!("Log in at {}", visit.url)))
//!     .build()?;
//! let authorizer = oauth.for_endpoint("https://mcp.example.com/mcp".parse()?)?;
//! // Hand `authorizer` to the HTTP transport: the first call that is turned away logs in.
//! # drop(authorizer);
//! # Ok(())
//! # }
//! ```
//!
//! # Protect a server
//!
//! ```
//! use mcp_auth::server::{JwtRules, Need};
//! use mcp_auth::{Issuer, Resource, ResourceServer, ScopePolicy};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let protected = ResourceServer::builder(Resource::new("https://mcp.example.com/mcp")?)
//!     .jwt(Issuer::new("https://login.example.com")?, JwtRules::default())
//!     .policy(
//!         ScopePolicy::new()
//!             .baseline(Need::all("files:read"))
//!             .tool("delete_file", Need::all("files:write"))
//!             .implies("files:write", "files:read"),
//!     )
//!     .build()?;
//! // Hand `protected` to the HTTP endpoint as its guard, and answer requests for which
//! // `protected.metadata(method, path)` has an answer with that.
//! # drop(protected);
//! # Ok(())
//! # }
//! ```
//!
//! # Rules
//!
//! - A credential never leaves the origin that it was made for, and travels in the
//!   `Authorization` header only.
//! - Issuers and resources are strings, compared letter for letter. Everything that an
//!   authorization server gave is kept under its issuer and shown to no other.
//! - Whatever a document of somebody else makes us fetch goes through the guarded fetcher.
//! - A token passes only if its audience is this server, whichever verifier found it genuine.
//! - A handler sees a principal, never a token.
//! - Tokens, codes, secrets, keys are in no log, no `Debug`, no error.
//!
//! # What it does not do
//!
//! It is no authorization server, and no proxy in front of one. It has nothing to do with
//! stdio: credentials for a stdio server come from its environment.
//!
//! # Features
//!
//! - `client` (on): [`OAuthClient`], by way of the `oauth2` crate.
//! - `server` (on): [`ResourceServer`].
//! - `webpki-roots` (on): trust the roots that Mozilla's program lists, compiled in.
//! - `native-roots` (off): trust the roots of the operating system, in place of those.
//! - `keyring` (off): logins in files, encrypted with a key from the operating system's
//!   keyring.
//! - `testing` (off): a scripted fetcher, an authorization server in memory, contract suites.
//! - `unstable-dpop` (off): proof of possession, a draft extension.
//! - `unstable-workload-identity` (off): workload identity, a draft extension.
#![cfg_attr(
    not(all(feature = "client", feature = "server")),
    allow(dead_code, unused_imports, reason = "each half uses some of what both share")
)]

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

#[cfg(all(any(test, fuzzing), feature = "client", feature = "server"))]
#[doc(hidden)]
pub mod fuzzing;

#[cfg(all(doctest, feature = "client", feature = "server"))]
#[doc = include_str!("../README.md")]
struct Readme;
