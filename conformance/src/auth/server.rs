//! An authorization server for development: on loopback, with everything in memory.
//!
//! It is the authority of `mcp_auth::testing` behind a socket, with a page on which a person
//! allows what is asked for. It checks no password and knows one person, so it refuses to
//! listen anywhere but on loopback.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue,
};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use mcp_auth::server::ClientDocuments;
use mcp_auth::testing::Authority;
use mcp_auth::{FetchPolicy, FetchRequest, FetchResponse, GuardedFetcher, Reach};
use tokio::net::TcpListener;
use url::Url;

/// How large a request may be, in bytes.
const MAX_BODY: usize = 64 * 1024;
/// How long the head of a request may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How people are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Consent {
    /// On a page.
    Page,
    /// Not at all: for tests.
    Nobody,
}

/// The server.
#[derive(Debug)]
pub struct AuthorizationServer {
    listener: TcpListener,
    authority: Authority,
    origin: String,
    consent: Consent,
}

impl AuthorizationServer {
    /// Listens on loopback at `port`, or at a free one, as the issuer with that path.
    ///
    /// # Errors
    ///
    /// When the port can't be had, or no key be made.
    pub async fn bind(port: u16, path: &str, consent: Consent) -> io::Result<Self> {
        let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        let listener = TcpListener::bind(address).await?;
        let origin = format!("http://localhost:{}", listener.local_addr()?.port());
        let fetcher = GuardedFetcher::new(FetchPolicy::default()).map_err(io::Error::other)?;
        let documents = ClientDocuments::new(fetcher).with_loopback();
        let issuer = format!("{origin}{}", path.trim_end_matches('/'));
        let authority =
            Authority::with_documents(&issuer, Some(documents)).map_err(io::Error::other)?;
        authority.behave(|behavior| {
            behavior.client_documents = true;
            behavior.openid_metadata = true;
            behavior.auth_methods =
                ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"]
                    .map(str::to_owned)
                    .to_vec();
        });
        Ok(Self { listener, authority, origin, consent })
    }

    /// Its issuer.
    #[must_use]
    pub fn issuer(&self) -> &str {
        self.authority.issuer().as_str()
    }

    /// What it does and knows.
    #[must_use]
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Serves until the future is dropped.
    ///
    /// # Errors
    ///
    /// When no connection can be accepted any more.
    pub async fn run(self) -> io::Result<()> {
        let connections = tokio::sync::Semaphore::new(64);
        let connections = std::sync::Arc::new(connections);
        let mut tasks = tokio::task::JoinSet::new();
        loop {
            // Past 64 connections others wait to be accepted.
            let permit = std::sync::Arc::clone(&connections).acquire_owned().await;
            let (stream, _) = self.listener.accept().await?;
            while tasks.try_join_next().is_some() {}
            let desk = Desk {
                authority: self.authority.clone(),
                origin: self.origin.clone(),
                consent: self.consent,
            };
            tasks.spawn(async move {
                let _permit = permit;
                let service = service_fn(move |request| {
                    let desk = desk.clone();
                    async move { Ok::<_, Infallible>(desk.answer(request).await) }
                });
                // A connection that breaks is its client's business.
                let _ = hyper::server::conn::http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(PATIENCE)
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    }
}

/// Who answers the requests of one connection.
#[derive(Clone)]
struct Desk {
    authority: Authority,
    origin: String,
    consent: Consent,
}

impl Desk {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        let Ok(url) = Url::parse(&format!("{}{}", self.origin, head.uri)) else {
            return plain(StatusCode::BAD_REQUEST);
        };
        if head.method == Method::OPTIONS {
            return with_cors(plain(StatusCode::NO_CONTENT));
        }
        let Ok(body) = Limited::new(body, MAX_BODY).collect().await else {
            return plain(StatusCode::PAYLOAD_TOO_LARGE);
        };
        let asks_person = self.consent == Consent::Page && url.path().ends_with("/authorize");
        let mut method = head.method;
        if asks_person && method == Method::GET {
            return consent_page(&url);
        }
        if asks_person && method == Method::POST {
            // Only the page itself may say yes: another page's form names its own origin.
            let own = head.headers.get("origin").is_some_and(|o| *o == self.origin.as_str());
            if !own {
                return plain(StatusCode::FORBIDDEN);
            }
            method = Method::GET;
        }
        let mut made = match method {
            Method::GET => FetchRequest::get(url, Reach::Loopback),
            _ => FetchRequest::post(url, Reach::Loopback, body.to_bytes().to_vec()),
        };
        made.headers = head.headers;
        let FetchResponse { status, headers, body, .. } = self.authority.answer(&made).await;
        let mut response = Response::new(Full::new(body));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        with_cors(response)
    }
}

fn plain(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

/// Clients in a browser ask from pages of other origins.
fn with_cors(mut response: Response<Full<Bytes>>) -> Response<Full<Bytes>> {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(
        ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static("Authorization, Content-Type, DPoP, MCP-Protocol-Version"),
    );
    response
}

fn consent_page(url: &Url) -> Response<Full<Bytes>> {
    let value = |name: &str| {
        let found = url.query_pairs().find(|(known, _)| known == name);
        escape(&found.map(|(_, value)| value.into_owned()).unwrap_or_default())
    };
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Allow access?\
         </title></head><body><h1>Allow access?</h1><p>The client <b>{}</b> asks for access to \
         <b>{}</b> with the scopes <b>{}</b>. The answer goes to <b>{}</b>.</p>\
         <form method=\"post\"><button>Allow</button></form></body></html>",
        value("client_id"),
        value("resource"),
        value("scope"),
        value("redirect_uri"),
    );
    let mut response = Response::new(Full::new(Bytes::from(page)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
    );
    response
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
