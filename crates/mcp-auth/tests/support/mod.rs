//! A world in memory: a protected server, an authorization server, and a transport that does
//! what the contract of `Authorizer` demands.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, StatusCode};
use mcp_auth::client::{Builder, DynamicClient, Ready};
use mcp_auth::server::{JwtRules, Need, ResourceServerBuilder, ScopePolicy};
use mcp_auth::testing::{Authority, FollowingBrowser, ManualClock, ScriptedFetch};
use mcp_auth::{
    AuthError, AuthErrorKind, FetchResponse, Issuer, OAuthAuthorizer, OAuthClient, Redirect,
    Registration, Resource, ResourceServer,
};
use mcp_transport_http::v1::{
    AnswerHead, Authorizer as _, Credentials, Departure, Guard as _, Operation, Principal, Refusal,
    Verdict,
};

pub(crate) const MCP: &str = "https://mcp.example/mcp";
pub(crate) const AS: &str = "https://as.example";

pub(crate) struct World {
    pub(crate) fetch: ScriptedFetch,
    pub(crate) authority: Authority,
    pub(crate) clock: ManualClock,
    server: Arc<Mutex<ResourceServer>>,
    /// How many requests came with a token.
    pub(crate) presented: AtomicUsize,
}

impl World {
    /// A server with no policy, at an authorization server that behaves well.
    pub(crate) fn new() -> Self {
        Self::with_policy(ScopePolicy::new())
    }

    pub(crate) fn with_policy(policy: ScopePolicy) -> Self {
        Self::with_server(|builder| builder.policy(policy))
    }

    pub(crate) fn with_server(
        change: impl FnOnce(
            ResourceServerBuilder<mcp_auth::server::Ready>,
        ) -> ResourceServerBuilder<mcp_auth::server::Ready>,
    ) -> Self {
        let fetch = ScriptedFetch::new();
        let clock = ManualClock::default();
        let authority = Authority::new(AS).unwrap();
        {
            let clock = clock.clone();
            authority.set_clock(move || clock.now());
        }
        authority.serve(&fetch);
        let server = protect(MCP, AS, &fetch, &clock, change);
        let server = Arc::new(Mutex::new(server));
        let world = Self { fetch, authority, clock, server, presented: AtomicUsize::new(0) };
        world.serve_metadata();
        world
    }

    /// Has the server's origin answer with its metadata.
    pub(crate) fn serve_metadata(&self) {
        let server = Arc::clone(&self.server);
        self.fetch.serve("https://mcp.example", move |request| {
            let server = server.lock().unwrap();
            match server.metadata(&request.method, request.url.path()) {
                Some(answer) => {
                    let (head, body) = answer.into_parts();
                    FetchResponse::new(head.status, head.headers, body)
                }
                None => FetchResponse::new(StatusCode::NOT_FOUND, HeaderMap::new(), "not here"),
            }
        });
    }

    /// Puts another server in the place of the protected one.
    pub(crate) fn replace_server(&self, issuer: &str) {
        *self.server.lock().unwrap() = protect(MCP, issuer, &self.fetch, &self.clock, |b| b);
    }

    pub(crate) fn server(&self) -> ResourceServer {
        self.server.lock().unwrap().clone()
    }

    /// A client that logs in by itself, with everything that it may need.
    pub(crate) fn client(&self) -> Builder<Ready> {
        let registration = Registration::new().with_dynamic(DynamicClient::new("Test"));
        self.client_with(registration)
    }

    pub(crate) fn client_with(&self, registration: Registration) -> Builder<Ready> {
        let clock = self.clock.clone();
        OAuthClient::builder()
            .interactive(registration, Redirect::loopback())
            .fetcher(self.fetch.clone())
            .browser(FollowingBrowser::new(self.fetch.clone()))
            .clock(move || clock.now())
    }

    pub(crate) fn authorizer(&self) -> OAuthAuthorizer {
        endpoint(&self.client().build().unwrap())
    }

    /// One call of an operation, as the transport makes it.
    pub(crate) async fn call(
        &self,
        authorizer: &OAuthAuthorizer,
        method: &str,
        name: Option<&str>,
    ) -> Result<Option<Principal>, CallError> {
        let mut operation = Operation::new(method);
        if let Some(name) = name {
            operation = operation.with_name(name);
        }
        let departure =
            Departure::new(Method::POST, MCP.parse().unwrap()).with_operation(operation.clone());
        // Whoever asks more often than this has no bound.
        for _ in 0..12 {
            let credentials = authorizer.authorize(&departure).await.map_err(CallError::of)?;
            match self.serve(&credentials, &operation).await {
                Ok(principal) => {
                    let head = AnswerHead::new(StatusCode::OK, HeaderMap::new());
                    authorizer.observe(&departure, &head);
                    return Ok(principal);
                }
                Err(refusal) => {
                    let head = AnswerHead::new(refusal.status, refusal.headers);
                    let verdict = authorizer.challenged(&departure, credentials.stamp, &head);
                    match verdict.await {
                        Verdict::Retry => {}
                        Verdict::NotMine => return Err(CallError::Refused(refusal.status)),
                        Verdict::Fail(error) => return Err(CallError::of(error)),
                        _ => unreachable!("there are three verdicts"),
                    }
                }
            }
        }
        panic!("the call was repeated without end");
    }

    /// What the server makes of a request.
    pub(crate) async fn serve(
        &self,
        credentials: &Credentials,
        operation: &Operation,
    ) -> Result<Option<Principal>, Refusal> {
        if !credentials.headers.is_empty() {
            self.presented.fetch_add(1, Ordering::Relaxed);
        }
        let server = self.server();
        let admission = server.admit(&head_with(&credentials.headers)).await?;
        mcp_transport_http::v1::Guard::permit(&server, &admission, operation).await?;
        Ok(admission.principal)
    }

    pub(crate) fn count(&self, path: &str) -> usize {
        self.fetch.seen_at(path).len()
    }
}

pub(crate) fn protect(
    resource: &str,
    issuer: &str,
    fetch: &ScriptedFetch,
    clock: &ManualClock,
    change: impl FnOnce(
        ResourceServerBuilder<mcp_auth::server::Ready>,
    ) -> ResourceServerBuilder<mcp_auth::server::Ready>,
) -> ResourceServer {
    let clock = clock.clone();
    let builder = ResourceServer::builder(Resource::new(resource).unwrap())
        .jwt(Issuer::new(issuer).unwrap(), JwtRules::default())
        .fetcher(fetch.clone())
        .clock(move || clock.now());
    change(builder).build().unwrap()
}

pub(crate) fn head_with(headers: &HeaderMap) -> Parts {
    let (mut parts, ()) = Request::post(MCP).body(()).unwrap().into_parts();
    parts.headers = headers.clone();
    parts
}

pub(crate) fn endpoint(client: &OAuthClient) -> OAuthAuthorizer {
    client.for_endpoint(MCP.parse().unwrap()).unwrap()
}

pub(crate) fn need(scopes: &str) -> Need {
    Need::all(scopes)
}

pub(crate) fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

/// Why a call came to nothing.
#[derive(Debug)]
pub(crate) enum CallError {
    Refused(StatusCode),
    Auth(AuthError),
}

impl CallError {
    fn of(error: mcp_transport_http::v1::AuthorizeError) -> Self {
        let source = error.source().unwrap().downcast_ref::<AuthError>().unwrap();
        Self::Auth(source.clone())
    }

    pub(crate) fn kind(&self) -> &AuthErrorKind {
        match self {
            Self::Auth(error) => error.kind(),
            Self::Refused(status) => panic!("only refused: {status}"),
        }
    }
}
