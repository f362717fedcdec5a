use mcp_types::{JsonValue, Tool, ToolName};

use crate::Client;
use crate::v1::{BoxFuture, Decision};

/// A tool that is about to be called, for somebody to decide about:
/// see [`Builder::approve_calls`](crate::Builder::approve_calls).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallWish {
    /// The tool.
    pub tool: ToolName,
    /// What it is called with: an object.
    pub arguments: JsonValue,
    /// What the server says about the tool, if it was listed; the newest that is known.
    /// [`ToolHints`](super::ToolHints) says how far to believe it.
    pub listed: Option<Tool>,
}

impl CallWish {
    /// A wish as a call makes it.
    #[must_use]
    pub const fn new(tool: ToolName, arguments: JsonValue, listed: Option<Tool>) -> Self {
        Self { tool, arguments, listed }
    }
}

/// Decides about calls of tools.
pub(crate) type ApproveCall =
    dyn Fn(CallWish, Client) -> BoxFuture<'static, Decision> + Send + Sync;
