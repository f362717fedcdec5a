//! Stands between a client and a server, and holds every message of either against the schema of
//! the revision that they have agreed on. It uses nothing of our own implementation: neither its
//! types, nor its codec, nor its transports.

mod pipe;
mod proxy;
mod report;
mod schema;
mod watch;

// The model's reader is the generator's own, and that of its tests.
#[allow(dead_code, reason = "it also writes")]
#[path = "../../../xtask/src/schema/file.rs"]
mod file;
#[path = "../../../crates/mcp-types/tests/support/schema.rs"]
mod render;
#[allow(dead_code, reason = "it also writes")]
#[path = "../../../xtask/src/schema/ty.rs"]
mod ty;

pub use pipe::run as stdio;
pub use proxy::run as http;
pub(crate) use report::Side;
pub(crate) use watch::Watch;
