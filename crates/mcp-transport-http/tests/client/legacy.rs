//! The older HTTP+SSE, as the client speaks it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_jsonrpc::Outgoing;
use mcp_jsonrpc::link::v1::{LinkError, LinkExt};
use mcp_transport_http::client::{Config, HttpError, Phase, Transport};
use mcp_transport_http::server::LegacyConfig;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::host::{
    Came, ask, came, connect, hello, link_to, meanwhile, notification, outcome_of, quick, request,
    result_of, tool, why, within,
};
use crate::script::{Reply, Request, Script, hello as hello_result};
use crate::support::Server;

type Events = mpsc::UnboundedSender<String>;

/// A server of 2024-11-05: what is posted to `/messages` is answered on the stream. It refuses
/// a POST to its stream's address by `status`, and names its endpoint as `endpoint`.
async fn older(status: u16, endpoint: &'static str) -> (Script, Arc<Mutex<Option<Events>>>) {
    let stream: Arc<Mutex<Option<Events>>> = Arc::default();
    let events = Arc::clone(&stream);
    let script = Script::start(move |request: Request, mut reply: Reply| {
        let stream = Arc::clone(&stream);
        async move {
            match (&*request.method, &*request.target) {
                ("GET", "/mcp") => {
                    let (sender, mut receiver) = mpsc::unbounded_channel();
                    *stream.lock().unwrap() = Some(sender);
                    reply.stream().await;
                    reply.chunk(&format!("event: endpoint\ndata: {endpoint}\n\n")).await;
                    while let Some(event) = receiver.recv().await {
                        reply.chunk(&event).await;
                    }
                    reply.cut();
                }
                ("POST", target) if target.starts_with("/messages?sid=1") => {
                    reply.answer(202, &[("Content-Type", "text/plain")], "Accepted").await;
                    let answer = match &*request.rpc() {
                        "initialize" => hello_result(&request, "2024-11-05"),
                        "tools/call" => {
                            json!({"jsonrpc": "2.0", "id": request.id(), "result": {"ok": true}})
                        }
                        _ => return reply,
                    };
                    let event = format!("event: message\ndata: {answer}\n\n");
                    let _ = stream.lock().unwrap().as_ref().unwrap().send(event);
                }
                ("POST", "/mcp") => reply.status(status).await,
                other => panic!("{other:?}"),
            }
            reply
        }
    })
    .await;
    (script, events)
}

// Shows: TRANSPORT-LEGACY-003, TRANSPORT-LEGACY-004, TRANSPORT-LEGACY-006, TRANSPORT-LEGACY-007,
// TRANSPORT-LEGACY-010
#[tokio::test]
async fn a_server_that_refuses_the_first_post_as_an_older_one_would_is_spoken_to_as_one() {
    for status in [400, 404, 405] {
        let (script, events) = older(status, "/messages?sid=1").await;
        let mut link = connect(&script.url(), quick()).await;
        assert_eq!(ask(&mut link, tool(1, "x")).await.unwrap(), json!({"ok": true}));
        let asked = "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}\n\n";
        events.lock().unwrap().as_ref().unwrap().send(asked.to_owned()).unwrap();
        let asked = came(&within(link.recv()).await.unwrap());
        assert_eq!(asked, Came::Request("q".into(), "roots/list".to_owned()));
        link.send(Outgoing::result("q".into(), &json!({"roots": []})).unwrap()).await.unwrap();
        link.send(notification("notifications/roots/list_changed")).await.unwrap();
        within(link.close()).await.unwrap();

        let requests = script.requests();
        let first = &requests[0];
        assert_eq!((&*first.method, &*first.rpc()), ("POST", "initialize"));
        assert_eq!(first.header("accept"), Some("application/json, text/event-stream"));
        assert_eq!(requests[1].method, "GET");
        assert_eq!(requests[1].header("accept"), Some("text/event-stream"));
        for request in &requests[2..] {
            assert_eq!((&*request.method, &*request.target), ("POST", "/messages?sid=1"));
            assert_eq!(request.header("mcp-session-id"), None);
        }
        let story = script.story();
        assert_eq!(
            story[2..5],
            ["initialize", "notifications/initialized", "tools/call"].map(str::to_owned)
        );
        let mut rest = story[5..].to_vec();
        rest.sort();
        assert_eq!(rest, ["POST response", "notifications/roots/list_changed"]);
    }
}

// Shows: TRANSPORT-LEGACY-006
#[tokio::test]
async fn no_other_refusal_is_taken_for_an_older_server() {
    for status in [401, 403, 406, 410, 415, 429, 500, 502, 503] {
        let (script, _) = older(status, "/messages?sid=1").await;
        let mut link = link_to(&script.url(), quick());
        let cause = ask(&mut link, hello()).await.unwrap_err();
        assert_eq!(why(&cause).status().map(|status| status.as_u16()), Some(status));
        assert_eq!(script.story(), ["initialize"]);
    }
}

// Shows: TRANSPORT-LEGACY-005
#[tokio::test]
async fn a_server_that_takes_the_first_post_is_not_probed() {
    let script =
        Script::start(async |request: Request, reply: Reply| reply.usual(&request, None).await)
            .await;
    let mut link = link_to(&script.url(), quick());
    ask(&mut link, hello()).await.unwrap();
    assert_eq!(script.story(), ["initialize"]);
}

#[tokio::test]
async fn what_a_server_of_neither_transport_said_first_is_the_error() {
    let script = Script::start(async |request: Request, mut reply: Reply| {
        match &*request.method {
            "POST" => reply.answer(404, &[("Content-Type", "text/html")], "no such page").await,
            _ => reply.status(403).await,
        }
        reply
    })
    .await;
    let mut link = link_to(&script.url(), quick());
    let cause = ask(&mut link, hello()).await.unwrap_err();
    assert_eq!(why(&cause).to_string(), "the server answered 404 Not Found: no such page");
    assert_eq!(script.story(), ["initialize", "GET"]);
}

// Shows: FC-071, FC-072
#[tokio::test]
async fn the_endpoint_may_be_any_address_of_the_same_origin_and_no_other() {
    // The rest of the table is the resolver's own test.
    for endpoint in ["/messages?sid=1", "messages?sid=1", "../messages?sid=1", "./messages?sid=1"] {
        let (script, _) = older(405, endpoint).await;
        let mut link = connect(&script.url(), quick()).await;
        ask(&mut link, tool(1, "x")).await.unwrap();
    }
    for endpoint in [
        "http://localhost:1/messages?sid=1",
        "https://evil.example/steal",
        "//evil.example/messages?sid=1",
        "ftp://h.example/",
        "",
    ] {
        let (script, _) = older(405, endpoint).await;
        let mut link = link_to(&script.url(), quick());
        let cause = ask(&mut link, hello()).await.unwrap_err();
        assert!(matches!(why(&cause), HttpError::Endpoint(_)), "{endpoint}: {cause:?}");
        // Nothing was posted anywhere.
        assert_eq!(script.story(), ["initialize", "GET"], "{endpoint}");
    }
}

// Shows: FC-072
#[tokio::test]
async fn a_stream_that_names_no_endpoint_first_is_an_error_within_bounds() {
    let message = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n";
    for (first, ends) in [(Some(message), false), (None, true), (None, false)] {
        let script = Script::start(move |request: Request, mut reply: Reply| async move {
            if request.method == "POST" {
                reply.status(405).await;
                return reply;
            }
            reply.stream().await;
            if let Some(first) = first {
                reply.chunk(first).await;
            }
            if ends {
                reply.end().await;
            } else {
                reply.gone().await;
            }
            reply
        })
        .await;
        let mut config = quick();
        config.times.endpoint = Duration::from_millis(30);
        let mut link = link_to(&script.url(), config);
        let cause = ask(&mut link, hello()).await.unwrap_err();
        match why(&cause) {
            HttpError::Endpoint(_) => assert!(first.is_some() || ends),
            HttpError::TimedOut { phase: Phase::Endpoint, .. } => {
                assert!(first.is_none() && !ends);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn the_link_ends_with_the_stream_and_says_so_after_what_had_come() {
    let (script, events) = older(405, "/messages?sid=1").await;
    let mut link = connect(&script.url(), quick()).await;
    link.send(request(5, "tools/slow", &json!({}))).await.unwrap();
    let note = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/last\"}\n\n";
    let sender = events.lock().unwrap().take().unwrap();
    sender.send(note.to_owned()).unwrap();
    drop(sender);
    let last = came(&within(link.recv()).await.unwrap());
    assert_eq!(last, Came::Notification("notifications/last".to_owned(), Value::Null));
    let cause = within(link.recv()).await.unwrap_err();
    assert!(matches!(why(&cause), HttpError::LegacyStreamEnded(_)), "{cause:?}");
    assert_eq!(within(link.recv()).await.unwrap_err(), cause);
    assert_eq!(link.send(tool(6, "x")).await.unwrap_err(), cause);
    within(link.close()).await.unwrap();
}

#[tokio::test]
async fn a_refused_post_fails_its_request_only() {
    let (script, events) = older(405, "/messages?sid=1").await;
    // The endpoint is posted to as the script says; this method is refused on top.
    let mut link = connect(&script.url(), quick()).await;
    link.send(tool(1, "x")).await.unwrap();
    result_of(&mut link, 1).await.unwrap();
    // A response comes once, also when it is sent twice.
    let twice = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n";
    events.lock().unwrap().as_ref().unwrap().send(twice.to_owned()).unwrap();
    link.send(tool(2, "x")).await.unwrap();
    let (outcome, before) = outcome_of(&mut link, 2).await;
    assert!(outcome.is_ok());
    assert_eq!(before, []);
}

fn legacy() -> Config {
    let mut config = quick();
    config.transport = Transport::LegacySse;
    config
}

#[tokio::test]
async fn who_knows_that_a_server_is_an_older_one_can_say_so() {
    let (script, _) = older(500, "/messages?sid=1").await;
    let mut link = connect(&script.url(), legacy()).await;
    ask(&mut link, tool(1, "x")).await.unwrap();
    assert_eq!(script.story()[..2], ["GET", "initialize"].map(str::to_owned));

    let script =
        Script::start(async |request: Request, reply: Reply| reply.usual(&request, None).await)
            .await;
    let mut link = link_to(&script.url(), legacy());
    let cause = ask(&mut link, hello()).await.unwrap_err();
    assert_eq!(why(&cause).status().map(|status| status.as_u16()), Some(405));

    let (script, _) = older(405, "/messages?sid=1").await;
    let mut config = quick();
    config.transport = Transport::StreamableHttp;
    let mut link = link_to(&script.url(), config);
    let cause = ask(&mut link, hello()).await.unwrap_err();
    assert_eq!(why(&cause).status().map(|status| status.as_u16()), Some(405));
    assert_eq!(script.story(), ["initialize"]);
}

#[tokio::test]
async fn our_own_older_endpoints_are_spoken_to() {
    let server = Server::build(|builder| builder.legacy(LegacyConfig::new())).await;
    let url = format!("http://{}/sse", server.addr);
    for config in [quick(), legacy()] {
        let mut link = connect(&url, config).await;
        link.send(request(1, "tools/call", &json!({"name": "count", "arguments": {"steps": 3}})))
            .await
            .unwrap();
        let (outcome, before) = outcome_of(&mut link, 1).await;
        assert_eq!(outcome.unwrap(), Came::Result(1.into(), json!({"counted": 3})));
        assert_eq!(before.len(), 3);
        link.send(request(2, "tools/call", &json!({"name": "ask", "arguments": {}})))
            .await
            .unwrap();
        let Came::Request(id, method) = came(&within(link.recv()).await.unwrap()) else { panic!() };
        assert_eq!(method, "sampling/createMessage");
        link.send(Outgoing::result(id, &json!({"x": 1})).unwrap()).await.unwrap();
        assert_eq!(result_of(&mut link, 2).await.unwrap(), json!({"answer": {"x": 1}}));
        within(link.close()).await.unwrap();
        assert_eq!(within(link.recv()).await.unwrap_err(), LinkError::Closed);
    }
}

#[tokio::test]
async fn dropping_the_link_ends_the_stream() {
    let (script, _) = older(405, "/messages?sid=1").await;
    let mut link = connect(&script.url(), quick()).await;
    ask(&mut link, tool(1, "x")).await.unwrap();
    let mut kept = Vec::new();
    meanwhile(&mut link, &mut kept, tokio::task::yield_now()).await;
    drop(link);
    // The stream's own task at the server sees it when it next writes; its requests are over.
    script.until("the connections are closed", |script| script.open_connections() <= 1).await;
}
