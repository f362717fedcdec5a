//! An answer that is usually there at once.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A boxed future, as the object-safe boundaries return it.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The answer of a store: at once, as from memory, or later, as from a network.
///
/// It is a future. An answer that is there costs no allocation, which is why the
/// boundaries of this crate return it in place of a boxed future. It borrows nothing: what
/// is needed later is cloned into the future.
///
/// # Cancel safety
///
/// Dropping it leaves open whether the store still does what it was asked.
#[must_use = "a step does nothing unless it is awaited"]
pub struct Step<T>(Inner<T>);

enum Inner<T> {
    Now(Option<T>),
    Later(BoxFuture<T>),
}

impl<T> Step<T> {
    /// The answer is `value`.
    pub fn now(value: T) -> Self {
        Self(Inner::Now(Some(value)))
    }

    /// The answer is what `future` gives.
    pub fn later(future: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Inner::Later(Box::pin(future)))
    }

    /// The answer, if it is there without waiting.
    ///
    /// # Errors
    ///
    /// The step itself when it has to be awaited.
    pub fn try_now(self) -> Result<T, Self> {
        match self.0 {
            Inner::Now(Some(value)) => Ok(value),
            other @ (Inner::Now(None) | Inner::Later(_)) => Err(Self(other)),
        }
    }
}

impl<T: Unpin> Future for Step<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match &mut self.get_mut().0 {
            // Polled again after its end it stays pending, as a finished future may.
            Inner::Now(value) => value.take().map_or(Poll::Pending, Poll::Ready),
            Inner::Later(future) => future.as_mut().poll(cx),
        }
    }
}

impl<T> fmt::Debug for Step<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Inner::Now(_) => "Step::now",
            Inner::Later(_) => "Step::later",
        })
    }
}
