//! Where all crates meet: the programs that other implementations are held against, and ours
//! against them. Never published.

pub mod auth;
pub mod check;
pub mod everything;
pub mod interop;
pub mod soak;
pub mod twin;
pub mod wire;
