use std::error::Error;
use std::marker::PhantomData;
use std::{fmt, sync::Arc};

use mcp_jsonrpc::{ErrorObject, Extensions};
use mcp_types::{
    Base64, BlobResourceContents, ReadResourceResult, ResourceContents, TextResourceContents,
};

use super::Variables;
use crate::context::Context;
use crate::v1::{BoxFuture, ResourceProvider};

/// One reading of a resource.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadRequest {
    /// What is to be read, as the client wrote it.
    pub uri: String,
    /// What the variables of the template stand for; empty when there is no template.
    pub variables: Variables,
    /// Who reads, and the way back to them.
    pub context: Context,
    pub(crate) state: Arc<Extensions>,
}

impl ReadRequest {
    pub(crate) const fn new(
        uri: String,
        variables: Variables,
        context: Context,
        state: Arc<Extensions>,
    ) -> Self {
        Self { uri, variables, context, state }
    }

    /// A value that the server was given by `Server::state`.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.state.get_arc()
    }
}

/// A resource can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResourceError {
    /// There is nothing under this URI: `-32002`.
    #[error("resource not found")]
    NotFound,
    /// The client may not read it. Told as "not found", so that nobody learns what there is.
    #[error("access denied")]
    Denied,
    /// Reading has failed: `-32603`. The cause is logged here, not sent.
    #[error("the resource can't be read")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
    /// An error of the protocol, sent as it is.
    #[error("the resource can't be read")]
    Protocol(#[source] ErrorObject),
}

impl ResourceError {
    /// Reading has failed.
    pub fn failed(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(cause.into())
    }
}

impl From<std::io::Error> for ResourceError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::NotFound => Self::NotFound,
            std::io::ErrorKind::PermissionDenied => Self::Denied,
            _ => Self::Failed(Box::new(error)),
        }
    }
}

/// What can become a resource: an async function of a [`ReadRequest`], a text, or any
/// [`ResourceProvider`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a resource",
    label = "not a resource",
    note = "a resource is an `async` function or closure that takes a `ReadRequest`, or a fixed text"
)]
pub trait IntoResource<M> {
    /// The resource.
    type Resource: ResourceProvider;

    /// Makes the resource.
    fn into_resource(self) -> Self::Resource;
}

/// What a function of a resource can return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the contents of a resource",
    note = "contents are texts, bytes, `ResourceContents`, lists of these, `ReadResourceResult`, and `Result<_, ResourceError>` of these"
)]
pub trait IntoReadResult {
    /// The contents; `uri` and `mime_type` are those that were asked for and registered.
    ///
    /// # Errors
    ///
    /// When reading has failed.
    fn into_read_result(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, ResourceError>;
}

impl IntoReadResult for ReadResourceResult {
    fn into_read_result(
        self,
        _: &str,
        _: Option<&str>,
    ) -> Result<ReadResourceResult, ResourceError> {
        Ok(self)
    }
}

impl IntoReadResult for ResourceContents {
    fn into_read_result(
        self,
        _: &str,
        _: Option<&str>,
    ) -> Result<ReadResourceResult, ResourceError> {
        Ok(ReadResourceResult::new(vec![self]))
    }
}

impl IntoReadResult for Vec<ResourceContents> {
    fn into_read_result(
        self,
        _: &str,
        _: Option<&str>,
    ) -> Result<ReadResourceResult, ResourceError> {
        Ok(ReadResourceResult::new(self))
    }
}

impl IntoReadResult for String {
    fn into_read_result(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, ResourceError> {
        let mut contents = TextResourceContents::new(uri, self);
        contents.mime_type = mime_type.map(str::to_owned);
        ResourceContents::Text(contents).into_read_result(uri, mime_type)
    }
}

impl IntoReadResult for &str {
    fn into_read_result(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, ResourceError> {
        self.to_owned().into_read_result(uri, mime_type)
    }
}

impl IntoReadResult for Vec<u8> {
    fn into_read_result(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, ResourceError> {
        let mut contents = BlobResourceContents::new(uri, Base64::encode(&self));
        contents.mime_type = mime_type.map(str::to_owned);
        ResourceContents::Blob(contents).into_read_result(uri, mime_type)
    }
}

impl<T: IntoReadResult, E: Into<ResourceError>> IntoReadResult for Result<T, E> {
    fn into_read_result(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, ResourceError> {
        self.map_err(Into::into)?.into_read_result(uri, mime_type)
    }
}

/// Marks what is a [`ResourceProvider`] already.
#[derive(Debug)]
#[non_exhaustive]
pub struct Already;

impl<T: ResourceProvider> IntoResource<Already> for T {
    type Resource = T;

    fn into_resource(self) -> T {
        self
    }
}

/// An async function, or a fixed text, as a resource.
pub struct ResourceHandler<F, M> {
    function: F,
    marker: PhantomData<fn() -> M>,
}

impl<F, M> fmt::Debug for ResourceHandler<F, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResourceHandler")
    }
}

/// Marks functions.
#[derive(Debug)]
#[non_exhaustive]
pub struct Function;

impl<F, Fut> IntoResource<Function> for F
where
    F: Fn(ReadRequest) -> Fut + Send + Sync + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: IntoReadResult,
{
    type Resource = ResourceHandler<F, Function>;

    fn into_resource(self) -> Self::Resource {
        ResourceHandler { function: self, marker: PhantomData }
    }
}

impl<F, Fut> ResourceProvider for ResourceHandler<F, Function>
where
    F: Fn(ReadRequest) -> Fut + Send + Sync + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: IntoReadResult,
{
    fn read(
        &self,
        request: ReadRequest,
    ) -> BoxFuture<'_, Result<ReadResourceResult, ResourceError>> {
        let uri = request.uri.clone();
        let mime_type = request.context.extension::<super::entry::MimeType>().cloned();
        let future = (self.function)(request);
        Box::pin(async move {
            let mime_type = mime_type.as_ref().map(|mime_type| &*mime_type.0);
            future.await.into_read_result(&uri, mime_type)
        })
    }
}

/// Marks fixed texts.
#[derive(Debug)]
#[non_exhaustive]
pub struct Fixed;

macro_rules! fixed {
    ($($ty:ty),*) => {$(
        impl IntoResource<Fixed> for $ty {
            type Resource = ResourceHandler<$ty, Fixed>;

            fn into_resource(self) -> Self::Resource {
                ResourceHandler { function: self, marker: PhantomData }
            }
        }

        impl ResourceProvider for ResourceHandler<$ty, Fixed> {
            fn read(&self, request: ReadRequest) -> BoxFuture<'_, Result<ReadResourceResult, ResourceError>> {
                let mime_type = request.context.extension::<super::entry::MimeType>();
                let mime_type = mime_type.map(|mime_type| &*mime_type.0);
                let result = self.function.clone().into_read_result(&request.uri, mime_type);
                Box::pin(std::future::ready(result))
            }
        }
    )*};
}

fixed!(String, &'static str, Vec<u8>);
