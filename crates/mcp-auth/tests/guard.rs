//! The protected server: who gets in, who does not, and what they are told.
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

use hyper::header::{AUTHORIZATION, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{HeaderMap, Method, Request, StatusCode};
use mcp_auth::jose::{Algorithm, PrivateKey};
use mcp_auth::server::{
    Caller, ConfigError, Downstream, IntrospectionClient, IntrospectionVerifier, JwtRules,
    JwtVerifier, KeySetSource, StaticTokens, TokenFacts,
};
use mcp_auth::testing::{VerifierCases, token_verifier_suite};
use mcp_auth::v1::{BoxFuture, PresentedToken, TokenVerifier, Unverified, Verified};
use mcp_auth::{FetchResponse, Issuer, Resource, ResourceServer, ScopePolicy, ScopeSet, Secret};
use mcp_transport_http::v1::{Admission, Guard, Operation, Principal, Refusal};
use serde_json::{Value, json};
use support::{AS, MCP, World, head_with, minutes, need, protect};

const NOW: u64 = 1_800_000_000;

fn claims() -> Value {
    json!({
        "iss": AS, "aud": MCP, "sub": "alice", "client_id": "app", "scope": "a b",
        "iat": NOW, "exp": NOW + 60, "department": "x",
    })
}

fn with(changes: &[(&str, Value)]) -> Value {
    let mut claims = claims();
    for (name, value) in changes {
        claims[*name] = value.clone();
    }
    claims
}

async fn admit(server: &ResourceServer, authorization: &[&str]) -> Result<Admission, Refusal> {
    let mut headers = HeaderMap::new();
    for field in authorization {
        headers.append(AUTHORIZATION, field.parse().unwrap());
    }
    server.admit(&head_with(&headers)).await
}

fn challenge(refusal: &Refusal) -> String {
    refusal
        .headers
        .get(WWW_AUTHENTICATE)
        .map_or_else(String::new, |v| v.to_str().unwrap().to_owned())
}

// Shows: FC-084, AUTH-SERVER-014, AUTH-SERVER-017, AUTH-SERVER-019, AUTH-SERVER-030, RS-OR-1,
// SEC-052
#[tokio::test]
async fn a_request_is_judged_by_its_head_alone() {
    let world = World::with_policy(ScopePolicy::new().baseline(need("a")));
    let server = world.server();
    let token = world.authority.sign(&json!({"typ": "at+jwt"}), &claims()).unwrap();
    let old = world.authority.sign(&json!({}), &with(&[("exp", json!(NOW - 60))])).unwrap();
    let status = async |fields: &[&str]| match admit(&server, fields).await {
        Ok(_) => (200, String::new()),
        Err(refusal) => (refusal.status.as_u16(), challenge(&refusal)),
    };
    let (code, told) = status(&[&format!("Bearer {old}")]).await;
    assert!(
        code == 401
            && told.contains("error=\"invalid_token\"")
            && told.contains("resource_metadata="),
        "{told}"
    );
    let (code, told) = status(&[]).await;
    assert!(code == 401 && !told.contains("error=") && told.contains("scope=\"a\""), "{told}");
    assert_eq!(status(&[&format!("bearer   {token} ")]).await.0, 200);
    assert_eq!(status(&["Basic eDp5"]).await, status(&[]).await);
    assert_eq!(status(&[&format!("Bearer {token}"), &format!("Bearer {token}")]).await.0, 400);

    let mut parts = head_with(&HeaderMap::new());
    parts.uri = format!("/mcp?access_token={token}").parse().unwrap();
    assert_eq!(server.admit(&parts).await.unwrap_err().status, StatusCode::UNAUTHORIZED);
}

// Shows: RS-OR-1, RS-SP-1, AUTH-SERVER-018, AUTH-SERVER-024, AUTH-SERVER-031
#[tokio::test]
async fn a_token_without_the_baseline_does_not_get_past_the_head() {
    let world = World::with_policy(ScopePolicy::new().baseline(need("c")));
    let token = world.authority.sign(&json!({}), &claims()).unwrap();
    let refusal = admit(&world.server(), &[&format!("Bearer {token}")]).await.unwrap_err();
    assert_eq!(refusal.status, StatusCode::FORBIDDEN);
    let told = challenge(&refusal);
    assert!(told.contains("error=\"insufficient_scope\", scope=\"c\""), "{told}");
    // The same place that somebody without a token is sent to.
    let place = |told: &str| told.split("resource_metadata=").nth(1).map(str::to_owned);
    let stranger = challenge(&admit(&world.server(), &[]).await.unwrap_err());
    let named = place(&stranger).unwrap().split(',').next().unwrap().to_owned();
    assert!(place(&told).unwrap().starts_with(&named), "{told} {stranger}");
}

// Shows: SEC-043, AUTH-SERVER-011, AUTH-SERVER-012, AUTH-SERVER-013, AUTH-SERVER-015, AUTH-SERVER-016,
// AUTH-SERVER-032, RS-JW-1, RS-JW-3, RS-JW-4, RS-AU-1, RS-TV-1, SEC-043
#[tokio::test]
async fn only_genuine_access_tokens_for_this_very_server_pass() {
    let world = World::new();
    let server = world.server();
    let check = async |header: Value, claims: Value, expected: bool| {
        let token = world.authority.sign(&header, &claims).unwrap();
        let outcome = admit(&server, &[&format!("Bearer {token}")]).await;
        assert_eq!(outcome.is_ok(), expected, "{header} {claims}");
        if let Err(refusal) = outcome {
            let told = challenge(&refusal);
            assert_eq!(refusal.status, StatusCode::UNAUTHORIZED);
            // Nothing says why: neither the audience nor the key.
            assert!(told.contains("invalid_token") && !told.contains("elsewhere"), "{told}");
        }
    };
    let plain = json!({});
    for (claims, expected) in [
        (claims(), true),
        (with(&[("aud", json!(["https://x.example", MCP]))]), true),
        (with(&[("aud", json!("https://elsewhere.example"))]), false),
        (with(&[("aud", json!("https://mcp.example/mcp/"))]), false),
        (with(&[("aud", json!("https://mcp.example"))]), false),
        (with(&[("aud", json!("https://MCP.example/mcp"))]), false),
        (with(&[("aud", Value::Null)]), false),
        (with(&[("iss", json!("https://as.example/"))]), false),
        (with(&[("iss", json!("https://other.example"))]), false),
        (with(&[("iss", Value::Null)]), false),
        (with(&[("exp", Value::Null)]), false),
        (with(&[("nbf", json!(NOW + 120))]), false),
        (with(&[("at_hash", json!("x"))]), false),
        (with(&[("cnf", json!({"jkt": "x"}))]), false),
        (with(&[("cnf", json!({"x5t#S256": "x"}))]), false),
    ] {
        check(plain.clone(), claims, expected).await;
    }
    for (header, expected) in [
        (json!({"typ": "JWT"}), true),
        (json!({"typ": "application/at+jwt"}), true),
        (json!({"typ": "dpop+jwt"}), false),
        (json!({"typ": "oauth-id-jag+jwt"}), false),
        (json!({"typ": "logout+jwt"}), false),
        (json!({"kid": "unknown"}), false),
        (json!({"crit": ["x"]}), false),
    ] {
        check(header, claims(), expected).await;
    }
}

// Shows: RS-DT-1, RS-DT-5, AUTH-SERVER-033, RS-SB-1
#[tokio::test]
async fn the_principal_says_who_is_calling_and_holds_no_token() {
    let world = World::with_server(|builder| builder.for_downstream());
    let token = world.authority.sign(&json!({}), &claims()).unwrap();
    let admission = admit(&world.server(), &[&format!("Bearer {token}")]).await.unwrap();
    let principal = admission.principal.clone().unwrap();
    assert_eq!(
        (principal.issuer(), principal.subject(), principal.client()),
        (AS, "alice", Some("app"))
    );
    assert!(principal.has_scope("a") && !principal.has_scope("c"));
    let facts = principal.facts().get::<TokenFacts>().unwrap();
    assert_eq!(facts.claim::<String>("department").as_deref(), Some("x"));
    assert_eq!(facts.claim::<String>("exp"), None);
    let caller = principal.facts().get::<Caller>().unwrap();
    for view in [
        format!("{admission:?}"),
        format!("{principal:?}"),
        format!("{facts:?}"),
        format!("{caller:?}"),
    ] {
        assert!(!view.contains(&token), "{view}");
    }
}

// Shows: RS-SB-1, RS-SB-2, RS-SB-3
#[tokio::test]
async fn the_same_principal_is_the_same_with_another_token_and_another_is_not() {
    let world = World::new();
    let server = world.server();
    let principal = async |changes: &[(&str, Value)]| -> Principal {
        let token = world.authority.sign(&json!({}), &with(changes)).unwrap();
        admit(&server, &[&format!("Bearer {token}")]).await.unwrap().principal.unwrap()
    };
    let alice = principal(&[]).await;
    assert_eq!(alice, principal(&[("jti", json!("renewed")), ("scope", json!("more"))]).await);
    assert_ne!(alice, principal(&[("sub", json!("mallory"))]).await);
    assert_ne!(alice, principal(&[("client_id", json!("other"))]).await);
    let program = principal(&[("sub", Value::Null)]).await;
    assert_eq!((program.subject(), program.client()), ("app", Some("app")));
}

// Shows: AUTH-SERVER-001, AUTH-SERVER-002, AUTH-SERVER-003, RS-PD-3
#[tokio::test]
async fn the_metadata_document_names_the_resource_the_servers_and_the_scopes() {
    let world = World::with_server(|builder| {
        builder
            .policy(ScopePolicy::new().baseline(need("a offline_access")).tool("t", need("b")))
            .name("Test")
            .and_jwt(Issuer::new("https://second.example").unwrap(), JwtRules::default())
    });
    let server = world.server();
    let answer =
        server.metadata(&Method::GET, "/.well-known/oauth-protected-resource/mcp").unwrap();
    let document: Value = serde_json::from_slice(answer.body()).unwrap();
    assert_eq!(
        document,
        json!({
            "resource": MCP,
            "authorization_servers": [AS, "https://second.example"],
            "scopes_supported": ["a", "b"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Test",
        })
    );
    assert_eq!(
        server.metadata_url(),
        "https://mcp.example/.well-known/oauth-protected-resource/mcp"
    );
    assert!(server.metadata(&Method::GET, "/mcp").is_none());
}

// Shows: RS-PD-4, RS-ST-1
#[test]
fn what_would_not_be_safe_is_not_built() {
    let build = |resource: &str, tokens: StaticTokens| {
        ResourceServer::builder(Resource::new(resource).unwrap()).static_tokens(tokens).build()
    };
    assert!(matches!(
        build("http://mcp.example/mcp", StaticTokens::new()),
        Err(ConfigError::Insecure)
    ));
    assert!(matches!(build("urn:mcp", StaticTokens::new()), Err(ConfigError::Resource(_))));
    assert!(matches!(build(MCP, StaticTokens::new()), Err(ConfigError::StaticTokens)));
    assert!(build("http://127.0.0.1:1/mcp", StaticTokens::new()).is_ok());
    assert!(build(MCP, StaticTokens::new().dangerous_beyond_loopback()).is_ok());
}

// Shows: RS-ST-1
#[tokio::test]
async fn static_tokens_let_their_subjects_in() {
    let tokens = StaticTokens::new().with(&Secret::new("one"), "alice", ScopeSet::parse("a")).with(
        &Secret::new("two"),
        "bob",
        ScopeSet::new(),
    );
    let server = ResourceServer::builder(Resource::new("http://127.0.0.1:1/mcp").unwrap())
        .static_tokens(tokens)
        .build()
        .unwrap();
    let principal = admit(&server, &["Bearer two"]).await.unwrap().principal.unwrap();
    assert_eq!(principal.subject(), "bob");
    assert_eq!(
        admit(&server, &["Bearer three"]).await.unwrap_err().status,
        StatusCode::UNAUTHORIZED
    );
}

// Shows: RS-TV-2, RS-JW-8
#[tokio::test(start_paused = true)]
async fn what_can_not_be_checked_is_no_reason_to_log_in_anew() {
    let world = World::new();
    let server = world.server();
    let token = world.authority.sign(&json!({}), &claims()).unwrap();
    let bearer = format!("Bearer {token}");
    world.fetch.serve(AS, |_| FetchResponse::new(StatusCode::BAD_GATEWAY, HeaderMap::new(), ""));
    let refusal = admit(&server, &[&bearer]).await.unwrap_err();
    assert_eq!(refusal.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(refusal.headers.contains_key(RETRY_AFTER) && challenge(&refusal).is_empty());
    world.authority.serve(&world.fetch);
    tokio::time::advance(Duration::from_secs(6)).await;
    admit(&server, &[&bearer]).await.unwrap();

    // A set that is there goes on serving while no newer one can be had.
    world.fetch.serve(AS, |_| FetchResponse::new(StatusCode::BAD_GATEWAY, HeaderMap::new(), ""));
    tokio::time::advance(minutes(60)).await;
    admit(&server, &[&bearer]).await.unwrap();
    tokio::time::advance(minutes(60 * 25)).await;
    let refusal = admit(&server, &[&bearer]).await.unwrap_err();
    assert_eq!(refusal.status, StatusCode::SERVICE_UNAVAILABLE, "not for ever");
}

// Shows: RS-JW-6, RS-JW-7, RS-JW-9
#[tokio::test(start_paused = true)]
async fn a_new_key_is_found_and_a_removed_one_stops_to_count() {
    let world = World::new();
    let server = world.server();
    let old = format!("Bearer {}", world.authority.sign(&json!({}), &claims()).unwrap());
    admit(&server, &[&old]).await.unwrap();
    world.authority.rotate_key("k2").unwrap();
    let new = format!("Bearer {}", world.authority.sign(&json!({}), &claims()).unwrap());
    // Within the floor nothing is fetched for an unknown key.
    assert!(admit(&server, &[&new]).await.is_err());
    tokio::time::advance(Duration::from_secs(31)).await;
    admit(&server, &[&new]).await.unwrap();
    assert!(admit(&server, &[&old]).await.is_err());
    assert_eq!(world.count("/jwks"), 2);
}

// Shows: RS-TV-3, RS-TV-4, RS-AU-3
#[tokio::test]
async fn a_verifier_of_ones_own_does_not_get_around_the_audience() {
    struct Careless(Option<&'static str>);
    impl TokenVerifier for Careless {
        fn verify<'a>(
            &'a self,
            _: PresentedToken<'a>,
        ) -> BoxFuture<'a, Result<Verified, Unverified>> {
            let mut verified = Verified::new(Issuer::new(AS).unwrap());
            verified.subject = Some("alice".to_owned());
            verified.audiences = self.0.iter().map(|&audience| audience.to_owned()).collect();
            verified.alive_by_word = true;
            Box::pin(std::future::ready(Ok(verified)))
        }
    }
    let outcome = async |audience, also: Option<&str>| {
        let mut builder = ResourceServer::builder(Resource::new(MCP).unwrap())
            .verifier(Issuer::new(AS).unwrap(), Careless(audience));
        if let Some(also) = also {
            builder = builder.accept_audience(also);
        }
        admit(&builder.build().unwrap(), &["Bearer opaque"]).await.is_ok()
    };
    assert!(!outcome(None, None).await);
    assert!(!outcome(Some("api://guid"), None).await);
    assert!(outcome(Some("api://guid"), Some("api://guid")).await);
    assert!(outcome(Some(MCP), None).await);
}

fn verifier_clock() -> Arc<dyn Fn() -> std::time::SystemTime + Send + Sync> {
    Arc::new(|| std::time::UNIX_EPOCH + Duration::from_secs(NOW))
}

// Shows: RS-TV-5
#[tokio::test]
async fn the_shipped_verifiers_keep_the_contract() {
    let world = World::new();
    let sign = |claims: Value| Secret::new(world.authority.sign(&json!({}), &claims).unwrap());
    let stranger = PrivateKey::generate().unwrap();
    let forged = stranger.sign_token(&json!({"alg": "ES256", "kid": "k1"}), &claims()).unwrap();
    let cases = VerifierCases::new(
        sign(claims()),
        vec![
            sign(with(&[("exp", json!(NOW - 120))])),
            sign(with(&[("iss", json!("https://other.example"))])),
            Secret::new(forged),
        ],
    );
    let issuer = Issuer::new(AS).unwrap();
    for source in [
        KeySetSource::Discover,
        KeySetSource::Url("https://as.example/jwks".parse().unwrap()),
        KeySetSource::Fixed(world.authority.keys()),
    ] {
        let rules = JwtRules::default().with_key_set(source);
        let fetch = Arc::new(world.fetch.clone());
        let verifier = JwtVerifier::new(issuer.clone(), rules, fetch, verifier_clock());
        token_verifier_suite(&verifier, &cases).await;
    }
}

// Shows: RS-IN-1, RS-IN-2, RS-TV-5
#[tokio::test(start_paused = true)]
async fn introspection_asks_once_for_a_while_and_believes_only_true() {
    let world = World::new();
    let questions = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&questions);
    world.fetch.serve("https://opaque.example", move |request| {
        counted.fetch_add(1, Ordering::Relaxed);
        let form = String::from_utf8_lossy(&request.body).into_owned();
        assert!(
            request.headers.contains_key(AUTHORIZATION)
                && form.contains("token_type_hint=access_token")
        );
        let body = if form.contains("token=good") {
            json!({"active": true, "aud": MCP, "sub": "alice", "scope": "a", "exp": NOW + 3600})
        } else if form.contains("token=odd") {
            json!({"active": "true", "aud": MCP})
        } else if form.contains("token=other") {
            json!({"active": true, "aud": MCP, "iss": "https://other.example"})
        } else {
            json!({"active": false})
        };
        FetchResponse::new(StatusCode::OK, HeaderMap::new(), body.to_string())
    });
    let verifier = Arc::new(IntrospectionVerifier::new(
        Issuer::new("https://opaque.example").unwrap(),
        "https://opaque.example/introspect".parse().unwrap(),
        IntrospectionClient::basic("rs", "rs-secret"),
        Arc::new(world.fetch.clone()),
        verifier_clock(),
    ));
    let cases = VerifierCases::new(
        Secret::new("good"),
        vec![Secret::new("odd"), Secret::new("other"), Secret::new("dead")],
    );
    token_verifier_suite(&*verifier, &cases).await;
    questions.store(0, Ordering::Relaxed);
    tokio::time::advance(Duration::from_secs(31)).await;
    let good = Secret::new("good");
    let asks = (0..20).map(|_| {
        let (verifier, good) = (Arc::clone(&verifier), good.clone());
        tokio::spawn(async move { verifier.verify(PresentedToken::new(&good)).await.is_ok() })
    });
    for asked in asks.collect::<Vec<_>>() {
        assert!(asked.await.unwrap());
    }
    assert_eq!(questions.load(Ordering::Relaxed), 1);
    tokio::time::advance(Duration::from_secs(31)).await;
    assert!(verifier.verify(PresentedToken::new(&good)).await.is_ok());
    assert_eq!(questions.load(Ordering::Relaxed), 2);
}

// Shows: RS-DT-2, AUTH-SERVER-033
#[tokio::test]
async fn another_service_is_called_with_a_token_of_its_own() {
    let world = World::with_server(|builder| builder.for_downstream());
    let authorizer = world.authorizer();
    let principal = world.call(&authorizer, "ping", None).await.unwrap().unwrap();
    world.authority.behave(|b| b.auth_methods = vec!["client_secret_basic".to_owned()]);
    world.authority.register("this-server", Some(&Secret::new("its-secret")), &[]);
    let downstream = Downstream::exchange(
        Issuer::new(AS).unwrap(),
        "https://as.example/token".parse().unwrap(),
        "this-server",
        mcp_auth::client::ClientAuthentication::secret("its-secret"),
        world.fetch.clone(),
    );
    let caller = principal.facts().get::<Caller>().unwrap();
    let target = Resource::new("https://api.example/v1").unwrap();
    let token = downstream.token_for(caller, &target).await.unwrap();
    let mut request = Request::get("https://api.example/v1/things").body(()).unwrap();
    token.attach(&mut request).unwrap();
    let sent = request.headers()[AUTHORIZATION].to_str().unwrap().to_owned();
    let issued = world.authority.issued(sent.strip_prefix("Bearer ").unwrap()).unwrap();
    assert_eq!(issued.audience.as_deref(), Some("https://api.example/v1"));
    let mut elsewhere = Request::get("https://evil.example/").body(()).unwrap();
    assert!(token.attach(&mut elsewhere).is_err());
    assert!(!elsewhere.headers().contains_key(AUTHORIZATION));
    // That token is not for this server.
    let refused = admit(&world.server(), &[&sent]).await;
    assert_eq!(refused.unwrap_err().status, StatusCode::UNAUTHORIZED);
}

// Shows: RS-JW-1
#[tokio::test]
async fn rsa_and_edwards_keys_verify_as_well() {
    // A fixed RSA key would be a secret in the repository, so the key is Ed25519.
    let random = ring::rand::SystemRandom::new();
    let document = ring::signature::Ed25519KeyPair::generate_pkcs8(&random).unwrap();
    let key = PrivateKey::from_pkcs8(document.as_ref(), Algorithm::EdDsa).unwrap().with_id("ed");
    let world = World::new();
    let rules = JwtRules::default()
        .with_key_set(KeySetSource::Fixed(mcp_auth::jose::KeySet::new([key.public().clone()])));
    let server = ResourceServer::builder(Resource::new(MCP).unwrap())
        .jwt(Issuer::new(AS).unwrap(), rules)
        .fetcher(world.fetch.clone())
        .clock(|| std::time::UNIX_EPOCH + Duration::from_secs(NOW))
        .build()
        .unwrap();
    let token = key.sign_token(&json!({"alg": "EdDSA", "kid": "ed"}), &claims()).unwrap();
    admit(&server, &[&format!("Bearer {token}")]).await.unwrap();
    let _ = protect(MCP, AS, &world.fetch, &world.clock, |b| b);
}

// Shows: RS-OR-3
#[tokio::test]
async fn streams_end_a_minute_after_their_token() {
    for (outlive, expected) in [(false, Some(Duration::from_secs(120))), (true, None)] {
        let world =
            World::with_server(
                |builder| {
                    if outlive { builder.streams_outlive_tokens() } else { builder }
                },
            );
        let token = world.authority.sign(&json!({}), &claims()).unwrap();
        let admission = admit(&world.server(), &[&format!("Bearer {token}")]).await.unwrap();
        assert_eq!(admission.streams_for, expected);
    }
}

// Shows: RS-OR-2
#[tokio::test]
async fn a_server_that_wants_to_be_found_serves_what_it_says_to_strangers_and_no_more() {
    let world = World::with_server(|builder| builder.open_methods(["initialize"]));
    let server = world.server();
    let stranger = admit(&server, &[]).await.unwrap();
    assert_eq!(stranger.principal, None);
    assert!(Guard::permit(&server, &stranger, &Operation::new("initialize")).await.is_ok());
    for method in ["ping", "tools/list", "tools/call"] {
        let refusal = Guard::permit(&server, &stranger, &Operation::new(method)).await.unwrap_err();
        assert_eq!(refusal.status, StatusCode::UNAUTHORIZED);
        assert!(challenge(&refusal).contains("resource_metadata="));
    }
    // Streams and the end of a session need a token, and one that is sent is judged.
    let mut head = head_with(&HeaderMap::new());
    for method in [Method::GET, Method::DELETE] {
        head.method = method;
        assert_eq!(server.admit(&head).await.unwrap_err().status, StatusCode::UNAUTHORIZED);
    }
    assert!(admit(&server, &["Bearer rubbish"]).await.is_err());
    // Nobody's token would share the sessions of strangers.
    let closed = World::new();
    for (world, is_let_in) in [(&world, false), (&closed, true)] {
        let mut nobody = claims();
        nobody.as_object_mut().unwrap().retain(|name, _| name != "sub" && name != "client_id");
        let token = world.authority.sign(&json!({}), &nobody).unwrap();
        let outcome = admit(&world.server(), &[&format!("Bearer {token}")]).await;
        assert_eq!(outcome.is_ok(), is_let_in);
    }
}
