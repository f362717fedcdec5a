//! Streamable HTTP for MCP.
//!
//! Work in progress: see the module docs.

pub mod sse;

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
