//! The client's roots: where it says that a server may work.
//!
//! Specification: [Roots](https://modelcontextprotocol.io/specification/2025-11-25/client/roots).

mod cache;
pub(crate) use cache::RootsCache;

pub use mcp_types::file_uri::{InvalidFileUri, path_of, uri_of};

mod inside;
pub use inside::Inside;
