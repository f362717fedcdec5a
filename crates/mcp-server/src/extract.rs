//! What handlers of every kind can take from a request.

use std::ops::Deref;
use std::sync::Arc;

use mcp_jsonrpc::{ErrorObject, Extensions};

use crate::context::Context;

/// What a handler of any kind can take as a parameter: something that the request comes with,
/// whatever is asked for.
///
/// This is an **open** trait: implement it for what your handlers need, such as the principal
/// that a guard has left. Tools take it by [`FromCall`](crate::tool::FromCall), which every such
/// type implements; prompts and resources take it when they are written with the macros.
///
/// ```
/// use mcp_jsonrpc::ErrorObject;
/// use mcp_server::{FromRequest, RequestParts, Server};
///
/// #[derive(Clone)]
/// struct User(String);
///
/// impl FromRequest for User {
///     fn from_request(parts: &RequestParts<'_>) -> Result<Self, ErrorObject> {
///         let user = parts.context.extension::<Self>().cloned();
///         user.ok_or_else(|| ErrorObject::invalid_request("nobody has signed in"))
///     }
/// }
///
/// let server = Server::new("greeter", "1.0.0")
///     .tool("hello", |User(name): User| async move { format!("hello, {name}") });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a parameter of this handler",
    label = "not something that a request comes with",
    note = "what requests come with is `Context`, `State<T>`, `SessionState<T>`, `Ext<T>`, an `Option` of these, and types that implement `FromRequest`; tools can also take `Args<T>` (typed arguments, `T: Deserialize + JsonSchema`), `Parsed<T>`, `RawArgs`, and types that implement `FromCall`"
)]
pub trait FromRequest: Sized {
    /// Takes the parameter from a request.
    ///
    /// # Errors
    ///
    /// The error to answer the request with; the handler isn't called then.
    fn from_request(parts: &RequestParts<'_>) -> Result<Self, ErrorObject>;
}

/// A request without what it asks for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RequestParts<'a> {
    /// Who asks, and the way back to them.
    pub context: &'a Context,
    state: &'a Extensions,
}

impl<'a> RequestParts<'a> {
    pub(crate) const fn new(context: &'a Context, state: &'a Extensions) -> Self {
        Self { context, state }
    }

    /// A value that the server was given by [`Server::state`](crate::Server::state).
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.state.get_arc()
    }
}

impl FromRequest for Context {
    fn from_request(parts: &RequestParts<'_>) -> Result<Self, ErrorObject> {
        Ok(parts.context.clone())
    }
}

/// A value that the server was given by `Server::state`, shared by all requests.
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

impl<T: Send + Sync + 'static> FromRequest for State<T> {
    fn from_request(parts: &RequestParts<'_>) -> Result<Self, ErrorObject> {
        parts.state().map(Self).ok_or_else(|| {
            tracing::error!(r#type = std::any::type_name::<T>(), "the server has no such state");
            ErrorObject::internal("the server is not set up for this")
        })
    }
}

/// A value of the caller's session, shared by the session's requests, that goes when the session
/// goes. The first request makes it.
///
/// Where there is no session the request is answered with an error: take
/// `Option<SessionState<T>>` to serve those peers, too. A session holds 16 values, one of a type,
/// with those of layers.
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

impl<T: Default + Send + Sync + 'static> FromRequest for SessionState<T> {
    fn from_request(parts: &RequestParts<'_>) -> Result<Self, ErrorObject> {
        let value = parts.context.session_state::<T>().map(Self);
        value.ok_or_else(|| ErrorObject::invalid_request("this takes a session"))
    }
}

/// A fact about this request that a transport, a guard or a layer has left.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart in parameter lists")]
pub struct Ext<T>(pub Arc<T>);

impl<T> Clone for Ext<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Ext<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Send + Sync + 'static> FromRequest for Ext<T> {
    fn from_request(parts: &RequestParts<'_>) -> Result<Self, ErrorObject> {
        parts.context.extension_arc::<T>().map(Self).ok_or_else(|| {
            tracing::error!(r#type = std::any::type_name::<T>(), "no layer has left this");
            ErrorObject::internal("the server is not set up for this")
        })
    }
}

/// None where it can't be had.
impl<T: FromRequest> FromRequest for Option<T> {
    fn from_request(parts: &RequestParts<'_>) -> Result<Self, ErrorObject> {
        Ok(T::from_request(parts).ok())
    }
}
