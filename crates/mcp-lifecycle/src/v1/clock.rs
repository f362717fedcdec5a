use std::sync::Arc;
use std::time::Instant;

use mcp_jsonrpc::service::v1::BoxFuture;

/// Tells the time, and waits for it: the only thing that does.
///
/// The state machines are told the time. This is where those who drive them have it from, so
/// that no crate above names a runtime.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come with a
/// default body. It is object-safe.
///
/// # Contract
///
/// - [`now`](Self::now) never goes back.
/// - A future of [`sleep_until`](Self::sleep_until) is ready once `now` has reached the
///   deadline, never before; it is ready at its first poll when that is so already. Where the
///   runtime has to be entered for that, its first poll is inside of it.
/// - Dropping the future leaves nothing behind.
///
/// The contract is proved by `testing::clock_suite`.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Instant;

    /// Waits until `deadline`.
    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()>;
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Instant {
        (**self).now()
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
        (**self).sleep_until(deadline)
    }
}
