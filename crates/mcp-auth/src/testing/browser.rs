use std::fmt;
use std::sync::Arc;

use hyper::header::LOCATION;

use crate::v1::{BoxFuture, Browser, BrowserError, CallbackUrl, Fetch, Visit, Visited};
use crate::{FetchRequest, Reach};

/// A browser that asks for the page without a person, and gives back where it is redirected
/// to: for authorization servers that ask nobody.
#[derive(Clone)]
pub struct FollowingBrowser {
    fetch: Arc<dyn Fetch>,
}

impl FollowingBrowser {
    /// A browser that asks through `fetch`.
    pub fn new(fetch: impl Fetch) -> Self {
        Self { fetch: Arc::new(fetch) }
    }
}

impl Browser for FollowingBrowser {
    fn open<'a>(&'a self, visit: &'a Visit) -> BoxFuture<'a, Result<Visited, BrowserError>> {
        Box::pin(async move {
            let request = FetchRequest::get(visit.url.clone(), Reach::Loopback).showing_redirects();
            let answer = self.fetch.fetch(request).await.map_err(BrowserError::new)?;
            let location = answer.headers.get(LOCATION).and_then(|value| value.to_str().ok());
            match location {
                Some(location) => Ok(Visited::Returned(CallbackUrl::new(location))),
                None => Err(BrowserError::new(NoRedirect(answer.status.as_u16()))),
            }
        })
    }
}

impl fmt::Debug for FollowingBrowser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FollowingBrowser")
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the authorization page answered with status {0} and no redirect")]
struct NoRedirect(u16);
