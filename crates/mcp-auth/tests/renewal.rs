//! Renewal, step-up, several callers, several processes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests may panic like tests"
)]

mod support;

use std::sync::Arc;

use hyper::{HeaderMap, StatusCode};
use mcp_auth::client::DynamicClient;
use mcp_auth::testing::{Authority, TokenFault};
use mcp_auth::v1::CredentialStore as _;
use mcp_auth::{
    AuthErrorKind, FetchResponse, MemoryStore, Registration, Resource, ScopePolicy, ScopeSet,
};
use mcp_transport_http::v1::{Authorizer as _, Departure};
use serde_json::json;
use support::{AS, MCP, World, endpoint, minutes, need};

// Shows: CL-SM-2, CL-SM-3
#[tokio::test]
async fn however_many_calls_wait_there_is_one_login() {
    let world = Arc::new(World::new());
    let authorizer = world.authorizer();
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let (world, authorizer) = (Arc::clone(&world), authorizer.clone());
            tokio::spawn(async move { world.call(&authorizer, "ping", None).await.map(|_| ()) })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(
        (world.count("/register"), world.count("/authorize"), world.count("/token")),
        (1, 1, 1)
    );
}

// Shows: CL-SM-2
#[tokio::test]
async fn logins_that_are_asked_for_at_once_open_one_window() {
    let world = World::new();
    let authorizer = world.authorizer();
    let logins: Vec<_> = (0..10)
        .map(|_| {
            let authorizer = authorizer.clone();
            tokio::spawn(async move { authorizer.login(mcp_auth::Login::new()).await })
        })
        .collect();
    for login in logins {
        login.await.unwrap().unwrap();
    }
    assert_eq!(world.count("/authorize"), 1);
}

// Shows: CL-RF-1, CL-RF-2, CL-RF-5, FC-081, AUTH-CLIENT-045, AUTH-AS-013
#[tokio::test]
async fn an_expired_token_is_renewed_before_it_is_sent() {
    let world = World::new();
    let authorizer = world.authorizer();
    world.call(&authorizer, "ping", None).await.unwrap();
    for rotates in [true, true, false, false] {
        world.authority.behave(|b| b.rotates = rotates);
        world.clock.advance(minutes(60));
        world.fetch.forget();
        world.call(&authorizer, "ping", None).await.unwrap();
        let token = &world.fetch.seen_at("/token")[..];
        assert_eq!(token.len(), 1);
        assert_eq!(token[0].param("grant_type").as_deref(), Some("refresh_token"));
        assert_eq!(token[0].param("resource").as_deref(), Some(MCP));
        assert_eq!(world.count("/authorize") + world.count("/register"), 0);
    }
}

// Shows: CL-RF-1, CL-RF-4
#[tokio::test]
async fn however_many_calls_find_the_token_expired_there_is_one_refresh() {
    let world = Arc::new(World::new());
    let authorizer = world.authorizer();
    world.call(&authorizer, "ping", None).await.unwrap();
    world.clock.advance(minutes(60));
    world.fetch.forget();
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let (world, authorizer) = (Arc::clone(&world), authorizer.clone());
            tokio::spawn(async move { world.call(&authorizer, "ping", None).await.map(|_| ()) })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!((world.count("/token"), world.count("/authorize")), (1, 0));
}

// Shows: CL-PR-9, CL-MG-1, CL-RF-1
#[tokio::test]
async fn a_token_that_was_called_back_is_renewed_after_the_resource_was_asked_again() {
    let world = World::new();
    let authorizer = world.authorizer();
    world.call(&authorizer, "ping", None).await.unwrap();
    // The key that signed it is gone: the server knows the token no more.
    world.authority.rotate_key("k2").unwrap();
    world.replace_server(AS);
    world.fetch.forget();
    world.call(&authorizer, "ping", None).await.unwrap();
    let paths: Vec<_> = world.fetch.seen().iter().map(|s| s.url.path().to_owned()).collect();
    let at = |path: &str| paths.iter().position(|known| known == path);
    assert!(at("/.well-known/oauth-protected-resource/mcp") < at("/token"), "{paths:?}");
    assert_eq!((world.count("/token"), world.count("/authorize")), (1, 0));
}

// Shows: FC-080, CL-RF-6, CL-RF-7
#[tokio::test]
async fn a_dead_refresh_token_leads_to_one_login() {
    for fault in [None, Some(TokenFault::InvalidRequest), Some(TokenFault::Html)] {
        let world = World::new();
        let authorizer = world.authorizer();
        world.call(&authorizer, "ping", None).await.unwrap();
        world.clock.advance(minutes(60));
        if fault.is_none() {
            // `invalid_grant`: the server forgot the grant, not the client.
            let id = authorizer.current().unwrap().client_id;
            world.authority.forget_clients();
            world.authority.register(&id, None, &["http://127.0.0.1/callback"]);
        }
        world.authority.behave(|b| b.token_fault = fault);
        world.fetch.forget();
        let first = world.call(&authorizer, "ping", None).await;
        if fault.is_some() {
            // The login that is then offered meets the same fault.
            assert!(first.is_err());
            assert_eq!(world.count("/authorize"), 1);
            world.authority.behave(|b| b.token_fault = None);
            authorizer.login(mcp_auth::Login::new()).await.unwrap();
        } else {
            first.unwrap();
            assert_eq!((world.count("/token"), world.count("/authorize")), (2, 1));
            assert_eq!(world.count("/register"), 0, "the registration is kept");
        }
        world.call(&authorizer, "ping", None).await.unwrap();
    }
}

// Shows: FC-080, CL-RF-6
#[tokio::test]
async fn while_the_authorization_server_is_down_nothing_is_thrown_away() {
    let world = World::new();
    let store = MemoryStore::new();
    let client = world.client().store(store.clone()).build().unwrap();
    let authorizer = endpoint(&client);
    world.call(&authorizer, "ping", None).await.unwrap();
    world.authority.behave(|b| b.token_fault = Some(TokenFault::Unavailable));

    // Shortly before its end the token still serves.
    world.clock.advance(std::time::Duration::from_secs(3600 - 10));
    world.call(&authorizer, "ping", None).await.unwrap();
    // Beyond it the call fails for now.
    world.clock.advance(minutes(1));
    let error = world.call(&authorizer, "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::ServerTrouble { .. }), "{error:?}");
    assert_eq!(store.keys(&Resource::new(MCP).unwrap()).await.unwrap().len(), 1);
    world.authority.behave(|b| b.token_fault = None);
    world.fetch.forget();
    world.call(&authorizer, "ping", None).await.unwrap();
    assert_eq!((world.count("/token"), world.count("/authorize")), (1, 0));
}

// Shows: FC-076, CL-RG-7
#[tokio::test]
async fn a_forgotten_client_is_registered_anew_once() {
    let world = World::new();
    let authorizer = world.authorizer();
    world.call(&authorizer, "ping", None).await.unwrap();
    world.authority.forget_clients();
    world.clock.advance(minutes(60));
    world.fetch.forget();
    world.call(&authorizer, "ping", None).await.unwrap();
    // The refresh is refused with `invalid_client`, and everything begins anew.
    assert_eq!((world.count("/register"), world.count("/authorize")), (1, 1));
}

// Shows: FC-076, CL-RG-7
#[tokio::test]
async fn an_expired_client_secret_is_replaced() {
    let world = World::new();
    world.authority.behave(|b| {
        b.auth_methods = vec!["client_secret_basic".to_owned()];
        b.refresh_tokens = false;
        b.secret_expires_at = Some(1_800_000_000 + 600);
    });
    let authorizer = world.authorizer();
    world.call(&authorizer, "ping", None).await.unwrap();
    world.clock.advance(minutes(60));
    world.authority.behave(|b| b.secret_expires_at = None);
    world.call(&authorizer, "ping", None).await.unwrap();
    assert_eq!(world.count("/register"), 2);
    world.clock.advance(minutes(60));
    world.call(&authorizer, "ping", None).await.unwrap();
    assert_eq!(world.count("/register"), 2, "one that is good is kept");
}

// Shows: FC-082, CL-US-3, AUTH-CLIENT-064, AUTH-CLIENT-065
#[tokio::test(start_paused = true)]
async fn a_token_that_is_refused_twice_is_a_permanent_failure() {
    let world = World::new();
    world.authority.behave(|b| b.audience = Some("https://elsewhere.example".to_owned()));
    let authorizer = world.authorizer();
    let error = world.call(&authorizer, "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::TokenNotAccepted { .. }), "{error:?}");
    assert!(error.kind().to_string().contains("invalid_token"), "{}", error.kind());
    let again = world.call(&authorizer, "ping", None).await.unwrap_err();
    assert!(
        matches!(
            again.kind(),
            AuthErrorKind::FailingFast { .. } | AuthErrorKind::TokenNotAccepted { .. }
        ),
        "{again:?}"
    );
    assert_eq!(world.count("/authorize"), 1, "no second window");
}

// Shows: CL-RF-7, CL-US-3
#[tokio::test]
async fn a_refreshed_token_that_is_refused_leads_to_one_login_and_no_second_refresh() {
    let world = World::new();
    let authorizer = world.authorizer();
    world.call(&authorizer, "ping", None).await.unwrap();
    world.authority.behave(|b| b.audience = Some("https://elsewhere.example".to_owned()));
    world.clock.advance(minutes(60));
    world.fetch.forget();
    let error = world.call(&authorizer, "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::TokenNotAccepted { .. }), "{error:?}");
    let grants: Vec<_> = world
        .fetch
        .seen_at("/token")
        .iter()
        .map(|seen| seen.param("grant_type").unwrap())
        .collect();
    assert_eq!(grants, ["refresh_token", "authorization_code"]);
}

fn stepped() -> ScopePolicy {
    ScopePolicy::new()
        .baseline(need("mcp:basic"))
        .tool("write", need("mcp:write"))
        .challenge_without_granted()
}

// Shows: AUTH-CLIENT-058, AUTH-CLIENT-059, AUTH-CLIENT-062, AUTH-CLIENT-063, CL-SU-1, CL-SU-2
#[tokio::test]
async fn a_call_that_lacks_scopes_asks_for_the_union_by_a_new_authorization() {
    let world = World::with_policy(stepped());
    let authorizer = world.authorizer();
    world.call(&authorizer, "tools/list", None).await.unwrap();
    world.call(&authorizer, "tools/call", Some("write")).await.unwrap();
    let asked: Vec<_> =
        world.fetch.seen_at("/authorize").iter().map(|seen| seen.param("scope").unwrap()).collect();
    assert_eq!(asked, ["mcp:basic", "mcp:basic mcp:write"]);
    let grants: Vec<_> = world
        .fetch
        .seen_at("/token")
        .iter()
        .map(|seen| seen.param("grant_type").unwrap())
        .collect();
    assert_eq!(grants, ["authorization_code", "authorization_code"], "a refresh can't widen");
    assert_eq!(world.count("/register"), 1);
    world.fetch.forget();
    world.call(&authorizer, "tools/call", Some("write")).await.unwrap();
    assert!(world.fetch.seen().is_empty());
}

// Shows: AUTH-CLIENT-066, CL-SU-3, CL-SU-5, CL-SC-5, SEC-099
#[tokio::test]
async fn an_operation_that_is_not_granted_is_given_up_and_the_login_stays() {
    let world = World::with_policy(stepped());
    world.authority.behave(|b| b.grants_only = Some(ScopeSet::parse("mcp:basic")));
    let authorizer = world.authorizer();
    world.call(&authorizer, "tools/list", None).await.unwrap();
    let error = world.call(&authorizer, "tools/call", Some("write")).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::ScopesNotGranted { .. }), "{error:?}");
    assert_eq!(error.kind().to_string(), "the scopes mcp:write were not granted");
    let error = world.call(&authorizer, "tools/call", Some("write")).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::StepUpExhausted { .. }), "{error:?}");
    assert_eq!(world.count("/authorize"), 2);
    world.call(&authorizer, "tools/list", None).await.unwrap();
}

// Shows: CL-SU-5
#[tokio::test]
async fn a_denied_step_up_leaves_the_login_as_it_was() {
    let world = World::with_policy(stepped());
    let authorizer = world.authorizer();
    world.call(&authorizer, "tools/list", None).await.unwrap();
    world.authority.behave(|b| b.denies = true);
    let error = world.call(&authorizer, "tools/call", Some("write")).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::Denied), "{error:?}");
    world.fetch.forget();
    world.call(&authorizer, "tools/list", None).await.unwrap();
    assert!(world.fetch.seen().is_empty());
}

// Shows: CL-SM-1
#[tokio::test]
async fn there_are_only_so_many_logins_in_a_while() {
    let policy = (0..9).fold(ScopePolicy::new().baseline(need("b")), |policy, n| {
        policy.tool(format!("t{n}"), need(&format!("s{n}")))
    });
    let world = World::with_policy(policy);
    let authorizer = world.authorizer();
    let mut failed = None;
    for n in 0..9 {
        if let Err(error) = world.call(&authorizer, "tools/call", Some(&format!("t{n}"))).await {
            failed = Some(error);
            break;
        }
    }
    let error = failed.unwrap();
    assert!(matches!(error.kind(), AuthErrorKind::TooManyLogins { .. }), "{error:?}");
    assert_eq!(world.count("/authorize"), 3);
}

// Shows: CL-MG-1, CL-MG-2, CL-MG-3
#[tokio::test]
async fn a_server_that_moves_gets_a_new_login_and_nothing_of_the_old_one() {
    let world = World::new();
    let store = MemoryStore::new();
    let client = world.client().store(store.clone()).build().unwrap();
    let authorizer = endpoint(&client);
    world.call(&authorizer, "ping", None).await.unwrap();
    let old_id = authorizer.current().unwrap().client_id;

    let second = Authority::new("https://second.example").unwrap();
    let clock = world.clock.clone();
    second.set_clock(move || clock.now());
    second.serve(&world.fetch);
    world.replace_server("https://second.example");
    world.fetch.forget();
    world.call(&authorizer, "ping", None).await.unwrap();
    for seen in world.fetch.seen() {
        let to_second = seen.url.host_str() == Some("second.example");
        let body = String::from_utf8_lossy(&seen.body).into_owned() + seen.url.as_str();
        assert!(!(to_second && body.contains(&old_id)), "{seen:?}");
        assert!(!(to_second && seen.param("refresh_token").is_some()), "{seen:?}");
        assert_ne!(seen.url.host_str(), Some("as.example"), "{seen:?}");
    }
    assert_eq!(authorizer.current().unwrap().issuer.as_str(), "https://second.example");
    // Both logins are kept, each for its issuer.
    assert_eq!(store.keys(&Resource::new(MCP).unwrap()).await.unwrap().len(), 2);

    // It moves back: the old login is used again without a window.
    world.replace_server(AS);
    world.fetch.forget();
    world.call(&authorizer, "ping", None).await.unwrap();
    assert_eq!(world.count("/register"), 0);
}

// Shows: CL-ST-1, CL-ST-6, CL-RF-3
#[tokio::test]
async fn a_new_process_goes_on_where_the_old_one_ended() {
    let world = World::new();
    let store = MemoryStore::new();
    let process = || endpoint(&world.client().store(store.clone()).build().unwrap());
    world.call(&process(), "ping", None).await.unwrap();
    world.fetch.forget();
    world.call(&process(), "ping", None).await.unwrap();
    assert!(world.fetch.seen().is_empty());
    world.clock.advance(minutes(60));
    world.call(&process(), "ping", None).await.unwrap();
    let paths: Vec<_> = world.fetch.seen().iter().map(|s| s.url.path().to_owned()).collect();
    assert_eq!(paths, ["/token"], "nothing is looked up or guessed");
}

// Shows: CL-ST-1, AUTH-CLIENT-057
#[tokio::test]
async fn a_token_is_for_its_endpoint_only() {
    let world = World::new();
    let client = world.client().build().unwrap();
    let authorizer = endpoint(&client);
    world.call(&authorizer, "ping", None).await.unwrap();
    let departure = |uri: &str| Departure::new(hyper::Method::POST, uri.parse().unwrap());
    for uri in ["https://evil.example/mcp", "http://mcp.example/mcp", "https://mcp.example:444/mcp"]
    {
        assert!(authorizer.authorize(&departure(uri)).await.is_err(), "{uri}");
    }
    // A neighbor on the same origin has logins of its own.
    let neighbor = client.for_endpoint("https://mcp.example/other".parse().unwrap()).unwrap();
    let credentials = neighbor.authorize(&departure("https://mcp.example/other")).await.unwrap();
    assert!(credentials.headers.is_empty());
}

// Shows: CL-ST-7
#[tokio::test]
async fn each_login_has_a_partition_of_its_own_that_refreshes_keep() {
    let world = World::new();
    let authorizer = world.authorizer();
    assert_eq!(authorizer.partition(), None);
    world.call(&authorizer, "ping", None).await.unwrap();
    let first = authorizer.partition().unwrap();
    world.clock.advance(minutes(60));
    world.call(&authorizer, "ping", None).await.unwrap();
    assert_eq!(authorizer.partition(), Some(first));
    authorizer.login(mcp_auth::Login::new()).await.unwrap();
    assert_ne!(authorizer.partition(), Some(first));
}

// Shows: CL-RV-1, CL-RV-2
#[tokio::test]
async fn a_logout_gives_the_tokens_back_and_keeps_the_registration() {
    let world = World::new();
    let store = MemoryStore::new();
    let client = world.client().store(store.clone()).build().unwrap();
    let authorizer = endpoint(&client);
    world.call(&authorizer, "ping", None).await.unwrap();
    let report = client.logout(&MCP.parse().unwrap()).await.unwrap();
    assert_eq!((report.removed, report.revoked, report.not_revoked), (1, 2, 0));
    let hints: Vec<_> = world
        .fetch
        .seen_at("/revoke")
        .iter()
        .map(|s| s.param("token_type_hint").unwrap())
        .collect();
    assert_eq!(hints, ["refresh_token", "access_token"]);
    assert_eq!(authorizer.current(), None);
    world.fetch.forget();
    world.call(&authorizer, "ping", None).await.unwrap();
    assert_eq!((world.count("/register"), world.count("/authorize")), (0, 1));
    // A second logout of nothing is no error.
    client.logout(&MCP.parse().unwrap()).await.unwrap();
    assert_eq!(client.logout(&MCP.parse().unwrap()).await.unwrap().removed, 0);
}

// Shows: CL-CH-8
#[tokio::test]
async fn a_403_for_another_reason_is_the_callers() {
    let world = World::with_policy(
        ScopePolicy::new().tool("known", need("x")).otherwise(mcp_auth::server::Otherwise::Deny),
    );
    let authorizer = world.authorizer();
    world.call(&authorizer, "ping", None).await.unwrap();
    world.fetch.forget();
    let error = world.call(&authorizer, "tools/call", Some("unknown")).await.unwrap_err();
    assert!(matches!(error, support::CallError::Refused(StatusCode::FORBIDDEN)), "{error:?}");
    assert!(world.fetch.seen().is_empty());
}

// Shows: CL-SM-2
#[tokio::test]
async fn a_login_that_nobody_waits_for_any_more_ends() {
    use mcp_auth::v1::{BoxFuture, Browser, BrowserError, Visit, Visited};
    use std::sync::Mutex;
    use tokio::sync::Notify;

    #[derive(Clone, Default)]
    struct Watched {
        opened: Arc<Notify>,
        uri: Arc<Mutex<Option<String>>>,
    }
    impl Browser for Watched {
        fn open<'a>(&'a self, visit: &'a Visit) -> BoxFuture<'a, Result<Visited, BrowserError>> {
            *self.uri.lock().unwrap() = Some(visit.redirect_uri.clone());
            self.opened.notify_one();
            Box::pin(std::future::ready(Ok(Visited::Shown)))
        }
    }
    let world = Arc::new(World::new());
    let browser = Watched::default();
    let client = world.client().browser(browser.clone()).build().unwrap();
    let authorizer = endpoint(&client);
    let call = {
        let (world, authorizer) = (Arc::clone(&world), authorizer.clone());
        tokio::spawn(async move { world.call(&authorizer, "ping", None).await.map(|_| ()) })
    };
    browser.opened.notified().await;
    call.abort();
    let _ = call.await;
    let uri = browser.uri.lock().unwrap().clone().unwrap();
    let address = uri.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
    // The listener goes as soon as the task that owns it is told.
    while tokio::net::TcpStream::connect(&*address).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

// Shows: CL-RG-2
#[tokio::test]
async fn a_stored_registration_is_reused_by_the_next_login() {
    let world = World::new();
    let store = MemoryStore::new();
    let registration = || Registration::new().with_dynamic(DynamicClient::new("Test"));
    let client = world.client_with(registration()).store(store.clone()).build().unwrap();
    let url = || MCP.parse().unwrap();
    let first = client.login(url(), mcp_auth::Login::new()).await.unwrap();
    let again = client.login(url(), mcp_auth::Login::new()).await.unwrap();
    assert_eq!(first.client_id, again.client_id);
    let fresh =
        client.login(url(), mcp_auth::Login::new().with_fresh_registration()).await.unwrap();
    assert_ne!(first.client_id, fresh.client_id);
}

// Shows: CL-TK-6, FC-079
#[tokio::test]
async fn a_token_of_unknown_life_is_used_until_it_is_refused() {
    let world = World::new();
    world.authority.behave(|b| b.expires_in = Some(json!("soon")));
    let authorizer = world.authorizer();
    world.call(&authorizer, "ping", None).await.unwrap();
    assert_eq!(authorizer.current().unwrap().expires_at, None);
    world.clock.advance(minutes(59));
    world.fetch.forget();
    world.call(&authorizer, "ping", None).await.unwrap();
    assert!(world.fetch.seen().is_empty());
    world.clock.advance(minutes(5));
    world.call(&authorizer, "ping", None).await.unwrap();
    assert_eq!((world.count("/token"), world.count("/authorize")), (1, 0));
}

// Shows: CL-AM-8
#[tokio::test]
async fn a_token_endpoint_that_has_moved_is_looked_up_once() {
    let world = World::new();
    let authorizer = world.authorizer();
    world.call(&authorizer, "ping", None).await.unwrap();
    let authority = world.authority.clone();
    world.fetch.serve_later(AS, move |mut request| {
        let authority = authority.clone();
        Box::pin(async move {
            if request.url.path() == "/token" {
                return Ok(FetchResponse::new(StatusCode::NOT_FOUND, HeaderMap::new(), ""));
            }
            let moved = request.url.path() == "/token2";
            if moved {
                request.url.set_path("/token");
            }
            let mut answer = authority.answer(&request).await;
            let text = String::from_utf8_lossy(&answer.body).replace("/token\"", "/token2\"");
            answer.body = text.into_bytes().into();
            Ok(answer)
        })
    });
    world.clock.advance(minutes(60));
    world.fetch.forget();
    world.call(&authorizer, "ping", None).await.unwrap();
    assert_eq!(
        (world.count("/token"), world.count("/token2"), world.count("/authorize")),
        (1, 1, 0)
    );
}

/// A client that can send nobody anywhere, and knows of no registration.
fn without_person(world: &World, store: &MemoryStore) -> mcp_auth::OAuthClient {
    let clock = world.clock.clone();
    mcp_auth::OAuthClient::builder()
        .interactive(Registration::new(), mcp_auth::Redirect::loopback())
        .fetcher(world.fetch.clone())
        .store(store.clone())
        .clock(move || clock.now())
        .build()
        .unwrap()
}

// Shows: CL-SM-5
#[tokio::test(start_paused = true)]
async fn whoever_has_no_browser_does_not_wait_for_somebody_elses_person() {
    let world = World::new();
    let store = MemoryStore::new();
    let key = mcp_auth::v1::CredentialKey::new(
        Resource::new(MCP).unwrap(),
        Resource::new(MCP).unwrap(),
        mcp_auth::Issuer::new(AS).unwrap(),
    );
    // Another process is just logging in.
    let purpose = mcp_auth::v1::LockPurpose::Login;
    let held = store.lock(&key, purpose, minutes(1)).await.unwrap();
    let begun = tokio::time::Instant::now();
    let client = without_person(&world, &store);
    let error = world.call(&endpoint(&client), "ping", None).await.unwrap_err();
    assert!(matches!(error.kind(), AuthErrorKind::NeedsPerson), "{error:?}");
    assert!(begun.elapsed() < minutes(1));
    drop(held);
}

// Shows: CL-RF-1
#[tokio::test]
async fn a_client_without_credentials_is_renewed_by_whoever_has_its_login() {
    let world = World::new();
    let store = MemoryStore::new();
    world.authority.behave(|b| b.auth_methods = vec!["none".to_owned()]);
    world.authority.register("by-hand", None, &["http://127.0.0.1/callback"]);
    let pinned = mcp_auth::client::PinnedClient::new(
        mcp_auth::Issuer::new(AS).unwrap(),
        "by-hand",
        mcp_auth::client::ClientAuthentication::None,
    );
    let registration = Registration::new().with_client(pinned);
    let client = world.client_with(registration).store(store.clone()).build().unwrap();
    world.call(&endpoint(&client), "ping", None).await.unwrap();
    world.clock.advance(minutes(60));
    let other = without_person(&world, &store);
    world.call(&endpoint(&other), "ping", None).await.unwrap();
    assert_eq!((world.count("/authorize"), world.count("/token")), (1, 2));
}
