//! Proof of possession, workload identity, enterprise-managed authorization, on both sides.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests may panic like tests"
)]

mod support;

use mcp_auth::client::{ClientAuthentication, Dpop, IdentityProvider, PinnedClient};
use mcp_auth::jose::{KeySet, PrivateKey};
use mcp_auth::server::DpopRules;
use mcp_auth::testing::{Authority, ManualClock};
use mcp_auth::{AuthErrorKind, Issuer, OAuthClient, Secret};
use serde_json::json;
use support::{AS, MCP, World, endpoint, minutes};

fn bound_world(required: bool, nonces: bool) -> World {
    let world = World::with_server(|builder| {
        let mut rules = DpopRules::default();
        (rules.required, rules.nonces) = (required, nonces);
        builder.proof_of_possession(rules)
    });
    world.authority.behave(|b| (b.dpop, b.dpop_nonces) = (true, nonces));
    world
}

// Shows: CL-DP-1, CL-DP-2, CL-DP-3, CL-DP-4, RS-DV-1, RS-DV-2, AUTH-CLIENT-082
#[tokio::test]
async fn bound_tokens_go_with_a_fresh_proof_each_time() {
    for required in [false, true] {
        let world = bound_world(required, false);
        let client = world.client().proof_of_possession(Dpop::WhenOffered).build().unwrap();
        let authorizer = endpoint(&client);
        for _ in 0..3 {
            world.call(&authorizer, "ping", None).await.unwrap();
        }
        assert_eq!(world.count("/token"), 1);
        assert!(world.fetch.seen_at("/token")[0].headers.contains_key("dpop"));
        assert!(!world.fetch.seen_at("/register")[0].headers.contains_key("dpop"));
        // A refresh goes with a proof of the same key.
        world.clock.advance(minutes(60));
        world.call(&authorizer, "ping", None).await.unwrap();
        assert_eq!((world.count("/token"), world.count("/authorize")), (2, 1));
    }
}

// Shows: CL-DP-5, RS-DV-4
#[tokio::test]
async fn nonces_of_both_servers_are_learned_and_reused() {
    let world = bound_world(true, true);
    let client = world.client().proof_of_possession(Dpop::Always).build().unwrap();
    let authorizer = endpoint(&client);
    world.call(&authorizer, "ping", None).await.unwrap();
    assert_eq!(world.count("/token"), 2, "once without the nonce, once with it");
    let before = world.presented.load(std::sync::atomic::Ordering::Relaxed);
    world.call(&authorizer, "ping", None).await.unwrap();
    let after = world.presented.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(after - before, 1, "a known nonce costs no round trip");
}

// Shows: CL-DP-7
#[tokio::test]
async fn a_clock_that_is_off_is_noticed_once_and_remembered() {
    // The authorization server is behind everybody else.
    let world = bound_world(false, false);
    let clock = world.clock.clone();
    world.authority.set_clock(move || clock.now() - minutes(20));
    let client = world.client().proof_of_possession(Dpop::Always).build().unwrap();
    let authorizer = endpoint(&client);
    world.call(&authorizer, "ping", None).await.unwrap();
    assert_eq!(world.count("/token"), 2, "once by our clock, once by its own");
    world.clock.advance(minutes(60));
    world.call(&authorizer, "ping", None).await.unwrap();
    assert_eq!(world.count("/token"), 3, "a clock that is known costs no round trip");

    // A proof that is refused for another reason is not made again.
    let world = bound_world(false, false);
    world.authority.behave(|b| b.distrusts_proofs = true);
    let client = world.client().proof_of_possession(Dpop::Always).build().unwrap();
    assert!(world.call(&endpoint(&client), "ping", None).await.is_err());
    assert_eq!(world.count("/token"), 1);
}

// Shows: CL-DP-6
#[tokio::test]
async fn a_bearer_token_in_place_of_a_bound_one_is_refused_where_binding_is_demanded() {
    for (mode, good) in [(Dpop::Always, false), (Dpop::WhenOffered, true)] {
        let world = bound_world(false, false);
        world.authority.behave(|b| b.downgrades = true);
        let client = world.client().proof_of_possession(mode).build().unwrap();
        let outcome = world.call(&endpoint(&client), "ping", None).await;
        match outcome {
            Ok(_) => assert!(good),
            Err(error) => {
                assert!(!good && matches!(error.kind(), AuthErrorKind::Downgraded), "{error:?}");
            }
        }
    }
}

// Shows: CL-DP-1
#[tokio::test]
async fn a_server_that_wants_proofs_gets_a_clear_error_where_they_are_off() {
    let world = bound_world(true, false);
    let error = world.call(&world.authorizer(), "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::NeedsDpop), "{error:?}");
    assert_eq!(world.count("/register"), 0);
}

/// A platform that vouches for workloads, or a provider of identities.
fn provider(clock: &ManualClock) -> Authority {
    let provider = Authority::new("https://idp.example").unwrap();
    let clock = clock.clone();
    provider.set_clock(move || clock.now());
    provider
}

fn now(clock: &ManualClock) -> u64 {
    clock.now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}

// Shows: CL-EM-1, CL-EM-2, CL-EM-3, CL-EM-4, CL-EM-5, CL-EM-6
#[tokio::test]
async fn an_identity_at_the_enterprise_becomes_a_token_for_the_server() {
    let world = World::new();
    let idp = provider(&world.clock);
    idp.serve(&world.fetch);
    idp.register("at-idp", None, &[]);
    idp.behave(|b| b.assertion_client = Some("at-as".to_owned()));
    world.authority.behave(|b| b.auth_methods = vec!["client_secret_basic".to_owned()]);
    world.authority.register("at-as", Some(&Secret::new("as-secret")), &[]);
    world.authority.trust(idp.issuer().clone(), idp.keys());
    let subject = idp
        .sign(&json!({"typ": "JWT"}), &json!({"iss": "https://idp.example", "sub": "bob"}))
        .unwrap();
    let client = |issuer: &str| {
        let clock = world.clock.clone();
        OAuthClient::builder()
            .enterprise_managed(
                IdentityProvider::new(
                    Issuer::new("https://idp.example").unwrap(),
                    "at-idp",
                    Secret::new(subject.clone()),
                ),
                PinnedClient::new(
                    Issuer::new(issuer).unwrap(),
                    "at-as",
                    ClientAuthentication::secret("as-secret"),
                ),
            )
            .fetcher(world.fetch.clone())
            .clock(move || clock.now())
            .build()
            .unwrap()
    };
    let principal = world.call(&endpoint(&client(AS)), "ping", None).await.unwrap().unwrap();
    assert_eq!((principal.subject(), principal.client()), ("bob", Some("at-as")));
    assert_eq!(world.count("/authorize") + world.count("/register"), 0);
    let tokens = world.fetch.seen_at("/token");
    let (exchange, grant) = (&tokens[0], &tokens[1]);
    assert_eq!(exchange.url.host_str(), Some("idp.example"));
    assert_eq!(exchange.param("audience").as_deref(), Some(AS));
    assert_eq!(exchange.param("resource").as_deref(), Some(MCP));
    assert_eq!(exchange.param("client_id").as_deref(), Some("at-idp"));
    assert!(exchange.param("client_secret").is_none());
    assert!(grant.headers.contains_key("authorization"));
    assert_eq!(grant.param("resource").as_deref(), Some(MCP));
    // The next token comes from the next exchange.
    let authorizer = endpoint(&client(AS));
    world.call(&authorizer, "ping", None).await.unwrap();
    world.fetch.forget();
    world.clock.advance(minutes(60));
    world.call(&authorizer, "ping", None).await.unwrap();
    let hosts: Vec<_> = world.fetch.seen_at("/token").iter().map(|s| s.url.to_string()).collect();
    assert_eq!(hosts, ["https://idp.example/token", "https://as.example/token"]);

    // The client is pinned: another server's authorization server gets nothing.
    let error =
        world.call(&endpoint(&client("https://x.example")), "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::IssuerNotPinned { .. }), "{error:?}");
}

// Shows: CL-WI-1, CL-WI-2, CL-WI-3, CL-WI-4
#[tokio::test]
async fn a_workload_shows_its_assertion_to_the_issuer_that_it_is_for_and_once() {
    let world = World::new();
    let key = PrivateKey::generate().unwrap().with_id("platform");
    let platform = Issuer::new("https://platform.example").unwrap();
    world.authority.trust(platform, KeySet::new([key.public().clone()]));
    let assertion = |audience: &str, life: i64| {
        let exp = i64::try_from(now(&world.clock)).unwrap() + life;
        let claims =
            json!({"iss": "https://platform.example", "sub": "job", "aud": audience, "exp": exp});
        key.sign_token(&json!({"alg": "ES256", "kid": "platform"}), &claims).unwrap()
    };
    let outcome = async |assertion: String| {
        world.fetch.forget();
        let clock = world.clock.clone();
        let client = OAuthClient::builder()
            .workload_identity(Some("job-client".to_owned()), Secret::new(assertion), None)
            .fetcher(world.fetch.clone())
            .clock(move || clock.now())
            .build()
            .unwrap();
        (world.call(&endpoint(&client), "ping", None).await, world.count("/token"))
    };
    let (good, requests) = outcome(assertion(AS, 60)).await;
    assert_eq!(good.unwrap().unwrap().subject(), "job");
    assert_eq!(requests, 1);
    let token = &world.fetch.seen_at("/token")[0];
    assert_eq!(token.param("client_id").as_deref(), Some("job-client"));
    assert_eq!(token.param("resource").as_deref(), Some(MCP));

    let (expired, requests) = outcome(assertion(AS, -60)).await;
    assert!(matches!(expired.unwrap_err().kind(), AuthErrorKind::TokenRefused { .. }));
    assert_eq!(requests, 1, "a rejection is final");
    let (other, requests) = outcome(assertion("https://other.example", 60)).await;
    let error = other.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::AssertionNotForIssuer { .. }), "{error:?}");
    assert_eq!(requests, 0);
}
