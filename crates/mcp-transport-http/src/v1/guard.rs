//! Who may use an endpoint, and in whose name.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Response, StatusCode};
use mcp_jsonrpc::{ErrorObject, Extensions};
use mcp_lifecycle::Requestor;

use super::{Operation, Step};

/// Admits requests, and says who is calling.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come
/// with a default body.
///
/// # Contract
///
/// - Called once for each request to the endpoint, of any method but `OPTIONS`, after
///   `Host` and `Origin` were checked and before a byte of the body is read.
/// - A refusal ends the request. Nothing is kept of it.
/// - A session belongs to the principal that opened it: to anybody else, and to nobody,
///   it does not exist.
///
/// # Cancel safety
///
/// The step is dropped when the client goes away.
pub trait Guard: Send + Sync + 'static {
    /// Decides about the request whose head is `head`.
    fn admit(&self, head: &Parts) -> Step<Result<Admission, Refusal>>;

    /// An answer to a request that needs no admission: a document that anybody may read, such
    /// as the metadata of a protected resource. Asked first, for any path and method.
    fn document(&self, _head: &Parts) -> Option<Response<Bytes>> {
        None
    }

    /// Decides about one decoded operation of an admitted request, before anything of its
    /// answer is sent. Of a batch all are judged before any runs.
    fn permit(&self, _who: &Admission, _operation: &Operation) -> Step<Result<(), Refusal>> {
        Step::now(Ok(()))
    }
}

impl<G: Guard + ?Sized> Guard for Arc<G> {
    fn admit(&self, head: &Parts) -> Step<Result<Admission, Refusal>> {
        (**self).admit(head)
    }

    fn document(&self, head: &Parts) -> Option<Response<Bytes>> {
        (**self).document(head)
    }

    fn permit(&self, who: &Admission, operation: &Operation) -> Step<Result<(), Refusal>> {
        (**self).permit(who, operation)
    }
}

/// A request may go on.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Admission {
    /// In whose name; `None` for nobody's in particular.
    pub principal: Option<Principal>,
    /// For how long, from now, the streams that this request opens stay open; without an end
    /// if `None`.
    ///
    /// Then a stream is closed in the way that lets its client come back to right there, with
    /// a new request that is judged anew. A stream that can't be resumed runs on to its end:
    /// that of a call without an [`EventLog`](super::EventLog), or for a client of before
    /// 2025-11-25. That of a GET always ends.
    pub streams_for: Option<Duration>,
}

impl Admission {
    /// The request is made in nobody's name.
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// The request is made in the name of `principal`.
    pub fn of(principal: Principal) -> Self {
        Self { principal: Some(principal), streams_for: None }
    }

    /// Says for how long the streams that this request opens stay open.
    #[must_use]
    pub fn with_streams_for(mut self, time: Duration) -> Self {
        self.streams_for = Some(time);
        self
    }
}

/// Who is calling, by what does not change when a token is renewed.
///
/// Two principals are equal when issuer, subject and client are; what they may do differs
/// from request to request. Handlers find it in the extensions of an inbound message.
///
/// Cheap to clone.
#[derive(Clone)]
pub struct Principal(Arc<Inner>);

struct Inner {
    issuer: Box<str>,
    subject: Box<str>,
    client: Option<Box<str>>,
    scopes: Vec<Box<str>>,
    facts: Extensions,
    requestor: OnceLock<Arc<Requestor>>,
}

impl Principal {
    /// Somebody whom `issuer` calls `subject`.
    pub fn new(issuer: impl Into<Box<str>>, subject: impl Into<Box<str>>) -> Self {
        Self(Arc::new(Inner {
            issuer: issuer.into(),
            subject: subject.into(),
            client: None,
            scopes: Vec::new(),
            facts: Extensions::new(),
            requestor: OnceLock::new(),
        }))
    }

    /// Says through which client the subject acts.
    #[must_use]
    pub fn with_client(self, client: impl Into<Box<str>>) -> Self {
        let mut inner = self.into_inner();
        inner.client = Some(client.into());
        Self(Arc::new(inner))
    }

    /// Says what this request may do.
    #[must_use]
    pub fn with_scopes<T: Into<Box<str>>>(self, scopes: impl IntoIterator<Item = T>) -> Self {
        let mut inner = self.into_inner();
        inner.scopes = scopes.into_iter().map(Into::into).collect();
        Self(Arc::new(inner))
    }

    /// Adds what else the guard learned, such as the claims of a token.
    #[must_use]
    pub fn with_facts(self, facts: Extensions) -> Self {
        let mut inner = self.into_inner();
        inner.facts = facts;
        Self(Arc::new(inner))
    }

    /// Who vouches for the subject.
    pub fn issuer(&self) -> &str {
        &self.0.issuer
    }

    /// Who is calling, unique for the issuer.
    pub fn subject(&self) -> &str {
        &self.0.subject
    }

    /// The client through which the subject acts, where it is known.
    pub fn client(&self) -> Option<&str> {
        self.0.client.as_deref()
    }

    /// What this request may do.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.0.scopes.iter().map(|scope| &**scope)
    }

    /// Whether this request may do what needs `scope`.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes().any(|granted| granted == scope)
    }

    /// What else the guard learned.
    pub fn facts(&self) -> &Extensions {
        &self.0.facts
    }

    /// The name under which is kept what belongs to this principal and to no other, such as its
    /// tasks.
    pub fn requestor(&self) -> &Requestor {
        self.named()
    }

    pub(crate) fn named(&self) -> &Arc<Requestor> {
        self.0.requestor.get_or_init(|| {
            let Inner { issuer, subject, client, .. } = &*self.0;
            // The lengths say where one ends and the next begins, whatever is in them.
            let mut name = format!("{}:{issuer}{}:{subject}", issuer.len(), subject.len());
            if let Some(client) = client {
                name.push('@');
                name.push_str(client);
            }
            Arc::new(Requestor::new(name))
        })
    }

    fn into_inner(self) -> Inner {
        let mut inner = Arc::try_unwrap(self.0).unwrap_or_else(|shared| Inner {
            issuer: shared.issuer.clone(),
            subject: shared.subject.clone(),
            client: shared.client.clone(),
            scopes: shared.scopes.clone(),
            facts: shared.facts.clone(),
            requestor: OnceLock::new(),
        });
        // It is about to become somebody else.
        inner.requestor = OnceLock::new();
        inner
    }
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.issuer == other.0.issuer
                && self.0.subject == other.0.subject
                && self.0.client == other.0.client)
    }
}

impl Eq for Principal {}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Principal")
            .field("issuer", &self.0.issuer)
            .field("subject", &self.0.subject)
            .field("client", &self.0.client)
            .field("scopes", &self.0.scopes)
            .finish()
    }
}

/// A request may not go on: what is answered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// 401, 403, or another error.
    pub status: StatusCode,
    /// Headers to add, such as `WWW-Authenticate`.
    pub headers: HeaderMap,
    /// The error in the body; it has no id.
    pub error: ErrorObject,
}

impl Refusal {
    /// A refusal with `status` and a body that says `error`.
    pub fn new(status: StatusCode, error: ErrorObject) -> Self {
        Self { status, headers: HeaderMap::new(), error }
    }

    /// Adds headers.
    #[must_use]
    pub fn with_headers(mut self, headers: HeaderMap) -> Self {
        self.headers = headers;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: FC-064
    #[test]
    fn a_principal_stays_the_same_when_its_scopes_change() {
        let a = Principal::new("https://as.example", "alice").with_client("app");
        let b = Principal::new("https://as.example", "alice").with_client("app");
        assert_eq!(a, b.with_scopes(["read"]));
        assert_ne!(a, Principal::new("https://as.example", "alice"));
        assert_ne!(a, Principal::new("https://other.example", "alice").with_client("app"));
        assert_ne!(a, Principal::new("https://as.example", "bob").with_client("app"));
    }

    // Shows: TASK-082
    #[test]
    fn what_is_kept_for_a_principal_is_kept_under_a_name_of_its_own() {
        let name = |principal: &Principal| principal.requestor().clone();
        let alice = Principal::new("https://as.example", "alice");
        assert_eq!(name(&alice), name(&alice.clone().with_scopes(["read"])));
        let app = alice.clone().with_client("app");
        let others = [
            Principal::new("https://as.example", "bob"),
            Principal::new("https://as.example1", "alice"),
            Principal::new("https://as.example", "alice@app"),
            Principal::new("https://as.examplea", "lice"),
            Principal::new("https://as.example", "").with_client("alice"),
        ];
        for other in &others {
            assert_ne!(name(&alice), name(other));
            assert_ne!(name(&app), name(other));
        }
        assert_ne!(name(&alice), name(&app));
    }
}
