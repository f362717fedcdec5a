//! Tools: how they are written, registered and called.
//!
//! Specification: [Tools](https://modelcontextprotocol.io/specification/2025-11-25/server/tools).

mod call;
pub use call::{ToolCall, ToolOutcome};

mod extract;
pub use crate::extract::{Ext, SessionState, State};
#[cfg(feature = "schemars")]
pub use extract::Args;
pub use extract::{FromCall, Parsed, RawArgs, Rejection};
pub use mcp_types::TaskSupport;

mod output;
#[cfg(feature = "schemars")]
pub use output::Json;
pub use output::{IntoToolResult, ToolDescription};

mod handler;
pub use handler::{Already, IntoTool, ToolHandler};

mod entry;
pub(crate) use entry::Registered;
pub use entry::ToolEntry;
