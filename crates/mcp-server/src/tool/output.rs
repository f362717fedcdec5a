use mcp_types::{CallToolResult, ContentBlock, Outcome};

use super::ToolOutcome;
use crate::error::ToolError;
use crate::v1::ToolDefinition;

/// What a tool's function can return.
///
/// This is an **open** trait: implement it for results of your own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the result of a tool",
    label = "not something that a tool can answer with",
    note = "results are texts, `ContentBlock`s, `Json<T>` (structured, `T: Serialize + JsonSchema`), `CallToolResult`, `()` and `Result<_, ToolError>` of these; any error becomes a `ToolError` by `?`"
)]
pub trait IntoToolResult: ToolDescription {
    /// The outcome of the call.
    ///
    /// # Errors
    ///
    /// An error of the protocol; a tool that has failed gives a result that says so.
    fn into_tool_result(self) -> ToolOutcome;
}

/// What a result type says about the tool, such as the schema of its structured results.
pub trait ToolDescription {
    /// Adds to the definition.
    fn describe(definition: &mut ToolDefinition) {
        let _ = definition;
    }
}

fn complete(content: Vec<ContentBlock>) -> ToolOutcome {
    Ok(Outcome::Complete(CallToolResult::new(content)))
}

macro_rules! plain_results {
    ($($ty:ty: $self:ident => $outcome:expr;)*) => {$(
        impl ToolDescription for $ty {}
        impl IntoToolResult for $ty {
            fn into_tool_result($self) -> ToolOutcome {
                $outcome
            }
        }
    )*};
}

plain_results! {
    (): self => complete(Vec::new());
    String: self => complete(vec![ContentBlock::text(self)]);
    &'static str: self => complete(vec![ContentBlock::text(self)]);
    ContentBlock: self => complete(vec![self]);
    Vec<ContentBlock>: self => complete(self);
    CallToolResult: self => Ok(Outcome::Complete(self));
    Outcome<CallToolResult>: self => Ok(self);
}

/// A structured result: the value itself, a text twin for clients that know no structured
/// results, and its schema as the tool's output schema.
///
/// A value that isn't an object can't be a structured result in this revision; it is sent as
/// text alone, and the tool has no output schema.
#[cfg(feature = "schemars")]
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it is a wrapper")]
pub struct Json<T>(pub T);

#[cfg(feature = "schemars")]
impl<T: schemars::JsonSchema> ToolDescription for Json<T> {
    fn describe(definition: &mut ToolDefinition) {
        let schema = crate::schema::ToolSchema::of_result::<T>();
        if schema.schema().is_object_schema() {
            definition.output = Some(schema);
            definition.typed_output = true;
        }
    }
}

#[cfg(feature = "schemars")]
impl<T: serde_core::Serialize + schemars::JsonSchema> IntoToolResult for Json<T> {
    fn into_tool_result(self) -> ToolOutcome {
        let value = mcp_types::JsonValue::from_serialize(&self.0).map_err(|error| {
            tracing::error!(%error, "a result can't be written as JSON");
            mcp_jsonrpc::ErrorObject::internal("the result can't be written as JSON")
        })?;
        let mut result = CallToolResult::new(vec![ContentBlock::text(value.as_raw())]);
        if value.is_object() {
            result.structured_content = Some(value);
        }
        Ok(Outcome::Complete(result))
    }
}

impl<T: ToolDescription, E> ToolDescription for Result<T, E> {
    fn describe(definition: &mut ToolDefinition) {
        T::describe(definition);
    }
}

impl<T: IntoToolResult, E: Into<ToolError>> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> ToolOutcome {
        match self {
            Ok(result) => result.into_tool_result(),
            Err(error) => error.into().into_result().map(Outcome::Complete),
        }
    }
}
