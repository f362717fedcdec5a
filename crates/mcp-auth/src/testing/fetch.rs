use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use hyper::{HeaderMap, Method, StatusCode};
use url::{Url, form_urlencoded};

use crate::v1::{BoxFuture, Fetch};
use crate::{FetchError, FetchRequest, FetchResponse, Reach};

type Handler =
    dyn Fn(FetchRequest) -> BoxFuture<'static, Result<FetchResponse, FetchError>> + Send + Sync;

/// A fetcher that asks functions in place of servers, and remembers what it was asked. Cheap
/// to clone; clones are one.
#[derive(Clone, Default)]
pub struct ScriptedFetch {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    servers: Mutex<Vec<(String, Arc<Handler>)>>,
    seen: Mutex<Vec<Seen>>,
}

/// A request that was made.
#[derive(Clone)]
#[non_exhaustive]
pub struct Seen {
    /// Its method.
    pub method: Method,
    /// Where it went.
    pub url: Url,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Vec<u8>,
}

impl Seen {
    /// A parameter of the form that was sent, or of the query.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<String> {
        let query = self.url.query().unwrap_or_default().as_bytes();
        let mut pairs = form_urlencoded::parse(&self.body).chain(form_urlencoded::parse(query));
        pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    }
}

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.url.as_str().split('?').next().unwrap_or_default())
    }
}

impl ScriptedFetch {
    /// A fetcher to which no server answers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Has `answer` stand for the server at `origin`, in place of an earlier one.
    pub fn serve(
        &self,
        origin: &str,
        answer: impl Fn(&FetchRequest) -> FetchResponse + Send + Sync + 'static,
    ) {
        self.serve_later(origin, move |request| {
            let answer = answer(&request);
            Box::pin(std::future::ready(Ok(answer)))
        });
    }

    /// As [`serve`](Self::serve), for a server that takes its time, or fails.
    pub fn serve_later(
        &self,
        origin: &str,
        answer: impl Fn(FetchRequest) -> BoxFuture<'static, Result<FetchResponse, FetchError>>
        + Send
        + Sync
        + 'static,
    ) {
        let mut servers = self.shared.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|(known, _)| known != origin);
        servers.push((origin.to_owned(), Arc::new(answer)));
    }

    /// What was asked so far.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was asked so far at a path.
    #[must_use]
    pub fn seen_at(&self, path: &str) -> Vec<Seen> {
        self.seen().into_iter().filter(|seen| seen.url.path() == path).collect()
    }

    /// Forgets what was asked.
    pub fn forget(&self) {
        self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Fetch for ScriptedFetch {
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<FetchResponse, FetchError>> {
        let seen = Seen {
            method: request.method.clone(),
            url: request.url.clone(),
            headers: request.headers.clone(),
            body: request.body.clone(),
        };
        self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
        let origin = request.url.origin().ascii_serialization();
        let server = {
            let servers = self.shared.servers.lock().unwrap_or_else(PoisonError::into_inner);
            servers.iter().find(|(known, _)| *known == origin).map(|(_, s)| Arc::clone(s))
        };
        match server {
            Some(server) => server(request),
            None => Box::pin(std::future::ready(Err(FetchError::Connect {
                host: request.url.host_str().unwrap_or_default().to_owned(),
                source: io::ErrorKind::ConnectionRefused.into(),
            }))),
        }
    }

    fn reach<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<Reach, FetchError>> {
        let local = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        let reach = if local { Reach::Loopback } else { Reach::Public };
        Box::pin(std::future::ready(Ok(reach)))
    }
}

impl fmt::Debug for ScriptedFetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScriptedFetch")
    }
}

/// An answer with a JSON body.
pub(super) fn json(status: StatusCode, body: &serde_json::Value) -> FetchResponse {
    let mut headers = HeaderMap::new();
    let kind = hyper::header::HeaderValue::from_static("application/json");
    headers.insert(hyper::header::CONTENT_TYPE, kind);
    headers
        .insert(hyper::header::CACHE_CONTROL, hyper::header::HeaderValue::from_static("no-store"));
    FetchResponse::new(status, headers, body.to_string().into_bytes())
}
