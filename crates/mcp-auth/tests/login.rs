//! First logins: discovery, registration, scopes, what is sent.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests may panic like tests"
)]

mod support;

use std::time::Duration;

use hyper::{HeaderMap, StatusCode};
use mcp_auth::client::{
    ClientAuthentication, DocumentClient, DynamicClient, PinnedClient, Quirks, Scopes,
};
use mcp_auth::testing::{Behavior, ResponseIssuer, TokenFault};
use mcp_auth::{AuthErrorKind, FetchResponse, Issuer, Registration, ScopeSet, Secret};
use serde_json::json;
use support::{AS, MCP, World, endpoint, need};

fn behave(world: &World, change: impl FnOnce(&mut Behavior)) {
    world.authority.behave(change);
}

// Shows: CL-US-2, AUTH-CLIENT-007, AUTH-CLIENT-011, AUTH-CLIENT-012, AUTH-CLIENT-016, AUTH-CLIENT-028,
// AUTH-CLIENT-045, AUTH-CLIENT-046, AUTH-CLIENT-053, AUTH-CLIENT-054, AUTH-CLIENT-056,
// AUTH-CLIENT-079, CL-AZ-3, CL-TK-1, FC-082
#[tokio::test]
async fn the_first_call_logs_in_and_is_repeated_once() {
    let world = World::new();
    let authorizer = world.authorizer();
    let principal = world.call(&authorizer, "tools/list", None).await.unwrap().unwrap();
    assert_eq!((principal.issuer(), principal.subject()), (AS, "alice"));

    let paths: Vec<String> =
        world.fetch.seen().iter().map(|seen| seen.url.path().to_owned()).collect();
    assert_eq!(
        paths,
        [
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-authorization-server",
            "/register",
            "/authorize",
            "/token",
            "/.well-known/oauth-authorization-server",
            "/jwks",
        ],
        "the last two are the server's"
    );
    let authorize = &world.fetch.seen_at("/authorize")[0];
    let token = &world.fetch.seen_at("/token")[0];
    for request in [authorize, token] {
        assert_eq!(request.param("resource").as_deref(), Some(MCP));
        assert_eq!(request.url.as_str().matches("access_token").count(), 0);
    }
    assert_eq!(authorize.param("redirect_uri"), token.param("redirect_uri"));
    assert_eq!(authorize.param("scope"), None);
    assert_eq!(token.param("scope"), None);
    assert!(token.url.query().is_none());

    // The token goes with every request from now on, and nothing is asked for again.
    world.fetch.forget();
    world.call(&authorizer, "tools/call", Some("x")).await.unwrap();
    assert!(world.fetch.seen().is_empty());
    assert_eq!(world.presented.load(std::sync::atomic::Ordering::Relaxed), 2);
}

// Shows: AUTH-CLIENT-055, CL-IN-1, CL-IN-3
#[tokio::test]
async fn tokens_are_marked_as_sensitive() {
    use mcp_transport_http::v1::{Authorizer as _, Departure};
    let world = World::new();
    let authorizer = world.authorizer();
    world.call(&authorizer, "ping", None).await.unwrap();
    for method in [hyper::Method::POST, hyper::Method::GET, hyper::Method::DELETE] {
        let departure = Departure::new(method, MCP.parse().unwrap());
        let credentials = authorizer.authorize(&departure).await.unwrap();
        assert!(credentials.headers["authorization"].is_sensitive());
    }
}

// Shows: CL-PR-1, AUTH-CLIENT-013
#[tokio::test]
async fn without_a_place_in_the_challenge_the_well_known_ones_are_asked() {
    let world = World::new();
    let client = world.client().build().unwrap();
    // An explicit login knows no challenge.
    let report = client.login(MCP.parse().unwrap(), mcp_auth::Login::new()).await.unwrap();
    assert_eq!((report.issuer.as_str(), report.resource.as_str()), (AS, MCP));
    assert!(!report.legacy && !report.resource_changed);
    assert_eq!(world.count("/.well-known/oauth-protected-resource/mcp"), 1);
    assert_eq!(world.count("/.well-known/oauth-protected-resource"), 0);
}

// Shows: FC-073, CL-PR-7, AUTH-CLIENT-049
#[tokio::test]
async fn a_resource_above_the_endpoint_is_sent_as_its_document_has_it() {
    let world = World::new();
    world.fetch.serve("https://mcp.example", |request| {
        let at_root = request.url.path() == "/.well-known/oauth-protected-resource";
        let body = json!({"resource": "https://MCP.example", "authorization_servers": [AS]});
        let status = if at_root { StatusCode::OK } else { StatusCode::NOT_FOUND };
        FetchResponse::new(status, HeaderMap::new(), body.to_string())
    });
    let client = world.client().build().unwrap();
    let report = client.login(MCP.parse().unwrap(), mcp_auth::Login::new()).await.unwrap();
    assert_eq!(report.resource.as_str(), "https://MCP.example");
    let token = &world.fetch.seen_at("/token")[0];
    assert_eq!(token.param("resource").as_deref(), Some("https://MCP.example"));

    let strict = world.client().resource_match(mcp_auth::ResourceMatch::Exact).build().unwrap();
    let error = strict.login(MCP.parse().unwrap(), mcp_auth::Login::new()).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::ResourceMismatch { .. }), "{error:?}");
}

// Shows: CL-AM-1, CL-AM-2, FC-074, AUTH-CLIENT-008, CL-AM-7
#[tokio::test]
async fn openid_metadata_serves_where_there_is_no_other() {
    let world = World::new();
    behave(&world, |b| (b.oauth_metadata, b.openid_metadata) = (false, true));
    world.call(&world.authorizer(), "ping", None).await.unwrap();
}

// Shows: FC-074, CL-AM-2, CL-PR-8
#[tokio::test(start_paused = true)]
async fn a_server_in_trouble_ends_discovery_for_now() {
    let world = World::new();
    let trouble =
        |status| move |_: &mcp_auth::FetchRequest| FetchResponse::new(status, HeaderMap::new(), "");
    world.fetch.serve(AS, trouble(StatusCode::BAD_GATEWAY));
    let authorizer = world.authorizer();
    let error = world.call(&authorizer, "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::ServerTrouble { status: 502, .. }), "{error:?}");
    assert_eq!(world.count("/.well-known/oauth-authorization-server"), 2, "asked twice");
    assert_eq!(world.count("/.well-known/openid-configuration"), 0);
    // It was no permanent failure: as soon as the server is well again the call succeeds.
    world.authority.serve(&world.fetch);
    world.call(&authorizer, "ping", None).await.unwrap();
}

// Shows: AUTH-CLIENT-073, AUTH-CLIENT-076, AUTH-CLIENT-078, CL-AM-5
#[tokio::test]
async fn a_server_that_does_not_announce_s256_is_refused_before_anything_is_sent_to_it() {
    for openid in [false, true] {
        let world = World::new();
        behave(&world, |b| {
            b.announces_s256 = false;
            (b.oauth_metadata, b.openid_metadata) = (!openid, openid);
        });
        let error = world.call(&world.authorizer(), "ping", None).await.unwrap_err();
        assert!(matches!(error.kind(), AuthErrorKind::PkceNotSupported { .. }), "{error:?}");
        assert_eq!(world.count("/register") + world.count("/authorize"), 0);

        let mut quirks = Quirks::default();
        quirks.trust_s256 = true;
        let client = world.client().quirks(Issuer::new(AS).unwrap(), quirks).build().unwrap();
        world.call(&endpoint(&client), "ping", None).await.unwrap();
    }
}

// Shows: AUTH-CLIENT-025, AUTH-CLIENT-026, AUTH-CLIENT-027, AUTH-CLIENT-036, AUTH-CLIENT-037, AUTH-CLIENT-005,
// AUTH-CLIENT-006,
// AUTH-CLIENT-038, CL-RG-1
#[tokio::test]
async fn client_identities_are_tried_in_the_specified_order() {
    const DOCUMENT: &str = "https://app.example/client.json";
    let issuer = || Issuer::new(AS).unwrap();
    let without = || {
        Registration::new()
            .with_document(DocumentClient::new(DOCUMENT).unwrap())
            .with_dynamic(DynamicClient::new("Test"))
    };
    let all = || {
        let before = PinnedClient::new(issuer(), "before", ClientAuthentication::None);
        without().with_client(before)
    };
    let used = async |registration: Registration, documents: bool, dynamic: bool| {
        let world = World::new();
        behave(&world, |b| (b.client_documents, b.dynamic_registration) = (documents, dynamic));
        let client = world.client_with(registration).build().unwrap();
        // Whether it succeeds is not the question here.
        let _ = client.login(MCP.parse().unwrap(), mcp_auth::Login::new()).await;
        let id = world.fetch.seen_at("/authorize").first().and_then(|seen| seen.param("client_id"));
        (id.unwrap_or_default(), world.count("/register"))
    };
    assert_eq!(used(all(), true, true).await, ("before".to_owned(), 0));
    assert_eq!(used(without(), true, true).await, (DOCUMENT.to_owned(), 0));
    let (id, count) = used(without(), false, true).await;
    assert!(id.starts_with("client-") && count == 1);
    let asks = without().with_ask(|issuer| {
        Some(PinnedClient::new(issuer.clone(), "asked", ClientAuthentication::None))
    });
    assert_eq!(used(asks, false, false).await, ("asked".to_owned(), 0));
}

// Shows: CL-RG-2
#[tokio::test]
async fn a_host_that_is_asked_can_not_give_the_wrong_client_by_mistake() {
    let world = World::new();
    behave(&world, |b| b.dynamic_registration = false);
    let registration = Registration::new().with_ask(|_| {
        let other = Issuer::new("https://other.example").unwrap();
        Some(PinnedClient::new(other, "id", ClientAuthentication::secret("top-secret")))
    });
    let client = world.client_with(registration).build().unwrap();
    let error = world.call(&endpoint(&client), "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::IssuerNotPinned { .. }), "{error:?}");
    assert_eq!(world.count("/authorize") + world.count("/token"), 0);
}

// Shows: FC-077, CL-RG-1
#[tokio::test]
async fn no_way_to_register_is_an_error_that_names_the_ways() {
    let world = World::new();
    behave(&world, |b| b.dynamic_registration = false);
    let error = world.call(&world.authorizer(), "ping", None).await.unwrap_err();
    assert_eq!(
        error.kind().to_string(),
        "there is no way to register at https://as.example (it offers: nothing but registration \
         beforehand; configured: dynamic registration)"
    );
    assert_eq!(world.count("/register"), 0, "nothing is guessed");
}

// Shows: CL-RG-6
#[tokio::test]
async fn a_server_that_takes_no_address_in_a_redirect_gets_a_name() {
    let world = World::new();
    behave(&world, |b| b.names_only = true);
    world.call(&world.authorizer(), "ping", None).await.unwrap();
    assert_eq!(world.count("/register"), 2);
    let uri = world.fetch.seen_at("/authorize")[0].param("redirect_uri").unwrap();
    assert!(uri.starts_with("http://localhost:"), "{uri}");
}

// Shows: CL-RG-2, CL-MG-4
#[tokio::test]
async fn a_secret_is_not_shown_to_an_issuer_that_it_was_not_configured_for() {
    let world = World::new();
    let other = Issuer::new("https://other.example").unwrap();
    let client = PinnedClient::new(other, "id", ClientAuthentication::secret("top-secret"));
    let client = world.client_with(Registration::new().with_client(client)).build().unwrap();
    let error = world.call(&endpoint(&client), "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::IssuerNotPinned { .. }), "{error:?}");
    assert_eq!(world.count("/authorize") + world.count("/token"), 0);
}

// Shows: CL-TK-2, CL-TK-3, AUTH-CLIENT-038
#[tokio::test]
async fn each_way_to_authenticate_works_end_to_end() {
    for method in ["none", "client_secret_basic", "client_secret_post"] {
        let world = World::new();
        behave(&world, |b| b.auth_methods = vec![method.to_owned()]);
        world.call(&world.authorizer(), "ping", None).await.unwrap();
        let token = &world.fetch.seen_at("/token")[0];
        let basic = token.headers.contains_key("authorization");
        let post = token.param("client_secret").is_some();
        assert_eq!(
            (basic, post),
            (method == "client_secret_basic", method == "client_secret_post")
        );
        assert_eq!(token.param("client_id").is_some(), method != "client_secret_basic");
    }
}

// Shows: AUTH-CLIENT-035, CL-TK-4, CL-RG-3
#[tokio::test]
async fn a_client_with_a_key_proves_itself_by_signed_assertions() {
    let world = World::new();
    let key = mcp_auth::jose::PrivateKey::generate().unwrap().with_id("k");
    world.authority.register_key("signer", mcp_auth::jose::KeySet::new([key.public().clone()]));
    behave(&world, |b| b.auth_methods = vec!["private_key_jwt".to_owned()]);
    let client = mcp_auth::OAuthClient::builder()
        .client_credentials(PinnedClient::with_key("signer", key))
        .fetcher(world.fetch.clone())
        .clock({
            let clock = world.clock.clone();
            move || clock.now()
        })
        .build()
        .unwrap();
    let authorizer = endpoint(&client);
    world.call(&authorizer, "ping", None).await.unwrap();
    assert_eq!(world.count("/authorize"), 0);
    assert_eq!(world.fetch.seen_at("/token")[0].param("resource").as_deref(), Some(MCP));
}

// Shows: FC-078, CL-SC-4
#[tokio::test]
async fn offline_access_is_taken_out_again_where_it_is_refused() {
    let world = World::with_policy(mcp_auth::ScopePolicy::new().baseline(need("mcp:use")));
    behave(&world, |b| {
        b.scopes_supported = Some(ScopeSet::parse("mcp:use offline_access other"));
        b.refused_scopes = ScopeSet::parse("offline_access");
    });
    world.call(&world.authorizer(), "ping", None).await.unwrap();
    let asked: Vec<_> =
        world.fetch.seen_at("/authorize").iter().map(|seen| seen.param("scope")).collect();
    assert_eq!(asked, [Some("mcp:use offline_access".to_owned()), Some("mcp:use".to_owned())]);
}

// Shows: CL-SC-1
#[tokio::test]
async fn a_hosts_own_scopes_win() {
    let world = World::with_policy(mcp_auth::ScopePolicy::new().baseline(need("mcp:use")));
    let fixed = Scopes::Fixed(ScopeSet::parse("mcp:use mine"));
    let client = world.client().scopes(fixed).build().unwrap();
    world.call(&endpoint(&client), "ping", None).await.unwrap();
    let asked = world.fetch.seen_at("/authorize")[0].param("scope");
    assert_eq!(asked.as_deref(), Some("mcp:use mine"));
}

// Shows: CL-RS-4, AUTH-CLIENT-061
#[tokio::test]
async fn a_denial_ends_the_flow_and_opens_no_second_window() {
    let world = World::new();
    behave(&world, |b| b.denies = true);
    let authorizer = world.authorizer();
    let error = world.call(&authorizer, "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::Denied), "{error:?}");
    let again = world.call(&authorizer, "ping", None).await.unwrap_err();
    assert!(matches!(again.kind(), AuthErrorKind::FailingFast { .. }), "{again:?}");
    assert_eq!(world.count("/authorize"), 1);
    // An explicit login tries again.
    behave(&world, |b| b.denies = false);
    authorizer.login(mcp_auth::Login::new()).await.unwrap();
    world.call(&authorizer, "ping", None).await.unwrap();
}

// Shows: CL-SM-5
#[tokio::test]
async fn without_a_browser_a_login_is_an_error_that_asks_for_a_person() {
    let world = World::new();
    let client = mcp_auth::OAuthClient::builder()
        .interactive(
            Registration::new().with_dynamic(DynamicClient::new("Test")),
            mcp_auth::Redirect::loopback(),
        )
        .fetcher(world.fetch.clone())
        .build()
        .unwrap();
    let error = world.call(&endpoint(&client), "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::NeedsPerson), "{error:?}");
    assert_eq!(world.count("/register"), 0);
}

// Shows: CL-LG-1, CL-LG-2, CL-LG-4, FC-075
#[tokio::test]
async fn a_server_of_2025_03_26_is_its_own_authorization_server() {
    let world = World::new();
    let own = mcp_auth::testing::Authority::new("https://mcp.example").unwrap();
    own.serve(&world.fetch);
    let client = world.client().build().unwrap();
    let report = client.login(MCP.parse().unwrap(), mcp_auth::Login::new()).await.unwrap();
    assert!(report.legacy);
    assert_eq!((report.issuer.as_str(), report.resource.as_str()), ("https://mcp.example", MCP));
    assert_eq!(world.fetch.seen_at("/token")[0].param("resource").as_deref(), Some(MCP));
    let metadata = &world.fetch.seen_at("/.well-known/oauth-authorization-server")[0];
    assert_eq!(metadata.headers["mcp-protocol-version"], "2025-03-26");

    let modern = world.client().without_legacy_servers().build().unwrap();
    let error = modern.login(MCP.parse().unwrap(), mcp_auth::Login::new()).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::NoResourceMetadata { .. }), "{error:?}");
}

// Shows: CL-LG-1, CL-LG-2
#[tokio::test]
async fn a_server_of_2025_03_26_can_not_claim_somebody_elses_issuer() {
    let world = World::new();
    let own = mcp_auth::testing::Authority::new("https://mcp.example").unwrap();
    own.behave(|b| b.metadata_issuer = Some(AS.to_owned()));
    own.serve(&world.fetch);
    let client = world.client().build().unwrap();
    let error = client.login(MCP.parse().unwrap(), mcp_auth::Login::new()).await.unwrap_err();
    assert!(error.to_string().contains("metadata of the authorization server"), "{error}");
    assert_eq!(world.count("/register") + world.count("/authorize"), 0);
}

// Shows: CL-LG-3
#[tokio::test]
async fn a_server_of_2025_03_26_without_metadata_has_fixed_paths() {
    let world = World::new();
    let own = mcp_auth::testing::Authority::new("https://mcp.example").unwrap();
    own.behave(|b| {
        b.oauth_metadata = false;
        b.response_issuer = ResponseIssuer::Missing;
    });
    own.serve(&world.fetch);
    let client = world.client().build().unwrap();
    let report = client.login(MCP.parse().unwrap(), mcp_auth::Login::new()).await.unwrap();
    assert!(report.legacy);
    assert_eq!(world.count("/register"), 1);
    assert!(world.fetch.seen_at("/authorize")[0].param("code_challenge").is_some());
}

// Shows: CL-AS-1, AUTH-CLIENT-009
#[tokio::test]
async fn among_several_servers_the_configured_one_the_chosen_one_or_the_first_is_used() {
    let used = async |change: &dyn Fn(
        mcp_auth::client::Builder<mcp_auth::client::Ready>,
    )
        -> mcp_auth::client::Builder<mcp_auth::client::Ready>,
                      registration: Registration| {
        let world = World::new();
        let second = mcp_auth::testing::Authority::new("https://second.example").unwrap();
        second.register("mine", None, &["http://127.0.0.1/callback"]);
        second.serve(&world.fetch);
        world.fetch.serve("https://mcp.example", |_| {
            let servers = [AS, "not a url", "https://second.example"];
            let body = json!({"resource": MCP, "authorization_servers": servers});
            FetchResponse::new(StatusCode::OK, HeaderMap::new(), body.to_string())
        });
        let client = change(world.client_with(registration)).build().unwrap();
        let report = client.login(MCP.parse().unwrap(), mcp_auth::Login::new()).await.unwrap();
        report.issuer.as_str().to_owned()
    };
    let dynamic = || Registration::new().with_dynamic(DynamicClient::new("Test"));
    assert_eq!(used(&|b| b, dynamic()).await, AS);
    assert_eq!(used(&|b| b.choose_server(|_| Some(1)), dynamic()).await, "https://second.example");
    let second = Issuer::new("https://second.example").unwrap();
    let pinned =
        dynamic().with_client(PinnedClient::new(second, "mine", ClientAuthentication::None));
    assert_eq!(used(&|b| b, pinned).await, "https://second.example");
}

// Shows: CL-AZ-4, AUTH-CLIENT-048
#[tokio::test]
async fn the_resource_is_left_out_or_replaced_only_by_name() {
    let sent = async |quirks: Quirks| {
        let world = World::new();
        let issuer = Issuer::new(AS).unwrap();
        let client = world.client().quirks(issuer, quirks).build().unwrap();
        let report = client.login(MCP.parse().unwrap(), mcp_auth::Login::new()).await.unwrap();
        (world.fetch.seen_at("/token")[0].param("resource"), report.resource_changed)
    };
    assert_eq!(sent(Quirks::default()).await, (Some(MCP.to_owned()), false));
    let mut omit = Quirks::default();
    omit.omit_resource = true;
    assert_eq!(sent(omit).await, (None, true));
    let mut replace = Quirks::default();
    replace.resource = Some("api://x".to_owned());
    assert_eq!(sent(replace).await, (Some("api://x".to_owned()), true));
}

// Shows: CL-TK-5, CL-TK-8, CL-TK-9
#[tokio::test]
async fn a_broken_token_endpoint_gives_an_error_that_says_what_came() {
    for (fault, shown) in [
        (
            TokenFault::Html,
            "as.example refused the token request (status 400, <html><h1>Bad Request</h1></html>)",
        ),
        (
            TokenFault::ErrorIn200,
            "as.example refused the token request (status 200, invalid_grant)",
        ),
        (
            TokenFault::InvalidRequest,
            "as.example refused the token request (status 400, invalid_request)",
        ),
        (TokenFault::Unavailable, "as.example answered with status 503; try again later"),
    ] {
        let world = World::new();
        behave(&world, |b| b.token_fault = Some(fault));
        let error = world.call(&world.authorizer(), "ping", None).await.unwrap_err();
        assert_eq!(error.kind().to_string(), shown);
        assert_eq!(world.count("/token"), 1, "a code is tried once");
    }
}

// Shows: CL-SC-5, AUTH-AS-026
#[tokio::test]
async fn a_narrower_grant_is_used_as_it_is() {
    let world = World::with_policy(mcp_auth::ScopePolicy::new().tool("write", need("w")));
    behave(&world, |b| b.grants_only = Some(ScopeSet::parse("r")));
    let fixed = Scopes::Fixed(ScopeSet::parse("r w"));
    let client = world.client().scopes(fixed).build().unwrap();
    let authorizer = endpoint(&client);
    world.call(&authorizer, "tools/list", None).await.unwrap();
    assert_eq!(authorizer.current().unwrap().scopes, ScopeSet::parse("r"));
}

// Shows: CL-SM-1
#[tokio::test(start_paused = true)]
async fn discovery_is_bounded_in_time() {
    let world = World::new();
    world.fetch.serve_later("https://mcp.example", |_| Box::pin(std::future::pending()));
    let error = world.call(&world.authorizer(), "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::DiscoveryTimedOut { .. }), "{error:?}");
}

// Shows: CL-RG-8, FC-076, FC-083
#[tokio::test(start_paused = true)]
async fn a_login_that_nobody_comes_back_from_ends_with_a_hint() {
    struct Nowhere;
    impl mcp_auth::v1::Browser for Nowhere {
        fn open<'a>(
            &'a self,
            _: &'a mcp_auth::v1::Visit,
        ) -> mcp_auth::v1::BoxFuture<'a, Result<mcp_auth::v1::Visited, mcp_auth::v1::BrowserError>>
        {
            Box::pin(std::future::ready(Ok(mcp_auth::v1::Visited::Shown)))
        }
    }
    let world = World::new();
    let client = world.client().browser(Nowhere).build().unwrap();
    let started = tokio::time::Instant::now();
    let error = world.call(&endpoint(&client), "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::NobodyCame { .. }), "{error:?}");
    assert!(error.kind().to_string().contains("fresh registration"));
    assert!(started.elapsed() >= Duration::from_secs(300));
}

// Shows: CL-CC-1, CL-CC-3
#[tokio::test]
async fn a_program_in_its_own_name_needs_neither_browser_nor_registration() {
    let world = World::new();
    behave(&world, |b| {
        b.announces_s256 = false;
        b.auth_methods = vec!["client_secret_basic".to_owned()];
    });
    let secret = Secret::new("program-secret");
    world.authority.register("program", Some(&secret), &[]);
    let pinned = |issuer: &str| {
        let issuer = Issuer::new(issuer).unwrap();
        PinnedClient::new(issuer, "program", ClientAuthentication::secret("program-secret"))
    };
    let client = |pinned| {
        let clock = world.clock.clone();
        mcp_auth::OAuthClient::builder()
            .client_credentials(pinned)
            .fetcher(world.fetch.clone())
            .clock(move || clock.now())
            .build()
            .unwrap()
    };
    let principal =
        world.call(&endpoint(&client(pinned(AS))), "ping", None).await.unwrap().unwrap();
    assert_eq!((principal.subject(), principal.client()), ("program", Some("program")));
    assert_eq!(world.count("/authorize") + world.count("/register"), 0);

    world.fetch.forget();
    let elsewhere = client(pinned("https://other.example"));
    let error = world.call(&endpoint(&elsewhere), "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::IssuerNotPinned { .. }), "{error:?}");
    assert_eq!(world.count("/token"), 0);
}
