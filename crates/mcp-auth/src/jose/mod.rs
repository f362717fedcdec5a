//! Signed tokens: as much of JOSE as MCP needs, on top of `ring`.
//!
//! There is no `none` and no shared-key algorithm here, by type, so a token can neither be
//! unsigned nor be "signed" with somebody's public key.

mod algorithm;
mod compact;
mod key_set;
mod private;
mod public;
pub use self::algorithm::Algorithm;
pub use self::compact::{Compact, MalformedToken};
pub use self::key_set::KeySet;
pub use self::private::{InvalidKey, PrivateKey, SignError};
pub use self::public::{PublicKey, Thumbprint, UnusableKey};

#[cfg(feature = "client")]
pub(crate) use self::compact::peek;
pub(crate) use self::compact::{encode, is_for};
