use mcp_jsonrpc::{ErrorObject, Extensions, RawJson};
use mcp_types::{CallToolResult, Outcome};
use serde_core::de::DeserializeOwned;
use std::sync::Arc;

use super::extract::Rejection;
use crate::context::Context;
use crate::schema::ToolSchema;

/// One call of a tool.
#[derive(Debug)]
#[non_exhaustive]
pub struct ToolCall {
    /// The arguments, an object; none when the client sent none, which means the same as `{}`.
    pub arguments: Option<RawJson>,
    /// Who calls, and the way back to them.
    pub context: Context,
    pub(crate) state: Arc<Extensions>,
    pub(crate) input: ToolSchema,
}

impl ToolCall {
    pub(crate) const fn new(
        arguments: Option<RawJson>,
        context: Context,
        state: Arc<Extensions>,
        input: ToolSchema,
    ) -> Self {
        Self { arguments, context, state, input }
    }

    /// The arguments as JSON, `{}` when there are none.
    #[must_use]
    pub fn arguments_json(&self) -> &[u8] {
        self.arguments.as_ref().map_or(b"{}", RawJson::as_bytes)
    }

    /// The arguments as a `T`.
    pub(crate) fn parse_arguments<T: DeserializeOwned>(&self) -> Result<T, Rejection> {
        let parsed = match &self.arguments {
            Some(arguments) => arguments.parse(),
            None => serde_json::from_str("{}"),
        };
        parsed.map_err(|error| Rejection::from_json(&error))
    }
}

/// What comes of a call: a result, which may be a failure that the model reads, or an error of
/// the protocol.
pub type ToolOutcome = Result<Outcome<CallToolResult>, ErrorObject>;
