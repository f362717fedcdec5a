//! Version 1 of the boundaries to a host: what a server may ask of it.
//!
//! Each is an **open** trait: implement it freely. Within `v1`, new methods always come with a
//! default body. All are object-safe.

use std::sync::Arc;

pub use mcp_jsonrpc::service::v1::BoxFuture;
use mcp_lifecycle::ElicitationModes;
use mcp_types::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams, ElicitRequestParams,
    ElicitRequestUrlParams, ElicitResult, Root,
};

use crate::context::Context;
use crate::{HandlerError, RootsChanges};

/// Lets servers use the host's model.
///
/// # Contract
///
/// - Called for each request that was admitted: tools come only with
///   [`takes_tools`](Self::takes_tools), and tool uses and their results match. Calls run side
///   by side.
/// - The specification asks for a person who can see and refuse each request: here, or in an
///   [`Approver`].
/// - A panic is answered as an internal error, and costs only this request.
/// - Dropping the future cancels: leave nothing running.
///
/// Specification: [sampling](https://modelcontextprotocol.io/specification/2025-11-25/client/sampling).
pub trait SamplingHandler: Send + Sync + 'static {
    /// Asks the model.
    fn create_message(
        &self,
        request: CreateMessageRequestParams,
        cx: Context,
    ) -> BoxFuture<'_, Result<CreateMessageResult, HandlerError>>;

    /// Whether the model may use tools; `false` by default. Asked once, when the client is
    /// built.
    fn takes_tools(&self) -> bool {
        false
    }

    /// Whether context of other servers can be included; `false` by default. Asked once, when
    /// the client is built.
    fn takes_context(&self) -> bool {
        false
    }
}

/// Lets servers ask the person in front of the host.
///
/// # Contract
///
/// - Only called in the [`modes`](Self::modes) that were declared. Calls run side by side.
/// - An accepted form is held against what was asked for; one that doesn't fit is not sent.
/// - A panic is answered as an internal error, and costs only this request.
/// - Dropping the future cancels: take the question back.
///
/// Specification: [elicitation](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation).
pub trait ElicitationHandler: Send + Sync + 'static {
    /// Asks by a form. [`Form`](crate::form::Form) reads what is asked for.
    fn form(
        &self,
        request: ElicitRequestFormParams,
        cx: Context,
    ) -> BoxFuture<'_, Result<ElicitResult, HandlerError>>;

    /// Sends the person to a URL. To accept means that the person agreed to open it; nothing
    /// may open or fetch it before that. Refuses by default.
    fn url(
        &self,
        request: ElicitRequestUrlParams,
        cx: Context,
    ) -> BoxFuture<'_, Result<ElicitResult, HandlerError>> {
        let _ = (request, cx);
        Box::pin(std::future::ready(Err(HandlerError::refused())))
    }

    /// In which ways the person can be asked; only by forms by default. Asked once, when the
    /// client is built; one of them has to be there.
    fn modes(&self) -> ElicitationModes {
        crate::handler::forms_alone()
    }
}

/// Tells servers in which parts of the file system they may work.
///
/// # Contract
///
/// - Each root is a `file://` URI without `.` and `..`; a list with another one is not sent.
/// - Only roots whose exposure the person has agreed to are listed.
/// - A panic is answered as an internal error, and costs only this request.
///
/// Specification: [roots](https://modelcontextprotocol.io/specification/2025-11-25/client/roots).
pub trait RootsProvider: Send + Sync + 'static {
    /// The roots, as they are now.
    fn roots(&self, cx: Context) -> BoxFuture<'_, Result<Vec<Root>, HandlerError>>;

    /// Whether servers are told when the roots change; `false` by default. Asked once, when
    /// the client is built.
    fn announces_changes(&self) -> bool {
        false
    }

    /// A server was connected that [wants to know](Self::announces_changes): `changes` tells
    /// it. Does nothing by default.
    fn connected(&self, changes: RootsChanges) {
        let _ = changes;
    }
}

/// Asks a person, or a policy, before a server's request reaches its handler.
///
/// # Contract
///
/// Called before each request for sampling, elicitation and roots; the handler sees only what
/// was allowed. A panic refuses. Dropping the future takes the question back.
pub trait Approver: Send + Sync + 'static {
    /// Whether `wish` may go on.
    fn approve(&self, wish: Wish, cx: Context) -> BoxFuture<'_, Decision>;
}

/// What a server wants.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Wish {
    /// To use the model.
    Sampling(Arc<CreateMessageRequestParams>),
    /// To ask the person.
    Elicitation(Arc<ElicitRequestParams>),
    /// To see the roots.
    Roots,
}

/// Whether something may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a question that is answered by yes or no")]
pub enum Decision {
    /// It may.
    Allow,
    /// It may not. For elicitation that is an answer, decline; for the others an error.
    Refuse,
}

impl<H: SamplingHandler + ?Sized> SamplingHandler for Arc<H> {
    fn create_message(
        &self,
        request: CreateMessageRequestParams,
        cx: Context,
    ) -> BoxFuture<'_, Result<CreateMessageResult, HandlerError>> {
        (**self).create_message(request, cx)
    }

    fn takes_tools(&self) -> bool {
        (**self).takes_tools()
    }

    fn takes_context(&self) -> bool {
        (**self).takes_context()
    }
}

impl<H: ElicitationHandler + ?Sized> ElicitationHandler for Arc<H> {
    fn form(
        &self,
        request: ElicitRequestFormParams,
        cx: Context,
    ) -> BoxFuture<'_, Result<ElicitResult, HandlerError>> {
        (**self).form(request, cx)
    }

    fn url(
        &self,
        request: ElicitRequestUrlParams,
        cx: Context,
    ) -> BoxFuture<'_, Result<ElicitResult, HandlerError>> {
        (**self).url(request, cx)
    }

    fn modes(&self) -> ElicitationModes {
        (**self).modes()
    }
}

impl<P: RootsProvider + ?Sized> RootsProvider for Arc<P> {
    fn roots(&self, cx: Context) -> BoxFuture<'_, Result<Vec<Root>, HandlerError>> {
        (**self).roots(cx)
    }

    fn announces_changes(&self) -> bool {
        (**self).announces_changes()
    }

    fn connected(&self, changes: RootsChanges) {
        (**self).connected(changes);
    }
}

impl<A: Approver + ?Sized> Approver for Arc<A> {
    fn approve(&self, wish: Wish, cx: Context) -> BoxFuture<'_, Decision> {
        (**self).approve(wish, cx)
    }
}
