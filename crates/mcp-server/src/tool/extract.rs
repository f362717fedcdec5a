use mcp_jsonrpc::{ErrorObject, RawJson};
use serde_core::de::DeserializeOwned;

use super::{ToolCall, ToolOutcome};
use crate::extract::{FromRequest, RequestParts};
use crate::v1::ToolDefinition;

/// What a tool's function can take as a parameter.
///
/// This is an **open** trait: implement it for what your tools need from the arguments of a call,
/// and [`FromRequest`] for what they need besides; that implements this one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a parameter of a tool",
    label = "not something that a call of a tool holds",
    note = "parameters are `Args<T>` (typed arguments, `T: Deserialize + JsonSchema`), `RawArgs`, `Context`, `State<T>`, `SessionState<T>` and `Ext<T>`"
)]
pub trait FromCall: Sized {
    /// Whether the parameter is made from the arguments of the call. A tool none of whose
    /// parameters are takes no arguments, and its input schema says so.
    const READS_ARGUMENTS: bool = true;

    /// What this parameter says about the tool, such as the schema of its arguments.
    fn describe(definition: &mut ToolDefinition) {
        let _ = definition;
    }

    /// Takes the parameter from a call.
    ///
    /// # Errors
    ///
    /// A [`Rejection`]; the function isn't called then.
    fn from_call(call: &ToolCall) -> Result<Self, Rejection>;
}

/// A parameter that can't be had from a call.
#[derive(Debug)]
#[non_exhaustive]
pub enum Rejection {
    /// The arguments don't fit: the model gets to read why.
    Arguments(String),
    /// Something is missing on this side: the request is answered with this error.
    Protocol(ErrorObject),
}

impl Rejection {
    pub(crate) fn from_json(error: &serde_json::Error) -> Self {
        // The position is one in our view of the frame: of no use to a model.
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or(&text);
        Self::Arguments(message.to_owned())
    }

    /// The answer to the call: from 2025-11-25 on the model reads what is wrong with its
    /// arguments, older peers get an error of the protocol.
    pub(crate) fn into_outcome(self, call: &ToolCall) -> ToolOutcome {
        match self {
            Self::Protocol(error) => Err(error),
            Self::Arguments(message) => {
                // The schema says where the fault is, and what was expected; serde doesn't know.
                let violations = call.input.violations(call.arguments_json()).unwrap_or_default();
                let message = if violations.is_empty() { message } else { violations.join("; ") };
                crate::tools::bad_arguments(call.context.revision(), &message)
            }
        }
    }
}

/// The arguments, parsed into a type whose schema becomes the tool's input schema.
#[cfg(feature = "schemars")]
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart in parameter lists")]
pub struct Args<T>(pub T);

#[cfg(feature = "schemars")]
impl<T: DeserializeOwned + schemars::JsonSchema> FromCall for Args<T> {
    fn describe(definition: &mut ToolDefinition) {
        definition.input = crate::schema::ToolSchema::of::<T>();
        definition.typed_input = true;
    }

    fn from_call(call: &ToolCall) -> Result<Self, Rejection> {
        call.parse_arguments().map(Self)
    }
}

/// The arguments, parsed into a type that says nothing about the schema.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart in parameter lists")]
pub struct Parsed<T>(pub T);

impl<T: DeserializeOwned> FromCall for Parsed<T> {
    fn from_call(call: &ToolCall) -> Result<Self, Rejection> {
        call.parse_arguments().map(Self)
    }
}

/// The arguments as they came, `{}` when there were none.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart in parameter lists")]
pub struct RawArgs(pub RawJson);

impl FromCall for RawArgs {
    fn from_call(call: &ToolCall) -> Result<Self, Rejection> {
        match &call.arguments {
            Some(arguments) => Ok(Self(arguments.clone())),
            None => RawJson::new(b"{}".as_slice())
                .map(Self)
                .map_err(|error| Rejection::from_json(&error)),
        }
    }
}

impl<T: FromRequest> FromCall for T {
    const READS_ARGUMENTS: bool = false;

    fn from_call(call: &ToolCall) -> Result<Self, Rejection> {
        let parts = RequestParts::new(&call.context, &call.state);
        T::from_request(&parts).map_err(Rejection::Protocol)
    }
}
