//! Credentials for requests that this side sends.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use hyper::{HeaderMap, Method, StatusCode, Uri};

use super::Step;

/// Supplies credentials for one MCP endpoint, and renews them when the server asks.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come
/// with a default body. It is object-safe. A scheme of one's own (a static header, signed
/// requests) fits as well as OAuth does.
///
/// # Contract
///
/// - [`authorize`](Self::authorize) is asked before *each* sending to the endpoint: POST, the
///   GET stream and its reconnects, DELETE, every retry, in both eras and during version
///   probing. Its headers go into that one request and into no other.
/// - Each 401 and 403 is reported to [`challenged`](Self::challenged) with the stamp of the
///   request's credentials, before anything else is made of the answer: while probing it says
///   nothing about the server's era. On [`Verdict::Retry`] the request is sent once more,
///   after asking for credentials anew; how often is the authorizer's to bound, and it does.
/// - Every other answer is shown to [`observe`](Self::observe), head only.
/// - On a redirect to another origin the headers are dropped.
///
/// # Cancel safety
///
/// Dropping a step gives up this caller's wait only; a renewal that others wait for goes on.
pub trait Authorizer: Send + Sync + 'static {
    /// The headers for `request`.
    fn authorize(&self, request: &Departure) -> Step<Result<Credentials, AuthorizeError>>;

    /// A 401 or 403 came for a request whose credentials carried `stamp`.
    fn challenged(&self, request: &Departure, stamp: Stamp, answer: &AnswerHead) -> Step<Verdict>;

    /// Any other answer came.
    fn observe(&self, _request: &Departure, _answer: &AnswerHead) {}

    /// Whose answers a cache may mix: never those of two partitions.
    fn partition(&self) -> Option<Partition> {
        None
    }
}

impl<A: Authorizer + ?Sized> Authorizer for Arc<A> {
    fn authorize(&self, request: &Departure) -> Step<Result<Credentials, AuthorizeError>> {
        (**self).authorize(request)
    }

    fn challenged(&self, request: &Departure, stamp: Stamp, answer: &AnswerHead) -> Step<Verdict> {
        (**self).challenged(request, stamp, answer)
    }

    fn observe(&self, request: &Departure, answer: &AnswerHead) {
        (**self).observe(request, answer);
    }

    fn partition(&self) -> Option<Partition> {
        (**self).partition()
    }
}

/// A request that is about to be sent, as far as its credentials depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Departure {
    /// The HTTP method.
    pub method: Method,
    /// Where it goes, absolute.
    pub uri: Uri,
    /// What it asks for, where it asks for something.
    pub operation: Option<Operation>,
}

impl Departure {
    /// A request with `method` to the absolute `uri`.
    pub fn new(method: Method, uri: Uri) -> Self {
        Self { method, uri, operation: None }
    }

    /// Says what the request asks for.
    #[must_use]
    pub fn with_operation(mut self, operation: Operation) -> Self {
        self.operation = Some(operation);
        self
    }
}

/// What scope policies and retry counters are keyed by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Operation {
    /// The JSON-RPC method, such as `tools/call`.
    pub method: Box<str>,
    /// The name of the tool or prompt, or the URI of the resource.
    pub name: Option<Box<str>>,
}

impl Operation {
    /// The operation `method`.
    pub fn new(method: impl Into<Box<str>>) -> Self {
        Self { method: method.into(), name: None }
    }

    /// Says which tool, prompt or resource.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<Box<str>>) -> Self {
        self.name = Some(name.into());
        self
    }
}

/// The head of an answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AnswerHead {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
}

impl AnswerHead {
    /// Makes a head.
    pub fn new(status: StatusCode, headers: HeaderMap) -> Self {
        Self { status, headers }
    }
}

/// Headers to add, all marked sensitive, and the generation that they come from.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Credentials {
    /// The headers; empty where nothing is known yet.
    pub headers: HeaderMap,
    /// To be given back with a challenge.
    pub stamp: Stamp,
}

impl Credentials {
    /// Makes credentials.
    pub fn new(headers: HeaderMap, stamp: Stamp) -> Self {
        Self { headers, stamp }
    }
}

/// A generation of credentials. A challenge to an old one needs no renewal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(u64);

impl Stamp {
    /// Generation number `generation`.
    pub const fn new(generation: u64) -> Self {
        Self(generation)
    }

    /// Its number.
    pub const fn generation(self) -> u64 {
        self.0
    }
}

/// What to do with an answer of 401 or 403.
#[derive(Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// Send the request once more, with new credentials.
    Retry,
    /// The answer is not about credentials: hand it to the caller.
    NotMine,
    /// Give up: the caller gets this error.
    Fail(AuthorizeError),
}

/// Credentials can't be had.
///
/// The cause is the authorizer's own: this is the one place where foreign errors come in.
#[derive(Clone)]
pub struct AuthorizeError {
    source: Arc<dyn Error + Send + Sync>,
    retryable: bool,
}

impl AuthorizeError {
    /// Wraps the authorizer's own error; `retryable` says whether the same call may succeed
    /// later.
    pub fn new(source: impl Error + Send + Sync + 'static, retryable: bool) -> Self {
        Self { source: Arc::new(source), retryable }
    }

    /// Whether the same call may succeed if made again.
    pub fn is_retryable(&self) -> bool {
        self.retryable
    }
}

impl fmt::Debug for AuthorizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AuthorizeError").field(&self.source).finish()
    }
}

impl fmt::Display for AuthorizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no credentials for the server")
    }
}

impl Error for AuthorizeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

/// An opaque name for one login: equal names may share a cache, others may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Partition([u8; 32]);

impl Partition {
    /// The partition named by `digest`.
    pub const fn new(digest: [u8; 32]) -> Self {
        Self(digest)
    }
}
