//! The resource server: demands a token, verifies it, says who is calling.

mod policy;
pub use self::policy::{Need, Otherwise, ScopePolicy};

mod verify;
pub use self::verify::{
    IntrospectionClient, IntrospectionVerifier, JwtRules, JwtVerifier, KeySetSource, StaticTokens,
};

mod builder;
pub use self::builder::{ConfigError, Ready, ResourceServer, ResourceServerBuilder, WantsIssuer};

mod facts;
pub use self::facts::TokenFacts;

#[cfg(feature = "client")]
mod downstream;
#[cfg(feature = "client")]
pub use self::downstream::{Caller, Downstream, DownstreamToken, ExchangeError, WrongTarget};

mod scope_error;
pub use self::scope_error::{INSUFFICIENT_SCOPE, NeedsScope};

mod documents;
pub use self::documents::{ClientDocuments, DocumentError};

#[cfg(feature = "unstable-dpop")]
pub use self::proof::DpopRules;

mod answer;
mod credential;
mod guard;
mod metadata;
mod proof;
