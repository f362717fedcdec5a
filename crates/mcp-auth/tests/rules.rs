//! Rules that no other test is about.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests may panic like tests"
)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::header::AUTHORIZATION;
use hyper::{HeaderMap, StatusCode};
use mcp_auth::client::{ClientAuthentication, DynamicClient, LoopbackHost, PinnedClient, Scopes};
use mcp_auth::server::{JwtRules, KeySetSource};
use mcp_auth::testing::{Authority, FollowingBrowser};
use mcp_auth::v1::{BoxFuture, Browser, BrowserError, Visit, Visited};
use mcp_auth::{
    AuthErrorKind, FetchResponse, Issuer, Login, OAuthClient, Redirect, Registration, Resource,
    ResourceServer, ScopePolicy, ScopeSet, Secret,
};
use mcp_transport_http::v1::{AnswerHead, Authorizer as _, Departure, Guard as _};
use serde_json::json;
use support::{AS, MCP, World, endpoint, head_with, minutes, need};

async fn login(world: &World) -> Result<mcp_auth::client::LoginReport, mcp_auth::AuthError> {
    world.client().build().unwrap().login(MCP.parse().unwrap(), Login::new()).await
}

/// Has the resource's document say what `body` says, wherever it is asked for.
fn describe(world: &World, body: serde_json::Value) {
    world.fetch.serve("https://mcp.example", move |_| {
        FetchResponse::new(StatusCode::OK, HeaderMap::new(), body.to_string())
    });
}

// Shows: CL-AS-2
#[tokio::test]
async fn a_server_that_says_nothing_of_itself_is_passed_over_and_all_that_fail_are_named() {
    let world = World::new();
    world.fetch.serve("https://silent.example", |_| {
        FetchResponse::new(StatusCode::NOT_FOUND, HeaderMap::new(), "")
    });
    describe(
        &world,
        json!({"resource": MCP, "authorization_servers": ["https://silent.example", AS]}),
    );
    assert_eq!(login(&world).await.unwrap().issuer.as_str(), AS);

    describe(
        &world,
        json!({
            "resource": MCP,
            "authorization_servers": ["https://silent.example", "https://silent.example/other"],
        }),
    );
    let error = login(&world).await.unwrap_err();
    let AuthErrorKind::NoUsableServer { failed } = error.kind() else { panic!("{error:?}") };
    assert_eq!(failed.len(), 2);
    let text = error.kind().to_string();
    assert!(text.contains("silent.example/other"), "{text}");

    // Trouble of the network is no reason to go to somebody else.
    world.fetch.serve("https://silent.example", |_| {
        FetchResponse::new(StatusCode::BAD_GATEWAY, HeaderMap::new(), "")
    });
    describe(
        &world,
        json!({"resource": MCP, "authorization_servers": ["https://silent.example", AS]}),
    );
    assert!(login(&world).await.unwrap_err().is_retryable());
}

fn program(world: &World, scopes: Scopes) -> OAuthClient {
    world.authority.behave(|b| b.auth_methods = vec!["client_secret_basic".to_owned()]);
    world.authority.register("program", Some(&Secret::new("program-secret")), &[]);
    let pinned = PinnedClient::new(
        Issuer::new(AS).unwrap(),
        "program",
        ClientAuthentication::secret("program-secret"),
    );
    let clock = world.clock.clone();
    OAuthClient::builder()
        .client_credentials(pinned)
        .scopes(scopes)
        .fetcher(world.fetch.clone())
        .clock(move || clock.now())
        .build()
        .unwrap()
}

// Shows: CL-CC-4, CL-RF-8
#[tokio::test]
async fn a_program_asks_again_when_its_token_has_ended_and_for_more_when_it_needs_more() {
    let policy = ScopePolicy::new().baseline(need("a")).tool("write", need("a b"));
    let world = World::with_policy(policy);
    let authorizer = endpoint(&program(&world, Scopes::default()));
    world.call(&authorizer, "ping", None).await.unwrap();
    world.call(&authorizer, "ping", None).await.unwrap();
    assert_eq!(world.count("/token"), 1);
    world.clock.advance(minutes(60));
    world.call(&authorizer, "ping", None).await.unwrap();
    assert_eq!(world.count("/token"), 2);
    world.call(&authorizer, "tools/call", Some("write")).await.unwrap();
    assert_eq!(world.count("/token"), 3, "one request with the union");
    assert_eq!(world.fetch.seen_at("/token")[2].param("scope").as_deref(), Some("a b"));
}

// Shows: CL-SU-6
#[tokio::test]
async fn a_program_whose_scopes_are_fixed_does_not_ask_for_others() {
    let policy = ScopePolicy::new().baseline(need("a")).tool("write", need("a b"));
    let world = World::with_policy(policy);
    let authorizer = endpoint(&program(&world, Scopes::Fixed(ScopeSet::parse("a"))));
    world.call(&authorizer, "ping", None).await.unwrap();
    let error = world.call(&authorizer, "tools/call", Some("write")).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::ScopesNotGranted { .. }), "{error:?}");
    assert_eq!(world.count("/token"), 1);
}

// Shows: CL-PR-3
#[tokio::test]
async fn the_place_in_the_challenge_may_be_relative_and_if_it_is_empty_others_are_asked() {
    let departure = Departure::new(hyper::Method::POST, MCP.parse().unwrap());
    for place in ["/elsewhere", "https://mcp.example/nothing"] {
        let world = World::new();
        let authorizer = world.authorizer();
        let credentials = authorizer.authorize(&departure).await.unwrap();
        let mut headers = HeaderMap::new();
        let challenge = format!("Bearer resource_metadata=\"{place}\"");
        headers.insert("www-authenticate", challenge.parse().unwrap());
        let head = AnswerHead::new(StatusCode::UNAUTHORIZED, headers);
        let _ = authorizer.challenged(&departure, credentials.stamp, &head).await;
        let asked: Vec<_> = world.fetch.seen().iter().map(|s| s.url.path().to_owned()).collect();
        assert!(asked[0] == "/elsewhere" || asked[0] == "/nothing", "{asked:?}");
        assert!(asked[1].starts_with("/.well-known/oauth-protected-resource"), "{asked:?}");
    }
}

// Shows: CL-PR-6
#[tokio::test]
async fn a_resource_that_is_no_url_counts_only_if_it_was_written_down() {
    let world = World::new();
    describe(&world, json!({"resource": "urn:files", "authorization_servers": [AS]}));
    let error = login(&world).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::ResourceMismatch { .. }), "{error:?}");
    assert_eq!(world.count("/register"), 0);
    let told = world.client().expect_resource("urn:files").build().unwrap();
    let report = told.login(MCP.parse().unwrap(), Login::new()).await.unwrap();
    assert_eq!(report.resource.as_str(), "urn:files");
}

// Shows: CL-LG-5, CL-PR-10
#[tokio::test]
async fn a_host_without_old_servers_has_no_fallback_for_them() {
    let world = World::new();
    let own = Authority::new("https://mcp.example").unwrap();
    own.serve(&world.fetch);
    let report = login(&world).await.unwrap();
    assert!(report.legacy, "a report says that the fallback was used");
    let strict = world.client().without_legacy_servers().build().unwrap();
    let error = strict.login(MCP.parse().unwrap(), Login::new()).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::NoResourceMetadata { .. }), "{error:?}");
}

// Shows: CL-RD-2, AUTH-CLIENT-079
#[tokio::test]
async fn one_redirect_is_used_everywhere_and_it_is_the_one_that_was_chosen() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (redirect, expected) in [
        (Redirect::loopback(), "http://127.0.0.1:".to_owned()),
        (
            Redirect::Loopback {
                host: LoopbackHost::V4,
                port: Some(free),
                path: "/back".to_owned(),
            },
            format!("http://127.0.0.1:{free}/back"),
        ),
    ] {
        let world = World::new();
        let registration = Registration::new().with_dynamic(DynamicClient::new("Test"));
        let clock = world.clock.clone();
        let client = OAuthClient::builder()
            .interactive(registration, redirect)
            .fetcher(world.fetch.clone())
            .browser(FollowingBrowser::new(world.fetch.clone()))
            .clock(move || clock.now())
            .build()
            .unwrap();
        client.login(MCP.parse().unwrap(), Login::new()).await.unwrap();
        let asked = world.fetch.seen_at("/authorize")[0].clone();
        let query: Vec<_> = asked.url.query_pairs().into_owned().collect();
        let (_, sent) = query.iter().find(|(name, _)| name == "redirect_uri").unwrap();
        assert!(sent.starts_with(&expected), "{sent}");
        assert_eq!(world.fetch.seen_at("/token")[0].param("redirect_uri").as_ref(), Some(sent));
        let registered =
            String::from_utf8_lossy(&world.fetch.seen_at("/register")[0].body).into_owned();
        assert!(registered.contains(sent.as_str()), "{registered}");
    }
}

/// A browser that is opened and never comes back.
struct Never(Arc<AtomicUsize>);

impl Browser for Never {
    fn open<'a>(&'a self, _: &'a Visit) -> BoxFuture<'a, Result<Visited, BrowserError>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::pending())
    }
}

// Shows: CL-SU-4, CL-IN-5
#[tokio::test]
async fn while_somebody_is_asked_for_more_others_go_on_with_what_there_is() {
    let policy = ScopePolicy::new().baseline(need("a")).tool("write", need("a b"));
    let world = Arc::new(World::with_policy(policy));
    let store = mcp_auth::MemoryStore::new();
    let first = world.client().store(store.clone()).build().unwrap();
    world.call(&endpoint(&first), "ping", None).await.unwrap();

    let opened = Arc::new(AtomicUsize::new(0));
    let client = world.client().store(store).browser(Never(Arc::clone(&opened))).build().unwrap();
    let authorizer = endpoint(&client);
    let stuck = tokio::spawn({
        let (world, authorizer) = (Arc::clone(&world), authorizer.clone());
        async move { world.call(&authorizer, "tools/call", Some("write")).await.map(|_| ()) }
    });
    while opened.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    world.call(&authorizer, "ping", None).await.unwrap();
    stuck.abort();
}

// Shows: CL-US-4
#[tokio::test]
async fn trouble_of_the_server_leaves_the_login_alone() {
    let world = World::new();
    let authorizer = world.authorizer();
    world.call(&authorizer, "ping", None).await.unwrap();
    let departure = Departure::new(hyper::Method::POST, MCP.parse().unwrap());
    let token = async || {
        let credentials = authorizer.authorize(&departure).await.unwrap();
        credentials.headers.get(AUTHORIZATION).cloned()
    };
    let before = token().await;
    for status in [429, 500, 503] {
        let status = StatusCode::from_u16(status).unwrap();
        authorizer.observe(&departure, &AnswerHead::new(status, HeaderMap::new()));
        assert_eq!(token().await, before);
    }
    assert_eq!(world.count("/token"), 1);
}

// Shows: CL-IN-4
#[tokio::test]
async fn two_clients_of_one_program_do_not_meet() {
    let world = World::new();
    let (one, other) = (world.authorizer(), world.authorizer());
    world.call(&one, "ping", None).await.unwrap();
    assert!(other.current().is_none());
    world.call(&other, "ping", None).await.unwrap();
    assert_eq!(world.count("/authorize"), 2);
}

// Shows: CL-ER-1, CL-ER-2, CL-EM-7
#[tokio::test]
async fn an_error_says_where_whose_fault_and_what_to_do() {
    let world = World::new();
    world.authority.behave(|b| b.denies = true);
    let error = login(&world).await.unwrap_err();
    assert!(error.needs_person() && !error.is_retryable());
    assert_eq!(error.fault(), mcp_auth::client::Fault::Person);
    assert_eq!(error.step(), mcp_auth::client::FlowStep::Callback);
    // One level each: what was being done, then why.
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(!error.to_string().contains(&source), "{error}: {source}");
}

// Shows: RS-JW-5
#[tokio::test]
async fn keys_may_be_at_a_fixed_place_or_be_given() {
    let world = World::new();
    let claims = json!({
        "iss": AS, "aud": MCP, "sub": "alice", "exp": 1_800_000_600, "iat": 1_800_000_000,
    });
    let token = world.authority.sign(&json!({"typ": "at+jwt"}), &claims).unwrap();
    let keys = "https://as.example/jwks".parse().unwrap();
    for source in [KeySetSource::Url(keys), KeySetSource::Fixed(world.authority.keys())] {
        world.fetch.forget();
        let fixed = matches!(source, KeySetSource::Fixed(_));
        let clock = world.clock.clone();
        let server = ResourceServer::builder(Resource::new(MCP).unwrap())
            .jwt(Issuer::new(AS).unwrap(), JwtRules::default().with_key_set(source))
            .fetcher(world.fetch.clone())
            .clock(move || clock.now())
            .build()
            .unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
        assert!(server.admit(&head_with(&headers)).await.is_ok());
        assert_eq!(world.fetch.seen().is_empty(), fixed);
    }
}

// Shows: RS-JW-10
#[tokio::test(start_paused = true)]
async fn a_token_that_was_just_verified_may_be_remembered_for_a_minute() {
    let claims = json!({
        "iss": AS, "aud": MCP, "sub": "alice", "exp": 1_800_000_600, "iat": 1_800_000_000,
    });
    for (remembered, believed) in [(0, false), (10, true)] {
        let world = World::new();
        let signed = || world.authority.sign(&json!({"typ": "at+jwt"}), &claims).unwrap();
        let presented = |token: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
            head_with(&headers)
        };
        let mut rules = JwtRules::default();
        rules.remembered = remembered;
        let clock = world.clock.clone();
        let server = ResourceServer::builder(Resource::new(MCP).unwrap())
            .jwt(Issuer::new(AS).unwrap(), rules)
            .fetcher(world.fetch.clone())
            .clock(move || clock.now())
            .build()
            .unwrap();
        let token = signed();
        assert!(server.admit(&presented(&token)).await.is_ok());
        // Its key is withdrawn, and the next one becomes known.
        world.authority.rotate_key("next").unwrap();
        world.clock.advance(Duration::from_secs(31));
        tokio::time::advance(Duration::from_secs(31)).await;
        assert!(server.admit(&presented(&signed())).await.is_ok());
        assert_eq!(server.admit(&presented(&token)).await.is_ok(), believed);
        world.clock.advance(Duration::from_secs(30));
        assert!(server.admit(&presented(&token)).await.is_err());
    }
}

/// Answers for several servers at once, or can't be reached.
struct Shared(std::sync::Mutex<Option<std::collections::HashSet<mcp_auth::v1::ProofDigest>>>);

impl mcp_auth::v1::ReplayStore for Shared {
    fn first_time<'a>(
        &'a self,
        proof: mcp_auth::v1::ProofDigest,
        _: std::time::SystemTime,
        _: std::time::SystemTime,
    ) -> BoxFuture<'a, Result<bool, mcp_auth::v1::ReplayError>> {
        let mut shown = self.0.lock().unwrap();
        let answer = match shown.as_mut() {
            Some(shown) => Ok(shown.insert(proof)),
            None => Err(mcp_auth::v1::ReplayError::new("it is down")),
        };
        Box::pin(std::future::ready(answer))
    }
}

// Shows: RS-DV-2
#[tokio::test]
async fn a_proof_counts_once_on_all_replicas_that_share_what_they_have_seen() {
    let shared = Arc::new(Shared(std::sync::Mutex::new(Some(std::collections::HashSet::new()))));
    let replica = || {
        let shared = Arc::clone(&shared);
        World::with_server(move |builder| {
            let mut rules = mcp_auth::server::DpopRules::default();
            rules.replays = shared;
            builder.proof_of_possession(rules)
        })
    };
    let (one, other) = (replica(), replica());
    one.authority.behave(|b| b.dpop = true);
    let client = one.client().proof_of_possession(mcp_auth::client::Dpop::Always).build().unwrap();
    let authorizer = endpoint(&client);
    one.call(&authorizer, "ping", None).await.unwrap();
    let departure = Departure::new(hyper::Method::POST, MCP.parse().unwrap());
    let head = async || head_with(&authorizer.authorize(&departure).await.unwrap().headers);
    let shown = head().await;
    assert!(one.server().admit(&shown).await.is_ok());
    assert!(one.server().admit(&shown).await.is_err(), "the same, on the same replica");
    // The other one has the issuer's keys from the first one's authority.
    other.fetch.serve(AS, {
        let authority = one.authority.clone();
        move |request| {
            let body = if request.url.path().ends_with("jwks") {
                authority.keys().to_jwks().to_string()
            } else {
                json!({
                    "issuer": AS,
                    "authorization_endpoint": format!("{AS}/authorize"),
                    "token_endpoint": format!("{AS}/token"),
                    "jwks_uri": format!("{AS}/jwks"),
                })
                .to_string()
            };
            FetchResponse::new(StatusCode::OK, HeaderMap::new(), body)
        }
    });
    let refused = other.server().admit(&shown).await.unwrap_err();
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "the same, on another replica");
    assert!(other.server().admit(&head().await).await.is_ok(), "a fresh one is fine there");
    // Not to know is no reason to send a client into a login.
    *shared.0.lock().unwrap() = None;
    let refused = other.server().admit(&head().await).await.unwrap_err();
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
}

// Shows: AS-CD-2, AS-CD-4
#[tokio::test(start_paused = true)]
async fn a_clients_document_is_asked_for_once_and_a_failure_is_soon_forgotten() {
    const ID: &str = "https://app.example/client.json";
    let fetch = mcp_auth::testing::ScriptedFetch::new();
    let answer = Arc::new(std::sync::Mutex::new((200, "max-age=600")));
    fetch.serve("https://app.example", {
        let answer = Arc::clone(&answer);
        move |_| {
            let (status, cache) = *answer.lock().unwrap();
            let mut headers = HeaderMap::new();
            headers.insert("cache-control", cache.parse().unwrap());
            headers.insert("location", "https://elsewhere.example/".parse().unwrap());
            let body = json!({
                "client_id": ID, "client_name": "App", "redirect_uris": ["https://app.example/cb"],
            });
            FetchResponse::new(StatusCode::from_u16(status).unwrap(), headers, body.to_string())
        }
    });
    let documents = mcp_auth::server::ClientDocuments::new(fetch.clone());
    let asked = || fetch.seen_at("/client.json").len();
    documents.get(ID).await.unwrap();
    tokio::time::advance(minutes(9)).await;
    documents.get(ID).await.unwrap();
    assert_eq!(asked(), 1);
    tokio::time::advance(minutes(2)).await;
    documents.get(ID).await.unwrap();
    assert_eq!(asked(), 2);

    // A redirect is followed nowhere; that there was none is remembered for ten seconds.
    *answer.lock().unwrap() = (302, "max-age=600");
    tokio::time::advance(minutes(11)).await;
    assert!(documents.get(ID).await.is_err());
    assert!(documents.get(ID).await.is_err());
    assert_eq!(asked(), 3);
    assert!(fetch.seen().iter().all(|seen| seen.url.host_str() == Some("app.example")));
    *answer.lock().unwrap() = (200, "no-store");
    tokio::time::advance(Duration::from_secs(10)).await;
    documents.get(ID).await.unwrap();
    // At least a minute, whatever is said.
    tokio::time::advance(Duration::from_secs(59)).await;
    documents.get(ID).await.unwrap();
    assert_eq!(asked(), 4);
}

// Shows: CL-FT-6
#[tokio::test]
async fn no_address_has_a_user_in_it() {
    let fetcher = mcp_auth::GuardedFetcher::new(mcp_auth::FetchPolicy::default()).unwrap();
    let url = "http://someone:secret@127.0.0.1:1/".parse().unwrap();
    let request = mcp_auth::FetchRequest::get(url, mcp_auth::Reach::Loopback);
    let error = mcp_auth::v1::Fetch::fetch(&fetcher, request).await.unwrap_err();
    assert!(matches!(error, mcp_auth::FetchError::Refused { .. }), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("secret"));
}

// Shows: RS-WA-3
#[tokio::test]
async fn what_is_refused_is_not_kept_by_anybody_in_between() {
    let world = World::with_policy(ScopePolicy::new().baseline(need("a")));
    for credential in [None, Some("Bearer rubbish"), Some("Bearer a\u{1}")] {
        let mut headers = HeaderMap::new();
        if let Some(Ok(value)) = credential.map(str::parse) {
            headers.insert(AUTHORIZATION, value);
        }
        let refusal = world.server().admit(&head_with(&headers)).await.unwrap_err();
        assert_eq!(refusal.headers["cache-control"], "no-store");
    }
}
