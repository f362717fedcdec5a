//! Every state of both machines, with every input.

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

use common::{hello, implementation, notification, raw, request};
use expect_test::{Expect, expect};
use mcp_jsonrpc::link::v1::LinkError;
use mcp_jsonrpc::peer::{Arrival, Event, NotificationVerdict, Protocol, RequestVerdict};
use mcp_jsonrpc::service::v1::Reply;
use mcp_jsonrpc::{ErrorObject, Extensions, Fault, FaultKind, Outgoing, Response};
use mcp_lifecycle::{
    ClientHandle, ClientProfile, ClientSession, Negotiated, PeerFacts, Profile, ServerSession,
    Session,
};
use mcp_types::{ServerCapabilities, ToolsCapability};

#[derive(Clone, Copy, Debug)]
enum Input {
    Request(&'static str),
    RequestInBatch(&'static str),
    Notification(&'static str),
    CancelInitialize,
    CancelOther,
    CancelNothing,
    Answered,
    AnsweredByError,
    Silent,
    OtherAnswered,
    Malformed,
    Ended,
    Hello,
    Accept,
    AcceptUnknown,
    Refused,
}

use Input::*;

const MESSAGES: &[Input] = &[
    Request("ping"),
    Request("initialize"),
    Request("tools/list"),
    Request("prompts/list"),
    Request("roots/list"),
    Request("sampling/createMessage"),
    Request("no/such"),
    Notification("notifications/initialized"),
    Notification("notifications/progress"),
    Notification("notifications/message"),
    Notification("notifications/tools/list_changed"),
    Notification("notifications/roots/list_changed"),
    Notification("no/such"),
    CancelInitialize,
    CancelOther,
    CancelNothing,
    Malformed,
    Ended,
];

/// The id of `initialize`.
const FIRST: i64 = 1;

fn said(verdict: &RequestVerdict) -> String {
    match verdict {
        RequestVerdict::Serve(known) => format!("serve{}", knows(known)),
        RequestVerdict::Refuse(error) => format!("{} {}", error.code, error.message),
        _ => unreachable!("there are no other verdicts"),
    }
}

fn knows(known: &Extensions) -> String {
    let mut out = String::new();
    if let Some(facts) = PeerFacts::of(known) {
        let _ = write!(out, " facts:{}", facts.caller.revision);
    }
    if let Some(session) = Session::of(known) {
        let _ = write!(out, " session:{}", session.id().unwrap_or("-"));
    }
    if let Some(negotiated) = Negotiated::of(known) {
        let _ = write!(out, " negotiated:{}", negotiated.revision);
    }
    out
}

fn told(verdict: &NotificationVerdict) -> String {
    match verdict {
        NotificationVerdict::Serve(known) => format!("serve{}", knows(known)),
        NotificationVerdict::Cancel { id } => format!("cancel {id}"),
        NotificationVerdict::Drop => "drop".to_owned(),
        _ => unreachable!("there are no other verdicts"),
    }
}

/// Feeds a message; gives back what was decided.
fn feed(machine: &mut dyn Protocol, input: Input) -> String {
    let params = |method: &str| match method {
        "initialize" => hello("2025-06-18", r#"{"roots":{}}"#),
        _ => String::new(),
    };
    let in_batch = {
        let mut arrival = Arrival::default();
        arrival.in_batch = true;
        arrival
    };
    let initialize = "initialize".into();
    let cancel = |params: &str| notification("notifications/cancelled", params);
    let answered = |machine: &mut dyn Protocol, id: i64, reply: &Reply| {
        machine.answered(&id.into(), &initialize, reply);
        "-".to_owned()
    };
    let result = |id: i64| Reply::Response(Outgoing::result_raw(id.into(), b"{}"));
    match input {
        Request(method) => {
            said(&machine.request(&request(FIRST, method, &params(method)), Arrival::default()))
        }
        RequestInBatch(method) => {
            said(&machine.request(&request(FIRST, method, &params(method)), in_batch))
        }
        Notification(method) => {
            told(&machine.notification(&notification(method, ""), Arrival::default()))
        }
        CancelInitialize => {
            told(&machine.notification(&cancel(r#"{"requestId":1}"#), Arrival::default()))
        }
        CancelOther => {
            told(&machine.notification(&cancel(r#"{"requestId":"7"}"#), Arrival::default()))
        }
        CancelNothing => {
            told(&machine.notification(&cancel(r#"{"reason":"x"}"#), Arrival::default()))
        }
        Answered => answered(machine, FIRST, &result(FIRST)),
        AnsweredByError => {
            let error = Reply::error(&FIRST.into(), &ErrorObject::internal("x"));
            answered(machine, FIRST, &error)
        }
        Silent => answered(machine, FIRST, &Reply::Silent),
        OtherAnswered => answered(machine, 2, &result(2)),
        Malformed => match machine.malformed(&Fault::new(FaultKind::Truncated)) {
            Some(answer) => String::from_utf8(answer.into_frame().to_vec()).unwrap(),
            None => "no answer".to_owned(),
        },
        Ended => {
            machine.observe(&Event::Ended { cause: &LinkError::Closed });
            "-".to_owned()
        }
        Hello | Accept | AcceptUnknown | Refused => unreachable!("not for both machines"),
    }
}

fn server(state: &[Input]) -> ServerSession {
    let capabilities = ServerCapabilities::new().with_tools(ToolsCapability::new());
    let profile = Arc::new(Profile::new(capabilities));
    let mut machine = ServerSession::new(profile, None, Some("s".into()), Extensions::new());
    for input in state {
        feed(&mut machine, *input);
    }
    machine
}

fn check(table: impl IntoIterator<Item = (&'static str, String, String)>, expected: &Expect) {
    let mut out = String::new();
    let mut last = "";
    for (state, input, outcome) in table {
        if last != state {
            let _ = writeln!(out, "{state}");
            last = state;
        }
        let _ = writeln!(out, "    {input:<50} {outcome}");
    }
    expected.assert_eq(&out);
}

// Shows: LIFE-001, LIFE-011, CANCEL-010, CANCEL-017, BASE-034, FC-019, FC-020
#[test]
fn the_server_in_every_state_with_every_input() {
    let ready = Notification("notifications/initialized");
    let begin = Request("initialize");
    let states: [(&str, &[Input]); 6] = [
        ("fresh", &[]),
        ("answering", &[begin]),
        ("answering, ready", &[begin, ready]),
        ("answered", &[begin, Answered]),
        ("initialized", &[begin, Answered, ready]),
        ("closed", &[begin, Answered, ready, Ended]),
    ];
    let more = [RequestInBatch("initialize"), Answered, AnsweredByError, Silent, OtherAnswered];
    let mut table = Vec::new();
    for (state, path) in states {
        for input in MESSAGES.iter().chain(&more) {
            let mut machine = server(path);
            let outcome = feed(&mut machine, *input);
            let after = format!("{outcome} ─▶ {:?}", machine.phase());
            table.push((state, format!("{input:?}"), after));
        }
    }
    check(
        table,
        &expect![[r#"
            fresh
                Request("ping")                                    serve ─▶ Fresh
                Request("initialize")                              serve facts:2025-06-18 session:s ─▶ Initializing
                Request("tools/list")                              -32600 `initialize` has to come first ─▶ Fresh
                Request("prompts/list")                            -32600 `initialize` has to come first ─▶ Fresh
                Request("roots/list")                              -32600 `initialize` has to come first ─▶ Fresh
                Request("sampling/createMessage")                  -32600 `initialize` has to come first ─▶ Fresh
                Request("no/such")                                 -32600 `initialize` has to come first ─▶ Fresh
                Notification("notifications/initialized")          drop ─▶ Fresh
                Notification("notifications/progress")             drop ─▶ Fresh
                Notification("notifications/message")              drop ─▶ Fresh
                Notification("notifications/tools/list_changed")   drop ─▶ Fresh
                Notification("notifications/roots/list_changed")   drop ─▶ Fresh
                Notification("no/such")                            drop ─▶ Fresh
                CancelInitialize                                   cancel 1 ─▶ Fresh
                CancelOther                                        cancel "7" ─▶ Fresh
                CancelNothing                                      drop ─▶ Fresh
                Malformed                                          {"jsonrpc":"2.0","error":{"code":-32700,"message":"the frame ends inside of a JSON value"}} ─▶ Fresh
                Ended                                              - ─▶ Closed
                RequestInBatch("initialize")                       -32600 `initialize` can't be part of a batch ─▶ Fresh
                Answered                                           - ─▶ Fresh
                AnsweredByError                                    - ─▶ Fresh
                Silent                                             - ─▶ Fresh
                OtherAnswered                                      - ─▶ Fresh
            answering
                Request("ping")                                    serve facts:2025-06-18 session:s ─▶ Initializing
                Request("initialize")                              -32600 `initialize` comes once in a session ─▶ Initializing
                Request("tools/list")                              -32600 `initialize` has not been answered ─▶ Initializing
                Request("prompts/list")                            -32600 `initialize` has not been answered ─▶ Initializing
                Request("roots/list")                              -32600 `initialize` has not been answered ─▶ Initializing
                Request("sampling/createMessage")                  -32600 `initialize` has not been answered ─▶ Initializing
                Request("no/such")                                 -32600 `initialize` has not been answered ─▶ Initializing
                Notification("notifications/initialized")          drop ─▶ Initializing
                Notification("notifications/progress")             serve facts:2025-06-18 session:s ─▶ Initializing
                Notification("notifications/message")              drop ─▶ Initializing
                Notification("notifications/tools/list_changed")   drop ─▶ Initializing
                Notification("notifications/roots/list_changed")   drop ─▶ Initializing
                Notification("no/such")                            drop ─▶ Initializing
                CancelInitialize                                   drop ─▶ Initializing
                CancelOther                                        cancel "7" ─▶ Initializing
                CancelNothing                                      drop ─▶ Initializing
                Malformed                                          {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the frame ends inside of a JSON value"}} ─▶ Initializing
                Ended                                              - ─▶ Closed
                RequestInBatch("initialize")                       -32600 `initialize` can't be part of a batch ─▶ Initializing
                Answered                                           - ─▶ Initializing
                AnsweredByError                                    - ─▶ Fresh
                Silent                                             - ─▶ Fresh
                OtherAnswered                                      - ─▶ Initializing
            answering, ready
                Request("ping")                                    serve facts:2025-06-18 session:s ─▶ Initializing
                Request("initialize")                              -32600 `initialize` comes once in a session ─▶ Initializing
                Request("tools/list")                              -32600 `initialize` has not been answered ─▶ Initializing
                Request("prompts/list")                            -32600 `initialize` has not been answered ─▶ Initializing
                Request("roots/list")                              -32600 `initialize` has not been answered ─▶ Initializing
                Request("sampling/createMessage")                  -32600 `initialize` has not been answered ─▶ Initializing
                Request("no/such")                                 -32600 `initialize` has not been answered ─▶ Initializing
                Notification("notifications/initialized")          drop ─▶ Initializing
                Notification("notifications/progress")             serve facts:2025-06-18 session:s ─▶ Initializing
                Notification("notifications/message")              drop ─▶ Initializing
                Notification("notifications/tools/list_changed")   drop ─▶ Initializing
                Notification("notifications/roots/list_changed")   drop ─▶ Initializing
                Notification("no/such")                            drop ─▶ Initializing
                CancelInitialize                                   drop ─▶ Initializing
                CancelOther                                        cancel "7" ─▶ Initializing
                CancelNothing                                      drop ─▶ Initializing
                Malformed                                          {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the frame ends inside of a JSON value"}} ─▶ Initializing
                Ended                                              - ─▶ Closed
                RequestInBatch("initialize")                       -32600 `initialize` can't be part of a batch ─▶ Initializing
                Answered                                           - ─▶ Initialized
                AnsweredByError                                    - ─▶ Fresh
                Silent                                             - ─▶ Fresh
                OtherAnswered                                      - ─▶ Initializing
            answered
                Request("ping")                                    serve facts:2025-06-18 session:s ─▶ Initializing
                Request("initialize")                              -32600 `initialize` comes once in a session ─▶ Initializing
                Request("tools/list")                              -32600 `notifications/initialized` has to come first ─▶ Initializing
                Request("prompts/list")                            -32600 `notifications/initialized` has to come first ─▶ Initializing
                Request("roots/list")                              -32600 `notifications/initialized` has to come first ─▶ Initializing
                Request("sampling/createMessage")                  -32600 `notifications/initialized` has to come first ─▶ Initializing
                Request("no/such")                                 -32600 `notifications/initialized` has to come first ─▶ Initializing
                Notification("notifications/initialized")          serve facts:2025-06-18 session:s ─▶ Initialized
                Notification("notifications/progress")             serve facts:2025-06-18 session:s ─▶ Initializing
                Notification("notifications/message")              drop ─▶ Initializing
                Notification("notifications/tools/list_changed")   drop ─▶ Initializing
                Notification("notifications/roots/list_changed")   drop ─▶ Initializing
                Notification("no/such")                            drop ─▶ Initializing
                CancelInitialize                                   cancel 1 ─▶ Initializing
                CancelOther                                        cancel "7" ─▶ Initializing
                CancelNothing                                      drop ─▶ Initializing
                Malformed                                          {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the frame ends inside of a JSON value"}} ─▶ Initializing
                Ended                                              - ─▶ Closed
                RequestInBatch("initialize")                       -32600 `initialize` can't be part of a batch ─▶ Initializing
                Answered                                           - ─▶ Initializing
                AnsweredByError                                    - ─▶ Initializing
                Silent                                             - ─▶ Initializing
                OtherAnswered                                      - ─▶ Initializing
            initialized
                Request("ping")                                    serve facts:2025-06-18 session:s ─▶ Initialized
                Request("initialize")                              -32600 `initialize` comes once in a session ─▶ Initialized
                Request("tools/list")                              serve facts:2025-06-18 session:s ─▶ Initialized
                Request("prompts/list")                            -32601 `prompts/list` takes the capability `prompts`, which was not declared ─▶ Initialized
                Request("roots/list")                              -32601 `roots/list` goes the other way ─▶ Initialized
                Request("sampling/createMessage")                  -32601 `sampling/createMessage` goes the other way ─▶ Initialized
                Request("no/such")                                 -32601 method not found: no/such ─▶ Initialized
                Notification("notifications/initialized")          drop ─▶ Initialized
                Notification("notifications/progress")             serve facts:2025-06-18 session:s ─▶ Initialized
                Notification("notifications/message")              drop ─▶ Initialized
                Notification("notifications/tools/list_changed")   drop ─▶ Initialized
                Notification("notifications/roots/list_changed")   serve facts:2025-06-18 session:s ─▶ Initialized
                Notification("no/such")                            drop ─▶ Initialized
                CancelInitialize                                   cancel 1 ─▶ Initialized
                CancelOther                                        cancel "7" ─▶ Initialized
                CancelNothing                                      drop ─▶ Initialized
                Malformed                                          {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the frame ends inside of a JSON value"}} ─▶ Initialized
                Ended                                              - ─▶ Closed
                RequestInBatch("initialize")                       -32600 `initialize` can't be part of a batch ─▶ Initialized
                Answered                                           - ─▶ Initialized
                AnsweredByError                                    - ─▶ Initialized
                Silent                                             - ─▶ Initialized
                OtherAnswered                                      - ─▶ Initialized
            closed
                Request("ping")                                    -32600 the session is over ─▶ Closed
                Request("initialize")                              -32600 the session is over ─▶ Closed
                Request("tools/list")                              -32600 the session is over ─▶ Closed
                Request("prompts/list")                            -32600 the session is over ─▶ Closed
                Request("roots/list")                              -32600 the session is over ─▶ Closed
                Request("sampling/createMessage")                  -32600 the session is over ─▶ Closed
                Request("no/such")                                 -32600 the session is over ─▶ Closed
                Notification("notifications/initialized")          drop ─▶ Closed
                Notification("notifications/progress")             drop ─▶ Closed
                Notification("notifications/message")              drop ─▶ Closed
                Notification("notifications/tools/list_changed")   drop ─▶ Closed
                Notification("notifications/roots/list_changed")   drop ─▶ Closed
                Notification("no/such")                            drop ─▶ Closed
                CancelInitialize                                   drop ─▶ Closed
                CancelOther                                        drop ─▶ Closed
                CancelNothing                                      drop ─▶ Closed
                Malformed                                          {"jsonrpc":"2.0","error":{"code":-32700,"message":"the frame ends inside of a JSON value"}} ─▶ Closed
                Ended                                              - ─▶ Closed
                RequestInBatch("initialize")                       -32600 the session is over ─▶ Closed
                Answered                                           - ─▶ Closed
                AnsweredByError                                    - ─▶ Closed
                Silent                                             - ─▶ Closed
                OtherAnswered                                      - ─▶ Closed
        "#]],
    );
}

fn client(state: &[Input]) -> ClientSession {
    let roots = mcp_types::ClientCapabilities::new().with_roots(mcp_types::RootsCapability::new());
    let profile = ClientProfile::new(implementation("c")).with_capabilities(roots);
    let mut machine = ClientSession::new(ClientHandle::new(profile), None, Extensions::new());
    for input in state {
        drive(&mut machine, *input);
    }
    machine
}

fn drive(machine: &mut ClientSession, input: Input) -> String {
    let handle = machine.handle().clone();
    let answer = |version: &str| {
        raw(&format!(
            r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}"#
        ))
    };
    let conclude = |outcome| match handle.conclude(&Response::new(Some(FIRST.into()), outcome)) {
        Ok(negotiated) => format!("speaks {}", negotiated.revision),
        Err(error) => format!("error: {error}"),
    };
    match input {
        Hello => match handle.hello() {
            Ok(params) => format!("asks for {}", params.protocol_version),
            Err(error) => format!("error: {error}"),
        },
        Accept => conclude(Ok(answer("2025-06-18"))),
        AcceptUnknown => conclude(Ok(answer("2020-01-01"))),
        Refused => conclude(Err(ErrorObject::internal("no"))),
        other => feed(machine, other),
    }
}

// Shows: LIFE-002, LIFE-010, LIFE-017, LIFE-018, LIFE-038, CANCEL-017, BASE-034
#[test]
fn the_client_in_every_state_with_every_input() {
    let states: [(&str, &[Input]); 4] = [
        ("fresh", &[]),
        ("greeting", &[Hello]),
        ("operating", &[Hello, Accept]),
        ("closed", &[Hello, Accept, Ended]),
    ];
    let more = [Hello, Accept, AcceptUnknown, Refused];
    let mut table = Vec::new();
    for (state, path) in states {
        for input in MESSAGES.iter().chain(&more) {
            let mut machine = client(path);
            let outcome = drive(&mut machine, *input);
            let after = format!("{outcome} ─▶ {:?}", machine.handle().phase());
            table.push((state, format!("{input:?}"), after));
        }
    }
    check(
        table,
        &expect![[r#"
            fresh
                Request("ping")                                    serve ─▶ Fresh
                Request("initialize")                              -32600 the handshake is not over ─▶ Fresh
                Request("tools/list")                              -32600 the handshake is not over ─▶ Fresh
                Request("prompts/list")                            -32600 the handshake is not over ─▶ Fresh
                Request("roots/list")                              -32600 the handshake is not over ─▶ Fresh
                Request("sampling/createMessage")                  -32600 the handshake is not over ─▶ Fresh
                Request("no/such")                                 -32600 the handshake is not over ─▶ Fresh
                Notification("notifications/initialized")          drop ─▶ Fresh
                Notification("notifications/progress")             drop ─▶ Fresh
                Notification("notifications/message")              serve ─▶ Fresh
                Notification("notifications/tools/list_changed")   drop ─▶ Fresh
                Notification("notifications/roots/list_changed")   drop ─▶ Fresh
                Notification("no/such")                            drop ─▶ Fresh
                CancelInitialize                                   cancel 1 ─▶ Fresh
                CancelOther                                        cancel "7" ─▶ Fresh
                CancelNothing                                      drop ─▶ Fresh
                Malformed                                          no answer ─▶ Fresh
                Ended                                              - ─▶ Closed
                Hello                                              asks for 2025-11-25 ─▶ Greeting
                Accept                                             error: there is no handshake under way ─▶ Fresh
                AcceptUnknown                                      error: there is no handshake under way ─▶ Fresh
                Refused                                            error: there is no handshake under way ─▶ Fresh
            greeting
                Request("ping")                                    serve ─▶ Greeting
                Request("initialize")                              -32600 the handshake is not over ─▶ Greeting
                Request("tools/list")                              -32600 the handshake is not over ─▶ Greeting
                Request("prompts/list")                            -32600 the handshake is not over ─▶ Greeting
                Request("roots/list")                              -32600 the handshake is not over ─▶ Greeting
                Request("sampling/createMessage")                  -32600 the handshake is not over ─▶ Greeting
                Request("no/such")                                 -32600 the handshake is not over ─▶ Greeting
                Notification("notifications/initialized")          drop ─▶ Greeting
                Notification("notifications/progress")             drop ─▶ Greeting
                Notification("notifications/message")              serve ─▶ Greeting
                Notification("notifications/tools/list_changed")   drop ─▶ Greeting
                Notification("notifications/roots/list_changed")   drop ─▶ Greeting
                Notification("no/such")                            drop ─▶ Greeting
                CancelInitialize                                   cancel 1 ─▶ Greeting
                CancelOther                                        cancel "7" ─▶ Greeting
                CancelNothing                                      drop ─▶ Greeting
                Malformed                                          no answer ─▶ Greeting
                Ended                                              - ─▶ Closed
                Hello                                              error: there is no handshake under way ─▶ Greeting
                Accept                                             speaks 2025-06-18 ─▶ Operating
                AcceptUnknown                                      error: the server speaks revision `2020-01-01`, we speak {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} ─▶ Closed
                Refused                                            error: the server refused `initialize` ─▶ Closed
            operating
                Request("ping")                                    serve negotiated:2025-06-18 ─▶ Operating
                Request("initialize")                              -32601 `initialize` goes the other way ─▶ Operating
                Request("tools/list")                              -32601 `tools/list` goes the other way ─▶ Operating
                Request("prompts/list")                            -32601 `prompts/list` goes the other way ─▶ Operating
                Request("roots/list")                              serve negotiated:2025-06-18 ─▶ Operating
                Request("sampling/createMessage")                  -32601 `sampling/createMessage` takes the capability `sampling`, which was not declared ─▶ Operating
                Request("no/such")                                 -32601 method not found: no/such ─▶ Operating
                Notification("notifications/initialized")          drop ─▶ Operating
                Notification("notifications/progress")             serve negotiated:2025-06-18 ─▶ Operating
                Notification("notifications/message")              serve negotiated:2025-06-18 ─▶ Operating
                Notification("notifications/tools/list_changed")   serve negotiated:2025-06-18 ─▶ Operating
                Notification("notifications/roots/list_changed")   drop ─▶ Operating
                Notification("no/such")                            drop ─▶ Operating
                CancelInitialize                                   cancel 1 ─▶ Operating
                CancelOther                                        cancel "7" ─▶ Operating
                CancelNothing                                      drop ─▶ Operating
                Malformed                                          no answer ─▶ Operating
                Ended                                              - ─▶ Closed
                Hello                                              error: there is no handshake under way ─▶ Operating
                Accept                                             error: there is no handshake under way ─▶ Operating
                AcceptUnknown                                      error: there is no handshake under way ─▶ Operating
                Refused                                            error: there is no handshake under way ─▶ Operating
            closed
                Request("ping")                                    -32600 the conversation is over ─▶ Closed
                Request("initialize")                              -32600 the conversation is over ─▶ Closed
                Request("tools/list")                              -32600 the conversation is over ─▶ Closed
                Request("prompts/list")                            -32600 the conversation is over ─▶ Closed
                Request("roots/list")                              -32600 the conversation is over ─▶ Closed
                Request("sampling/createMessage")                  -32600 the conversation is over ─▶ Closed
                Request("no/such")                                 -32600 the conversation is over ─▶ Closed
                Notification("notifications/initialized")          drop ─▶ Closed
                Notification("notifications/progress")             drop ─▶ Closed
                Notification("notifications/message")              drop ─▶ Closed
                Notification("notifications/tools/list_changed")   drop ─▶ Closed
                Notification("notifications/roots/list_changed")   drop ─▶ Closed
                Notification("no/such")                            drop ─▶ Closed
                CancelInitialize                                   drop ─▶ Closed
                CancelOther                                        drop ─▶ Closed
                CancelNothing                                      drop ─▶ Closed
                Malformed                                          no answer ─▶ Closed
                Ended                                              - ─▶ Closed
                Hello                                              error: there is no handshake under way ─▶ Closed
                Accept                                             error: there is no handshake under way ─▶ Closed
                AcceptUnknown                                      error: there is no handshake under way ─▶ Closed
                Refused                                            error: there is no handshake under way ─▶ Closed
        "#]],
    );
}
