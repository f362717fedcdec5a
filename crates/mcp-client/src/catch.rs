//! A handler that panics costs its own request, and nothing else.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use mcp_jsonrpc::service::v1::BoxFuture;

/// Something of the host's has panicked; that was logged.
pub(crate) struct Panicked;

/// Makes a future and waits for it; a panic of either is logged and becomes an error.
///
/// What it had borrowed or locked is dropped as in any unwinding. State that it shares with
/// others is its own matter, as it is with threads.
pub(crate) async fn catching<'a, T>(
    make: impl FnOnce() -> BoxFuture<'a, T> + Send,
) -> Result<T, Panicked> {
    let mut future = catching_now(make)?;
    std::future::poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
        Err(panic) => Poll::Ready(Err(logged(&*panic))),
    })
    .await
}

/// Runs a callback; a panic is logged and becomes an error.
pub(crate) fn catching_now<T>(run: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| logged(&*panic))
}

fn logged(panic: &(dyn Any + Send)) -> Panicked {
    let reason = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    tracing::error!(reason, "a handler has panicked");
    Panicked
}
