//! Everything over sockets: our client, our protected server, the development server.

use std::convert::Infallible;
use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::Arc;

use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper::header::{HOST, LOCATION, ORIGIN, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use mcp_auth::client::DynamicClient;
use mcp_auth::server::{IntrospectionClient, JwtRules, Need};
use mcp_auth::testing::FollowingBrowser;
use mcp_auth::{
    AuthError, AuthErrorKind, FetchPolicy, GuardedFetcher, Issuer, OAuthAuthorizer, OAuthClient,
    Redirect, Registration, Resource, ResourceServer, ScopePolicy, Secret,
};
use mcp_client::Client;
use mcp_transport_http::client::{Config, HttpConnector, Transport};
use mcp_transport_http::server::Endpoint;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::server::{AuthorizationServer, Consent};
use crate::everything;

/// A task that ends with the test.
struct Running(JoinHandle<()>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// An authorization server and a protected server, and where the latter is.
struct Place {
    url: String,
    authority: mcp_auth::testing::Authority,
    _running: [Running; 2],
}

async fn place(protect: impl FnOnce(Resource, &AuthorizationServer) -> ResourceServer) -> Place {
    let server = AuthorizationServer::bind(0, "/tenant", Consent::Nobody).await.unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://localhost:{}/mcp", listener.local_addr().unwrap().port());
    let guard = protect(Resource::new(&*url).unwrap(), &server);
    let endpoint = Endpoint::builder(everything::server()).guard(guard).build();
    let authority = server.authority().clone();
    let issuing = Running(tokio::spawn(async move {
        server.run().await.unwrap();
    }));
    let serving = Running(tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let endpoint = endpoint.clone();
            tokio::spawn(async move {
                let service = service_fn(move |request| {
                    let endpoint = endpoint.clone();
                    async move { Ok::<_, Infallible>(endpoint.handle(request).await) }
                });
                let _ = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    }));
    Place { url, authority, _running: [issuing, serving] }
}

fn oauth() -> OAuthClient {
    let fetcher = GuardedFetcher::new(FetchPolicy::default()).unwrap();
    OAuthClient::builder()
        .interactive(
            Registration::new().with_dynamic(DynamicClient::new("Test")),
            Redirect::loopback(),
        )
        .browser(FollowingBrowser::new(fetcher.clone()))
        .fetcher(fetcher)
        .build()
        .unwrap()
}

async fn connect(
    url: &str,
    authorizer: OAuthAuthorizer,
) -> Result<Client, mcp_client::ConnectError> {
    let mut config = Config::new();
    config.transport = Transport::StreamableHttp;
    config.authorizer = Some(Arc::new(authorizer));
    let link = HttpConnector::new(url, config).unwrap().link();
    Client::builder("test", "0").connect(link).await
}

fn cause<'e>(error: &'e (dyn Error + 'static)) -> &'e AuthErrorKind {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<AuthError>() {
            return found.kind();
        }
        next = error.source();
    }
    panic!("{error:?} has no cause of ours");
}

// Shows: AUTH-CLIENT-002, AUTH-CLIENT-055, AUTH-SERVER-017, BASE-029
#[tokio::test]
async fn a_client_logs_in_to_a_protected_server_over_sockets() {
    let place = place(|resource, server| {
        ResourceServer::builder(resource)
            .jwt(Issuer::new(server.issuer()).unwrap(), JwtRules::default())
            .policy(
                ScopePolicy::new()
                    .baseline(Need::all("mcp:use"))
                    .tool("test_simple_text", Need::all("text")),
            )
            .build()
            .unwrap()
    })
    .await;
    let oauth = oauth();
    let authorizer = oauth.for_endpoint(place.url.parse().unwrap()).unwrap();
    let client = connect(&place.url, authorizer.clone()).await.unwrap();
    assert!(!client.list_tools().await.unwrap().is_empty());
    assert_eq!(authorizer.current().unwrap().scopes.to_string(), "mcp:use");
    // A tool that needs more, in the same session: its owner is the same.
    client.call_tool("test_simple_text").text().await.unwrap();
    assert_eq!(authorizer.current().unwrap().scopes.to_string(), "mcp:use text");
    client.close().await;
    let report = oauth.logout(&place.url.parse().unwrap()).await.unwrap();
    assert_eq!((report.removed, report.revoked), (1, 2));
}

// Shows: RS-IN-1, RS-SP-2
#[tokio::test]
async fn introspection_and_a_refused_scope_over_sockets() {
    let place = place(|resource, server| {
        server.authority().register("rs", Some(&Secret::new("rs-secret")), &[]);
        server.authority().behave(|b| b.grants_only = Some(mcp_auth::ScopeSet::parse("mcp:use")));
        let endpoint = format!("{}/introspect", server.issuer()).parse().unwrap();
        ResourceServer::builder(resource)
            .introspection(
                Issuer::new(server.issuer()).unwrap(),
                endpoint,
                IntrospectionClient::basic("rs", "rs-secret"),
            )
            .policy(
                ScopePolicy::new()
                    .baseline(Need::all("mcp:use"))
                    .tool("test_simple_text", Need::all("text")),
            )
            .build()
            .unwrap()
    })
    .await;
    let authorizer = oauth().for_endpoint(place.url.parse().unwrap()).unwrap();
    let client = connect(&place.url, authorizer).await.unwrap();
    let error = client.call_tool("test_simple_text").text().await.unwrap_err();
    assert!(matches!(cause(&error), AuthErrorKind::ScopesNotGranted { .. }), "{error:?}");
    // Only that operation failed.
    assert!(!client.list_tools().await.unwrap().is_empty());
    client.close().await;
    assert_eq!(place.authority.issuer().as_str().rsplit('/').next(), Some("tenant"));
}

async fn ask(url: &str, method: Method, origin: Option<&str>) -> Response<Bytes> {
    let url: url::Url = url.parse().unwrap();
    let authority = format!("localhost:{}", url.port().unwrap());
    let stream = TcpStream::connect(("127.0.0.1", url.port().unwrap())).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    let driver = Running(tokio::spawn(async move {
        let _ = connection.await;
    }));
    let target = url.as_str().split(&authority).nth(1).unwrap().to_owned();
    let mut request = Request::builder().method(method).uri(target).header(HOST, &authority);
    if let Some(origin) = origin {
        request = request.header(ORIGIN, origin);
    }
    let answer = sender.send_request(request.body(Empty::<Bytes>::new()).unwrap()).await.unwrap();
    let (head, body) = answer.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    drop(driver);
    Response::from_parts(head, body)
}

// Shows: AUTH-SERVER-001, AUTH-SERVER-004, RS-PD-1
#[tokio::test]
async fn the_endpoint_serves_its_metadata_to_anybody_and_nothing_else() {
    let place = place(|resource, server| {
        ResourceServer::builder(resource)
            .jwt(Issuer::new(server.issuer()).unwrap(), JwtRules::default())
            .build()
            .unwrap()
    })
    .await;
    let refused = ask(&place.url, Method::GET, None).await;
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    let challenge = refused.headers()[WWW_AUTHENTICATE].to_str().unwrap();
    let named = challenge.split('"').nth(1).unwrap();
    // Also from a page of another origin.
    for origin in [None, Some("https://inspector.example")] {
        let document = ask(named, Method::GET, origin).await;
        assert_eq!(document.status(), StatusCode::OK);
        let document: serde_json::Value = serde_json::from_slice(document.body()).unwrap();
        assert_eq!(document["resource"], place.url);
        assert_eq!(document["authorization_servers"][0], place.authority.issuer().as_str());
    }
}

// Shows: AUTH-AS-011, AUTH-AS-013, AUTH-AS-015
#[tokio::test]
async fn a_person_is_asked_on_a_page_that_other_pages_can_not_answer() {
    let server = AuthorizationServer::bind(0, "", Consent::Page).await.unwrap();
    server.authority().register("app", None, &["http://127.0.0.1/cb"]);
    let issuer = server.issuer().to_owned();
    let _running = Running(tokio::spawn(async move {
        server.run().await.unwrap();
    }));
    let page = format!(
        "{issuer}/authorize?response_type=code&client_id=app&state=s&scope=%3Cb%3E&\
         redirect_uri=http://127.0.0.1:1/cb&code_challenge=c&code_challenge_method=S256"
    );
    let shown = ask(&page, Method::GET, None).await;
    assert_eq!(shown.status(), StatusCode::OK);
    let text = String::from_utf8_lossy(shown.body()).into_owned();
    assert!(text.contains("<b>app</b>") && text.contains("&lt;b&gt;"), "{text}");
    for origin in [None, Some("https://evil.example"), Some("null")] {
        assert_eq!(ask(&page, Method::POST, origin).await.status(), StatusCode::FORBIDDEN);
    }
    let allowed = ask(&page, Method::POST, Some(&issuer)).await;
    assert_eq!(allowed.status(), StatusCode::FOUND);
    let location = allowed.headers()[LOCATION].to_str().unwrap();
    assert!(location.starts_with("http://127.0.0.1:1/cb?code="), "{location}");
    let metadata =
        ask(&format!("{issuer}/.well-known/openid-configuration"), Method::GET, None).await;
    let metadata: serde_json::Value = serde_json::from_slice(metadata.body()).unwrap();
    assert_eq!(metadata["code_challenge_methods_supported"][0], "S256");
    assert_eq!(metadata["client_id_metadata_document_supported"], true);
}
