use std::ops::Deref;
use std::sync::Arc;

use mcp_jsonrpc::{ErrorObject, RawJson};
use serde_core::de::DeserializeOwned;

use super::ToolCall;
use crate::context::Context;
use crate::v1::ToolDefinition;

/// What a tool's function can take as a parameter.
///
/// This is an **open** trait: implement it for what your tools need from a call.
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
        serde_json::from_slice(call.arguments_json())
            .map(Self)
            .map_err(|error| Rejection::from_json(&error))
    }
}

/// The arguments, parsed into a type that says nothing about the schema.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart in parameter lists")]
pub struct Parsed<T>(pub T);

impl<T: DeserializeOwned> FromCall for Parsed<T> {
    fn from_call(call: &ToolCall) -> Result<Self, Rejection> {
        serde_json::from_slice(call.arguments_json())
            .map(Self)
            .map_err(|error| Rejection::from_json(&error))
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

impl FromCall for Context {
    const READS_ARGUMENTS: bool = false;

    fn from_call(call: &ToolCall) -> Result<Self, Rejection> {
        Ok(call.context.clone())
    }
}

/// A value that the server was given by `Server::state`, shared by all calls.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart in parameter lists")]
pub struct State<T>(pub Arc<T>);

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Send + Sync + 'static> FromCall for State<T> {
    const READS_ARGUMENTS: bool = false;

    fn from_call(call: &ToolCall) -> Result<Self, Rejection> {
        call.state.get_arc::<T>().map(Self).ok_or_else(|| {
            tracing::error!(r#type = std::any::type_name::<T>(), "the server has no such state");
            Rejection::Protocol(ErrorObject::internal("the server is not set up for this tool"))
        })
    }
}

/// A value of the caller's session, shared by the session's calls, that goes when the session
/// goes. The first call makes it.
///
/// Where there is no session the call is answered with an error: take `Option<SessionState<T>>`
/// to serve those peers, too. A session holds 16 values, one of a type, with those of layers.
///
/// Specification: [Sessions](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management).
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart in parameter lists")]
pub struct SessionState<T>(pub Arc<T>);

impl<T> Clone for SessionState<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for SessionState<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Default + Send + Sync + 'static> FromCall for SessionState<T> {
    const READS_ARGUMENTS: bool = false;

    fn from_call(call: &ToolCall) -> Result<Self, Rejection> {
        call.context.session_state::<T>().map(Self).ok_or_else(|| {
            Rejection::Protocol(ErrorObject::invalid_request("the tool takes a session"))
        })
    }
}

/// A fact about this call that a transport, a guard or a layer has left.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart in parameter lists")]
pub struct Ext<T>(pub Arc<T>);

impl<T> Deref for Ext<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Send + Sync + 'static> FromCall for Ext<T> {
    const READS_ARGUMENTS: bool = false;

    fn from_call(call: &ToolCall) -> Result<Self, Rejection> {
        call.context.extension_arc::<T>().map(Self).ok_or_else(|| {
            tracing::error!(r#type = std::any::type_name::<T>(), "no layer has left this");
            Rejection::Protocol(ErrorObject::internal("the server is not set up for this tool"))
        })
    }
}

impl<T: FromCall> FromCall for Option<T> {
    const READS_ARGUMENTS: bool = T::READS_ARGUMENTS;

    fn describe(definition: &mut ToolDefinition) {
        T::describe(definition);
    }

    fn from_call(call: &ToolCall) -> Result<Self, Rejection> {
        match T::from_call(call) {
            Ok(value) => Ok(Some(value)),
            Err(Rejection::Protocol(_)) => Ok(None),
            Err(rejection) => Err(rejection),
        }
    }
}
