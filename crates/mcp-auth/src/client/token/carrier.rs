use std::fmt;
use std::future::Future;
use std::pin::Pin;

use hyper::header::HeaderValue;
use oauth2::{AsyncHttpClient, HttpRequest, HttpResponse};
use url::Url;

use crate::v1::Fetch;
use crate::{FetchError, FetchRequest, FetchResponse, Reach};

/// Carries requests that the `oauth2` crate wrote to the guarded fetcher.
///
/// The crate reads answers more strictly than real providers write them, and keeps the raw
/// body in its errors. So every answer takes the error road around its reader: what comes out
/// of a request is always a [`Carried`].
pub(super) struct Carrier<'e> {
    pub(super) fetch: &'e dyn Fetch,
    pub(super) reach: Reach,
    /// A proof that we hold the key that the token will be bound to.
    pub(super) proof: Option<String>,
}

impl Carrier<'_> {
    pub(super) async fn carry(&self, request: HttpRequest) -> Carried {
        let (head, body) = request.into_parts();
        // It was made from a URL, so it is one.
        let Ok(url) = Url::parse(&head.uri.to_string()) else { return Carried::Lost };
        let mut made = FetchRequest::post(url, self.reach, body);
        for (name, value) in &head.headers {
            made.headers.insert(name, value.clone());
        }
        if let Some(proof) = &self.proof {
            let Ok(mut value) = HeaderValue::try_from(proof) else { return Carried::Lost };
            value.set_sensitive(true);
            made.headers.insert("dpop", value);
        }
        match self.fetch.fetch(made).await {
            Ok(answer) => Carried::Answer(answer),
            Err(error) => Carried::Failed(error),
        }
    }
}

impl<'c> AsyncHttpClient<'c> for Carrier<'_> {
    type Error = Carried;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Carried>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(async move { Err(self.carry(request).await) })
    }
}

/// What became of a request.
pub(super) enum Carried {
    Answer(FetchResponse),
    Failed(FetchError),
    /// The request could not even be written down.
    Lost,
}

impl fmt::Debug for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Carried")
    }
}

impl fmt::Display for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an answer on its way around the reader")
    }
}

impl std::error::Error for Carried {}
