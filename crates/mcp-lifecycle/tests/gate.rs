//! What may be said: every method, in every revision, by every capability.

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

use common::{whole_client, whole_server, with_elicitation};
use expect_test::expect;
use mcp_lifecycle::{
    Caller, Culprit, Declared, ElicitationModes, GateError, Outbound, Refusal, admit_notification,
    admit_request,
};
use mcp_types::{
    ClientCapabilities, Method, PromptsCapability, ResourcesCapability, Revision,
    ServerCapabilities, Side, ToolsCapability,
};

/// One letter a revision: `.` it isn't there, `y` allowed, `-` not declared.
fn inbound(method: Method, to: Side, ours_whole: bool, theirs_whole: bool) -> String {
    let (server, client) = (whole_server(), whole_client());
    let (no_server, no_client) = (ServerCapabilities::new(), ClientCapabilities::new());
    let of_server = |whole: bool| Declared::Server(if whole { &server } else { &no_server });
    let of_client = |whole: bool| Declared::Client(if whole { &client } else { &no_client });
    let (receiver, sender) = match to {
        Side::Server => (of_server(ours_whole), of_client(theirs_whole)),
        _ => (of_client(ours_whole), of_server(theirs_whole)),
    };
    let letters = Revision::ALL.map(|revision| {
        let admitted = if method.is_request() {
            admit_request(method.as_str(), revision, receiver)
        } else {
            admit_notification(method.as_str(), revision, receiver, sender)
        };
        match admitted {
            Ok(known) => {
                assert_eq!(known, method);
                'y'
            }
            Err(Refusal::NotInRevision { .. }) => '.',
            Err(Refusal::NotDeclared { .. }) => '-',
            Err(Refusal::WrongDirection { .. } | Refusal::Unknown | _) => 'x',
        }
    });
    letters.iter().collect()
}

fn outbound(method: Method, to: Side, ours_whole: bool, theirs_whole: bool) -> String {
    let (server, client) = (whole_server(), whole_client());
    let (no_server, no_client) = (ServerCapabilities::new(), ClientCapabilities::new());
    let of_server = |whole: bool| Declared::Server(if whole { &server } else { &no_server });
    let of_client = |whole: bool| Declared::Client(if whole { &client } else { &no_client });
    let (ours, theirs) = match to {
        Side::Server => (of_client(ours_whole), of_server(theirs_whole)),
        _ => (of_server(ours_whole), of_client(theirs_whole)),
    };
    let letters =
        Revision::ALL.map(|revision| match Outbound::new(revision, ours, theirs).check(method) {
            Ok(()) => 'y',
            Err(GateError::NotInRevision { .. }) => '.',
            Err(GateError::PeerLacks { .. }) => '-',
            Err(GateError::NotDeclared { .. }) => 'o',
            Err(_) => 'x',
        });
    letters.iter().collect()
}

// Shows: BASE-034, LIFE-029, LIFE-030, PROMPTS-021, RESOURCES-003, TOOLS-007, TASK-006, TASK-007
#[test]
fn every_method_in_every_revision_by_every_capability() {
    let mut table = String::from(
        "five revisions, oldest first: `y` allowed, `.` not in it, `-` the other side has not\n\
         declared it, `o` we have not; coming in, `-` is whoever has to. Declared by both sides,\n\
         the receiver, the sender, nobody.\n",
    );
    for method in Method::ALL {
        for (to, arrow) in [(Side::Server, "to server"), (Side::Client, "to client")] {
            let sides = [(true, true), (true, false), (false, true), (false, false)];
            let coming = sides.map(|(receiver, sender)| inbound(method, to, receiver, sender));
            let going = sides.map(|(receiver, sender)| outbound(method, to, sender, receiver));
            if method.may_be_sent_by(if to == Side::Server { Side::Client } else { Side::Server }) {
                let name = method.as_str().trim_start_matches("notifications/");
                let (coming, going) = (coming.join(" "), going.join(" "));
                let _ = writeln!(table, "{name:<26}{arrow}  in {coming}  out {going}");
            } else {
                assert!(coming.iter().chain(&going).all(|row| row == "xxxxx"), "{method} {arrow}");
            }
        }
    }
    expect![[r#"
        five revisions, oldest first: `y` allowed, `.` not in it, `-` the other side has not
        declared it, `o` we have not; coming in, `-` is whoever has to. Declared by both sides,
        the receiver, the sender, nobody.
        initialize                to server  in yyyy. yyyy. yyyy. yyyy.  out yyyy. yyyy. yyyy. yyyy.
        ping                      to server  in yyyy. yyyy. yyyy. yyyy.  out yyyy. yyyy. yyyy. yyyy.
        ping                      to client  in yyyy. yyyy. yyyy. yyyy.  out yyyy. yyyy. yyyy. yyyy.
        server/discover           to server  in ....y ....y ....y ....y  out ....y ....y ....y ....y
        tools/list                to server  in yyyyy yyyyy ----- -----  out yyyyy yyyyy ----- -----
        tools/call                to server  in yyyyy yyyyy ----- -----  out yyyyy yyyyy ----- -----
        resources/list            to server  in yyyyy yyyyy ----- -----  out yyyyy yyyyy ----- -----
        resources/templates/list  to server  in yyyyy yyyyy ----- -----  out yyyyy yyyyy ----- -----
        resources/read            to server  in yyyyy yyyyy ----- -----  out yyyyy yyyyy ----- -----
        resources/subscribe       to server  in yyyy. yyyy. ----. ----.  out yyyy. yyyy. ----. ----.
        resources/unsubscribe     to server  in yyyy. yyyy. ----. ----.  out yyyy. yyyy. ----. ----.
        prompts/list              to server  in yyyyy yyyyy ----- -----  out yyyyy yyyyy ----- -----
        prompts/get               to server  in yyyyy yyyyy ----- -----  out yyyyy yyyyy ----- -----
        completion/complete       to server  in yyyyy yyyyy y---- y----  out yyyyy yyyyy y---- y----
        logging/setLevel          to server  in yyyy. yyyy. ----. ----.  out yyyy. yyyy. ----. ----.
        subscriptions/listen      to server  in ....y ....y ....y ....y  out ....y ....y ....y ....y
        sampling/createMessage    to client  in yyyy. yyyy. ----. ----.  out yyyy. yyyy. ----. ----.
        elicitation/create        to client  in ..yy. ..yy. ..--. ..--.  out ..yy. ..yy. ..--. ..--.
        roots/list                to client  in yyyy. yyyy. ----. ----.  out yyyy. yyyy. ----. ----.
        tasks/get                 to server  in ...y. ...y. ...-. ...-.  out ...y. ...y. ...-. ...-.
        tasks/get                 to client  in ...y. ...y. ...-. ...-.  out ...y. ...y. ...-. ...-.
        tasks/result              to server  in ...y. ...y. ...-. ...-.  out ...y. ...y. ...-. ...-.
        tasks/result              to client  in ...y. ...y. ...-. ...-.  out ...y. ...y. ...-. ...-.
        tasks/list                to server  in ...y. ...y. ...-. ...-.  out ...y. ...y. ...-. ...-.
        tasks/list                to client  in ...y. ...y. ...-. ...-.  out ...y. ...y. ...-. ...-.
        tasks/cancel              to server  in ...y. ...y. ...-. ...-.  out ...y. ...y. ...-. ...-.
        tasks/cancel              to client  in ...y. ...y. ...-. ...-.  out ...y. ...y. ...-. ...-.
        initialized               to server  in yyyy. yyyy. yyyy. yyyy.  out yyyy. yyyy. yyyy. yyyy.
        cancelled                 to server  in yyyyy yyyyy yyyyy yyyyy  out yyyyy yyyyy yyyyy yyyyy
        cancelled                 to client  in yyyyy yyyyy yyyyy yyyyy  out yyyyy yyyyy yyyyy yyyyy
        progress                  to server  in yyyyy yyyyy yyyyy yyyyy  out yyyyy yyyyy yyyyy yyyyy
        progress                  to client  in yyyyy yyyyy yyyyy yyyyy  out yyyyy yyyyy yyyyy yyyyy
        message                   to client  in yyyyy yyyyy yyyyy yyyyy  out yyyyy ooooo yyyyy ooooo
        tools/list_changed        to client  in yyyyy ----- yyyyy -----  out yyyyy ooooo yyyyy ooooo
        resources/list_changed    to client  in yyyyy ----- yyyyy -----  out yyyyy ooooo yyyyy ooooo
        resources/updated         to client  in yyyyy ----- yyyyy -----  out yyyyy ooooo yyyyy ooooo
        prompts/list_changed      to client  in yyyyy ----- yyyyy -----  out yyyyy ooooo yyyyy ooooo
        roots/list_changed        to server  in yyyy. ----. yyyy. ----.  out yyyy. oooo. yyyy. oooo.
        elicitation/complete      to client  in ...y. ...y. ...-. ...-.  out ...y. ...y. ...-. ...-.
        tasks/status              to server  in ...y. ...-. ...y. ...-.  out ...y. ...o. ...y. ...o.
        tasks/status              to client  in ...y. ...-. ...y. ...-.  out ...y. ...o. ...y. ...o.
        subscriptions/acknowledgedto client  in ....y ....y ....y ....y  out ....y ....y ....y ....y
    "#]]
    .assert_eq(&table);
}

// Shows: BASE-002, LIFE-030
#[test]
fn what_nobody_knows_is_refused_in_every_revision() {
    let server = whole_server();
    for revision in Revision::ALL {
        for name in ["", "tools/List", "tools", "rpc.discover", "notifications/initialized"] {
            let refusal = admit_request(name, revision, Declared::Server(&server)).unwrap_err();
            assert_eq!(refusal, Refusal::Unknown, "{name}");
            assert_eq!(refusal.to_error(name, revision).code, -32601);
        }
        let client = whole_client();
        let (ours, theirs) = (Declared::Server(&server), Declared::Client(&client));
        // A request's name isn't a notification's.
        let refusal = admit_notification("tools/call", revision, ours, theirs);
        assert_eq!(refusal, Err(Refusal::Unknown));
    }
}

// Shows: FC-023, BASE-002, LIFE-030, TOOLS-007
#[test]
fn a_host_that_asks_for_everything_gets_what_was_declared() {
    let (ours, theirs) =
        (ClientCapabilities::new(), ServerCapabilities::new().with_tools(ToolsCapability::new()));
    let revision = Revision::V2025_11_25;
    let outbound = Outbound::new(revision, Declared::Client(&ours), Declared::Server(&theirs));
    assert_eq!(outbound.check(Method::ToolsList), Ok(()));
    for (method, capability) in [
        (Method::PromptsList, "prompts"),
        (Method::ResourcesList, "resources"),
        (Method::ResourcesTemplatesList, "resources"),
    ] {
        let error = outbound.check(method).unwrap_err();
        assert_eq!(error, GateError::PeerLacks { method, capability });
        assert_eq!((error.culprit(), error.is_retryable()), (Culprit::Peer, false));
    }
}

// Shows: PROMPTS-021, RESOURCES-003
#[test]
fn a_change_is_announced_only_where_that_was_declared() {
    let caller = Caller::new(Revision::V2025_11_25, ClientCapabilities::new());
    let quiet = ServerCapabilities::new()
        .with_prompts(PromptsCapability::new())
        .with_resources(ResourcesCapability::new());
    for (method, capability) in [
        (Method::NotificationsPromptsListChanged, "prompts.listChanged"),
        (Method::NotificationsResourcesUpdated, "resources.subscribe"),
    ] {
        let error = caller.outbound(&quiet).check(method).unwrap_err();
        assert_eq!(error, GateError::NotDeclared { method, capability });
        assert_eq!(error.culprit(), Culprit::Caller);
        assert_eq!(caller.outbound(&whole_server()).check(method), Ok(()));
    }
}

#[test]
fn a_peer_that_says_less_than_it_does_is_heard() {
    let client = ClientCapabilities::new();
    let receiver = Declared::Client(&client);
    let hear = |name: &str, server: &ServerCapabilities| {
        admit_notification(name, Revision::V2025_06_18, receiver, Declared::Server(server))
    };
    let tools = ServerCapabilities::new().with_tools(ToolsCapability::new());
    let changed = Method::NotificationsToolsListChanged;
    assert_eq!(hear("notifications/tools/list_changed", &tools), Ok(changed));
    assert!(hear("notifications/prompts/list_changed", &tools).is_err());
    assert_eq!(hear("notifications/message", &tools), Ok(Method::NotificationsMessage));
}

// Shows: LIFE-011
#[test]
fn before_the_client_is_ready_a_server_logs_and_pings_and_nothing_else() {
    let caller = Caller::new(Revision::V2025_11_25, whole_client());
    let server = whole_server();
    let early = caller.outbound(&server).initialized(false);
    let allowed: Vec<_> =
        Method::ALL.into_iter().filter(|method| early.check(*method).is_ok()).collect();
    assert_eq!(allowed, [Method::Ping, Method::NotificationsMessage]);
    let method = Method::RootsList;
    assert_eq!(early.check(method), Err(GateError::TooEarly { method }));
    assert!(GateError::TooEarly { method }.is_retryable());
}

// Shows: ELICIT-008
#[test]
fn elicitation_without_a_mode_means_forms() {
    let modes = |json: &str, revision| {
        let modes = ElicitationModes::of(&with_elicitation(json), revision);
        (modes.form, modes.url)
    };
    for revision in Revision::ALL {
        assert_eq!(modes("{}", revision), modes(r#"{"form":{}}"#, revision));
    }
    let (c, d) = (Revision::V2025_06_18, Revision::V2025_11_25);
    assert_eq!(modes("{}", d), (true, false));
    assert_eq!(modes(r#"{"url":{}}"#, d), (false, true));
    assert_eq!(modes(r#"{"form":{},"url":{}}"#, d), (true, true));
    assert_eq!(modes(r#"{"form":{},"url":{}}"#, c), (true, false));
    assert_eq!(modes("{}", Revision::V2025_03_26), (false, false));

    let server = whole_server();
    let caller = Caller::new(d, with_elicitation("{}"));
    let outbound = caller.outbound(&server);
    assert_eq!(outbound.check_elicitation(false), Ok(()));
    let method = Method::ElicitationCreate;
    let lacks = GateError::PeerLacks { method, capability: "elicitation.url" };
    assert_eq!(outbound.check_elicitation(true), Err(lacks));
    let caller = Caller::new(d, with_elicitation(r#"{"url":{}}"#));
    let lacks = GateError::PeerLacks { method, capability: "elicitation.form" };
    assert_eq!(caller.outbound(&server).check_elicitation(false), Err(lacks));
}

// Shows: TASK-002, TASK-003, TASK-004, TASK-005, TASK-101
#[test]
fn only_declared_requests_run_as_tasks() {
    let (server, client) = (whole_server(), whole_client());
    let (ours, theirs) = (Declared::Client(&client), Declared::Server(&server));
    let d = Revision::V2025_11_25;
    let runs = |declared: Declared<'_>, revision| {
        let runs = |method: &Method| declared.runs_as_task(*method, revision);
        Method::ALL.into_iter().filter(runs).collect::<Vec<_>>()
    };
    assert_eq!(runs(theirs, d), [Method::ToolsCall]);
    assert_eq!(runs(ours, d), [Method::SamplingCreateMessage, Method::ElicitationCreate]);
    for revision in Revision::ALL.into_iter().filter(|revision| *revision != d) {
        assert_eq!(runs(theirs, revision), []);
    }
    assert_eq!(Outbound::new(d, ours, theirs).check_as_task(Method::ToolsCall), Ok(()));
    let method = Method::PromptsGet;
    assert!(matches!(
        Outbound::new(d, ours, theirs).check_as_task(method),
        Err(GateError::PeerLacks { capability: "tasks.requests", .. })
    ));
    let tools = ServerCapabilities::new().with_tools(ToolsCapability::new());
    let plain = Outbound::new(d, ours, Declared::Server(&tools));
    assert!(plain.check(Method::ToolsCall).is_ok());
    assert!(plain.check_as_task(Method::ToolsCall).is_err());
    let older = Outbound::new(Revision::V2025_06_18, ours, theirs);
    assert!(older.check_as_task(Method::ToolsCall).is_err());
}
