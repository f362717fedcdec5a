//! Whole conversations with a server, line by line, through a driver.

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

use std::sync::atomic::Ordering;

use common::hello;
use common::script::{Least, Running, now};
use mcp_jsonrpc::service::v1::{Ask, Outlet as _};
use mcp_lifecycle::{Profile, RevisionSet, TaskAugmented};
use mcp_types::{Revision, ServerCapabilities, ToolsCapability};

fn tools() -> ServerCapabilities {
    ServerCapabilities::new().with_tools(ToolsCapability::new())
}

fn initialize(id: &str, revision: &str) -> String {
    let params = hello(revision, "{}");
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{params}}}"#)
}

fn request(id: &str, method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#)
}

fn cancel(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"tired"}}}}"#
    )
}

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A server of these capabilities, past the handshake.
fn ready(profile: Profile, revision: &str) -> Running {
    let mut server = Running::start(Least::new(profile));
    let answers = server.exchange([initialize("0", revision), INITIALIZED.to_owned()]);
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(answers[0].contains(&format!(r#""protocolVersion":"{revision}""#)), "{answers:?}");
    server.logged();
    server
}

// Shows: LIFE-001, FC-019
#[test]
fn what_comes_before_initialize_is_refused_at_once_and_harms_nothing() {
    let mut server = Running::start(Least::new(Profile::new(tools())));
    let answers = server.exchange([request("1", "tools/list"), request("2", "ping")]);
    assert_eq!(
        answers,
        [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"`initialize` has to come first"}}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
        ]
    );
    let answers = server.exchange([initialize("3", "2025-11-25")]);
    assert!(answers[0].starts_with(r#"{"jsonrpc":"2.0","id":3,"result":"#), "{answers:?}");
}

// Shows: FC-020
#[test]
fn a_second_initialize_is_refused_and_the_first_agreement_stands() {
    let mut server = ready(Profile::new(tools()), "2025-06-18");
    let answers = server.exchange([
        initialize("0", "2024-11-05"),
        INITIALIZED.to_owned(),
        request("1", "tools/list"),
    ]);
    assert_eq!(
        answers,
        [
            r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"`initialize` comes once in a session"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ]
    );
}

// Shows: LIFE-014, LIFE-015, LIFE-016, LIFE-019, LIFE-006, FC-021
#[test]
fn the_answer_names_what_was_asked_for_or_else_the_newest() {
    let newest = Revision::LATEST_STATEFUL.as_str();
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", newest),
        ("2026-01-01", newest),
        ("2026-07-28", newest),
        ("2099-01-01", newest),
        ("draft", newest),
    ] {
        let mut server = Running::start(Least::new(Profile::new(tools())));
        let answers = server.exchange([initialize("\"a\"", asked)]);
        let expected = format!(
            r#"{{"jsonrpc":"2.0","id":"a","result":{{"protocolVersion":"{answered}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"least","version":"1"}}}}}}"#
        );
        assert_eq!(answers, [expected], "{asked}");
    }
}

#[test]
fn a_server_without_a_handshake_says_what_it_speaks() {
    let profile = Profile::new(tools()).with_revisions(RevisionSet::only(Revision::V2026_07_28));
    let mut server = Running::start(Least::new(profile));
    assert_eq!(
        server.exchange([initialize("1", "2025-11-25")]),
        [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version; supported: 2026-07-28","data":{"requested":"2025-11-25","supported":["2026-07-28"]}}}"#
        ]
    );
}

#[test]
fn an_initialize_that_cannot_be_read_may_be_sent_again() {
    let mut server = Running::start(Least::new(Profile::new(tools())));
    for params in [
        "",
        r#","params":{}"#,
        r#","params":{"protocolVersion":"2025-11-25","capabilities":{}}"#,
        r#","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"c","version":"1"}}"#,
        r#","params":{"capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#,
        r#","params":{"protocolVersion":20251125,"capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#,
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize"{params}}}"#);
        let answers = server.exchange([line]);
        let start = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"#;
        assert!(answers[0].starts_with(start), "{answers:?}");
        assert!(!answers[0].contains("Params") && !answers[0].contains("::"), "{answers:?}");
    }
    assert_eq!(server.exchange([initialize("2", "2025-11-25")]).len(), 1);
    assert_eq!(server.logged(), ["initialize"], "the service sees the good one alone");
}

#[test]
fn an_initialize_that_fails_may_be_sent_again() {
    let service = Least::new(Profile::new(tools()));
    service.fails.store(true, Ordering::Relaxed);
    let mut server = Running::start(service);
    let answers = server.exchange([initialize("1", "2025-11-25"), request("2", "tools/list")]);
    assert!(answers[0].contains("not today"), "{answers:?}");
    assert!(answers[1].contains("`initialize` has to come first"), "{answers:?}");
    let lines = [initialize("3", "2024-11-05"), INITIALIZED.to_owned(), request("4", "tools/list")];
    let answers = server.exchange(lines);
    assert!(answers[0].contains("2024-11-05"), "{answers:?}");
    assert_eq!(answers[1], r#"{"jsonrpc":"2.0","id":4,"result":{}}"#);
}

// Shows: FC-024
#[test]
fn what_a_newer_client_declares_does_no_harm() {
    let capabilities = r#"{"roots":{"listChanged":false},"elicitation":{"form":{"applyDefaults":true},"url":{},"voice":{}},"sampling":{"tools":{},"x":1},"extensions":{"com.example/ui":{"a":[1]}},"experimental":{"z":true},"brandNew":{}}"#;
    let params = hello("2024-11-05", capabilities);
    let mut server = Running::start(Least::new(Profile::new(tools())));
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
    let answers = server.exchange([line]);
    assert!(answers[0].contains(r#""result":"#), "{answers:?}");
}

// Shows: BASE-001, BASE-002, PING-001, PING-005, FC-027
#[test]
fn a_server_without_any_feature_shakes_hands_pings_and_ends() {
    let mut server = ready(Profile::default(), "2025-11-25");
    let ping = r#"{"jsonrpc":"2.0","id":"p","method":"ping","params":{"x":{"y":1}}}"#;
    let lines = [ping.to_owned(), request("2", "tools/list"), request("3", "resources/read")];
    let answers = server.exchange(lines);
    assert_eq!(answers[0], r#"{"jsonrpc":"2.0","id":"p","result":{}}"#);
    assert!(answers[1].contains("-32601") && answers[2].contains("-32601"), "{answers:?}");
    server.script.end();
    assert!(server.work(), "the server ends when its peer does");
}

// Shows: PING-001
#[test]
fn a_ping_is_answered_while_a_call_waits() {
    let mut server = ready(Profile::new(tools()), "2025-11-25");
    assert_eq!(server.exchange([request("1", "tools/call")]), Vec::<String>::new());
    assert_eq!(
        server.exchange([request("2", "ping")]),
        [r#"{"jsonrpc":"2.0","id":2,"result":{}}"#]
    );
}

// Shows: CANCEL-005, CANCEL-006, CANCEL-007, CANCEL-021, FC-031
#[test]
fn a_canceled_call_stops_and_is_not_answered() {
    let mut server = ready(Profile::new(tools()), "2025-11-25");
    server.exchange([request("1", "tools/call"), request("\"1\"", "tools/call")]);
    assert_eq!(server.exchange([cancel("1")]), Vec::<String>::new());
    assert_eq!(server.logged(), ["tools/call", "tools/call", "canceled 1", "dropped request 1"]);
    // The other one has another id, by kind.
    assert_eq!(server.exchange([cancel("\"1\"")]), Vec::<String>::new());
    assert_eq!(server.logged(), ["canceled \"1\"", "dropped request \"1\""]);
    // The id is free again.
    let ping = server.exchange([request("1", "ping")]);
    assert_eq!(ping, [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
}

// Shows: CANCEL-001, CANCEL-008, CANCEL-009, CANCEL-012, CANCEL-015, CANCEL-016, CANCEL-017
#[test]
fn cancellations_that_mean_nothing_are_ignored() {
    let mut server = ready(Profile::new(tools()), "2025-11-25");
    let answered = server.exchange([request("1", "tools/list")]);
    assert_eq!(answered.len(), 1);
    let malformed =
        |params: &str| format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled"{params}}}"#);
    let silence = server.exchange([
        cancel("1"),
        cancel("999"),
        malformed(""),
        malformed(r#","params":{}"#),
        malformed(r#","params":{"requestId":null}"#),
        malformed(r#","params":{"requestId":{"a":1}}"#),
        malformed(r#","params":{"requestId":1.5}"#),
        malformed(r#","params":1"#),
    ]);
    assert_eq!(silence, Vec::<String>::new());
    assert_eq!(server.exchange([request("2", "ping")]).len(), 1);
}

// Shows: CANCEL-010
#[test]
fn initialize_is_not_canceled() {
    let mut server = Running::start(Least::new(Profile::new(tools())));
    let lines = [initialize("1", "2025-11-25"), cancel("1"), INITIALIZED.to_owned()];
    assert_eq!(server.exchange(lines).len(), 1);
    assert_eq!(server.exchange([request("2", "tools/list")]).len(), 1);
}

// Shows: CANCEL-004
#[test]
fn a_call_that_runs_as_a_task_is_not_canceled_like_a_request() {
    let capabilities = common::whole_server();
    let call = |id: &str, task: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t"{task}}}}}"#
        )
    };
    let task = r#","task":{"ttl":60000}"#;
    let mut server = ready(Profile::new(capabilities), "2025-11-25");
    server.exchange([call("1", task), call("2", "")]);
    assert_eq!(server.exchange([cancel("1"), cancel("2")]), Vec::<String>::new());
    assert_eq!(server.logged(), ["tools/call", "tools/call", "canceled 2", "dropped request 2"]);
    // A server without tasks runs it as a plain call, which can be canceled.
    let mut server = ready(Profile::new(tools()), "2025-11-25");
    server.exchange([call("1", task), cancel("1")]);
    assert_eq!(server.logged(), ["tools/call", "canceled 1", "dropped request 1"]);
}

// Shows: CANCEL-002, CANCEL-003, CANCEL-018, CANCEL-019
#[test]
fn what_we_give_up_the_peer_is_told_of_unless_it_is_over_or_a_task() {
    let mut server = ready(Profile::new(tools()), "2025-11-25");
    let mut ask = |ask: Ask, answer: bool| {
        let mut call = Box::pin(server.peer.call(ask));
        assert!(common::script::until_idle(call.as_mut()).is_none());
        let sent = server.exchange([] as [&str; 0]);
        let id = call.id().unwrap();
        assert_eq!(sent.len(), 1);
        if answer {
            server.exchange([format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)]);
            assert!(now(call.as_mut()).is_ok());
        }
        drop(call);
        (id.to_string(), server.exchange([] as [&str; 0]))
    };
    let (id, told) = ask(Ask::new("roots/list", None), false);
    assert_eq!(
        told,
        [format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        )]
    );
    assert_eq!(ask(Ask::new("roots/list", None), true).1, Vec::<String>::new());
    let mut task = Ask::new("elicitation/create", None);
    task.notes.insert(TaskAugmented);
    assert_eq!(ask(task, false).1, Vec::<String>::new());
    assert_eq!(ask(Ask::new("initialize", None), false).1, Vec::<String>::new());
}

// Shows: CANCEL-011, LIFE-034, FC-031
#[test]
fn a_late_answer_is_dropped_and_nothing_is_kept_for_it() {
    let mut server = ready(Profile::new(tools()), "2025-11-25");
    let mut call = Box::pin(server.peer.call(Ask::new("roots/list", None)));
    assert!(common::script::until_idle(call.as_mut()).is_none());
    server.exchange([] as [&str; 0]);
    let id = call.id().unwrap();
    drop(call);
    assert_eq!(server.exchange([] as [&str; 0]).len(), 1);
    assert_eq!(server.peer.pending(), 0);
    let late = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":0,"message":"Request cancelled"}}}}"#
    );
    assert_eq!(server.exchange([late]), Vec::<String>::new());
    assert!(!server.peer.is_closed());
    assert_eq!(server.exchange([request("5", "ping")]).len(), 1);
}

#[test]
fn batches_belong_to_one_revision_and_initialize_to_none() {
    let batch = format!("[{},{INITIALIZED},{}]", request("1", "ping"), request("2", "tools/list"));
    let no_batches = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"this revision has no batches"}}"#;
    for revision in ["2024-11-05", "2025-06-18"] {
        let mut server = ready(Profile::new(tools()), revision);
        assert_eq!(server.exchange([batch.clone()]), [no_batches], "{revision}");
        assert_eq!(server.logged(), Vec::<String>::new());
    }
    let mut server = ready(Profile::new(tools()), "2025-11-25");
    assert_eq!(server.exchange([batch.clone()]), [no_batches.replace(r#""id":null,"#, "")]);

    let mut server = ready(Profile::new(tools()), "2025-03-26");
    assert_eq!(
        server.exchange([batch]),
        [r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]"#]
    );
    let again = format!("[{},{}]", initialize("3", "2025-03-26"), request("4", "ping"));
    let answers = server.exchange([again]);
    assert!(answers[0].contains("`initialize` can't be part of a batch"), "{answers:?}");

    // Before anything was agreed on there are no batches at all.
    let mut server = Running::start(Least::new(Profile::new(tools())));
    let first = format!("[{}]", initialize("1", "2025-03-26"));
    assert!(server.exchange([first])[0].contains("no batches"));
    assert_eq!(server.exchange([initialize("2", "2025-03-26")]).len(), 1);
}

/// Many scripts send all lines at once, without waiting for the answer to `initialize`.
#[test]
fn lines_that_come_all_at_once_are_all_served() {
    let mut server = Running::start(Least::new(Profile::new(tools())));
    let lines = [
        initialize("1", "2025-11-25"),
        INITIALIZED.to_owned(),
        INITIALIZED.to_owned(),
        request("2", "tools/list"),
    ];
    lines.into_iter().for_each(|line| server.script.send(line));
    server.script.end();
    assert!(server.work());
    let answers = server.script.take();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[1], r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    assert_eq!(server.logged(), ["initialize", "notifications/initialized", "tools/list"]);
}
