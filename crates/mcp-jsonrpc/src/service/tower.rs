//! Services of [`tower`](https://docs.rs/tower) as [`Service`]s, and the other way round.
//!
//! Both know a service that takes a request and answers it. In `tower` it says beforehand whether
//! it is ready, needs `&mut self`, and may fail; here it is called side by side, and always
//! answers. So
//!
//! - a `tower` service is cloned for each message, as other servers do it: what clones share,
//!   such as the permits of a concurrency limit, is shared by all messages;
//! - it is waited for until it is ready, with the message in hand;
//! - what it fails by becomes an error with code `-32603`, and is written to nobody: log it in a
//!   layer of your own.
//!
//! ```
//! use mcp_jsonrpc::service::tower::{IntoTower, TowerLayer};
//! # use mcp_jsonrpc::service::v1::{Inbound, Layer, Replies, Reply, Service};
//! # struct Echo;
//! # impl Service for Echo {
//! #     async fn call(&self, _: Inbound, _: Replies) -> Reply { Reply::Silent }
//! # }
//! // Any layer of `tower` whose service clones.
//! let layer = TowerLayer::new(tower::limit::ConcurrencyLimitLayer::new(8));
//! let limited = layer.layer(Echo);
//! // And a service of ours among those of `tower`.
//! let service = IntoTower::new(limited);
//! ```

use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use tower_layer::Layer as TowerLayerTrait;
use tower_service::Service as TowerService;

use super::v1::{BoxFuture, Inbound, Layer, Replies, Reply, Service};
use crate::ErrorObject;

/// One message, and where what belongs to it goes: the request of a `tower` service.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it is what a service is called with")]
pub struct Exchange {
    /// The message.
    pub inbound: Inbound,
    /// Where everything goes but the response.
    pub replies: Replies,
}

/// A `tower` service as a [`Service`].
#[derive(Clone, Debug)]
pub struct FromTower<T>(T);

impl<T> FromTower<T> {
    /// Takes a service of [`Exchange`]s that answers by a [`Reply`].
    pub const fn new(service: T) -> Self {
        Self(service)
    }
}

impl<T> Service for FromTower<T>
where
    T: TowerService<Exchange, Response = Reply> + Clone + Send + Sync + 'static,
    T::Future: Send,
{
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        let id = inbound.id().cloned();
        let mut service = self.0.clone();
        let ready = poll_fn(|cx| service.poll_ready(cx).map(|ready| ready.is_ok())).await;
        let reply = match ready {
            true => service.call(Exchange { inbound, replies }).await.ok(),
            false => None,
        };
        match (reply, id) {
            (Some(reply), _) => reply,
            (None, Some(id)) => Reply::error(&id, &ErrorObject::internal("the request failed")),
            (None, None) => Reply::Silent,
        }
    }
}

/// A [`Service`] as a `tower` service, which is always ready and never fails.
pub struct IntoTower<S>(Arc<S>);

impl<S> IntoTower<S> {
    /// Shares `service` between all clones.
    pub fn new(service: S) -> Self {
        Self(Arc::new(service))
    }
}

impl<S> Clone for IntoTower<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> fmt::Debug for IntoTower<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IntoTower")
    }
}

impl<S: Service> TowerService<Exchange> for IntoTower<S> {
    type Response = Reply;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Reply, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, exchange: Exchange) -> Self::Future {
        let service = Arc::clone(&self.0);
        let Exchange { inbound, replies } = exchange;
        Box::pin(async move { Ok(service.call(inbound, replies).await) })
    }
}

/// A layer of `tower` as a [`Layer`].
#[derive(Clone, Copy, Debug)]
pub struct TowerLayer<L>(L);

impl<L> TowerLayer<L> {
    /// Takes a layer that goes around an [`IntoTower`].
    pub const fn new(layer: L) -> Self {
        Self(layer)
    }
}

impl<L, S> Layer<S> for TowerLayer<L>
where
    S: Service,
    L: TowerLayerTrait<IntoTower<S>>,
    FromTower<L::Service>: Service,
{
    type Service = FromTower<L::Service>;

    fn layer(&self, inner: S) -> Self::Service {
        FromTower::new(self.0.layer(IntoTower::new(inner)))
    }
}
