use std::error::Error;
use std::fmt;
use std::sync::Arc;

use url::Url;

use super::BoxFuture;
use crate::{Issuer, Resource, ScopeSet, Secret};

/// Shows a person the way to the authorization server.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come with a
/// default body. It is object-safe.
///
/// # Contract
///
/// - `visit.url` was checked: `https`, or `http` on loopback. Never hand it to a shell.
/// - Show the URL as well, with its host and the scopes, so that a person can recognize a
///   wrong server.
/// - An implementation that catches the redirect itself answers [`Visited::Returned`]; one
///   that does not answers as soon as the way is shown, and the redirect listener waits.
///
/// # Cancel safety
///
/// The future is dropped when nobody waits for the login any more, or when its time is up.
pub trait Browser: Send + Sync + 'static {
    /// Opens the URL of `visit`.
    fn open<'a>(&'a self, visit: &'a Visit) -> BoxFuture<'a, Result<Visited, BrowserError>>;
}

impl<B: Browser + ?Sized> Browser for Arc<B> {
    fn open<'a>(&'a self, visit: &'a Visit) -> BoxFuture<'a, Result<Visited, BrowserError>> {
        (**self).open(visit)
    }
}

/// A visit to the authorization server.
///
/// Its `Debug` leaves out the query of the URL, which holds the state.
#[derive(Clone)]
#[non_exhaustive]
pub struct Visit {
    /// Where to go.
    pub url: Url,
    /// Who is visited.
    pub issuer: Issuer,
    /// For which resource.
    pub resource: Resource,
    /// Which scopes are asked for; empty where the server chooses.
    pub scopes: ScopeSet,
    /// Where the answer will be sent.
    pub redirect_uri: String,
}

impl Visit {
    pub(crate) fn new(
        url: Url,
        issuer: Issuer,
        resource: Resource,
        scopes: ScopeSet,
        redirect_uri: String,
    ) -> Self {
        Self { url, issuer, resource, scopes, redirect_uri }
    }
}

impl fmt::Debug for Visit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visit")
            .field("host", &self.url.host_str())
            .field("issuer", &self.issuer)
            .field("resource", &self.resource)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

/// What became of a visit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Visited {
    /// A browser was started.
    Opened,
    /// The URL was shown; somebody has to open it.
    Shown,
    /// The answer was caught: the URL that the browser was redirected to.
    Returned(CallbackUrl),
}

/// The URL that the authorization server sent the browser to. It holds a code, so it is
/// opaque; only the check of the response opens it.
#[derive(Clone)]
pub struct CallbackUrl(Secret);

impl CallbackUrl {
    /// Takes the URL, or as much of it as was seen: a path and query will do.
    pub fn new(url: impl Into<String>) -> Self {
        Self(Secret::new(url))
    }

    /// Its query.
    pub(crate) fn query(&self) -> &str {
        let url = self.0.expose();
        let url = url.split_once('#').map_or(url, |(url, _)| url);
        url.split_once('?').map_or("", |(_, query)| query)
    }

    /// All before its query.
    pub(crate) fn base(&self) -> &str {
        let url = self.0.expose();
        url.split(['?', '#']).next().unwrap_or_default()
    }
}

impl fmt::Debug for CallbackUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallbackUrl(<redacted>)")
    }
}

/// The way can't be shown.
///
/// The cause is the browser's own: this is the one place where foreign errors come in.
#[derive(Debug, thiserror::Error)]
#[error("the authorization page can't be opened or shown")]
pub struct BrowserError(#[source] Box<dyn Error + Send + Sync>);

impl BrowserError {
    /// Wraps the browser's own error.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(source.into())
    }
}
