//! The client's side of the handshake, and what a service gets to know on either side.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::disallowed_types,
    reason = "a test may fail, and its tools may share"
)]

mod common;

use std::sync::Arc;

use common::{hello, implementation, notification, raw, request, whole_client};
use mcp_jsonrpc::peer::{Arrival, NotificationVerdict, Protocol, RequestVerdict};
use mcp_jsonrpc::service::v1::Reply;
use mcp_jsonrpc::{ErrorObject, Extensions, Outgoing, Response};
use mcp_lifecycle::{
    ClientHandle, ClientPhase, ClientProfile, ClientSession, Culprit, GateError, HandshakeError,
    Negotiated, PeerFacts, Profile, RevisionSet, ServerSession, Session, UnknownMethods,
};
use mcp_types::{
    ClientCapabilities, LoggingLevel, Method, Revision, ServerCapabilities, ToolsCapability,
};

fn client(profile: ClientProfile) -> ClientHandle {
    let handle = ClientHandle::new(profile);
    handle.hello().unwrap();
    handle
}

fn plain() -> ClientProfile {
    ClientProfile::new(implementation("c"))
}

fn conclude(
    handle: &ClientHandle,
    outcome: Result<&str, ErrorObject>,
) -> Result<Arc<Negotiated>, HandshakeError> {
    handle.conclude(&Response::new(Some(1.into()), outcome.map(raw)))
}

fn result(version: &str) -> String {
    format!(
        r#"{{"protocolVersion":{version},"capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}},"instructions":"be kind"}}"#
    )
}

// Shows: LIFE-012, LIFE-013, LIFE-024
#[test]
fn hello_asks_for_the_newest_and_says_who_and_what_we_are() {
    let profile = plain().with_capabilities(whole_client());
    let params = ClientHandle::new(profile).hello().unwrap();
    assert_eq!(params.protocol_version, "2025-11-25");
    assert_eq!((params.client_info.name.as_str(), &params.capabilities), ("c", &whole_client()));

    let old = RevisionSet::from_iter([Revision::V2024_11_05, Revision::V2025_03_26]);
    let handle = ClientHandle::new(plain().with_revisions(old));
    let params = handle.hello().unwrap();
    assert_eq!(params.protocol_version, "2025-03-26");
    assert_eq!(serde_json::to_string(&params.capabilities).unwrap(), "{}");
    assert!(matches!(handle.hello(), Err(HandshakeError::OutOfTurn)), "initialize is sent once");
}

#[test]
fn without_a_handshake_in_common_with_anybody_there_is_nothing_to_send() {
    let spoken = RevisionSet::only(Revision::V2026_07_28);
    let handle = ClientHandle::new(plain().with_revisions(spoken));
    let error = handle.hello().unwrap_err();
    assert!(matches!(error, HandshakeError::NothingToOffer { .. }));
    assert_eq!((error.culprit(), handle.phase()), (Culprit::Caller, ClientPhase::Fresh));
}

// Shows: LIFE-019, LIFE-020
#[test]
fn what_the_server_answers_is_what_is_spoken() {
    for revision in Revision::STATEFUL {
        let handle = client(plain());
        assert_eq!((handle.revision(), handle.phase()), (None, ClientPhase::Greeting));
        let negotiated = conclude(&handle, Ok(&result(&format!("\"{revision}\"")))).unwrap();
        assert_eq!((negotiated.revision, handle.revision()), (revision, Some(revision)));
        assert_eq!(negotiated.server.name, "s");
        assert_eq!(negotiated.instructions.as_deref(), Some("be kind"));
        assert!(negotiated.capabilities.has("tools"));
        assert_eq!(handle.phase(), ClientPhase::Operating);
    }
}

// Shows: LIFE-017, LIFE-018, LIFE-038, FC-022
#[test]
fn an_answer_that_names_no_revision_of_ours_ends_it() {
    for (version, shown) in [
        (r#""1999-01-01""#, "`1999-01-01`"),
        (r#""2026-07-28""#, "`2026-07-28`"),
        ("20251125", "revision 20251125"),
        ("null", "revision null"),
    ] {
        let handle = client(plain());
        let error = conclude(&handle, Ok(&result(version))).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(shown), "{text}");
        assert!(text.contains("2025-11-25") && text.contains("2024-11-05"), "{text}");
        assert_eq!((error.culprit(), error.is_retryable()), (Culprit::Peer, false));
        assert_eq!((handle.phase(), handle.negotiated()), (ClientPhase::Closed, None));
        // Not even `initialized` may be sent.
        let closed = Err(GateError::Closed);
        assert_eq!(handle.check(Method::NotificationsInitialized), closed);
    }
    let handle = client(plain());
    let missing = r#"{"capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#;
    let error = conclude(&handle, Ok(missing)).unwrap_err();
    assert!(matches!(&error, HandshakeError::Malformed { offered: None, .. }), "{error:?}");
    assert!(error.to_string().contains("revision missing"), "{error}");
    assert!(std::error::Error::source(&error).is_some());
    for no_result in ["[]", "\"x\"", "null", "{}"] {
        let error = conclude(&client(plain()), Ok(no_result)).unwrap_err();
        assert!(matches!(error, HandshakeError::Malformed { .. }), "{no_result}");
    }
}

// Shows: LIFE-022, LIFE-038
#[test]
fn a_server_that_refuses_says_what_it_speaks() {
    for code in [-32602, -32022] {
        let handle = client(plain());
        let data = serde_json::json!({"supported": ["2024-11-05", "2025-03-26", "2030-01-01"],
            "requested": "2025-11-25"});
        let error = ErrorObject::new(code, "Unsupported protocol version").with_data_from(&data);
        let error = conclude(&handle, Err(error)).unwrap_err();
        let HandshakeError::RefusedRevision { requested, supported, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!((*requested, supported.len()), (Revision::V2025_11_25, 3));
        assert_eq!(error.common(RevisionSet::STATEFUL), Some(Revision::V2025_03_26));
        assert_eq!(error.common(RevisionSet::only(Revision::V2025_11_25)), None);
        assert_eq!(handle.phase(), ClientPhase::Closed);
    }
    let handle = client(plain());
    let error = conclude(&handle, Err(ErrorObject::internal("no"))).unwrap_err();
    assert!(matches!(error, HandshakeError::Refused(_)));
    assert_eq!(error.common(RevisionSet::STATEFUL), None);
}

// Shows: LIFE-039
#[test]
fn a_server_without_what_is_required_is_no_use() {
    let handle = client(plain().with_required("tools").with_required("resources.subscribe"));
    let error = conclude(&handle, Ok(&result("\"2025-11-25\""))).unwrap_err();
    let HandshakeError::PeerLacks { capability } = error else { panic!("{error:?}") };
    assert_eq!(capability, "resources.subscribe");
    assert_eq!(handle.phase(), ClientPhase::Closed);
    let handle = client(plain().with_required("tools"));
    assert!(conclude(&handle, Ok(&result("\"2025-11-25\""))).is_ok());
}

// Shows: LIFE-010, LIFE-030, FC-023
#[test]
fn a_client_sends_nothing_before_its_time_and_nothing_that_was_not_declared() {
    let handle = ClientHandle::new(plain());
    let check = |method| handle.check(method);
    let too_early = |method| Err(GateError::TooEarly { method });
    for _ in 0..2 {
        assert_eq!(check(Method::Ping), Ok(()));
        for method in [Method::ToolsList, Method::NotificationsInitialized] {
            assert_eq!(check(method), too_early(method));
        }
        let _ = handle.hello();
    }
    conclude(&handle, Ok(&result("\"2025-11-25\""))).unwrap();
    for method in [Method::NotificationsInitialized, Method::ToolsCall, Method::Ping] {
        assert_eq!(check(method), Ok(()));
    }
    let method = Method::PromptsList;
    assert_eq!(check(method), Err(GateError::PeerLacks { method, capability: "prompts" }));
    assert!(handle.check_as_task(Method::ToolsCall).is_err());
    handle.close();
    assert_eq!(check(Method::Ping), Err(GateError::Closed));
    assert_eq!(GateError::Closed.culprit(), Culprit::Environment);
}

// Shows: BASE-002, LIFE-011
#[test]
fn a_client_knows_its_server_and_refuses_what_it_did_not_declare() {
    let handle = ClientHandle::new(plain());
    let mut known = Extensions::new();
    known.insert("tag");
    let mut machine = ClientSession::new(handle.clone(), None, known);
    handle.hello().unwrap();
    conclude(&handle, Ok(&result("\"2025-06-18\""))).unwrap();
    let RequestVerdict::Serve(known) = machine.request(&request(1, "ping", ""), Arrival::default())
    else {
        panic!("ping is always served");
    };
    assert_eq!(known.get::<&str>(), Some(&"tag"));
    assert_eq!(Negotiated::of(&known).map(|known| known.revision), Some(Revision::V2025_06_18));
    for method in ["sampling/createMessage", "elicitation/create", "roots/list", "tools/list"] {
        let verdict = machine.request(&request(2, method, "{}"), Arrival::default());
        let RequestVerdict::Refuse(error) = verdict else { panic!("{method}") };
        assert_eq!(error.code, -32601, "{method}");
    }
}

// Shows: CANCEL-004
#[test]
fn a_client_that_runs_tasks_does_not_let_them_be_canceled_like_requests() {
    let handle = client(plain().with_capabilities(whole_client()));
    conclude(&handle, Ok(&result("\"2025-11-25\""))).unwrap();
    let mut machine = ClientSession::new(handle, None, Extensions::new());
    let task = r#"{"message":"?","requestedSchema":{},"task":{}}"#;
    let asked = machine.request(&request(5, "elicitation/create", task), Arrival::default());
    assert!(matches!(asked, RequestVerdict::Serve(_)));
    let cancel = notification("notifications/cancelled", r#"{"requestId":5}"#);
    let mut verdict = || machine.notification(&cancel, Arrival::default());
    assert!(matches!(verdict(), NotificationVerdict::Drop));
    machine.answered(&5.into(), &"elicitation/create".into(), &Reply::Silent);
    let mut verdict = || machine.notification(&cancel, Arrival::default());
    assert!(matches!(verdict(), NotificationVerdict::Cancel { .. }), "it is over, and unknown");
}

/// A server past the handshake.
fn server(profile: Profile, known: Extensions) -> ServerSession {
    let mut machine = ServerSession::new(Arc::new(profile), None, Some("id".into()), known);
    let params = hello("2025-11-25", r#"{"roots":{}}"#);
    machine.request(&request(0, "initialize", &params), Arrival::default());
    let result = Reply::Response(Outgoing::result_raw(0.into(), b"{}"));
    machine.answered(&0.into(), &"initialize".into(), &result);
    assert!(!machine.session().unwrap().is_initialized());
    machine.notification(&notification("notifications/initialized", ""), Arrival::default());
    assert!(machine.session().unwrap().is_initialized());
    machine
}

fn tools() -> Profile {
    Profile::new(ServerCapabilities::new().with_tools(ToolsCapability::new()))
}

fn serve(machine: &mut ServerSession, params: &str) -> Extensions {
    match machine.request(&request(1, "tools/list", params), Arrival::default()) {
        RequestVerdict::Serve(known) => known,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_exchange_knows_who_is_calling_and_shares_what_repeats() {
    let mut known = Extensions::new();
    known.insert("principal");
    let mut machine = server(tools(), known);
    let (first, second) = (serve(&mut machine, ""), serve(&mut machine, r#"{"cursor":"a"}"#));
    for known in [&first, &second] {
        let facts = PeerFacts::of(known).unwrap();
        assert_eq!(facts.caller.revision, Revision::V2025_11_25);
        assert_eq!(facts.caller.client.as_ref().map(|client| client.name.as_str()), Some("c"));
        assert!(facts.caller.capabilities.has("roots"));
        assert_eq!(Session::of(known).and_then(Session::id), Some("id"));
        assert_eq!(known.get::<&str>(), Some(&"principal"));
    }
    let facts = |known: &Extensions| known.get_arc::<PeerFacts>().unwrap();
    assert!(Arc::ptr_eq(&facts(&first), &facts(&second)), "nothing is made for a plain call");
    assert_eq!(format!("{first:?}"), "Extensions(0 + 2)");
}

#[test]
fn a_new_log_level_reaches_what_comes_next_and_what_goes_on() {
    let mut machine = server(tools(), Extensions::new());
    let before = serve(&mut machine, "");
    assert_eq!(PeerFacts::of(&before).unwrap().log_level, None);
    machine.session().unwrap().set_log_level(LoggingLevel::Warning);
    assert_eq!(PeerFacts::current_log_level(&before), Some(LoggingLevel::Warning));
    let after = serve(&mut machine, "");
    assert_eq!(PeerFacts::of(&after).unwrap().log_level, Some(LoggingLevel::Warning));
    assert!(Session::of(&after).is_some());
}

#[test]
fn a_traced_message_has_facts_of_its_own() {
    let mut machine = server(tools(), Extensions::new());
    let traced = serve(&mut machine, r#"{"_meta":{"traceparent":"00-a-b-01","baggage":"k=v"}}"#);
    let facts = PeerFacts::of(&traced).unwrap();
    assert_eq!(facts.trace.traceparent.as_deref(), Some("00-a-b-01"));
    assert_eq!(facts.trace.baggage.as_deref(), Some("k=v"));
    assert!(PeerFacts::of(&serve(&mut machine, "")).unwrap().trace.is_empty());
}

#[test]
fn a_proxy_gets_what_no_revision_has() {
    let mut machine =
        server(tools().with_unknown_methods(UnknownMethods::Serve), Extensions::new());
    let mut ask = |method| machine.request(&request(1, method, ""), Arrival::default());
    assert!(matches!(ask("acme/forecast"), RequestVerdict::Serve(_)));
    // What a revision has is gated as ever.
    assert!(matches!(ask("prompts/list"), RequestVerdict::Refuse(_)));
    let mut tell = |method| machine.notification(&notification(method, ""), Arrival::default());
    assert!(matches!(tell("acme/rain"), NotificationVerdict::Serve(_)));
    assert!(matches!(tell("notifications/message"), NotificationVerdict::Drop));
}

#[test]
fn a_closed_session_forgets_its_client() {
    let mut machine = server(tools(), Extensions::new());
    let session = Arc::downgrade(machine.session().unwrap());
    machine.close();
    assert!(machine.session().is_none() && session.upgrade().is_none());
}

#[test]
fn capabilities_are_kept_as_they_were_declared() {
    let mut machine = ServerSession::new(Arc::new(tools()), None, None, Extensions::new());
    let odd = r#"{"roots":{"x":[1.0]},"brandNew":{"a":null}}"#;
    machine.request(&request(0, "initialize", &hello("2024-11-05", odd)), Arrival::default());
    let capabilities: &ClientCapabilities = &machine.session().unwrap().caller().capabilities;
    assert_eq!(serde_json::to_string(capabilities).unwrap(), odd);
}
