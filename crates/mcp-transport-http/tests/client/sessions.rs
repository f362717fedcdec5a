//! Sessions that the server has forgotten.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_jsonrpc::Outgoing;
use mcp_jsonrpc::link::v1::{Incoming, LinkExt};
use mcp_transport_http::client::HttpError;
use serde_json::{Value, json};

use crate::host::{
    Came, ask, came, connect, meanwhile, notification, quick, request, result_of, tool, why, within,
};
use crate::script::{Reply, Request, Script, hello};

/// A server that gives each handshake a session of its own and knows only the newest, up to the
/// `lasts`th. What `special` doesn't answer is answered as usual.
async fn forgetful<F, Fut>(lasts: usize, special: F) -> (Script, Arc<AtomicUsize>)
where
    F: Fn(usize, Request, Reply) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Reply, (Request, Reply)>> + Send + 'static,
{
    // The session that is known.
    let known = Arc::new(AtomicUsize::new(0));
    let (sessions, special) = (Arc::clone(&known), Arc::new(special));
    let script = Script::start(move |request: Request, mut reply: Reply| {
        let (known, special) = (Arc::clone(&sessions), Arc::clone(&special));
        async move {
            if request.rpc() == "initialize" {
                let number = known.fetch_add(1, Ordering::SeqCst) + 1;
                let name = format!("s{number}");
                if number <= lasts {
                    return reply.usual(&request, Some(&name)).await;
                }
                reply.status(503).await;
                return reply;
            }
            let number = known.load(Ordering::SeqCst);
            if request.header("mcp-session-id") != Some(&format!("s{number}")) {
                reply.status(404).await;
                return reply;
            }
            match special(number, request, reply).await {
                Ok(reply) => reply,
                Err((request, reply)) => reply.usual(&request, None).await,
            }
        }
    })
    .await;
    (script, known)
}

/// Makes the server forget the session that it knows.
fn forget(known: &AtomicUsize) {
    known.fetch_add(1, Ordering::SeqCst);
}

// Shows: TRANSPORT-SESSION-009
#[tokio::test]
async fn many_requests_that_find_the_session_gone_begin_one_new_session() {
    let (script, known) =
        forgetful(9, async |_, request, reply| Err::<Reply, _>((request, reply))).await;
    let renewed = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&renewed);
    let mut config = quick();
    config.on_renewed = Some(Arc::new(move |result| {
        seen.lock().unwrap().push(result.parse::<Value>().unwrap());
    }));
    let mut link = connect(&script.url(), config).await;
    ask(&mut link, tool(1, "x")).await.unwrap();
    forget(&known);

    let calls = 50;
    for id in 0..calls {
        link.send(request(100 + id, "tools/list", &json!({}))).await.unwrap();
        link.send(tool(200 + id, "x")).await.unwrap();
    }
    let (mut results, mut lost) = (0, 0);
    for _ in 0..2 * calls {
        match within(link.recv()).await.unwrap() {
            Incoming::StreamEnded { id, cause } => {
                assert!(id.as_i64().is_some_and(|id| id >= 200), "{id}");
                let error = why(&cause);
                assert!(
                    matches!(error, HttpError::SessionLost { unread: true, renewed: true, .. }),
                    "{error:?}"
                );
                assert!(error.is_retryable() && error.is_unsent());
                lost += 1;
            }
            incoming => {
                let Came::Result(id, _) = came(&incoming) else { panic!("{incoming:?}") };
                assert!(id.as_i64().is_some_and(|id| (100..200).contains(&id)), "{id}");
                results += 1;
            }
        }
    }
    assert_eq!((results, lost), (calls, calls));
    assert_eq!(script.count("initialize"), 2);
    assert_eq!(script.count("notifications/initialized"), 2);
    // Each that may be repeated was, once.
    assert_eq!(script.count("tools/list"), 2 * usize::try_from(calls).unwrap());
    assert_eq!(script.count("tools/call"), 1 + usize::try_from(calls).unwrap());
    let again = &script.requests().into_iter().filter(|r| r.rpc() == "initialize").nth(1).unwrap();
    assert_eq!(again.header("mcp-session-id"), None);
    assert_eq!(again.header("mcp-protocol-version"), None);
    assert_eq!(renewed.lock().unwrap().len(), 1);
    assert_eq!(renewed.lock().unwrap()[0]["serverInfo"]["name"], "script");

    // What was refused can be sent again, and the lost session isn't ended once more.
    ask(&mut link, tool(300, "x")).await.unwrap();
    within(link.close()).await.unwrap();
    let ended: Vec<_> =
        script.requests().into_iter().filter(|request| request.method == "DELETE").collect();
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].header("mcp-session-id"), Some("s3"));
}

#[tokio::test]
async fn a_request_that_finds_out_late_takes_the_new_session_that_is_there() {
    let handshakes = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&handshakes);
    let script = Script::start(move |request: Request, mut reply: Reply| {
        let count = Arc::clone(&count);
        async move {
            match (&*request.rpc(), request.header("mcp-session-id")) {
                ("initialize", _) => {
                    let number = count.fetch_add(1, Ordering::SeqCst) + 1;
                    return reply.usual(&request, Some(&format!("s{number}"))).await;
                }
                ("tools/list" | "prompts/list", Some("s1")) => {
                    // One learns of it at once, the other when all is well again.
                    while request.rpc() == "prompts/list" && count.load(Ordering::SeqCst) < 2 {
                        tokio::time::sleep(Duration::from_millis(2)).await;
                    }
                    if request.rpc() == "prompts/list" {
                        tokio::time::sleep(Duration::from_millis(30)).await;
                    }
                    reply.status(404).await;
                    reply
                }
                _ => reply.usual(&request, None).await,
            }
        }
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    link.send(request(1, "prompts/list", &json!({}))).await.unwrap();
    ask(&mut link, request(2, "tools/list", &json!({}))).await.unwrap();
    result_of(&mut link, 1).await.unwrap();
    assert_eq!(handshakes.load(Ordering::SeqCst), 2);
    assert_eq!(script.count("prompts/list"), 2);
}

#[tokio::test]
async fn a_call_whose_stream_finds_the_session_gone_is_told_that_it_may_have_run() {
    let (script, known) = forgetful(9, async |_, request: Request, mut reply: Reply| {
        match &*request.title() {
            "tools/call" | "tools/list" => {
                reply.stream().await;
                reply.chunk("id: 1\nretry: 0\ndata:\n\n").await;
                if request.id() == 2 || request.rpc() == "tools/list" {
                    // Cut when the test says so.
                    reply.gone().await;
                }
                reply.cut();
                Ok(reply)
            }
            _ => Err((request, reply)),
        }
    })
    .await;
    let mut config = quick();
    config.times.silence = Some(Duration::from_millis(40));
    let mut link = connect(&script.url(), config).await;
    link.send(tool(2, "x")).await.unwrap();
    let mut kept = Vec::new();
    let called = script.until("the call", |script| script.count("tools/call") == 1);
    meanwhile(&mut link, &mut kept, called).await;
    forget(&known);
    let cause = result_of(&mut link, 2).await.unwrap_err();
    let error = why(&cause);
    assert!(
        matches!(error, HttpError::SessionLost { unread: false, renewed: true, .. }),
        "{error:?}"
    );
    assert!(error.is_retryable() && !error.is_unsent());
    assert_eq!(script.count("tools/call"), 1);
    assert_eq!(script.count("initialize"), 2);
}

// Shows: FC-063
#[tokio::test]
async fn a_server_that_gives_no_new_session_fails_those_that_wait_and_is_asked_again_later() {
    let (script, known) =
        forgetful(1, async |_, request, reply| Err::<Reply, _>((request, reply))).await;
    let mut link = connect(&script.url(), quick()).await;
    forget(&known);
    for id in [1, 2, 3] {
        link.send(request(id, "tools/list", &json!({}))).await.unwrap();
    }
    for _ in 0..3 {
        let Incoming::StreamEnded { cause, .. } = within(link.recv()).await.unwrap() else {
            panic!()
        };
        let HttpError::SessionLost { renewed: false, source: Some(source), .. } = why(&cause)
        else {
            panic!("{cause:?}")
        };
        assert_eq!(source.status().map(|status| status.as_u16()), Some(503));
    }
    assert_eq!(script.count("initialize"), 2);
    let cause = ask(&mut link, request(4, "tools/list", &json!({}))).await.unwrap_err();
    assert!(matches!(why(&cause), HttpError::SessionLost { unread: true, renewed: false, .. }));
    assert_eq!(script.count("initialize"), 3);
    assert_eq!(script.count("tools/list"), 3);
    within(link.close()).await.unwrap();
    assert_eq!(script.count("DELETE"), 0);
}

#[tokio::test]
async fn a_server_that_forgets_every_session_is_not_asked_for_ever() {
    let script =
        Script::start(async |request: Request, mut reply: Reply| match &*request.title() {
            "initialize" | "notifications/initialized" | "GET" | "DELETE" => {
                reply.usual(&request, Some("s")).await
            }
            _ => {
                reply.status(404).await;
                reply
            }
        })
        .await;
    let mut link = connect(&script.url(), quick()).await;
    for id in 0..10 {
        link.send(request(id + 10, "tools/list", &json!({}))).await.unwrap();
    }
    for _ in 0..10 {
        let incoming = within(link.recv()).await.unwrap();
        assert!(matches!(incoming, Incoming::StreamEnded { .. }), "{incoming:?}");
    }
    // Once for the first time, once for the second; a straggler may cost one more.
    let handshakes = script.count("initialize");
    assert!((3..=5).contains(&handshakes), "{handshakes}");
    assert_eq!(script.count("tools/list"), 20);
}

#[tokio::test]
async fn a_new_session_of_another_revision_is_none() {
    let script = Script::start(move |request: Request, mut reply: Reply| async move {
        match (&*request.rpc(), request.connection) {
            ("initialize", connection) => {
                let version = if connection == 0 { "2025-11-25" } else { "2025-06-18" };
                let body = hello(&request, version).to_string();
                let headers = [("Content-Type", "application/json"), ("Mcp-Session-Id", "s")];
                reply.answer(200, &headers, &body).await;
                // The second handshake comes over another connection.
                reply.cut();
                reply
            }
            ("tools/list", _) => {
                reply.status(404).await;
                reply
            }
            _ => reply.usual(&request, None).await,
        }
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    let cause = ask(&mut link, request(1, "tools/list", &json!({}))).await.unwrap_err();
    let HttpError::SessionLost { source: Some(source), .. } = why(&cause) else { panic!() };
    assert!(matches!(**source, HttpError::OtherRevision));
}

// Shows: FC-054, TRANSPORT-SESSION-009
#[tokio::test]
async fn a_stream_that_was_open_and_now_finds_no_session_begins_a_new_one() {
    let (script, _) = forgetful(9, async |number, request: Request, mut reply: Reply| {
        match (number, &*request.title()) {
            (1, "GET") if request.header("last-event-id").is_none() => {
                reply.stream().await;
                reply.chunk("id: 1\nretry: 1\ndata:\n\n").await;
                reply.end().await;
                Ok(reply)
            }
            // As a server that was started anew.
            (1, "GET") => {
                reply.status(404).await;
                Ok(reply)
            }
            (_, "GET") => {
                reply.stream().await;
                reply.message(&json!({"jsonrpc": "2.0", "method": "notifications/new"})).await;
                reply.gone().await;
                Ok(reply)
            }
            _ => Err((request, reply)),
        }
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    let note = came(&within(link.recv()).await.unwrap());
    assert_eq!(note, Came::Notification("notifications/new".to_owned(), Value::Null));
    assert_eq!(
        script.story(),
        [
            "initialize",
            "notifications/initialized",
            "GET",
            "GET",
            "initialize",
            "notifications/initialized",
            "GET"
        ]
    );
}

#[tokio::test]
async fn what_the_old_session_asked_is_void_and_its_answer_not_sent() {
    let (script, known) = forgetful(9, async |_, request: Request, mut reply: Reply| {
        if request.rpc() != "tools/call" {
            return Err((request, reply));
        }
        reply.stream().await;
        for id in ["1", "\"2\""] {
            reply
                .chunk(&format!(
                    "data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"roots/list\"}}\n\n"
                ))
                .await;
        }
        reply.gone().await;
        Ok(reply)
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    link.send(tool(5, "x")).await.unwrap();
    for _ in 0..2 {
        let asked = came(&within(link.recv()).await.unwrap());
        assert!(matches!(asked, Came::Request(..)), "{asked:?}");
    }
    // One is answered in time.
    link.send(Outgoing::result("2".into(), &json!({})).unwrap()).await.unwrap();
    let mut kept = Vec::new();
    let answered = script.until("the answer", |script| script.count("POST response") == 1);
    meanwhile(&mut link, &mut kept, answered).await;
    forget(&known);
    link.send(request(6, "tools/list", &json!({}))).await.unwrap();
    let void = came(&within(link.recv()).await.unwrap());
    let Came::Notification(method, params) = void else { panic!("{void:?}") };
    assert_eq!((&*method, &params["requestId"]), ("notifications/cancelled", &json!(1)));
    result_of(&mut link, 6).await.unwrap();
    link.send(Outgoing::result(1.into(), &json!({})).unwrap()).await.unwrap();
    ask(&mut link, request(7, "ping", &json!({}))).await.unwrap();
    within(link.close()).await.unwrap();
    assert_eq!(script.count("POST response"), 1);
}

#[tokio::test]
async fn notifications_are_repeated_in_the_new_session_unless_they_belong_to_the_old() {
    let (script, known) =
        forgetful(9, async |_, request, reply| Err::<Reply, _>((request, reply))).await;
    let mut link = connect(&script.url(), quick()).await;
    ask(&mut link, tool(1, "x")).await.unwrap();
    forget(&known);
    link.send(notification("notifications/progress")).await.unwrap();
    link.send(notification("notifications/roots/list_changed")).await.unwrap();
    within(link.close()).await.unwrap();
    assert_eq!(script.count("initialize"), 2);
    assert_eq!(script.count("notifications/progress"), 1);
    let posts: Vec<_> = script
        .requests()
        .into_iter()
        .filter(|request| request.rpc() == "notifications/roots/list_changed")
        .collect();
    assert_eq!(posts.last().unwrap().header("mcp-session-id"), Some("s3"));
}

#[tokio::test]
async fn a_404_without_a_session_is_no_lost_session() {
    let script = Script::start(async |request: Request, mut reply: Reply| {
        if request.rpc() == "tools/list" {
            reply.status(404).await;
            return reply;
        }
        reply.usual(&request, None).await
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    let cause = ask(&mut link, request(1, "tools/list", &json!({}))).await.unwrap_err();
    assert_eq!(why(&cause).status().map(|status| status.as_u16()), Some(404));
    assert_eq!(script.count("initialize"), 1);
}
