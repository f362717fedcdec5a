use std::time::Duration;

use mcp_jsonrpc::ErrorObject;
use mcp_jsonrpc::service::v1::{Inbound, Layer, Replies, Reply, Service};

use super::handled_id;

/// A bound on how long a call takes. One that takes longer is dropped, with everything that it
/// has asked the client, and answered by `-32603`.
///
/// # Panics
///
/// The service does, outside of a Tokio runtime with timers.
#[derive(Clone, Copy, Debug)]
pub struct Timeout(Duration);

impl Timeout {
    /// At most this long.
    #[must_use]
    pub const fn new(limit: Duration) -> Self {
        Self(limit)
    }
}

impl<S: Service> Layer<S> for Timeout {
    type Service = Timed<S>;

    fn layer(&self, inner: S) -> Timed<S> {
        Timed { inner, limit: self.0 }
    }
}

/// A service behind a [`Timeout`].
#[derive(Clone, Copy, Debug)]
pub struct Timed<S> {
    inner: S,
    limit: Duration,
}

impl<S: Service> Service for Timed<S> {
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        let Some(id) = handled_id(&inbound) else {
            return self.inner.call(inbound, replies).await;
        };
        let call = self.inner.call(inbound, replies);
        tokio::time::timeout(self.limit, call).await.unwrap_or_else(|_| {
            let limit = self.limit.as_millis();
            tracing::warn!(%id, "a call took longer than {limit} ms");
            Reply::error(&id, &ErrorObject::internal(format!("no result within {limit} ms")))
        })
    }
}
