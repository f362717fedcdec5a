use std::time::Instant;

use mcp_jsonrpc::service::v1::BoxFuture;
use mcp_lifecycle::v1::Clock;

/// The clock of the Tokio runtime, with time that can be paused in tests.
///
/// Sleeping needs a runtime with timers.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TokioClock;

impl TokioClock {
    /// The clock.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
        // An async block, so that the runtime has to be entered for the first poll only.
        Box::pin(async move { tokio::time::sleep_until(deadline.into()).await })
    }
}
