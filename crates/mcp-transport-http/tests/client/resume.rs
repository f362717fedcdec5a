//! Streams that break and are taken up again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_jsonrpc::link::v1::{Incoming, LinkExt};
use mcp_transport_http::EVENTS_LOST;
use mcp_transport_http::client::HttpError;
use serde_json::{Value, json};

use crate::host::{
    Came, ask, came, connect, meanwhile, outcome_of, quick, request, result_of, tool, why, within,
};
use crate::script::{Reply, Request, Script};

fn progress(n: usize) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"n": n}})
}

fn result(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"done": true}})
}

/// The events of a call that reports progress three times.
fn events(id: &Value) -> Vec<String> {
    let mut events = vec!["id: e0\nretry: 0\ndata:\n\n".to_owned()];
    events.extend((1..=3).map(|n| format!("id: e{n}\r\ndata: {}\r\n\r\n", progress(n))));
    events.push(format!("id: e4\ndata: {}\n\n", result(id)));
    events
}

/// The whole answer on the wire.
fn wire(events: &[String]) -> Vec<u8> {
    let mut wire = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
                     Transfer-Encoding: chunked\r\n\r\n"
        .to_vec();
    for event in events {
        wire.extend_from_slice(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes());
    }
    wire.extend_from_slice(b"0\r\n\r\n");
    wire
}

// Shows: TRANSPORT-HTTP-018, TRANSPORT-HTTP-026, TRANSPORT-RESUME-004, TRANSPORT-RESUME-007
#[tokio::test]
async fn a_cut_after_any_byte_of_the_answer_loses_nothing_and_brings_nothing_twice() {
    let length = wire(&events(&json!(1))).len();
    // Each call says by its name where it is cut.
    let script = Script::start(async |request: Request, mut reply: Reply| {
        match &*request.title() {
            "tools/call" => {
                let cut: usize =
                    request.json()["params"]["name"].as_str().unwrap().parse().unwrap();
                let bytes = wire(&events(&request.id()));
                reply.raw(&bytes[..cut.min(bytes.len())]).await;
                if cut < bytes.len() {
                    reply.cut();
                }
                reply
            }
            "GET" => {
                let Some(last) = request.header("last-event-id") else {
                    reply.status(405).await;
                    return reply;
                };
                // Some servers replay the last event, too.
                let last: usize = last[1..].parse().unwrap();
                let rest = events(&json!(1)).split_off(last);
                reply.raw(&wire(&rest)).await;
                reply
            }
            _ => reply.usual(&request, Some("s")).await,
        }
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    let whole: Vec<Came> = (1..=3)
        .map(|n| Came::Notification("notifications/progress".to_owned(), json!({"n": n})))
        .collect();
    // Where the head ends, and where the first event is whole.
    let head = wire(&[]).len() - 5;
    let first = &events(&json!(1))[0];
    let primed = head + format!("{:x}\r\n{first}", first.len()).len();
    let mut reconnects = 0;
    for cut in 0..=length {
        let name = cut.to_string();
        link.send(tool(1, &name)).await.unwrap();
        let (outcome, before) = outcome_of(&mut link, 1).await;
        match outcome {
            Ok(came) => {
                assert_eq!(came, Came::Result(1.into(), json!({"done": true})), "cut at {cut}");
                assert_eq!(before, whole, "cut at {cut}");
            }
            // Before there is an id nothing can be resumed, and the call is told so.
            Err(cause) if cut < primed => match why(&cause) {
                HttpError::Broken(_) => assert!(cut < head, "cut at {cut}"),
                HttpError::NoResponse(_) => assert!(head <= cut, "cut at {cut}"),
                other => panic!("cut at {cut}: {other:?}"),
            },
            Err(cause) => panic!("cut at {cut}: {cause:?}"),
        }
        let resumed =
            script.requests().iter().filter(|r| r.header("last-event-id").is_some()).count();
        assert!(resumed - reconnects <= 1, "cut at {cut}");
        reconnects = resumed;
    }
    assert_eq!(script.count("tools/call"), length + 1);
    // One for each stream that broke behind its first id and before its response.
    assert!(reconnects > 100, "{reconnects}");
}

// Shows: TRANSPORT-HTTP-018, TRANSPORT-HTTP-020, FC-060
#[tokio::test]
async fn the_wait_that_the_server_asks_for_is_kept_and_there_is_one_get() {
    let script =
        Script::start(async |request: Request, mut reply: Reply| match &*request.title() {
            "tools/call" => {
                reply.stream().await;
                reply.chunk("id: e1\nretry: 200\ndata: \n\n").await;
                tokio::time::sleep(Duration::from_millis(20)).await;
                reply.end().await;
                reply
            }
            "GET" => {
                reply.stream().await;
                match request.header("last-event-id") {
                    None => {
                        reply.chunk("id: g1\nretry: 200\ndata: \n\n").await;
                        reply.gone().await;
                    }
                    Some(last) => {
                        assert_eq!(last, "e1");
                        reply.event("e2", &result(&json!(1))).await;
                        reply.end().await;
                    }
                }
                reply
            }
            _ => reply.usual(&request, Some("s")).await,
        })
        .await;
    let mut link = connect(&script.url(), quick()).await;
    ask(&mut link, tool(1, "x")).await.unwrap();
    let mut kept = Vec::new();
    let a_while = tokio::time::sleep(Duration::from_millis(300));
    meanwhile(&mut link, &mut kept, a_while).await;
    let requests = script.requests();
    let called = requests.iter().find(|r| r.rpc() == "tools/call").unwrap();
    let gets: Vec<_> = requests.iter().filter(|request| request.method == "GET").collect();
    assert_eq!(gets.len(), 2, "the server's own stream, and one for the call");
    let wait = gets[1].at - called.at;
    assert!(Duration::from_millis(220) <= wait, "{wait:?}");
    assert!(wait < Duration::from_millis(600), "{wait:?}");
}

/// A server that answers the call by an event with an id, and each reconnect by `status`.
async fn refusing(status: u16) -> Script {
    Script::start(move |request: Request, mut reply: Reply| async move {
        match (&*request.title(), request.header("last-event-id")) {
            ("tools/call", _) => {
                reply.stream().await;
                reply.chunk("id: e1\nretry: 0\ndata:\n\n").await;
                reply.end().await;
                reply
            }
            ("GET", Some(_)) => {
                reply.answer(status, &[("Content-Type", "text/plain")], "sorry").await;
                reply
            }
            _ => reply.usual(&request, Some("s")).await,
        }
    })
    .await
}

// Shows: FC-062
#[tokio::test]
async fn a_refusal_that_lasts_ends_the_call_and_not_the_session() {
    for status in [400, 401, 403, 405, 406, 410, 501, 200] {
        let script = refusing(status).await;
        let mut link = connect(&script.url(), quick()).await;
        let cause = ask(&mut link, tool(1, "x")).await.unwrap_err();
        let error = why(&cause);
        assert!(matches!(error, HttpError::StreamLost(_)), "{status}: {error:?}");
        assert_eq!(error.status().map(|status| status.as_u16()), Some(status));
        ask(&mut link, request(2, "ping", &json!({}))).await.unwrap();
        let resumed =
            script.requests().iter().filter(|r| r.header("last-event-id").is_some()).count();
        assert_eq!((resumed, script.count("initialize")), (1, 1), "{status}");
    }
}

// Shows: FC-061
#[tokio::test]
async fn a_refusal_that_may_pass_is_tried_again_in_bounds() {
    for status in [408, 409, 429, 500, 502, 503] {
        let script = refusing(status).await;
        let mut config = quick();
        config.reconnect.attempts = 3;
        let mut link = connect(&script.url(), config).await;
        let cause = ask(&mut link, tool(1, "x")).await.unwrap_err();
        assert!(matches!(why(&cause), HttpError::StreamLost(_)), "{status}");
        assert_eq!(why(&cause).status().map(|status| status.as_u16()), Some(status));
        let resumed =
            script.requests().iter().filter(|r| r.header("last-event-id").is_some()).count();
        assert_eq!((resumed, script.count("initialize")), (4, 1), "{status}");
        ask(&mut link, request(2, "ping", &json!({}))).await.unwrap();
    }
}

#[tokio::test]
async fn reconnects_that_fail_are_repeated_ever_more_slowly() {
    let script = refusing(503).await;
    let mut config = quick();
    config.reconnect.first = Duration::from_millis(20);
    config.reconnect.longest = Duration::from_millis(80);
    config.reconnect.attempts = 4;
    let mut link = connect(&script.url(), config).await;
    ask(&mut link, tool(1, "x")).await.unwrap_err();
    let gets: Vec<_> = script
        .requests()
        .into_iter()
        .filter(|request| request.header("last-event-id").is_some())
        .collect();
    let waits: Vec<_> = gets.windows(2).map(|pair| (pair[1].at - pair[0].at).as_millis()).collect();
    // 40, 80, 80, 80 ms, cut short by up to half.
    assert_eq!(waits.len(), 4);
    for (wait, least) in waits.iter().zip([20, 40, 40, 40]) {
        assert!(least <= *wait, "{waits:?}");
    }
}

#[tokio::test]
async fn a_server_that_is_away_for_a_moment_is_found_again() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let script =
        Script::on(listener, async |request: Request, mut reply: Reply| match &*request.title() {
            "tools/call" => {
                reply.stream().await;
                reply.chunk("id: e1\nretry: 1\ndata:\n\n").await;
                reply.gone().await;
                reply
            }
            _ => reply.usual(&request, Some("s")).await,
        });
    let mut config = quick();
    config.reconnect.attempts = 1000;
    let mut link = connect(&script.url(), config).await;
    link.send(tool(1, "x")).await.unwrap();
    let mut kept = Vec::new();
    let called = script.until("the call", |script| script.count("tools/call") == 1);
    meanwhile(&mut link, &mut kept, called).await;
    // Everything is cut, and nobody listens.
    drop(script);
    let a_while = tokio::time::sleep(Duration::from_millis(30));
    meanwhile(&mut link, &mut kept, a_while).await;
    assert_eq!(kept, []);
    let listener = tokio::net::TcpListener::bind(addr).await.unwrap();
    let _script = Script::on(listener, async |request: Request, mut reply: Reply| {
        assert_eq!(request.header("last-event-id"), Some("e1"));
        reply.stream().await;
        reply.event("e2", &result(&json!(1))).await;
        reply.end().await;
        reply
    });
    result_of(&mut link, 1).await.unwrap();
}

#[tokio::test]
async fn a_stream_in_which_nothing_moves_is_taken_up_again() {
    let script = Script::start(async |request: Request, mut reply: Reply| {
        match (&*request.title(), request.header("last-event-id")) {
            ("tools/call", _) => {
                reply.stream().await;
                reply.chunk("id: e1\nretry: 0\ndata:\n\n").await;
                // Comments are signs of life.
                for _ in 0..5 {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    reply.chunk(": alive\n\n").await;
                }
                reply.event("e2", &progress(1)).await;
                reply.gone().await;
                reply
            }
            ("GET", Some(last)) => {
                assert_eq!(last, "e2");
                reply.stream().await;
                reply.event("e3", &result(&json!(1))).await;
                reply.end().await;
                reply
            }
            _ => reply.usual(&request, Some("s")).await,
        }
    })
    .await;
    let mut config = quick();
    config.times.silence = Some(Duration::from_millis(60));
    let mut link = connect(&script.url(), config).await;
    link.send(tool(1, "x")).await.unwrap();
    let (outcome, before) = outcome_of(&mut link, 1).await;
    assert!(outcome.is_ok());
    assert_eq!(before.len(), 1);
}

#[tokio::test]
async fn a_stream_that_cannot_be_taken_up_again_may_be_silent() {
    let script = Script::start(async |request: Request, mut reply: Reply| {
        if request.rpc() != "tools/call" {
            return reply.usual(&request, None).await;
        }
        reply.stream().await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        reply.message(&result(&request.id())).await;
        reply.end().await;
        reply
    })
    .await;
    let mut config = quick();
    config.times.silence = Some(Duration::from_millis(20));
    let mut link = connect(&script.url(), config).await;
    ask(&mut link, tool(1, "x")).await.unwrap();
}

// Shows: FC-059
#[tokio::test]
async fn a_huge_event_is_taken_and_one_past_the_limit_fails_at_once_without_a_retry() {
    let script = Script::start(async |request: Request, mut reply: Reply| {
        if request.rpc() != "tools/list" {
            return reply.usual(&request, None).await;
        }
        let size = request.json()["params"]["size"].as_u64().unwrap();
        reply.stream().await;
        reply.chunk("id: e0\nretry: 0\ndata:\n\n").await;
        let text = "x".repeat(usize::try_from(size).unwrap());
        let body = json!({"jsonrpc": "2.0", "id": request.id(), "result": {"tools": text}});
        for piece in format!("id: e1\ndata: {body}\n\n").as_bytes().chunks(70_001) {
            reply.chunk(std::str::from_utf8(piece).unwrap()).await;
        }
        reply.end().await;
        reply
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    let huge = request(1, "tools/list", &json!({"size": 5 << 20}));
    let result = ask(&mut link, huge).await.unwrap();
    assert_eq!(result["tools"].as_str().unwrap().len(), 5 << 20);

    let mut config = quick();
    config.limits.message_bytes = 1 << 20;
    let mut link = connect(&script.url(), config).await;
    let huge = request(1, "tools/list", &json!({"size": 2_140_787}));
    let cause = ask(&mut link, huge).await.unwrap_err();
    let HttpError::EventTooLarge(error) = why(&cause) else { panic!("{cause:?}") };
    assert!(error.size > 1 << 20 && error.limit >= 1 << 20);
    assert!(!why(&cause).is_retryable());
    let resumed = script.requests().iter().filter(|r| r.header("last-event-id").is_some()).count();
    assert_eq!((resumed, script.count("tools/list")), (0, 2));
}

// Shows: TRANSPORT-HTTP-036, TRANSPORT-HTTP-037
#[tokio::test]
async fn the_servers_own_stream_is_taken_up_again_where_it_was() {
    let script = Script::start(async |request: Request, mut reply: Reply| {
        if request.method != "GET" {
            return reply.usual(&request, Some("s")).await;
        }
        reply.stream().await;
        let last: usize =
            request.header("last-event-id").map_or(0, |last| last[1..].parse().unwrap());
        if last < 5 {
            // The last one comes again.
            if last > 0 {
                reply.event(&format!("g{last}"), &progress(last)).await;
            }
            reply.chunk("retry: 0\n\n").await;
            reply.event(&format!("g{}", last + 1), &progress(last + 1)).await;
            // Half an event is none.
            reply.chunk("id: g9\ndata: {\"jsonrpc\"").await;
            if last.is_multiple_of(2) {
                reply.end().await;
            } else {
                reply.cut();
            }
            return reply;
        }
        reply.gone().await;
        reply
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    for n in 1..=5 {
        let note = came(&within(link.recv()).await.unwrap());
        assert_eq!(note, Came::Notification("notifications/progress".to_owned(), json!({"n": n})));
    }
    assert_eq!(script.count("initialize"), 1);
}

#[tokio::test]
async fn a_server_whose_stream_always_ends_at_once_is_asked_ever_more_slowly() {
    let script = Script::start(async |request: Request, mut reply: Reply| {
        if request.method != "GET" {
            return reply.usual(&request, Some("s")).await;
        }
        reply.stream().await;
        reply.end().await;
        reply
    })
    .await;
    let mut config = quick();
    config.reconnect.first = Duration::from_millis(20);
    config.reconnect.longest = Duration::from_secs(10);
    let mut link = connect(&script.url(), config).await;
    let mut kept = Vec::new();
    let a_while = tokio::time::sleep(Duration::from_millis(400));
    meanwhile(&mut link, &mut kept, a_while).await;
    // At most at 0, 10, 30, 70, 150, 310 ms.
    let gets = script.count("GET");
    assert!((2..=6).contains(&gets), "{gets}");
}

// Shows: FC-062
#[tokio::test]
async fn a_server_stream_that_cannot_be_resumed_is_begun_anew() {
    let script = Script::start(async |request: Request, mut reply: Reply| {
        match (&*request.method, request.header("last-event-id")) {
            ("GET", Some(_)) => reply.status(400).await,
            ("GET", None) => {
                reply.stream().await;
                if request.connection > 2 {
                    reply.message(&progress(2)).await;
                    reply.gone().await;
                    return reply;
                }
                reply.event("g1", &progress(1)).await;
                reply.cut();
            }
            _ => return reply.usual(&request, Some("s")).await,
        }
        reply
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    for _ in 0..2 {
        let note = came(&within(link.recv()).await.unwrap());
        assert!(matches!(note, Came::Notification(..)), "{note:?}");
    }
    ask(&mut link, tool(1, "x")).await.unwrap();
}

#[tokio::test]
async fn a_server_that_says_that_events_are_lost_fails_the_call_that_waits_for_them() {
    let lost = json!({"jsonrpc": "2.0", "error": {"code": EVENTS_LOST, "message": "gone"}});
    let script = Script::start(move |request: Request, mut reply: Reply| {
        let lost = lost.clone();
        async move {
            match (&*request.title(), request.header("last-event-id")) {
                ("tools/call", _) => {
                    reply.stream().await;
                    let id = request.id();
                    reply.chunk(&format!("id: e{id}\nretry: 0\ndata:\n\n")).await;
                    reply.end().await;
                }
                // A gap, behind which there is the response.
                ("GET", Some("e1")) => {
                    reply.stream().await;
                    reply.message(&lost).await;
                    reply.event("x1", &result(&json!(1))).await;
                    reply.end().await;
                }
                // A new stream in place of the old one.
                ("GET", Some("e2")) => {
                    reply.stream().await;
                    reply.chunk("id: new\ndata:\n\n").await;
                    reply.message(&lost).await;
                    reply.gone().await;
                }
                // A gap, behind which there is nothing.
                ("GET", Some("e3")) => {
                    reply.stream().await;
                    reply.message(&lost).await;
                    reply.end().await;
                }
                _ => return reply.usual(&request, Some("s")).await,
            }
            reply
        }
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    for (id, survives) in [(1, true), (2, false), (3, false)] {
        link.send(tool(id, "x")).await.unwrap();
        let (outcome, before) = outcome_of(&mut link, id).await;
        // The host is told in any case.
        assert_eq!(before, [Came::Error(None, EVENTS_LOST, "gone".to_owned())]);
        match outcome {
            Ok(_) => assert!(survives, "{id}"),
            Err(cause) => {
                assert!(!survives && matches!(why(&cause), HttpError::EventsLost), "{cause:?}");
            }
        }
    }
}

// Shows: TRANSPORT-HTTP-039
#[tokio::test]
async fn many_streams_that_break_together_each_come_back_to_their_own_call() {
    let running = Arc::new(AtomicUsize::new(0));
    let script = Script::start(move |request: Request, mut reply: Reply| {
        let running = Arc::clone(&running);
        async move {
            match (&*request.title(), request.header("last-event-id")) {
                ("tools/call", _) => {
                    reply.stream().await;
                    reply.chunk(&format!("id: {}\nretry: 0\ndata:\n\n", request.id())).await;
                    // All at once.
                    running.fetch_add(1, Ordering::SeqCst);
                    while running.load(Ordering::SeqCst) < 40 {
                        tokio::time::sleep(Duration::from_millis(2)).await;
                    }
                    reply.cut();
                    reply
                }
                ("GET", Some(last)) => {
                    let id: i64 = last.parse().unwrap();
                    reply.stream().await;
                    reply.event(&format!("{id}-1"), &result(&json!(id))).await;
                    reply.end().await;
                    reply
                }
                _ => reply.usual(&request, Some("s")).await,
            }
        }
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    for id in 1..=40 {
        link.send(tool(id, "x")).await.unwrap();
    }
    let mut ids = Vec::new();
    for _ in 1..=40 {
        match within(link.recv()).await.unwrap() {
            Incoming::StreamEnded { id, cause } => panic!("{id}: {cause:?}"),
            incoming => match came(&incoming) {
                Came::Result(id, _) => ids.push(id.as_i64().unwrap()),
                other => panic!("{other:?}"),
            },
        }
    }
    ids.sort_unstable();
    assert_eq!(ids, (1..=40).collect::<Vec<_>>());
    let resumed = script.requests().iter().filter(|r| r.header("last-event-id").is_some()).count();
    assert_eq!(resumed, 40);
}
