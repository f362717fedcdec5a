//! Log scraping: everything runs at trace level, and no secret shows.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests may panic like tests"
)]

mod support;

use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, OnceLock};

use hyper::header::AUTHORIZATION;
use mcp_auth::client::{ClientAuthentication, Dpop, PinnedClient};
use mcp_auth::server::DpopRules;
use mcp_auth::testing::{ResponseIssuer, TokenFault};
use mcp_auth::{Issuer, Registration, ScopePolicy, Secret};
use support::{AS, World, endpoint, minutes, need};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

static LOG: OnceLock<Arc<Mutex<String>>> = OnceLock::new();

/// Writes everything down.
struct Scribe(Arc<Mutex<String>>);

struct Fields<'l>(&'l mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Subscriber for Scribe {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut log = self.0.lock().unwrap();
        log.push_str(attributes.metadata().name());
        attributes.record(&mut Fields(&mut log));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Fields(&mut self.0.lock().unwrap()));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut log = self.0.lock().unwrap();
        log.push_str(event.metadata().target());
        event.record(&mut Fields(&mut log));
        log.push('\n');
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Everything of the traffic that nobody may see.
fn secrets(world: &World) -> Vec<String> {
    const NAMES: [&str; 10] = [
        "code",
        "state",
        "code_verifier",
        "code_challenge",
        "refresh_token",
        "client_secret",
        "client_assertion",
        "assertion",
        "subject_token",
        "token",
    ];
    let mut secrets = Vec::new();
    for seen in world.fetch.seen() {
        secrets.extend(NAMES.iter().filter_map(|name| seen.param(name)));
        for header in ["authorization", "dpop"] {
            let value = seen.headers.get(header).and_then(|value| value.to_str().ok());
            secrets.extend(value.map(|v| v.rsplit(' ').next().unwrap().to_owned()));
        }
    }
    secrets
}

fn search(text: &str, secrets: &[String], place: &str) {
    use base64::Engine as _;
    for secret in secrets.iter().filter(|secret| secret.len() >= 6) {
        let percent: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
        let base64 = base64::engine::general_purpose::STANDARD.encode(secret);
        for form in [secret, &percent, &base64] {
            assert!(!text.contains(form.as_str()), "{place} shows {form}");
        }
    }
}

// Shows: CL-ER-4, RS-LK-3, RS-LK-4, SEC-097
#[tokio::test]
async fn log_scraping() {
    let log = Arc::new(Mutex::new(String::new()));
    LOG.set(Arc::clone(&log)).unwrap();
    tracing::subscriber::set_global_default(Scribe(Arc::clone(&log))).unwrap();
    let mut all = Vec::new();
    let mut shown = String::new();

    // Everything goes well: login, refresh, step-up, logout.
    let policy =
        ScopePolicy::new().baseline(need("a")).tool("t", need("b")).challenge_without_granted();
    let world = World::with_policy(policy);
    let secret = Secret::new("client-secret-of-ours");
    world.authority.behave(|b| b.auth_methods = vec!["client_secret_basic".to_owned()]);
    world.authority.register("app", Some(&secret), &["http://127.0.0.1/callback"]);
    let issuer = Issuer::new(AS).unwrap();
    let pinned = PinnedClient::new(issuer, "app", ClientAuthentication::secret(secret.clone()));
    let client = world.client_with(Registration::new().with_client(pinned)).build().unwrap();
    let authorizer = endpoint(&client);
    world.call(&authorizer, "ping", None).await.unwrap();
    world.call(&authorizer, "tools/call", Some("t")).await.unwrap();
    let departure =
        mcp_transport_http::v1::Departure::new(hyper::Method::POST, support::MCP.parse().unwrap());
    let credentials =
        mcp_transport_http::v1::Authorizer::authorize(&authorizer, &departure).await.unwrap();
    let token = credentials.headers[AUTHORIZATION].to_str().unwrap()[7..].to_owned();
    all.push(token);
    shown += &format!("{credentials:?} {authorizer:?} {client:?} {:?}", authorizer.current());
    world.clock.advance(minutes(60));
    world.call(&authorizer, "ping", None).await.unwrap();
    client.logout(&support::MCP.parse().unwrap()).await.unwrap();
    all.extend(secrets(&world));
    all.push("client-secret-of-ours".to_owned());

    // And everything goes wrong.
    for fault in
        [TokenFault::Html, TokenFault::ErrorIn200, TokenFault::Redirect, TokenFault::Unavailable]
    {
        let world = World::new();
        world.authority.behave(|b| b.token_fault = Some(fault));
        let error = world.call(&world.authorizer(), "ping", None).await.unwrap_err();
        shown += &chain(&error);
        all.extend(secrets(&world));
    }
    for change in [0, 1, 2] {
        let world = World::new();
        world.authority.behave(|b| match change {
            0 => b.response_issuer = ResponseIssuer::Other("https://evil.example".to_owned()),
            1 => b.denies = true,
            _ => b.audience = Some("https://elsewhere.example".to_owned()),
        });
        let error = world.call(&world.authorizer(), "ping", None).await.unwrap_err();
        shown += &chain(&error);
        all.extend(secrets(&world));
    }

    // Proofs of possession, with nonces.
    let world = World::with_server(|builder| {
        let mut rules = DpopRules::default();
        rules.nonces = true;
        builder.proof_of_possession(rules)
    });
    world.authority.behave(|b| (b.dpop, b.dpop_nonces) = (true, true));
    let client = world.client().proof_of_possession(Dpop::Always).build().unwrap();
    world.call(&endpoint(&client), "ping", None).await.unwrap();
    all.extend(secrets(&world));

    let log = log.lock().unwrap();
    assert!(log.contains("authorized") && log.contains("refreshed"), "the log is not empty");
    // An elevation is written down: what was asked for, what there was, under an id.
    let lacks = log.lines().find(|line| line.contains("an operation lacks scopes")).unwrap();
    for told in ["correlation=", "asked=", "granted="] {
        assert!(lacks.contains(told), "{lacks}");
    }
    assert!(all.len() > 40, "there were secrets to be found");
    search(&log, &all, "the log");
    search(&shown, &all, "an error or a debug print");
}

fn chain(error: &support::CallError) -> String {
    let support::CallError::Auth(error) = error else { panic!("{error:?}") };
    let mut text = format!("{error:?} {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let _ = write!(text, " {error} {error:?}");
        cause = error.source();
    }
    text
}
