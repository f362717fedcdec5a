//! A handler that panics costs its own request, and nothing else.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::v1::BoxFuture;

/// A future that has panicked.
pub(crate) struct Panicked;

/// Polls a future; a panic is logged and becomes an error.
///
/// What the handler had borrowed or locked is dropped as in any unwinding. State that it shares
/// with others is its own matter, as it is with threads.
pub(crate) struct CatchPanic<'a, T>(pub(crate) BoxFuture<'a, T>);

impl<T> Future for CatchPanic<'_, T> {
    type Output = Result<T, Panicked>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let future = self.0.as_mut();
        match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
            Err(panic) => {
                log(&*panic);
                Poll::Ready(Err(Panicked))
            }
        }
    }
}

/// Runs what makes the future: that may panic, too.
pub(crate) fn catching<'a, T>(
    make: impl FnOnce() -> BoxFuture<'a, T>,
) -> Result<CatchPanic<'a, T>, Panicked> {
    catch_unwind(AssertUnwindSafe(make)).map(CatchPanic).map_err(|panic| {
        log(&*panic);
        Panicked
    })
}

fn log(panic: &(dyn Any + Send)) {
    let reason = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    tracing::error!(reason, "a handler has panicked");
}
