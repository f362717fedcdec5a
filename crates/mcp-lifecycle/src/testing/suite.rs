#![expect(clippy::panic, reason = "a suite panics when a contract is broken")]

use std::collections::HashSet;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mcp_jsonrpc::peer::{Arrival, NotificationVerdict, Protocol, RequestVerdict};
use mcp_jsonrpc::service::v1::{Call, Inbound, Replies, Reply};
use mcp_jsonrpc::{Extensions, Head, Notification, RawJson, Request};
use mcp_types::{
    ClientCapabilities, Implementation, InitializeRequestParams, InitializeResult, Project as _,
    Revision,
};

use crate::v1::{Clock, IdSource, McpService, SchemaValidator, Violation};
use crate::{Phase, ServerSession};

/// Proves as much of the contract of [`Clock`] as shows without waiting.
///
/// # Panics
///
/// When the contract is broken.
pub fn clock_suite(clock: &dyn Clock) {
    let (first, second) = (clock.now(), clock.now());
    assert!(first <= second, "the clock went back");
    let mut cx = Context::from_waker(Waker::noop());
    let mut passed = pin!(clock.sleep_until(second));
    assert_eq!(passed.as_mut().poll(&mut cx), Poll::Ready(()), "a time that has passed");
    let mut hour = pin!(clock.sleep_until(second + Duration::from_secs(3600)));
    assert_eq!(hour.as_mut().poll(&mut cx), Poll::Pending, "a time to come");
}

/// Proves as much of the contract of [`IdSource`] as shows.
///
/// # Panics
///
/// When the contract is broken.
pub fn id_source_suite(ids: &dyn IdSource) {
    let mut seen = HashSet::new();
    for _ in 0..1000 {
        let id = match ids.id() {
            Ok(id) => id,
            Err(error) => panic!("{error}"),
        };
        assert_eq!(id.len(), 32, "{id}");
        let hexadecimal = id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        assert!(hexadecimal, "{id}");
        assert!(seen.insert(id), "an id came twice");
    }
    for len in [0, 1, 7, 8, 33] {
        let mut bytes = vec![0; len];
        assert!(ids.fill(&mut bytes).is_ok(), "{len} bytes");
        assert!(len < 33 || bytes.iter().any(|byte| *byte != 0), "{len} bytes of nothing");
    }
}

/// Proves the contract of [`SchemaValidator`], for one that validates.
///
/// # Panics
///
/// When the contract is broken.
pub fn schema_validator_suite(validator: &dyn SchemaValidator) {
    let check = |schema: &str, instance: &str| -> Vec<Violation> {
        match validator.compile(schema) {
            Ok(compiled) => compiled.validate(instance),
            Err(error) => panic!("{schema}: {error}"),
        }
    };
    let object = r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"array",
        "items":{"type":"string"}}},"required":["a"],"additionalProperties":false}"#;
    assert_eq!(check(object, r#"{"a":1,"b":["x"]}"#), []);
    let violations = check(object, r#"{"a":1,"b":["x",2]}"#);
    assert_eq!(violations.iter().map(|v| &*v.path).collect::<Vec<_>>(), ["/b/1"]);
    let violations = check(object, r#"{"a":"x","b":3}"#);
    let paths: HashSet<_> = violations.iter().map(|violation| &*violation.path).collect();
    assert_eq!(paths, HashSet::from(["/a", "/b"]));
    assert!(violations.iter().all(|violation| !violation.message.is_empty()));
    assert_eq!(check(object, "{}").first().map(|v| &*v.path), Some(""));

    // Words of 2020-12, without a word about the dialect.
    let dialect = r#"{"type":"array","prefixItems":[{"type":"integer"}],"items":false}"#;
    assert_eq!(check(dialect, "[1]"), []);
    assert_ne!(check(dialect, "[1,2]"), []);

    assert_eq!(check("true", "null"), []);
    assert_ne!(check("{}", "{not json"), [], "a text that isn't JSON fits nothing");
    let many = format!("[{}]", vec!["\"x\""; 1000].join(","));
    let violations = check(r#"{"items":{"type":"integer"}}"#, &many);
    assert!((1..=1000).contains(&violations.len()));

    let local = r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"integer"}}}"##;
    assert_eq!(check(local, "1"), []);
    for bad in [
        "",
        "[1]",
        r#"{"type":"nonsense"}"#,
        r#"{"$ref":"http://127.0.0.1:1/schema.json"}"#,
        r#"{"$ref":"file:///schema.json"}"#,
    ] {
        assert!(validator.compile(bad).is_err(), "{bad}");
    }
}

/// Proves what [`McpService`] promises beyond a service: in each revision that it speaks it
/// answers `initialize` by what was negotiated and by the capabilities of its profile, and
/// `ping` in every phase.
///
/// # Panics
///
/// When the contract is broken.
///
/// # Cancel safety
///
/// Dropping the future ends the proof.
pub async fn service_suite<S: McpService>(service: &S) {
    let profile = service.profile();
    for revision in
        profile.revisions.iter().filter(|revision| Revision::STATEFUL.contains(revision))
    {
        let mut session = ServerSession::new(service.profile(), None, None, Extensions::new());
        assert_eq!(answer(service, &mut session, "ping", None).await, "{}", "before the handshake");
        let hello = InitializeRequestParams::new(
            revision.as_str(),
            ClientCapabilities::new(),
            Implementation::new("suite", "1"),
        );
        let hello = RawJson::from_serialize(&hello).ok();
        let result = answer(service, &mut session, "initialize", hello).await;
        assert_eq!(answer(service, &mut session, "ping", None).await, "{}", "in the handshake");
        let result: InitializeResult = match serde_json::from_str(&result) {
            Ok(result) => result,
            Err(error) => panic!("{result}: {error}"),
        };
        assert_eq!(result.protocol_version, revision.as_str(), "what was negotiated");
        let mut declared = profile.capabilities.clone();
        declared.project(revision);
        assert_eq!(result.capabilities, declared, "what the profile says");
        assert!(!result.server_info.name.is_empty(), "a server has a name");

        let initialized = Notification::new("notifications/initialized", None);
        let verdict = session.notification(&initialized, Arrival::default());
        let NotificationVerdict::Serve(known) = verdict else { panic!("{verdict:?}") };
        let inbound = Inbound::new(Call::Notification(initialized)).with_extensions(known);
        let reply = service.call(inbound, Replies::nowhere()).await;
        assert!(matches!(reply, Reply::Silent), "a notification has no answer");
        assert_eq!(session.phase(), Phase::Initialized);
        assert_eq!(answer(service, &mut session, "ping", None).await, "{}", "after the handshake");
    }
}

async fn answer<S: McpService>(
    service: &S,
    session: &mut ServerSession,
    method: &str,
    params: Option<RawJson>,
) -> String {
    let request = Request::new(1, method, params);
    let verdict = session.request(&request, Arrival::default());
    let RequestVerdict::Serve(known) = verdict else { panic!("{method}: {verdict:?}") };
    let name = request.method.clone();
    let inbound = Inbound::new(Call::Request(request)).with_extensions(known);
    let reply = service.call(inbound, Replies::nowhere()).await;
    session.answered(&1.into(), &name, &reply);
    let Reply::Response(response) = reply else { panic!("{method} wants an answer") };
    assert!(matches!(response.head(), Head::Result { .. }), "{method}: {:?}", response.frame());
    String::from_utf8_lossy(&response.body()).into_owned()
}
