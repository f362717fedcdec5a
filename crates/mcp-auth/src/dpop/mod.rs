//! Proof of possession (RFC 9449).

#[cfg(feature = "client")]
mod nonce;
#[cfg(feature = "client")]
mod proof;
#[cfg(feature = "client")]
pub(crate) use self::nonce::{Nonces, Role};
#[cfg(feature = "client")]
pub(crate) use self::proof::proof;

#[cfg(feature = "server")]
mod check;
#[cfg(feature = "server")]
mod replay;
#[cfg(feature = "server")]
mod server_nonce;
#[cfg(feature = "server")]
pub(crate) use self::check::{Expected, ProofFault, check};
#[cfg(feature = "server")]
pub(crate) use self::replay::ReplayWindow;
#[cfg(feature = "server")]
pub(crate) use self::server_nonce::ServerNonces;
