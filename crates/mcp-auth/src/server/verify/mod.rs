//! Verifiers.

mod claims;
mod fixed;
mod introspect;
mod jwt;
mod keys;
mod known;
pub use self::fixed::StaticTokens;
pub use self::introspect::{IntrospectionClient, IntrospectionVerifier};
pub use self::jwt::{JwtRules, JwtVerifier};
pub use self::keys::KeySetSource;
