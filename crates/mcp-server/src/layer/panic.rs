use mcp_jsonrpc::ErrorObject;
use mcp_jsonrpc::service::v1::{Inbound, Layer, Replies, Reply, Service};

use crate::catch::catching;

/// Turns a panic of what is behind it into `-32603`, and a logged event.
///
/// A server does that for its handlers by itself: this is for layers and services that may
/// panic.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct PanicGuard;

impl PanicGuard {
    /// The guard.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl<S: Service> Layer<S> for PanicGuard {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded { inner }
    }
}

/// A service behind a [`PanicGuard`].
#[derive(Clone, Copy, Debug)]
pub struct Guarded<S> {
    inner: S,
}

impl<S: Service> Service for Guarded<S> {
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        let id = inbound.id().cloned();
        let outcome = match catching(|| Box::pin(self.inner.call(inbound, replies))) {
            Ok(call) => call.await,
            Err(panicked) => Err(panicked),
        };
        match (outcome, id) {
            (Ok(reply), _) => reply,
            (Err(_), Some(id)) => Reply::error(&id, &ErrorObject::internal("internal error")),
            (Err(_), None) => Reply::Silent,
        }
    }
}
