//! Streamable HTTP for MCP.
//!
//! Work in progress: see the module docs.

pub mod sse;

pub mod header;

mod session_id;
pub use crate::session_id::{InvalidSessionId, NamedSession, SessionId};

#[cfg(feature = "server")]
pub mod server;

pub mod memory;
pub mod v1;

#[cfg(any(test, feature = "testing"))]
pub mod testing;

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
