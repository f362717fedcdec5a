//! Proof of possession (RFC 9449).

#[cfg(feature = "client")]
mod nonce;
#[cfg(feature = "client")]
mod proof;
#[cfg(feature = "client")]
pub(crate) use self::nonce::{Nonces, Role};
#[cfg(feature = "client")]
pub(crate) use self::proof::proof;
