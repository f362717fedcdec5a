//! One test for each attack, named after it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests may panic like tests"
)]

mod support;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::header::AUTHORIZATION;
use hyper::{HeaderMap, StatusCode};
use mcp_auth::client::DynamicClient;
use mcp_auth::jose::PrivateKey;
use mcp_auth::testing::{Authority, FollowingBrowser, ResponseIssuer};
use mcp_auth::v1::{BoxFuture, Browser, BrowserError, CallbackUrl, Fetch as _, Visit, Visited};
use mcp_auth::{
    AuthErrorKind, FetchError, FetchPolicy, FetchRequest, FetchResponse, FileStore, GuardedFetcher,
    MemoryStore, OAuthClient, Reach, Redirect, Registration, Rule,
};
use mcp_transport_http::v1::{Authorizer as _, Departure, Guard as _};
use serde_json::json;
use support::{AS, MCP, World, endpoint, head_with, minutes};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

// Shows: AUTH-CLIENT-068, CL-RS-3, CL-AZ-5, AUTH-CLIENT-067
#[tokio::test]
async fn mix_up() {
    for (announced, sent) in [
        (true, ResponseIssuer::Other("https://evil.example".to_owned())),
        (false, ResponseIssuer::Other("https://evil.example".to_owned())),
        (true, ResponseIssuer::Other(format!("{AS}/"))),
        (true, ResponseIssuer::Missing),
    ] {
        let world = World::new();
        world.authority.behave(|b| (b.announces_iss, b.response_issuer) = (announced, sent));
        let error = world.call(&world.authorizer(), "ping", None).await.unwrap_err();
        assert!(
            matches!(
                error.kind(),
                AuthErrorKind::ResponseIssuerMismatch { .. }
                    | AuthErrorKind::ResponseIssuerMissing { .. }
            ),
            "{error:?}"
        );
        assert_eq!((world.count("/authorize"), world.count("/token")), (1, 0));
    }
    let world = World::new();
    world.authority.behave(|b| {
        (b.announces_iss, b.response_issuer) = (false, ResponseIssuer::Missing);
    });
    world.call(&world.authorizer(), "ping", None).await.unwrap();
}

// Shows: CL-AM-3, FC-075, AUTH-CLIENT-024
#[tokio::test]
async fn issuer_swap() {
    let world = World::new();
    world.authority.behave(|b| b.metadata_issuer = Some("https://evil.example".to_owned()));
    let error = world.call(&world.authorizer(), "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::NoServerMetadata { .. }), "{error:?}");
    let cause = std::error::Error::source(error.kind()).unwrap().to_string();
    assert!(cause.contains(AS) && cause.contains("https://evil.example"), "{cause}");
    assert_eq!(world.count("/register") + world.count("/authorize") + world.count("/token"), 0);
}

// Shows: AUTH-SERVER-012, RS-AU-1, AUTH-CLIENT-010, CL-PR-5
#[tokio::test]
async fn audience_swap() {
    // A server that wants tokens for somebody else's resource gets none.
    let world = World::new();
    world.fetch.serve("https://mcp.example", |_| {
        let body = json!({"resource": "https://bank.example/mcp", "authorization_servers": [AS]});
        FetchResponse::new(StatusCode::OK, HeaderMap::new(), body.to_string())
    });
    let error = world.call(&world.authorizer(), "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::ResourceMismatch { .. }), "{error:?}");
    assert!(world.fetch.seen().iter().all(|seen| seen.url.host_str() == Some("mcp.example")));
}

// Shows: AUTH-SERVER-016, AUTH-SERVER-032
#[tokio::test]
async fn token_from_another_resource() {
    let world = World::new();
    let clock = world.clock.clone();
    let bank = support::protect("https://bank.example/mcp", AS, &world.fetch, &clock, |b| b);
    let authorizer = world.authorizer();
    world.call(&authorizer, "ping", None).await.unwrap();
    let departure = Departure::new(hyper::Method::POST, MCP.parse().unwrap());
    let credentials = authorizer.authorize(&departure).await.unwrap();
    world.server().admit(&head_with(&credentials.headers)).await.unwrap();
    let refusal = bank.admit(&head_with(&credentials.headers)).await.unwrap_err();
    assert_eq!(refusal.status, StatusCode::UNAUTHORIZED);
}

/// Answers with a code that somebody else got.
struct Injecting {
    inner: FollowingBrowser,
    code: &'static str,
}

impl Browser for Injecting {
    fn open<'a>(&'a self, visit: &'a Visit) -> BoxFuture<'a, Result<Visited, BrowserError>> {
        Box::pin(async move {
            self.inner.open(visit).await?;
            let state = visit.url.query_pairs().find(|(name, _)| name == "state").unwrap().1;
            let iss = "https%3A%2F%2Fas.example";
            let url = format!("{}?code={}&state={state}&iss={iss}", visit.redirect_uri, self.code);
            Ok(Visited::Returned(CallbackUrl::new(url)))
        })
    }
}

// Shows: CL-AZ-1, AUTH-CLIENT-072
#[tokio::test]
async fn code_injection() {
    // The attacker's own code, from a flow with the same client.
    let world = World::new();
    world.authority.register("app", None, &["http://127.0.0.1/callback"]);
    let stolen = {
        let url = format!(
            "{AS}/authorize?response_type=code&client_id=app&code_challenge=attackers&\
             code_challenge_method=S256&redirect_uri=http://127.0.0.1/callback&resource={MCP}&state=s"
        );
        let request = FetchRequest::get(url.parse().unwrap(), Reach::Public).showing_redirects();
        let answer = world.fetch.fetch(request).await.unwrap();
        let location = answer.headers["location"].to_str().unwrap().to_owned();
        let url = url::Url::parse(&location).unwrap();
        let code = url.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
        &*code.leak()
    };
    let client = mcp_auth::client::PinnedClient::new(
        mcp_auth::Issuer::new(AS).unwrap(),
        "app",
        mcp_auth::client::ClientAuthentication::None,
    );
    let browser = Injecting { inner: FollowingBrowser::new(world.fetch.clone()), code: stolen };
    let client = world
        .client_with(Registration::new().with_client(client))
        .browser(browser)
        .build()
        .unwrap();
    let error = world.call(&endpoint(&client), "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::TokenRefused { .. }), "{error:?}");
    assert_eq!(world.count("/token"), 1);
}

/// Answers with the URL of an earlier login.
struct Replaying {
    inner: FollowingBrowser,
    first: std::sync::Mutex<Option<CallbackUrl>>,
}

impl Browser for Replaying {
    fn open<'a>(&'a self, visit: &'a Visit) -> BoxFuture<'a, Result<Visited, BrowserError>> {
        Box::pin(async move {
            let Visited::Returned(fresh) = self.inner.open(visit).await? else { panic!() };
            let mut first = self.first.lock().unwrap();
            Ok(Visited::Returned(first.get_or_insert(fresh).clone()))
        })
    }
}

// Shows: CL-RS-2, AUTH-CLIENT-081, CL-SM-4
#[tokio::test]
async fn state_replay() {
    let world = World::new();
    let browser = Replaying {
        inner: FollowingBrowser::new(world.fetch.clone()),
        first: std::sync::Mutex::default(),
    };
    let redirect = Redirect::own("https://app.example/cb").unwrap();
    let clock = world.clock.clone();
    let client = OAuthClient::builder()
        .interactive(Registration::new().with_dynamic(DynamicClient::new("Test")), redirect)
        .fetcher(world.fetch.clone())
        .browser(browser)
        .clock(move || clock.now())
        .build()
        .unwrap();
    let url = || MCP.parse().unwrap();
    client.login(url(), mcp_auth::Login::new()).await.unwrap();
    let error = client.login(url(), mcp_auth::Login::new()).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::StateMismatch), "{error:?}");
    assert_eq!(world.count("/token"), 1);
}

/// A server that answers every connection with `answer`, then closes.
async fn serve(answer: String) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut head = [0; 4096];
                let _ = stream.read(&mut head).await;
                let _ = stream.write_all(answer.as_bytes()).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    (address, count)
}

fn guarded() -> GuardedFetcher {
    GuardedFetcher::new(FetchPolicy::default()).unwrap()
}

async fn get(url: &str, reach: Reach) -> Result<FetchResponse, FetchError> {
    guarded().fetch(FetchRequest::get(url.parse().unwrap(), reach)).await
}

fn rule(outcome: Result<FetchResponse, FetchError>) -> Rule {
    match outcome {
        Err(FetchError::Refused { rule, .. }) => rule,
        other => panic!("{other:?}"),
    }
}

// Shows: CL-FT-4, CL-IN-2, SEC-049
#[tokio::test]
async fn redirect_to_another_origin() {
    let (target, reached) =
        serve("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".to_owned()).await;
    let to = |status: &str, location: &str| {
        format!("HTTP/1.1 {status}\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")
    };
    for location in ["http://evil.example/", "http://169.254.169.254/latest", "file:///etc/passwd"]
    {
        let (address, _) = serve(to("302 Found", location)).await;
        let outcome = get(&format!("http://{address}/m"), Reach::Loopback).await;
        assert_eq!(rule(outcome), Rule::Downgrade, "{location}");
    }
    // Within loopback a redirect of a document is followed, one of a form never.
    let (address, _) = serve(to("307 Temporary Redirect", &format!("http://{target}/"))).await;
    let url = || format!("http://{address}/m").parse().unwrap();
    assert_eq!(get(&format!("http://{address}/m"), Reach::Loopback).await.unwrap().status, 200);
    assert_eq!(reached.load(Ordering::Relaxed), 1);
    let post = FetchRequest::post(url(), Reach::Loopback, b"code=secret".to_vec());
    let outcome = guarded().fetch(post).await;
    assert!(matches!(outcome, Err(FetchError::Redirected { .. })), "{outcome:?}");
    assert_eq!(reached.load(Ordering::Relaxed), 1);
    // And not for ever.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let circle = to("302 Found", &format!("http://{address}/again"));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = [0; 4096];
            let _ = stream.read(&mut head).await;
            let _ = stream.write_all(circle.as_bytes()).await;
        }
    });
    let outcome = get(&format!("http://{address}/"), Reach::Loopback).await;
    assert!(matches!(outcome, Err(FetchError::Redirected { .. })), "{outcome:?}");
}

// Shows: SEC-044, SEC-048, SEC-050, CL-FT-1, CL-FT-2, CL-FT-3
#[tokio::test]
async fn metadata_ssrf() {
    let (address, reached) = serve("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned()).await;
    let port = address.port();
    for (url, broken) in [
        (format!("https://127.0.0.1:{port}/"), Rule::Inwards),
        (format!("https://localhost:{port}/"), Rule::Inwards),
        (format!("https://[::ffff:127.0.0.1]:{port}/"), Rule::Inwards),
        (format!("https://2130706433:{port}/"), Rule::Inwards),
        (format!("http://127.0.0.1:{port}/"), Rule::Scheme),
        ("https://10.0.0.1/".to_owned(), Rule::Inwards),
        ("https://192.168.0.1/".to_owned(), Rule::Inwards),
        ("https://[fd00::1]/".to_owned(), Rule::Inwards),
        ("https://169.254.169.254/latest/meta-data".to_owned(), Rule::Address),
        ("https://[fe80::1]/".to_owned(), Rule::Address),
        ("https://0.0.0.0/".to_owned(), Rule::Address),
        ("https://user:pass@as.example/".to_owned(), Rule::User),
    ] {
        assert_eq!(rule(get(&url, Reach::Public).await), broken, "{url}");
    }
    assert_eq!(reached.load(Ordering::Relaxed), 0);
    let strict = GuardedFetcher::new(FetchPolicy::strict()).unwrap();
    let local = FetchRequest::get(format!("http://{address}/").parse().unwrap(), Reach::Loopback);
    assert_eq!(rule(strict.fetch(local).await), Rule::Scheme);
}

// Shows: RS-JW-1, RS-JW-2, RS-JW-3
#[tokio::test]
async fn alg_confusion() {
    let world = World::new();
    let server = world.server();
    let part = |value: &serde_json::Value| {
        use base64::Engine as _;
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(value.to_string())
    };
    let claims = json!({"iss": AS, "aud": MCP, "sub": "mallory", "exp": 1_800_000_060u64});
    let public = world.authority.keys().to_jwks()["keys"][0].clone();
    let signed_with = |key: &[u8], input: &str| {
        use base64::Engine as _;
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key);
        let tag = ring::hmac::sign(&key, input.as_bytes());
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(tag.as_ref())
    };
    let mut forged = Vec::new();
    for header in [json!({"alg": "none"}), json!({"alg": "None", "kid": "k1"})] {
        forged.push(format!("{}.{}.", part(&header), part(&claims)));
        forged.push(format!("{}.{}.x", part(&header), part(&claims)));
    }
    // The public key as a shared secret.
    let input = format!("{}.{}", part(&json!({"alg": "HS256", "kid": "k1"})), part(&claims));
    for secret in [public.to_string(), public["x"].as_str().unwrap().to_owned()] {
        forged.push(format!("{input}.{}", signed_with(secret.as_bytes(), &input)));
    }
    // A key that the token brings along, or points to.
    let own = PrivateKey::generate().unwrap();
    for header in [
        json!({"alg": "ES256", "jwk": own.public().to_jwk()}),
        json!({"alg": "ES256", "kid": "k1", "jku": "https://evil.example/jwks"}),
        json!({"alg": "ES256", "kid": "k1", "x5u": "https://evil.example/x"}),
    ] {
        forged.push(own.sign_token(&header, &claims).unwrap());
    }
    for token in forged {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
        let outcome = server.admit(&head_with(&headers)).await;
        assert!(outcome.is_err(), "{token}");
    }
    assert!(world.fetch.seen().iter().all(|seen| seen.url.host_str() == Some("as.example")));
}

// Shows: RS-JW-7
#[tokio::test(start_paused = true)]
async fn jwks_flood() {
    let world = World::new();
    let server = world.server();
    let stranger = PrivateKey::generate().unwrap();
    let claims = json!({"iss": AS, "aud": MCP, "sub": "x", "exp": 1_800_000_060u64});
    for n in 0..10_000 {
        let header = json!({"alg": "ES256", "kid": format!("random-{n}")});
        // Signing each would be slow; what the signature is makes no difference here.
        let token = if n % 1000 == 0 {
            stranger.sign_token(&header, &claims).unwrap()
        } else {
            use base64::Engine as _;
            let part = |value: &serde_json::Value| {
                base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(value.to_string())
            };
            format!("{}.{}.AAAA", part(&header), part(&claims))
        };
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
        let refusal = server.admit(&head_with(&headers)).await.unwrap_err();
        assert_eq!(refusal.status, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(world.count("/jwks"), 1);
    // Nor does a flood of issuers cause a single request.
    world.fetch.forget();
    for n in 0..100 {
        let claims = json!({"iss": format!("https://random-{n}.example"), "exp": 1_800_000_060u64});
        let token = stranger.sign_token(&json!({"alg": "ES256"}), &claims).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
        server.admit(&head_with(&headers)).await.unwrap_err();
    }
    assert!(world.fetch.seen().is_empty());
}

// Shows: CL-RF-4, CL-ST-3, CL-ST-4
#[tokio::test]
async fn refresh_race() {
    // The server takes a second use of a refresh token for theft, and ends the login.
    let directory = std::env::temp_dir().join(format!("mcp-auth-race-{}", std::process::id()));
    let _gone = Gone(directory.clone());
    for shared in [true, false] {
        let world = Arc::new(World::new());
        let memory = MemoryStore::new();
        let process = || {
            let builder = world.client();
            let client = if shared {
                builder.store(memory.clone()).build()
            } else {
                builder.store(FileStore::open(&directory).unwrap()).build()
            };
            endpoint(&client.unwrap())
        };
        world.call(&process(), "ping", None).await.unwrap();
        for _ in 0..3 {
            world.clock.advance(minutes(60));
            world.fetch.forget();
            let calls: Vec<_> = (0..8)
                .map(|_| {
                    let (world, authorizer) = (Arc::clone(&world), process());
                    tokio::spawn(
                        async move { world.call(&authorizer, "ping", None).await.map(|_| ()) },
                    )
                })
                .collect();
            for call in calls {
                call.await.unwrap().unwrap();
            }
            assert_eq!((world.count("/token"), world.count("/authorize")), (1, 0));
        }
    }
}

/// A directory that goes with the test, however it ends.
struct Gone(std::path::PathBuf);

impl Drop for Gone {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

// Shows: RS-SB-2
#[tokio::test]
async fn session_taken_over_with_another_token() {
    // A session belongs to a principal. What the transport compares is what the guard says.
    let world = World::new();
    let server = world.server();
    let principal = async |subject: &str, client: &str| {
        let claims = json!({"iss": AS, "aud": MCP, "sub": subject, "client_id": client, "exp": 1_800_000_060u64});
        let token = world.authority.sign(&json!({}), &claims).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
        server.admit(&head_with(&headers)).await.unwrap().principal.unwrap()
    };
    let owner = principal("alice", "app").await;
    assert_eq!(owner, principal("alice", "app").await);
    assert_ne!(owner, principal("mallory", "app").await);
    assert_ne!(owner, principal("alice", "malware").await);
    assert_ne!(owner, principal("app", "alice").await);
}

// Shows: CL-FT-5
#[tokio::test]
async fn oversized_metadata() {
    let body = "x".repeat(200_000);
    for head in ["Content-Length: 200000\r\n", ""] {
        let (address, _) = serve(format!("HTTP/1.1 200 OK\r\n{head}\r\n{body}")).await;
        let outcome = get(&format!("http://{address}/"), Reach::Loopback).await;
        assert!(matches!(outcome, Err(FetchError::TooLarge { .. })), "{outcome:?}");
    }
    let long = "x".repeat(500_000);
    let (address, _) = serve(format!("HTTP/1.1 200 OK\r\nX: {long}\r\n\r\n")).await;
    let outcome = get(&format!("http://{address}/"), Reach::Loopback).await;
    assert!(matches!(outcome, Err(FetchError::Broken { .. })), "{outcome:?}");
}

// Shows: CL-FT-5
#[tokio::test]
async fn slow_metadata() {
    // A byte now and then keeps the connection alive, but not the request.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
                while stream.write_all(b" ").await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            });
        }
    });
    let mut policy = FetchPolicy::default();
    policy.timeout = Duration::from_millis(200);
    let fetcher = GuardedFetcher::new(policy).unwrap();
    let request = FetchRequest::get(format!("http://{address}/").parse().unwrap(), Reach::Loopback);
    let outcome = fetcher.fetch(request).await;
    assert!(matches!(outcome, Err(FetchError::TimedOut { .. })), "{outcome:?}");
}

// Shows: SEC-074, SEC-077, SEC-083, SEC-085, CL-AZ-6
#[tokio::test]
async fn command_in_the_authorization_endpoint() {
    struct Never;
    impl Browser for Never {
        fn open<'a>(&'a self, visit: &'a Visit) -> BoxFuture<'a, Result<Visited, BrowserError>> {
            panic!("a browser was given {:?}", visit.url.scheme());
        }
    }
    for page in ["javascript:alert(1)", "file:///bin/sh", "http://as.example/authorize", "calc://x"]
    {
        let world = World::new();
        let document = json!({
            "issuer": AS, "authorization_endpoint": page, "token_endpoint": format!("{AS}/token"),
            "code_challenge_methods_supported": ["S256"], "registration_endpoint": format!("{AS}/register"),
        });
        let authority = world.authority.clone();
        world.fetch.serve_later(AS, move |request| {
            let (authority, document) = (authority.clone(), document.clone());
            Box::pin(async move {
                if request.url.path().contains("well-known") {
                    let body = document.to_string();
                    return Ok(FetchResponse::new(StatusCode::OK, HeaderMap::new(), body));
                }
                Ok(authority.answer(&request).await)
            })
        });
        let client = world.client().browser(Never).build().unwrap();
        let error = world.call(&endpoint(&client), "ping", None).await.unwrap_err();
        assert!(
            matches!(
                error.kind(),
                AuthErrorKind::UrlRefused { .. } | AuthErrorKind::NoServerMetadata { .. }
            ),
            "{error:?}"
        );
    }
}

// Shows: CL-RG-2, CL-MG-2
#[tokio::test]
async fn hostile_server_that_collects_secrets() {
    let world = World::new();
    let evil = Authority::new("https://evil.example").unwrap();
    evil.serve(&world.fetch);
    world.replace_server("https://evil.example");
    let client = mcp_auth::client::PinnedClient::new(
        mcp_auth::Issuer::new(AS).unwrap(),
        "id",
        mcp_auth::client::ClientAuthentication::secret("top-secret"),
    );
    let client = world.client_with(Registration::new().with_client(client)).build().unwrap();
    let error = world.call(&endpoint(&client), "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::IssuerNotPinned { .. }), "{error:?}");
    for seen in world.fetch.seen() {
        assert!(!String::from_utf8_lossy(&seen.body).contains("top-secret"));
        assert!(!seen.headers.contains_key(AUTHORIZATION));
    }
}
