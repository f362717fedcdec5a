use std::fmt;

use bytes::Bytes;
use hyper::header::{ACCEPT, HeaderValue};
use hyper::{HeaderMap, Method, StatusCode};
use url::Url;

use super::Reach;

/// A request to be made under guard.
///
/// Its `Debug` shows method, host and path: queries, headers and bodies hold secrets.
#[derive(Clone)]
#[non_exhaustive]
pub struct FetchRequest {
    /// `GET` for documents, `POST` for everything else.
    pub method: Method,
    /// Where it goes.
    pub url: Url,
    /// Headers, besides those of the connection.
    pub headers: HeaderMap,
    /// The body; empty for a `GET`.
    pub body: Vec<u8>,
    /// How far inwards it may go.
    pub reach: Reach,
    /// How many bytes of the answer are read.
    pub max_body: usize,
    /// How many redirects are followed; always none for a `POST`.
    pub max_redirects: u8,
    /// Whether a redirect that isn't followed is an answer, for whoever reads where it leads.
    pub shows_redirects: bool,
}

impl FetchRequest {
    /// A request for a JSON document of at most 64 KiB, with at most 3 redirects.
    #[must_use]
    pub fn get(url: Url, reach: Reach) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        Self {
            method: Method::GET,
            url,
            headers,
            body: Vec::new(),
            reach,
            max_body: 64 * 1024,
            max_redirects: 3,
            shows_redirects: false,
        }
    }

    /// A request that sends `body` and follows no redirect; the answer has at most 64 KiB.
    #[must_use]
    pub fn post(url: Url, reach: Reach, body: Vec<u8>) -> Self {
        Self { method: Method::POST, body, max_redirects: 0, ..Self::get(url, reach) }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: hyper::header::HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Changes how many bytes of the answer are read.
    #[must_use]
    pub fn with_max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Follows no redirect, but shows where one leads.
    #[must_use]
    pub fn showing_redirects(mut self) -> Self {
        (self.max_redirects, self.shows_redirects) = (0, true);
        self
    }

    /// Changes how many redirects are followed.
    #[must_use]
    pub fn with_max_redirects(mut self, redirects: u8) -> Self {
        self.max_redirects = redirects;
        self
    }
}

impl fmt::Debug for FetchRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, path) = (self.url.host_str().unwrap_or_default(), self.url.path());
        write!(f, "FetchRequest({} {host} {path})", self.method)
    }
}

/// An answer.
///
/// Its `Debug` shows the status only: bodies hold secrets.
#[derive(Clone)]
#[non_exhaustive]
pub struct FetchResponse {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl FetchResponse {
    /// Makes an answer.
    pub fn new(status: StatusCode, headers: HeaderMap, body: impl Into<Bytes>) -> Self {
        Self { status, headers, body: body.into() }
    }

    /// Whether it says that it is a web page.
    pub(crate) fn is_html(&self) -> bool {
        self.headers
            .get(hyper::header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| value.trim_start().to_ascii_lowercase().starts_with("text/html"))
    }
}

impl fmt::Debug for FetchResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FetchResponse({}, {} bytes)", self.status.as_u16(), self.body.len())
    }
}
