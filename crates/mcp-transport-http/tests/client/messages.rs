//! Messages and their answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use mcp_jsonrpc::link::v1::{Connector, Incoming, Link, LinkExt};
use mcp_jsonrpc::testing::into_link_suite;
use mcp_jsonrpc::{FaultKind, Outgoing};
use mcp_transport_http::client::{HttpConnector, HttpError};
use serde_json::{Value, json};

use crate::host::{
    Came, ask, came, connect, hello, link_to, meanwhile, notification, outcome_of, quick, request,
    result_of, tool, why, within,
};
use crate::script::{Reply, Request, Script, hello as hello_result};

// Shows: TRANSPORT-HTTP-007, TRANSPORT-HTTP-008, TRANSPORT-HTTP-009, TRANSPORT-HTTP-015, FC-052
#[tokio::test]
async fn each_message_is_a_post_of_its_own_and_takes_both_kinds_of_answer() {
    let script = Script::start(async |request, mut reply| {
        if request.rpc() == "tools/list" {
            let body = json!({"jsonrpc": "2.0", "id": request.id(), "result": {}}).to_string();
            let kind = "Application/JSON; charset=\"utf-8\"";
            reply.answer(200, &[("Content-Type", kind)], &body).await;
            return reply;
        }
        if request.rpc() != "tools/call" {
            return reply.usual(&request, None).await;
        }
        reply.stream().await;
        let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}});
        let asked = json!({"jsonrpc": "2.0", "id": "s1", "method": "roots/list"});
        let result = json!({"jsonrpc": "2.0", "id": request.id(), "result": {"sum": 3}});
        reply.message(&progress).await;
        reply.message(&asked).await;
        reply.chunk(&format!("event: message\r\ndata: {result}\r\n\r\n")).await;
        reply.end().await;
        reply
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    assert_eq!(ask(&mut link, request(1, "tools/list", &json!({}))).await.unwrap(), json!({}));
    link.send(tool(2, "add")).await.unwrap();
    let (outcome, before) = outcome_of(&mut link, 2).await;
    assert_eq!(outcome.unwrap(), Came::Result(2.into(), json!({"sum": 3})));
    let progress = Came::Notification("notifications/progress".to_owned(), json!({}));
    assert_eq!(before, [progress, Came::Request("s1".into(), "roots/list".to_owned())]);
    link.send(Outgoing::result("s1".into(), &json!({"roots": []})).unwrap()).await.unwrap();
    let mut kept = Vec::new();
    let answered = script.until("the answer", |script| script.count("POST response") == 1);
    meanwhile(&mut link, &mut kept, answered).await;
    assert_eq!(kept, []);

    let requests = script.requests();
    for request in requests.iter().filter(|request| request.method == "POST") {
        assert_eq!(request.header("accept"), Some("application/json, text/event-stream"));
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert!(request.json().is_object(), "{request:?}");
    }
    let posts = requests.iter().filter(|request| request.method == "POST").count();
    assert_eq!(posts, 5);
}

// Shows: TRANSPORT-HTTP-043, TRANSPORT-HTTP-044, TRANSPORT-SESSION-005, LIFE-023, FC-065
#[tokio::test]
async fn session_and_revision_are_on_everything_after_the_handshake_and_on_nothing_before() {
    let script = Script::start(async |request, mut reply| {
        match (&*request.method, &*request.rpc()) {
            ("POST", "initialize") => {
                let body = hello_result(&request, "2025-06-18").to_string();
                let headers =
                    [("Content-Type", "application/json"), ("mcp-session-id", "abc.DEF-1")];
                reply.answer(200, &headers, &body).await;
            }
            ("GET", _) if request.header("last-event-id").is_some() => {
                reply.stream().await;
                let result = json!({"jsonrpc": "2.0", "id": 7, "result": {}});
                reply.event("2", &result).await;
                reply.end().await;
            }
            ("POST", "tools/call") => {
                reply.stream().await;
                reply.chunk("id: 1\nretry: 0\ndata:\n\n").await;
                reply.end().await;
            }
            _ => return reply.usual(&request, None).await,
        }
        reply
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    ask(&mut link, tool(7, "x")).await.unwrap();
    within(link.close()).await.unwrap();
    let story = script.story();
    assert_eq!(
        story,
        ["initialize", "notifications/initialized", "GET", "tools/call", "GET", "DELETE"]
    );
    for request in script.requests() {
        let (session, version) =
            (request.header("mcp-session-id"), request.header("mcp-protocol-version"));
        if request.rpc() == "initialize" {
            assert_eq!((session, version), (None, None));
        } else {
            assert_eq!((session, version), (Some("abc.DEF-1"), Some("2025-06-18")), "{request:?}");
        }
        if request.method == "GET" {
            assert_eq!(request.header("accept"), Some("text/event-stream"));
        }
    }
}

// Shows: TRANSPORT-SESSION-010, TRANSPORT-SESSION-004, FC-063
#[tokio::test]
async fn closing_ends_streams_and_sends_one_delete_whatever_the_server_makes_of_it() {
    for status in [Some(200), Some(204), Some(404), Some(405), Some(500), None] {
        let script = Script::start(move |request: Request, mut reply: Reply| async move {
            match (&*request.method, status) {
                ("GET", _) => {
                    reply.stream().await;
                    reply.gone().await;
                    reply
                }
                ("DELETE", None) => {
                    reply.gone().await;
                    reply
                }
                ("DELETE", Some(status)) => {
                    reply.status(status).await;
                    reply
                }
                _ => reply.usual(&request, Some("s")).await,
            }
        })
        .await;
        let mut config = quick();
        config.times.close = Duration::from_millis(100);
        let mut link = connect(&script.url(), config).await;
        ask(&mut link, request(1, "ping", &json!({}))).await.unwrap();
        link.send(notification("notifications/roots/list_changed")).await.unwrap();
        within(link.close()).await.unwrap();
        // Closing twice is fine.
        within(link.close()).await.unwrap();
        assert!(link.recv().await.unwrap_err().is_closed());
        assert!(link.send(tool(2, "x")).await.unwrap_err().is_closed());
        assert_eq!(script.count("DELETE"), 1, "{status:?}");
        // What was on its way got there first.
        assert_eq!(script.count("notifications/roots/list_changed"), 1);
        script.until("all connections are closed", |script| script.open_connections() == 0).await;
        assert!(!format!("{link:?}").contains("\"s\""));
    }
}

// Shows: FC-063
#[tokio::test]
async fn dropping_a_link_closes_its_connections_and_says_nothing() {
    let script = Script::start(async |request, mut reply| match &*request.title() {
        "GET" | "tools/call" => {
            reply.stream().await;
            reply.gone().await;
            reply
        }
        _ => reply.usual(&request, Some("s")).await,
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    link.send(tool(1, "x")).await.unwrap();
    let mut kept = Vec::new();
    let called = script.until("the call", |script| script.count("tools/call") == 1);
    meanwhile(&mut link, &mut kept, called).await;
    assert!(script.open_connections() >= 2);
    drop(link);
    script.until("all connections are closed", |script| script.open_connections() == 0).await;
    assert_eq!(script.count("DELETE"), 0);
}

#[test]
fn a_connector_is_taken_in_place_of_a_link() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let _entered = runtime.enter();
    let connector = || HttpConnector::new("http://127.0.0.1:9/mcp", quick()).unwrap();
    for test in into_link_suite(move || (connector(), ())) {
        test.run();
    }
}

#[tokio::test]
async fn a_connector_opens_links_that_send_nothing_by_themselves() {
    let script = Script::start(async |request, reply| reply.usual(&request, None).await).await;
    let connector = HttpConnector::new(&script.url(), quick()).unwrap();
    let (first, mut second) = (connector.open().await.unwrap(), connector.open().await.unwrap());
    assert!(first.features().resumable && first.features().stream_per_request);
    ask(&mut second, request(1, "ping", &json!({}))).await.unwrap();
    assert_eq!(script.story(), ["ping"]);
}

// Shows: FC-014, FC-013
#[tokio::test]
async fn an_answer_to_a_notification_is_tolerated_and_an_error_in_it_reported() {
    let error = json!({
        "jsonrpc": "2.0", "id": null, "error": {"code": -32601, "message": "not known"}
    });
    let script = Script::start(move |request, mut reply| {
        let error = error.clone();
        async move {
            match &*request.title() {
                // As some servers do.
                "notifications/initialized" => {
                    reply.json(&json!({"jsonrpc": "2.0", "result": {}})).await;
                }
                "notifications/roots/list_changed" => reply.json(&error).await,
                "notifications/progress" => {
                    reply.stream().await;
                    reply.message(&json!({"jsonrpc": "2.0", "method": "notifications/x"})).await;
                    reply.end().await;
                }
                "notifications/odd" => reply.status(500).await,
                _ => return reply.usual(&request, None).await,
            }
            reply
        }
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    for method in
        ["notifications/odd", "notifications/roots/list_changed", "notifications/progress"]
    {
        link.send(notification(method)).await.unwrap();
    }
    let first = came(&within(link.recv()).await.unwrap());
    assert_eq!(first, Came::Error(None, -32601, "not known".to_owned()));
    let second = came(&within(link.recv()).await.unwrap());
    assert_eq!(second, Came::Notification("notifications/x".to_owned(), Value::Null));
    // The link goes on.
    ask(&mut link, request(1, "ping", &json!({}))).await.unwrap();
}

#[tokio::test]
async fn notifications_leave_one_after_the_other() {
    let running = Arc::new(AtomicUsize::new(0));
    let script = Script::start(move |request, mut reply| {
        let running = Arc::clone(&running);
        async move {
            if request.rpc().starts_with("notifications/n") {
                assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0);
                tokio::task::yield_now().await;
                running.fetch_sub(1, Ordering::SeqCst);
                reply.status(202).await;
                return reply;
            }
            reply.usual(&request, None).await
        }
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    for n in 0..20 {
        link.send(notification(&format!("notifications/n{n}"))).await.unwrap();
    }
    within(link.close()).await.unwrap();
    let order: Vec<String> =
        script.story().into_iter().filter(|story| story.starts_with("notifications/n")).collect();
    assert_eq!(order, (0..20).map(|n| format!("notifications/n{n}")).collect::<Vec<_>>());
}

/// One `tools/call`, answered by these bytes; how it ends.
async fn answered(raw: &'static [u8]) -> (Result<Came, String>, Script) {
    let script = Script::start(move |request, mut reply| async move {
        if request.rpc() == "tools/call" {
            reply.raw(raw).await;
            reply.cut();
            return reply;
        }
        reply.usual(&request, None).await
    })
    .await;
    let mut config = quick();
    config.limits.message_bytes = 1000;
    let mut link = connect(&script.url(), config).await;
    link.send(tool(1, "x")).await.unwrap();
    let (outcome, _) = outcome_of(&mut link, 1).await;
    // Nothing else is the matter with the link.
    ask(&mut link, request(2, "ping", &json!({}))).await.unwrap();
    (outcome.map_err(|cause| why(&cause).to_string()), script)
}

// Shows: TRANSPORT-HTTP-004, TRANSPORT-HTTP-012, FC-059
#[tokio::test]
async fn an_answer_that_is_no_response_is_an_error_that_says_what_it_is() {
    let long = "x".repeat(2000);
    let leak = |text: String| -> &'static [u8] { text.into_bytes().leak() };
    let sized = |head: &str, body: &str| {
        leak(format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
    };
    let json_head = "200 OK\r\nContent-Type: application/json";
    let rpc = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"no session"}}"#;
    let table: Vec<(&'static [u8], &str)> = vec![
        (
            sized("502 Bad Gateway\r\nContent-Type: text/html", "<h1>Bad\n gateway</h1>"),
            "the server answered 502 Bad Gateway: <h1>Bad gateway</h1>",
        ),
        (
            sized("403 Forbidden\r\nContent-Type: application/json", rpc),
            "the server answered 403 Forbidden: no session",
        ),
        (sized("404 Not Found", ""), "the server answered 404 Not Found"),
        (
            sized("200 OK\r\nContent-Type: text/html", "<p>hi"),
            "the server answered 200 OK with : text/html, which is no MCP: <p>hi",
        ),
        (sized("202 Accepted", ""), "the stream ended without a response"),
        (sized(json_head, ""), "the answer is no response to the request"),
        (
            sized(json_head, "{\"jsonrpc\":\"2.0\",\"id\":1,"),
            "the answer is no response to the request",
        ),
        (
            sized(json_head, r#"{"jsonrpc":"2.0","id":"1","result":{}}"#),
            "the answer is no response to the request",
        ),
        (
            sized(&format!("{json_head}\r\nContent-Encoding: gzip"), "x"),
            "the answer is encoded as : gzip, which was not asked for",
        ),
        (sized(json_head, &long), "the answer has 2000 bytes or more, past the limit of 1000"),
        (
            leak(format!(
                "HTTP/1.1 {json_head}\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n{}\r\n3e8\r\n{}\r\n",
                &long[..1000],
                &long[..1000],
            )),
            "the answer has 2000 bytes or more, past the limit of 1000",
        ),
        (
            leak(format!("HTTP/1.1 {json_head}\r\nContent-Length: 10\r\n\r\n{{")),
            "the answer was cut off",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Ty", "the connection broke before an answer came"),
        (b"SSH-2.0-OpenSSH\r\n", "the connection broke before an answer came"),
        (b"", "the connection broke before an answer came"),
    ];
    for (raw, expected) in table {
        let (outcome, script) = answered(raw).await;
        assert_eq!(outcome, Err(expected.to_owned()), "{:?}", String::from_utf8_lossy(raw));
        assert_eq!(script.count("tools/call"), 1);
    }
}

#[tokio::test]
async fn a_json_rpc_error_that_can_only_be_about_the_request_is_its_response() {
    let leak = |text: String| -> &'static [u8] { text.into_bytes().leak() };
    for (status, id, is_response) in [
        ("400 Bad Request", None, true),
        ("400 Bad Request", Some("null"), true),
        ("400 Bad Request", Some("1"), true),
        ("200 OK", Some("null"), true),
        ("500 Oops", Some("1"), true),
        ("500 Oops", None, false),
        ("400 Bad Request", Some("2"), false),
    ] {
        let id = id.map_or(String::new(), |id| format!("\"id\":{id},"));
        let body =
            format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32602,"message":"wrong"}}}}"#);
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let (outcome, _) = answered(leak(head + &body)).await;
        let response = Ok(Came::Error(Some(1.into()), -32602, "wrong".to_owned()));
        assert_eq!(outcome == response, is_response, "{status} {id} {outcome:?}");
    }
}

// Shows: FC-058
#[tokio::test]
async fn a_stream_that_ends_without_response_or_event_id_fails_the_call_at_once() {
    for cut in ["", "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", ": alive\n\n"] {
        let raw = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
             Transfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n",
            if cut.is_empty() { String::new() } else { format!("{:x}\r\n{cut}\r\n", cut.len()) }
        );
        let (outcome, script) = answered(raw.into_bytes().leak()).await;
        assert_eq!(outcome, Err("the stream ended without a response".to_owned()));
        // The listening one only.
        assert_eq!(script.count("GET"), 1);
    }
}

#[tokio::test]
async fn frames_that_are_no_messages_cost_only_themselves() {
    let script = Script::start(async |request, mut reply| {
        if request.rpc() != "tools/call" {
            return reply.usual(&request, None).await;
        }
        reply.stream().await;
        reply.chunk("data: nonsense\n\nevent: other\ndata: {}\n\n").await;
        reply.chunk("data: [{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"},1]\n\n").await;
        reply.chunk("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n").await;
        reply.end().await;
        reply
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    link.send(tool(1, "x")).await.unwrap();
    let Incoming::Malformed(fault) = within(link.recv()).await.unwrap() else { panic!() };
    assert!(matches!(fault.kind, FaultKind::NotJson { .. }));
    let Incoming::Batch(messages) = within(link.recv()).await.unwrap() else { panic!() };
    assert!(messages[0].is_ok() && messages[1].is_err());
    assert_eq!(result_of(&mut link, 1).await.unwrap(), json!({}));
}

// Shows: TRANSPORT-HTTP-028
#[tokio::test]
async fn giving_a_request_up_says_so_and_then_closes_its_stream() {
    let script = Script::start(async |request, mut reply| match &*request.title() {
        "tools/call" => {
            reply.stream().await;
            reply.chunk("id: 1\ndata:\n\n").await;
            reply.gone().await;
            reply
        }
        _ => reply.usual(&request, Some("s")).await,
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    link.send(tool(1, "x")).await.unwrap();
    let mut kept = Vec::new();
    let called = script.until("the call", |script| script.count("tools/call") == 1);
    meanwhile(&mut link, &mut kept, called).await;
    link.abandon(&1.into(), Some(notification("notifications/cancelled"))).unwrap();
    let done = script.until("the stream is closed", |script| {
        script.count("notifications/cancelled") == 1 && script.open_connections() <= 1
    });
    meanwhile(&mut link, &mut kept, done).await;
    // It isn't taken up again, and nobody is told that it is over.
    assert_eq!(kept, []);
    assert_eq!(script.count("GET"), 1);
    // Once it is over there is nothing to give up.
    ask(&mut link, request(2, "ping", &json!({}))).await.unwrap();
    link.abandon(&2.into(), Some(notification("notifications/cancelled"))).unwrap();
    ask(&mut link, request(3, "ping", &json!({}))).await.unwrap();
    assert_eq!(script.count("notifications/cancelled"), 1);
}

#[tokio::test]
async fn a_request_that_never_left_is_given_up_in_silence() {
    let script = Script::start(async |request, reply| reply.usual(&request, Some("s")).await).await;
    let mut link = connect(&script.url(), quick()).await;
    link.send(tool(1, "x")).await.unwrap();
    // Requests wait for `notifications/initialized` to be taken.
    link.abandon(&1.into(), Some(notification("notifications/cancelled"))).unwrap();
    ask(&mut link, request(2, "ping", &json!({}))).await.unwrap();
    assert_eq!(script.count("tools/call") + script.count("notifications/cancelled"), 0);
}

#[tokio::test]
async fn an_id_is_used_by_one_request_at_a_time() {
    let script = Script::start(async |request, reply| reply.usual(&request, None).await).await;
    let mut link = link_to(&script.url(), quick());
    link.send(request(1, "ping", &json!({}))).await.unwrap();
    assert!(link.send(request(1, "ping", &json!({}))).await.is_err());
    result_of(&mut link, 1).await.unwrap();
    ask(&mut link, request(1, "ping", &json!({}))).await.unwrap();
}

// Shows: TRANSPORT-HTTP-032, FC-054
#[tokio::test]
async fn a_server_without_a_stream_of_its_own_is_asked_once() {
    for status in [405, 404, 400, 501, 401] {
        for session in [None, Some("s")] {
            let script = Script::start(move |request: Request, mut reply: Reply| async move {
                if request.method == "GET" {
                    reply.answer(status, &[("Content-Type", "text/plain")], "no").await;
                    return reply;
                }
                reply.usual(&request, session).await
            })
            .await;
            let mut link = connect(&script.url(), quick()).await;
            for id in 1..5 {
                ask(&mut link, tool(id, "x")).await.unwrap();
            }
            assert_eq!((script.count("GET"), script.count("initialize")), (1, 1), "{status}");
        }
    }
}

// Shows: TRANSPORT-HTTP-030, TRANSPORT-HTTP-031, TRANSPORT-HTTP-033
#[tokio::test]
async fn requests_wait_until_the_handshake_was_taken_and_the_servers_own_stream_is_open() {
    let open = Arc::new(AtomicUsize::new(0));
    let script = Script::start(move |request: Request, mut reply: Reply| {
        let open = Arc::clone(&open);
        async move {
            let a_moment = tokio::time::sleep(Duration::from_millis(30));
            match &*request.title() {
                "notifications/initialized" => {
                    a_moment.await;
                    assert_eq!(open.swap(1, Ordering::SeqCst), 0);
                }
                "GET" => {
                    assert_eq!(open.load(Ordering::SeqCst), 1);
                    a_moment.await;
                    assert_eq!(open.swap(2, Ordering::SeqCst), 1);
                    reply.stream().await;
                    let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"});
                    reply.message(&asked).await;
                    reply.gone().await;
                    return reply;
                }
                "tools/call" | "notifications/x" => assert_eq!(open.load(Ordering::SeqCst), 2),
                _ => {}
            }
            reply.usual(&request, Some("s")).await
        }
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    link.send(tool(1, "x")).await.unwrap();
    link.send(notification("notifications/x")).await.unwrap();
    let (outcome, mut kept) = outcome_of(&mut link, 1).await;
    assert!(outcome.is_ok());
    while kept.is_empty() {
        kept.push(came(&within(link.recv()).await.unwrap()));
    }
    assert_eq!(kept, [Came::Request(1.into(), "roots/list".to_owned())]);
    within(link.close()).await.unwrap();
    assert_eq!(script.count("tools/call") + script.count("notifications/x"), 2);
}

#[tokio::test]
async fn a_server_that_keeps_its_stream_back_is_not_waited_for_for_ever() {
    let script = Script::start(async |request: Request, mut reply: Reply| {
        if request.method == "GET" {
            reply.gone().await;
            return reply;
        }
        reply.usual(&request, Some("s")).await
    })
    .await;
    let mut config = quick();
    config.times.listen = Duration::from_millis(50);
    let mut link = connect(&script.url(), config).await;
    ask(&mut link, tool(1, "x")).await.unwrap();
    let story = ["initialize", "notifications/initialized", "GET", "tools/call"];
    assert_eq!(script.story(), story);
}

#[tokio::test]
async fn without_listening_there_is_no_get() {
    let script = Script::start(async |request, reply| reply.usual(&request, Some("s")).await).await;
    let mut config = quick();
    config.listen = false;
    let mut link = connect(&script.url(), config).await;
    ask(&mut link, tool(1, "x")).await.unwrap();
    assert_eq!(script.count("GET"), 0);
}

#[tokio::test]
async fn a_response_may_come_on_another_stream_than_its_own() {
    let script = Script::start(async |request, mut reply| match &*request.title() {
        "GET" => {
            reply.stream().await;
            reply.chunk(": open\n\n").await;
            tokio::time::sleep(Duration::from_millis(30)).await;
            for id in [1, 2] {
                reply.message(&json!({"jsonrpc": "2.0", "id": id, "result": {}})).await;
            }
            reply.gone().await;
            reply
        }
        // One says so, the other doesn't.
        "tools/list" => {
            reply.status(202).await;
            reply
        }
        "tools/call" => {
            reply.stream().await;
            reply.gone().await;
            reply
        }
        _ => reply.usual(&request, Some("s")).await,
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    link.send(request(1, "tools/list", &json!({}))).await.unwrap();
    link.send(tool(2, "x")).await.unwrap();
    result_of(&mut link, 1).await.unwrap();
    result_of(&mut link, 2).await.unwrap();
    let mut kept = Vec::new();
    let closed = script.until("its own stream is closed", |script| script.open_connections() <= 2);
    meanwhile(&mut link, &mut kept, closed).await;
    assert_eq!(kept, []);
}

#[tokio::test]
async fn a_message_that_nobody_takes_holds_reading_back() {
    let script = Script::start(async |request, mut reply| match &*request.title() {
        "tools/call" => {
            reply.stream().await;
            for n in 0..500 {
                let note =
                    json!({"jsonrpc": "2.0", "method": "notifications/n", "params": {"n": n}});
                reply.message(&note).await;
            }
            reply.message(&json!({"jsonrpc": "2.0", "id": 1, "result": {}})).await;
            reply.end().await;
            reply
        }
        _ => reply.usual(&request, None).await,
    })
    .await;
    let mut config = quick();
    config.limits.received = 3;
    let mut link = connect(&script.url(), config).await;
    link.send(tool(1, "x")).await.unwrap();
    let (outcome, before) = outcome_of(&mut link, 1).await;
    assert!(outcome.is_ok());
    let numbers: Vec<Value> = before
        .into_iter()
        .map(|came| match came {
            Came::Notification(_, params) => params["n"].clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(numbers, (0..500).map(Value::from).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_link_that_is_full_takes_no_more_until_a_message_is_through() {
    let script = Script::start(async |request, mut reply| {
        if request.rpc() == "tools/call" {
            reply.gone().await;
            return reply;
        }
        reply.usual(&request, None).await
    })
    .await;
    let mut config = quick();
    config.limits.messages = 2;
    let mut link = link_to(&script.url(), config);
    link.send(tool(1, "x")).await.unwrap();
    link.send(tool(2, "x")).await.unwrap();
    let third = link.send(tool(3, "x"));
    let limit = Duration::from_millis(30);
    assert!(tokio::time::timeout(limit, third).await.is_err());
    let mut kept = Vec::new();
    let called = script.until("both calls", |script| script.count("tools/call") == 2);
    meanwhile(&mut link, &mut kept, called).await;
    link.abandon(&1.into(), None).unwrap();
    within(link.send(tool(3, "x"))).await.unwrap();
}

#[tokio::test]
async fn requests_beyond_the_limit_wait_their_turn_and_responses_pass_them() {
    let script = Script::start(async |request, mut reply| match &*request.title() {
        "tools/call" => {
            reply.stream().await;
            reply.message(&json!({"jsonrpc": "2.0", "id": "q", "method": "roots/list"})).await;
            reply.gone().await;
            reply
        }
        _ => reply.usual(&request, None).await,
    })
    .await;
    let mut config = quick();
    config.limits.requests = 1;
    let mut link = connect(&script.url(), config).await;
    link.send(tool(1, "x")).await.unwrap();
    link.send(tool(2, "x")).await.unwrap();
    let asked = came(&within(link.recv()).await.unwrap());
    assert_eq!(asked, Came::Request("q".into(), "roots/list".to_owned()));
    link.send(Outgoing::result("q".into(), &json!({})).unwrap()).await.unwrap();
    let mut kept = Vec::new();
    let answered = script.until("the answer", |script| script.count("POST response") == 1);
    meanwhile(&mut link, &mut kept, answered).await;
    assert_eq!(script.count("tools/call"), 1);
    // The second one gets its turn when the first is given up.
    link.abandon(&1.into(), Some(notification("notifications/cancelled"))).unwrap();
    let called = script.until("the second call", |script| script.count("tools/call") == 2);
    meanwhile(&mut link, &mut kept, called).await;
}

#[tokio::test]
async fn a_session_id_that_is_none_fails_the_handshake() {
    let script = Script::start(async |request, mut reply| {
        let body = hello_result(&request, "2025-11-25").to_string();
        let headers = [("Content-Type", "application/json"), ("Mcp-Session-Id", "with space")];
        reply.answer(200, &headers, &body).await;
        reply
    })
    .await;
    let mut link = link_to(&script.url(), quick());
    let cause = ask(&mut link, hello()).await.unwrap_err();
    assert!(matches!(why(&cause), HttpError::InvalidSessionId));
}

/// Counts how often it is woken.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn each_side_is_woken_by_the_waker_of_its_latest_call() {
    let script =
        Script::start(async |request: Request, reply: Reply| reply.usual(&request, None).await)
            .await;
    let mut link = link_to(&script.url(), quick());
    let bells: Vec<Arc<Bell>> = (0..3).map(|_| Arc::default()).collect();
    let wakers: Vec<Waker> = bells.iter().map(|bell| Arc::clone(bell).into()).collect();
    // First one task receives, then another; a third sends.
    for receiver in &wakers[..2] {
        assert!(link.poll_recv(&mut Context::from_waker(receiver)).is_pending());
    }
    let mut sending = Context::from_waker(&wakers[2]);
    assert!(link.poll_ready(&mut sending).is_ready());
    link.start_send(request(1, "ping", &json!({}))).unwrap();
    assert!(link.poll_flush(&mut sending).is_ready());
    let answer = within(async {
        loop {
            let before = bells[1].0.load(Ordering::SeqCst);
            match link.poll_recv(&mut Context::from_waker(&wakers[1])) {
                Poll::Ready(answer) => return answer,
                // Only when it was woken is there something new.
                Poll::Pending => {
                    while bells[1].0.load(Ordering::SeqCst) == before {
                        tokio::task::yield_now().await;
                    }
                }
            }
        }
    })
    .await;
    assert!(matches!(came(&answer.unwrap()), Came::Result(..)));
    assert_eq!(bells[0].0.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_server_that_reads_nothing_holds_up_nobody_else() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut link = link_to(&format!("http://{}/mcp", silent.local_addr().unwrap()), quick());
    // More than the buffers of the system hold.
    let filler = json!({"name": "x", "arguments": {"filler": "x".repeat(16 << 20)}});
    link.send(request(1, "tools/call", &filler)).await.unwrap();
    let a_while = tokio::time::sleep(Duration::from_millis(50));
    let mut kept = Vec::new();
    meanwhile(&mut link, &mut kept, a_while).await;
    link.abandon(&1.into(), None).unwrap();
    let mut closing = tokio::time::Instant::now();
    within(link.close()).await.unwrap();
    closing += Duration::from_secs(4);
    assert!(tokio::time::Instant::now() < closing);
    assert_eq!(kept, []);
}
