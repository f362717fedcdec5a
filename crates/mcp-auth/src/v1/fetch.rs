use std::sync::Arc;

use url::Url;

use super::BoxFuture;
use crate::{FetchError, FetchRequest, FetchResponse, Reach};

/// Makes requests to places that somebody else named.
///
/// This is an **open** trait: implement it to go through a proxy of the host's, or to script a
/// test. Within `v1`, new methods always come with a default body. It is object-safe.
///
/// # Contract
///
/// - What is refused by the rules of [`FetchPolicy`](crate::FetchPolicy) is an error before
///   anything is sent; redirects are judged like first requests, and never followed for
///   anything but a `GET`.
/// - Any status is an answer. Errors are for requests that got none.
/// - Nothing of a request's query, headers or body is logged.
///
/// # Cancel safety
///
/// Dropping a future gives the request up; whether it was made is then open.
pub trait Fetch: Send + Sync + 'static {
    /// Makes one request.
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<FetchResponse, FetchError>>;

    /// Where a server is: how far inwards its documents may lead.
    fn reach<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<Reach, FetchError>>;
}

impl<F: Fetch + ?Sized> Fetch for Arc<F> {
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<FetchResponse, FetchError>> {
        (**self).fetch(request)
    }

    fn reach<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<Reach, FetchError>> {
        (**self).reach(url)
    }
}
