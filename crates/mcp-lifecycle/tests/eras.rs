//! Which era a request belongs to: what it claims × what is served × what it is.

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

use std::fmt::Write as _;
use std::sync::Arc;

use common::{hello, request};
use expect_test::expect;
use mcp_jsonrpc::peer::{Arrival, NotificationVerdict, Protocol, RequestVerdict};
use mcp_jsonrpc::service::v1::Reply;
use mcp_jsonrpc::{Extensions, Outgoing};
use mcp_lifecycle::{
    Admission, OnLost, PeerFacts, Phase, Profile, RevisionSet, ServerSession, Session, admit,
};
use mcp_types::{Era, LoggingLevel, Revision, ServerCapabilities, ToolsCapability};

fn profile(revisions: RevisionSet) -> Profile {
    let capabilities = ServerCapabilities::new().with_tools(ToolsCapability::new());
    Profile::new(capabilities).with_revisions(revisions)
}

fn dual() -> RevisionSet {
    RevisionSet::STATEFUL.with(Revision::V2026_07_28)
}

/// `_meta` of a request that claims `version`.
fn claim(version: &str, more: &str) -> String {
    format!(
        r#"{{"_meta":{{"io.modelcontextprotocol/protocolVersion":{version},"io.modelcontextprotocol/clientCapabilities":{{"sampling":{{}}}}{more}}}}}"#
    )
}

#[test]
fn every_claim_at_every_server() {
    let claims = [
        ("no claim", "{}".to_owned()),
        ("2026-07-28", claim(r#""2026-07-28""#, "")),
        ("2025-11-25", claim(r#""2025-11-25""#, "")),
        ("2099-01-01", claim(r#""2099-01-01""#, "")),
        ("a number", claim("20260728", "")),
        (
            "no capabilities",
            r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#.to_owned(),
        ),
        (
            "bad log level",
            claim(r#""2026-07-28""#, r#","io.modelcontextprotocol/logLevel":"loud""#),
        ),
    ];
    let methods = ["initialize", "ping", "server/discover", "tools/list", "prompts/list", "x/y"];
    let mut table = String::from("columns: stateful, both, stateless\n");
    for (name, params) in claims {
        let _ = writeln!(table, "{name}");
        for method in methods {
            let sets = [RevisionSet::STATEFUL, dual(), RevisionSet::only(Revision::V2026_07_28)];
            let row = sets.map(|set| match admit(&profile(set), &request(1, method, &params)) {
                Admission::Stateful => "stateful".to_owned(),
                Admission::Alone(facts) => {
                    assert_eq!(facts.caller.revision, Revision::V2026_07_28);
                    "alone".to_owned()
                }
                Admission::Refuse(error) => error.code.to_string(),
                _ => unreachable!("there is nothing else"),
            });
            let _ = writeln!(table, "    {method:<16} {:<9} {:<9} {}", row[0], row[1], row[2]);
        }
    }
    expect![[r#"
        columns: stateful, both, stateless
        no claim
            initialize       stateful  stateful  -32022
            ping             stateful  stateful  stateful
            server/discover  stateful  -32602    -32602
            tools/list       stateful  stateful  -32602
            prompts/list     stateful  stateful  -32602
            x/y              stateful  stateful  -32602
        2026-07-28
            initialize       stateful  -32601    -32601
            ping             stateful  -32601    -32601
            server/discover  stateful  alone     alone
            tools/list       stateful  alone     alone
            prompts/list     stateful  -32601    -32601
            x/y              stateful  -32601    -32601
        2025-11-25
            initialize       stateful  -32022    -32022
            ping             stateful  -32022    -32022
            server/discover  stateful  -32022    -32022
            tools/list       stateful  -32022    -32022
            prompts/list     stateful  -32022    -32022
            x/y              stateful  -32022    -32022
        2099-01-01
            initialize       stateful  -32022    -32022
            ping             stateful  -32022    -32022
            server/discover  stateful  -32022    -32022
            tools/list       stateful  -32022    -32022
            prompts/list     stateful  -32022    -32022
            x/y              stateful  -32022    -32022
        a number
            initialize       stateful  -32602    -32602
            ping             stateful  -32602    -32602
            server/discover  stateful  -32602    -32602
            tools/list       stateful  -32602    -32602
            prompts/list     stateful  -32602    -32602
            x/y              stateful  -32602    -32602
        no capabilities
            initialize       stateful  -32602    -32602
            ping             stateful  -32602    -32602
            server/discover  stateful  -32602    -32602
            tools/list       stateful  -32602    -32602
            prompts/list     stateful  -32602    -32602
            x/y              stateful  -32602    -32602
        bad log level
            initialize       stateful  -32602    -32602
            ping             stateful  -32602    -32602
            server/discover  stateful  -32602    -32602
            tools/list       stateful  -32602    -32602
            prompts/list     stateful  -32602    -32602
            x/y              stateful  -32602    -32602
    "#]]
    .assert_eq(&table);
}

#[test]
fn a_request_that_speaks_for_itself_says_who_is_calling() {
    let more = r#","io.modelcontextprotocol/clientInfo":{"name":"ed","version":"4"},"io.modelcontextprotocol/logLevel":"notice","traceparent":"00-a-b-01""#;
    let call = request(7, "tools/list", &claim(r#""2026-07-28""#, more));
    let Admission::Alone(facts) = admit(&profile(dual()), &call) else { panic!("refused") };
    assert_eq!(facts.caller.client.as_ref().map(|client| client.name.as_str()), Some("ed"));
    assert!(facts.caller.capabilities.has("sampling"));
    assert_eq!(facts.log_level, Some(LoggingLevel::Notice));
    assert_eq!(facts.trace.traceparent.as_deref(), Some("00-a-b-01"));
    // A name that can't be read is none.
    let call = claim(r#""2026-07-28""#, r#","io.modelcontextprotocol/clientInfo":7"#);
    let Admission::Alone(facts) = admit(&profile(dual()), &request(7, "tools/list", &call)) else {
        panic!("refused")
    };
    assert_eq!((&facts.caller.client, facts.log_level), (&None, None));
}

// Shows: FC-091
#[test]
fn a_server_without_a_handshake_names_its_revisions_to_those_who_want_one() {
    let stateless = profile(RevisionSet::only(Revision::V2026_07_28));
    for (method, params, code) in [
        ("initialize", hello("2025-06-18", "{}"), -32022),
        ("tools/list", "{}".to_owned(), -32602),
        ("tools/list", claim(r#""2025-11-25""#, ""), -32022),
    ] {
        let Admission::Refuse(error) = admit(&stateless, &request(1, method, &params)) else {
            panic!("{method} is served")
        };
        assert_eq!(error.code, code);
        assert!(error.message.contains("2026-07-28"), "{error}");
        let data = error.data.unwrap();
        assert!(data.get().contains(r#""supported":["2026-07-28"]"#), "{data}");
    }
}

#[test]
fn both_eras_share_a_pipe_and_nothing_else() {
    let mut machine = ServerSession::new(Arc::new(profile(dual())), None, None, Extensions::new());
    let alone = claim(r#""2026-07-28""#, "");
    let serve = |machine: &mut ServerSession, method: &str, params: &str| match machine
        .request(&request(1, method, params), Arrival::default())
    {
        RequestVerdict::Serve(known) => Ok(known),
        RequestVerdict::Refuse(error) => Err(error.code),
        _ => unreachable!("there are no other verdicts"),
    };
    // Before, during and after a handshake.
    assert_eq!(serve(&mut machine, "tools/list", "{}").unwrap_err(), -32600);
    for phase in [Phase::Fresh, Phase::Initializing, Phase::Initialized] {
        assert_eq!(machine.phase(), phase);
        let known = serve(&mut machine, "tools/list", &alone).unwrap();
        assert!(Session::of(&known).is_none());
        assert_eq!(PeerFacts::of(&known).unwrap().caller.revision, Revision::V2026_07_28);
        assert_eq!(serve(&mut machine, "prompts/list", &alone).unwrap_err(), -32601);
        match phase {
            Phase::Fresh => {
                let known = serve(&mut machine, "initialize", &hello("2026-07-28", "{}")).unwrap();
                let revision = PeerFacts::of(&known).unwrap().caller.revision;
                assert_eq!(revision, Revision::V2025_11_25, "no handshake leads there");
            }
            _ => {
                let result = Reply::Response(Outgoing::result_raw(1.into(), b"{}"));
                machine.answered(&1.into(), &"initialize".into(), &result);
                let ready = common::notification("notifications/initialized", "");
                machine.notification(&ready, Arrival::default());
            }
        }
    }
    let known = serve(&mut machine, "tools/list", "{}").unwrap();
    assert!(Session::of(&known).is_some());
    let cancel = common::notification("notifications/cancelled", r#"{"requestId":1}"#);
    let verdict = machine.notification(&cancel, Arrival::default());
    assert!(matches!(verdict, NotificationVerdict::Cancel { .. }), "of either era");
    let mut batch = Arrival::default();
    batch.in_batch = true;
    let verdict = machine.request(&request(1, "tools/list", &alone), batch);
    assert!(matches!(verdict, RequestVerdict::Refuse(_)), "there are no batches");
    machine.close();
    assert_eq!(serve(&mut machine, "tools/list", &alone).unwrap_err(), -32600);
}

#[test]
fn a_lost_stream_cancels_where_nobody_can_come_back() {
    assert_eq!(OnLost::of(Era::Stateful), OnLost::Detach);
    assert_eq!(OnLost::of(Era::Stateless), OnLost::Cancel);
}
