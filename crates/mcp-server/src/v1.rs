//! Version 1 of the boundaries that servers are made of.
//!
//! Each is an **open** trait: implement it freely. Within `v1`, new methods always come with a
//! default body.

pub use mcp_jsonrpc::service::v1::BoxFuture;
#[cfg(feature = "tasks")]
pub use mcp_lifecycle::v1::TaskStore;
use mcp_types::{GetPromptResult, ReadResourceResult};

use crate::schema::ToolSchema;
use crate::tool::{ToolCall, ToolOutcome};

/// A tool: what it is, and what happens when it is called.
///
/// Closures become tools by [`IntoTool`](crate::tool::IntoTool); implement this trait for tools
/// that are known at run time only, such as those of a server behind this one.
///
/// # Contract
///
/// [`describe`](Self::describe) is asked once, when the tool is registered. `call` comes with
/// arguments that were checked to be an object and, unless the tool says otherwise, to fit its
/// input schema. Dropping its future cancels the call: leave nothing running.
pub trait Tool: Send + Sync + 'static {
    /// The definition that clients see; its name and schemas are filled in by the caller.
    fn describe(&self) -> ToolDefinition;

    /// Handles one call.
    fn call(&self, call: ToolCall) -> BoxFuture<'_, ToolOutcome>;
}

/// What a tool says about itself.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// What its arguments must look like.
    pub input: ToolSchema,
    /// What its structured results look like, if it has any.
    pub output: Option<ToolSchema>,
    /// Whether it parses its arguments into the type that the input schema was derived from.
    pub typed_input: bool,
    /// Whether its structured results come from the type that the output schema was derived
    /// from.
    pub typed_output: bool,
}

impl ToolDefinition {
    /// A tool that takes any object.
    #[must_use]
    pub fn new() -> Self {
        Self {
            input: ToolSchema::any_object(),
            output: None,
            typed_input: false,
            typed_output: false,
        }
    }

    /// Sets the input schema.
    #[must_use]
    pub fn with_input(mut self, schema: ToolSchema) -> Self {
        self.input = schema;
        self
    }

    /// Sets the output schema.
    #[must_use]
    pub fn with_output(mut self, schema: ToolSchema) -> Self {
        self.output = Some(schema);
        self
    }
}

impl Default for ToolDefinition {
    fn default() -> Self {
        Self::new()
    }
}

/// Something that can be read under a URI, or under each URI of a template.
///
/// # Contract
///
/// `read` comes with a URI that is this resource's, or that its template matches. An unknown
/// one is [`ResourceError::NotFound`](crate::resource::ResourceError::NotFound). Dropping the
/// future leaves nothing running.
pub trait ResourceProvider: Send + Sync + 'static {
    /// Reads what stands under the URI.
    fn read(
        &self,
        request: crate::resource::ReadRequest,
    ) -> BoxFuture<'_, Result<ReadResourceResult, crate::resource::ResourceError>>;
}

/// A prompt, made on request.
///
/// # Contract
///
/// `get` comes with all required arguments. Dropping the future leaves nothing running.
pub trait PromptProvider: Send + Sync + 'static {
    /// Makes the messages.
    fn get(
        &self,
        request: crate::prompt::PromptRequest,
    ) -> BoxFuture<'_, Result<GetPromptResult, mcp_jsonrpc::ErrorObject>>;
}

/// Completes the value of an argument while it is typed.
///
/// # Contract
///
/// More than 100 values are cut to 100 by the caller, who says so to the client.
pub trait Completer: Send + Sync + 'static {
    /// Values that `request.value` may become, best first; or the error to answer with.
    fn complete(
        &self,
        request: crate::completion::CompletionRequest,
    ) -> BoxFuture<'_, Result<crate::completion::Completion, mcp_jsonrpc::ErrorObject>>;
}
