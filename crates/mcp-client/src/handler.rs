//! Handlers that are closures, and how handlers fail.

use std::error::Error;
use std::fmt;

use mcp_jsonrpc::ErrorObject;
use mcp_lifecycle::ElicitationModes;
use mcp_types::{
    CreateMessageRequestParams, CreateMessageResult, ElicitAction, ElicitRequestFormParams,
    ElicitRequestUrlParams, ElicitResult, Root,
};

use crate::context::Context;
use crate::v1::{
    Approver, BoxFuture, Decision, ElicitationHandler, RootsProvider, SamplingHandler, Wish,
};

/// How a handler of a server's request fails.
///
/// Any error turns into one by `?`. The server then hears that the client failed, and nothing
/// of the error itself, which may hold what is none of its business; it is logged.
pub struct HandlerError(Kind);

enum Kind {
    Refused,
    Protocol(ErrorObject),
    Failed(Box<dyn Error + Send + Sync>),
}

/// What the server hears.
pub(crate) enum Answer {
    Refused,
    Error(ErrorObject),
}

impl HandlerError {
    /// The person refuses. For sampling and roots the server gets an error that says so, for
    /// elicitation the answer "decline".
    #[must_use]
    pub const fn refused() -> Self {
        Self(Kind::Refused)
    }

    /// Answers the request with this error.
    #[must_use]
    pub const fn protocol(error: ErrorObject) -> Self {
        Self(Kind::Protocol(error))
    }

    pub(crate) fn into_answer(self, method: &str) -> Answer {
        match self.0 {
            Kind::Refused => Answer::Refused,
            Kind::Protocol(error) => Answer::Error(error),
            Kind::Failed(error) => {
                tracing::error!(method, error = &*error, "a handler has failed");
                Answer::Error(ErrorObject::internal("the client could not serve the request"))
            }
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self(Kind::Failed(Box::new(error)))
    }
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Refused => f.write_str("HandlerError(refused)"),
            Kind::Protocol(error) => write!(f, "HandlerError({error:?})"),
            Kind::Failed(error) => write!(f, "HandlerError({error:?})"),
        }
    }
}

pub(crate) fn forms_alone() -> ElicitationModes {
    let mut modes = ElicitationModes::default();
    modes.form = true;
    modes
}

impl<F, Fut> SamplingHandler for F
where
    F: Fn(CreateMessageRequestParams, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<CreateMessageResult, HandlerError>> + Send + 'static,
{
    fn create_message(
        &self,
        request: CreateMessageRequestParams,
        cx: Context,
    ) -> BoxFuture<'_, Result<CreateMessageResult, HandlerError>> {
        Box::pin(self(request, cx))
    }
}

/// Forms only.
impl<F, Fut> ElicitationHandler for F
where
    F: Fn(ElicitRequestFormParams, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<ElicitResult, HandlerError>> + Send + 'static,
{
    fn form(
        &self,
        request: ElicitRequestFormParams,
        cx: Context,
    ) -> BoxFuture<'_, Result<ElicitResult, HandlerError>> {
        Box::pin(self(request, cx))
    }
}

impl<F, Fut> Approver for F
where
    F: Fn(Wish, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Decision> + Send + 'static,
{
    fn approve(&self, wish: Wish, cx: Context) -> BoxFuture<'_, Decision> {
        Box::pin(self(wish, cx))
    }
}

/// Roots that never change.
impl RootsProvider for Vec<Root> {
    fn roots(&self, _: Context) -> BoxFuture<'_, Result<Vec<Root>, HandlerError>> {
        Box::pin(std::future::ready(Ok(self.clone())))
    }
}

type FormFn = dyn Fn(ElicitRequestFormParams, Context) -> BoxFuture<'static, Result<ElicitResult, HandlerError>>
    + Send
    + Sync;
type UrlFn = dyn Fn(ElicitRequestUrlParams, Context) -> BoxFuture<'static, Result<ElicitResult, HandlerError>>
    + Send
    + Sync;

/// An elicitation handler made of one closure for each mode.
#[derive(Default)]
pub(crate) struct Closures {
    pub(crate) form: Option<Box<FormFn>>,
    pub(crate) url: Option<Box<UrlFn>>,
}

impl ElicitationHandler for Closures {
    fn form(
        &self,
        request: ElicitRequestFormParams,
        cx: Context,
    ) -> BoxFuture<'_, Result<ElicitResult, HandlerError>> {
        match &self.form {
            Some(form) => form(request, cx),
            None => Box::pin(std::future::ready(Ok(ElicitResult::new(ElicitAction::Decline)))),
        }
    }

    fn url(
        &self,
        request: ElicitRequestUrlParams,
        cx: Context,
    ) -> BoxFuture<'_, Result<ElicitResult, HandlerError>> {
        match &self.url {
            Some(url) => url(request, cx),
            None => Box::pin(std::future::ready(Ok(ElicitResult::new(ElicitAction::Decline)))),
        }
    }

    fn modes(&self) -> ElicitationModes {
        let mut modes = ElicitationModes::default();
        modes.form = self.form.is_some();
        modes.url = self.url.is_some();
        modes
    }
}
