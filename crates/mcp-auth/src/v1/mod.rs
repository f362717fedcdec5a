//! The boundaries of this crate, version 1.
//!
//! Within `v1` there are only additions; a break is `v2` beside it.

mod fetch;
pub use self::fetch::Fetch;

use std::future::Future;
use std::pin::Pin;

/// A boxed future, as the object-safe boundaries return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
