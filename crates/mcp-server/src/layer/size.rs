use mcp_jsonrpc::service::v1::{Inbound, Layer, Replies, Reply, Service};
use mcp_jsonrpc::{ErrorObject, Head};

/// A bound on the size of results. One that is larger is answered by `-32603` instead.
#[derive(Clone, Copy, Debug)]
pub struct ResponseLimit(usize);

impl ResponseLimit {
    /// At most this many bytes of JSON, the envelope included.
    #[must_use]
    pub const fn new(bytes: usize) -> Self {
        Self(bytes)
    }
}

impl<S: Service> Layer<S> for ResponseLimit {
    type Service = Sized<S>;

    fn layer(&self, inner: S) -> Sized<S> {
        Sized { inner, limit: self.0 }
    }
}

/// A service behind a [`ResponseLimit`].
#[derive(Clone, Copy, Debug)]
pub struct Sized<S> {
    inner: S,
    limit: usize,
}

impl<S: Service> Service for Sized<S> {
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        let reply = self.inner.call(inbound, replies).await;
        let Reply::Response(response) = &reply else { return reply };
        match response.head() {
            Head::Result { id } if response.frame().len() > self.limit => {
                tracing::warn!(%id, bytes = response.frame().len(), "a result is too large");
                let message = format!("the result has more than {} bytes", self.limit);
                Reply::error(id, &ErrorObject::internal(message))
            }
            _ => reply,
        }
    }
}
