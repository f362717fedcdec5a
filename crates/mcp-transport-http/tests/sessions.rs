//! Sessions: how they begin, whose they are, how they end.

#![cfg(test)]
#![cfg(feature = "server")]

mod support;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use mcp_jsonrpc::ErrorObject;
use mcp_transport_http::server::{Answers, Config, Sessions};
use mcp_transport_http::v1::{Admission, Guard, Principal, Refusal, Step};
use serde_json::json;
use support::{Client, Server, bounded, eventually};

// Shows: TRANSPORT-SESSION-001, TRANSPORT-SESSION-002, TRANSPORT-SESSION-003, SEC-054, SEC-055
#[tokio::test]
async fn initialize_opens_a_session_with_a_random_id() {
    bounded(async {
        let server = Server::start().await;
        let mut ids = HashSet::new();
        for _ in 0..50 {
            let client = server.connect().await;
            let id = client.session.unwrap();
            assert!(id.len() == 32 && id.bytes().all(|b| (0x21..=0x7e).contains(&b)), "{id}");
            assert!(ids.insert(id));
        }
        assert_eq!(server.endpoint.sessions(), 50);
        // Each of the 128 bits is set in some ids and not in others.
        let all = ids.iter().map(|id| u128::from_str_radix(id, 16).unwrap());
        let (any, every) = all.fold((0, u128::MAX), |(any, every), id| (any | id, every & id));
        assert_eq!((any, every), (u128::MAX, 0));
    })
    .await;
}

// Shows: TRANSPORT-SESSION-001
#[tokio::test]
async fn the_id_comes_with_the_head_also_when_initialize_is_answered_by_a_stream() {
    bounded(async {
        let server = Server::start().await;
        let answer = server.client().post(&Client::hello("2025-11-25", "logged")).await;
        assert!(answer.is_stream());
        assert!(answer.header("mcp-session-id").is_some());
        let messages = answer.messages().await;
        assert_eq!(messages[0]["method"], "notifications/message");
        assert_eq!(messages[1]["result"]["protocolVersion"], "2025-11-25");
        assert_eq!(server.endpoint.sessions(), 1);
    })
    .await;
}

/// Opens a session, and does not say that it is ready.
async fn greet(server: &Server) -> Client {
    let mut client = server.client();
    let answer = client.post(&Client::hello("2025-11-25", "client")).await;
    client.session = answer.header("mcp-session-id").map(str::to_owned);
    client.version = Some("2025-11-25".to_owned());
    client
}

#[tokio::test]
async fn a_request_that_overtakes_initialized_waits_for_it() {
    bounded(async {
        let server = Server::with(|config| config.times.ready = Duration::from_secs(40)).await;
        let client = greet(&server).await;
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "echo", "arguments": {"early": true}}})
        .to_string();
        let headers = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let early = client.send("POST", &headers, body.as_bytes()).await;
        // Later connections are served: this one, too, is with the endpoint. A ping waits for
        // nothing.
        for id in 2..5 {
            let pong = client.request(id, "ping", json!({})).await;
            assert_eq!(pong.json().await["result"], json!({}));
        }
        assert_eq!(client.notify("notifications/initialized", json!({})).await.status, 202);
        assert_eq!(early.answer().await.json().await["result"], json!({"early": true}));
    })
    .await;
}

#[tokio::test]
async fn a_client_that_never_says_it_is_ready_is_told_so() {
    bounded(async {
        let server = Server::with(|config| config.times.ready = Duration::from_millis(5)).await;
        let client = greet(&server).await;
        let refused = client.tool(1, "echo", json!({})).await.json().await;
        assert_eq!(refused["error"]["code"], -32600);
        assert_eq!(client.notify("notifications/initialized", json!({})).await.status, 202);
        assert_eq!(client.tool(2, "echo", json!({})).await.json().await["result"], json!({}));
    })
    .await;
}

#[tokio::test]
async fn an_early_request_ends_with_its_session() {
    bounded(async {
        let server = Server::with(|config| config.times.ready = Duration::from_secs(3600)).await;
        let client = greet(&server).await;
        let early = tokio::spawn({
            let client = client.clone();
            async move { client.tool(1, "echo", json!({})).await.status }
        });
        assert_eq!(client.request(2, "ping", json!({})).await.status, 200);
        assert_eq!(client.delete().await.status, 204);
        assert_eq!(early.await.unwrap(), 404);
    })
    .await;
}

#[tokio::test]
async fn nothing_is_kept_of_a_handshake_that_failed() {
    bounded(async {
        let server = Server::start().await;
        for hello in [
            Client::hello("2025-11-25", "refused"),
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}),
        ] {
            let answer = server.client().post(&hello).await;
            assert_eq!(answer.status, 200);
            assert_eq!(answer.header("mcp-session-id"), None);
            assert!(answer.json().await["error"].is_object());
        }
        let streams = Server::with(|config| config.answers = Answers::EventStream).await;
        let answer = streams.client().post(&Client::hello("2025-11-25", "refused")).await;
        assert!(answer.messages().await[0]["error"].is_object());
        for server in [&server, &streams] {
            eventually("no session", || server.endpoint.sessions() == 0).await;
            assert_eq!(server.endpoint.exchanges(), 0);
        }
    })
    .await;
}

// Shows: TRANSPORT-SESSION-006, TRANSPORT-SESSION-008
#[tokio::test]
async fn a_session_has_to_be_named_and_to_exist() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let nobody = server.client();
        let mut stranger = server.client();
        for (session, status) in
            [("0123456789abcdef0123456789abcdef", 404), ("not one of ours", 404), ("\u{e9}", 404)]
        {
            stranger.session = Some(session.to_owned());
            assert_eq!(stranger.request(1, "ping", json!({})).await.status, status, "{session}");
            assert_eq!(stranger.notify("notifications/x", json!({})).await.status, status);
            assert_eq!(stranger.get(None).await.status, status);
            assert_eq!(stranger.delete().await.status, status);
        }
        assert_eq!(nobody.request(1, "ping", json!({})).await.status, 400);
        assert_eq!(nobody.notify("notifications/x", json!({})).await.status, 400);
        assert_eq!(nobody.get(None).await.status, 400);
        assert_eq!(nobody.delete().await.status, 400);
        assert_eq!(server.endpoint.sessions(), 1);
        assert_eq!(client.request(1, "ping", json!({})).await.status, 200);
    })
    .await;
}

// Shows: TRANSPORT-SESSION-007, TRANSPORT-SESSION-008, TRANSPORT-SESSION-010
#[tokio::test]
async fn delete_ends_a_session_and_what_it_runs() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let mut listening = client.get(None).await;
        assert!(listening.event().await.is_some());
        let running = tokio::spawn({
            let client = client.clone();
            async move { client.tool(1, "wait", json!({})).await.status }
        });
        server.controls.noted("wait begun").await;

        let answer = client.delete().await;
        assert_eq!(answer.status, 204);
        assert!(listening.event().await.is_none(), "its streams end");
        assert_eq!(running.await.unwrap(), 404);
        server.controls.noted("wait dropped").await;
        for answer in [
            client.request(2, "ping", json!({})).await,
            client.get(None).await,
            client.delete().await,
        ] {
            assert_eq!(answer.status, 404);
        }
        assert_eq!(server.endpoint.sessions(), 0);
        eventually("nothing runs", || server.endpoint.exchanges() == 0).await;
    })
    .await;
}

// Shows: TRANSPORT-SESSION-011
#[tokio::test]
async fn delete_can_be_denied() {
    bounded(async {
        let server = Server::with(|config| config.end_by_client = false).await;
        let client = server.connect().await;
        let answer = client.delete().await;
        assert_eq!(answer.status, 405);
        assert_eq!(answer.header("allow"), Some("POST, GET"));
        assert_eq!(client.request(1, "ping", json!({})).await.status, 200);
    })
    .await;
}

// Shows: FC-020
#[tokio::test]
async fn initialize_with_an_old_session_makes_a_new_one_and_leaves_the_old_alone() {
    bounded(async {
        let server = Server::start().await;
        let old = server.connect().await;
        let mut new = old.clone();
        new.version = Some("2099-01-01".to_owned());
        new.initialize("2025-06-18").await;
        assert_ne!(old.session, new.session);
        let revision = |client: Client| async move {
            let tools = client.request(1, "tools/list", json!({})).await.json().await;
            tools["result"]["revision"].as_str().unwrap().to_owned()
        };
        assert_eq!(revision(old).await, "2025-11-25");
        assert_eq!(revision(new).await, "2025-06-18");
        assert_eq!(server.endpoint.sessions(), 2);
    })
    .await;
}

// Shows: FC-021, FC-065, TRANSPORT-HTTP-045, TRANSPORT-HTTP-046, TRANSPORT-HTTP-047
#[tokio::test]
async fn the_version_header_has_to_fit_the_session() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        for (version, status) in [
            ("2025-11-25", 200),
            ("(none)", 200),
            ("2025-06-18", 400),
            ("2099-01-01", 400),
            ("2026-07-28", 400),
            ("abc", 400),
            ("", 400),
            ("2025-11-25, 2025-11-25", 400),
        ] {
            let answer = client.post_with(&[("MCP-Protocol-Version", version)], ping).await;
            assert_eq!(answer.status, status, "{version}");
        }
        let answer = client.post_with(&[("MCP-Protocol-Version", "abc")], ping).await;
        let message = answer.json().await["error"]["message"].as_str().unwrap().to_owned();
        for revision in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
            assert!(message.contains(revision), "{message}");
        }
        let twice = client.clone().with_header("MCP-Protocol-Version", "2025-11-25");
        assert_eq!(twice.request(1, "ping", json!({})).await.status, 400);

        // Also where nothing is posted.
        let mut wrong = client.clone();
        wrong.version = Some("2025-06-18".to_owned());
        assert_eq!(wrong.get(None).await.status, 400);
        assert_eq!(wrong.delete().await.status, 400);

        // The handshake decides by itself, whatever its header says.
        let mut early = server.client();
        early.version = Some("2026-01-01".to_owned());
        early.initialize("2026-01-01").await;
        assert_eq!(early.version.as_deref(), Some("2025-11-25"));
    })
    .await;
}

/// Takes `Authorization: Bearer NAME …` as what it says.
struct ByName;

impl Guard for ByName {
    fn admit(&self, head: &Parts) -> Step<Result<Admission, Refusal>> {
        let token = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = token.and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned);
        // As a guard that asks somebody else.
        Step::later(async move {
            tokio::task::yield_now().await;
            match token.as_deref().and_then(|token| token.split(' ').next()) {
                Some(name) => Ok(Admission::of(Principal::new("https://as.example", name))),
                None => {
                    let error = ErrorObject::invalid_request("a token is needed");
                    let challenge = HeaderValue::from_static("Bearer");
                    let headers = HeaderMap::from_iter([(WWW_AUTHENTICATE, challenge)]);
                    Err(Refusal::new(StatusCode::UNAUTHORIZED, error).with_headers(headers))
                }
            }
        })
    }
}

// Shows: FC-064, SEC-053, SEC-056, TRANSPORT-HTTP-006, ELICIT-039, ELICIT-040, ELICIT-051
#[tokio::test]
async fn a_session_belongs_to_who_opened_it() {
    bounded(async {
        let server = Server::build(|builder| builder.guard(ByName)).await;
        let bearer = |client: Client, token: &str| {
            let mut client = client;
            client.headers = vec![("Authorization".to_owned(), format!("Bearer {token}"))];
            client
        };
        let mut alice = bearer(server.client(), "alice first");
        alice.initialize("2025-11-25").await;
        let mut stream = alice.tool(1, "count", json!({})).await;
        let (_, id) = stream.message().await.unwrap();

        let mallory = bearer(alice.clone(), "mallory");
        assert_eq!(mallory.request(1, "tools/list", json!({})).await.status, 404);
        assert_eq!(mallory.notify("notifications/x", json!({})).await.status, 404);
        // Nor can somebody else answer what was asked in it.
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"action": "accept"}});
        assert_eq!(mallory.post(&answer).await.status, 404);
        assert_eq!(mallory.get(None).await.status, 404);
        assert_eq!(mallory.get(id.as_deref()).await.status, 404);
        assert_eq!(mallory.delete().await.status, 404);

        // Another token of the same principal.
        let renewed = bearer(alice.clone(), "alice second");
        assert_eq!(renewed.request(2, "tools/list", json!({})).await.status, 200);
        assert!(renewed.get(id.as_deref()).await.messages().await.len() == 3);

        let mut nobody = alice.clone();
        nobody.headers.clear();
        for answer in [
            nobody.request(1, "tools/list", json!({})).await,
            nobody.get(None).await,
            nobody.delete().await,
        ] {
            assert_eq!(answer.status, 401);
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
            assert_eq!(answer.json().await["error"]["code"], -32600);
        }
        assert_eq!(server.endpoint.sessions(), 1);
    })
    .await;
}

// Shows: FC-092, SEC-057, TRANSPORT-HTTP-024
#[tokio::test]
async fn an_idle_session_ends() {
    bounded(async {
        let server = Server::with(|config| {
            config.times.idle = Duration::from_millis(100);
            config.listen = false;
        })
        .await;
        let client = server.connect().await;
        eventually("the session has ended", || server.endpoint.sessions() == 0).await;
        assert_eq!(client.request(1, "ping", json!({})).await.status, 404);
    })
    .await;
}

// Shows: FC-092, TRANSPORT-HTTP-027
#[tokio::test]
async fn a_running_call_and_a_stream_that_is_read_keep_a_session() {
    bounded(async {
        let server = Server::with(|config| {
            config.times.idle = Duration::from_secs(1);
            config.times.keep_alive = Duration::from_millis(20);
        })
        .await;
        let calling = server.connect().await;
        let listening = server.connect().await;
        let idle = server.connect().await;
        let mut stream = listening.get(None).await;
        assert!(stream.event().await.is_some());
        let call = tokio::spawn(async move {
            let answer = calling.tool(1, "wait", json!({})).await;
            (answer.messages().await, calling)
        });
        server.controls.noted("wait begun").await;
        // Reads the keep-alives.
        let reading = tokio::spawn(async move { while stream.piece().await.is_some() {} });
        eventually("the idle one has ended", || server.endpoint.sessions() == 2).await;
        // Long enough for the others to end, if nothing kept them.
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_eq!(idle.request(1, "ping", json!({})).await.status, 404);
        assert_eq!(listening.request(1, "ping", json!({})).await.status, 200);
        server.controls.open("answer");
        let (messages, calling) = call.await.unwrap();
        assert_eq!(messages[0]["result"], json!({"waited": true}));
        assert_eq!(calling.request(2, "ping", json!({})).await.status, 200);
        reading.abort();
    })
    .await;
}

// Shows: FC-092
#[tokio::test]
async fn there_is_a_limit_to_sessions() {
    bounded(async {
        let limit = |reclaim: u64| {
            move |config: &mut Config| {
                config.limits.sessions = 2;
                config.times.reclaim = Duration::from_millis(reclaim);
            }
        };
        let server = Server::with(limit(1_000_000)).await;
        let first = server.connect().await;
        let _second = server.connect().await;
        let third = server.client().post(&Client::hello("2025-11-25", "c")).await;
        assert_eq!(third.status, 503);
        assert!(third.header("retry-after").is_some());
        assert_eq!(server.endpoint.sessions(), 2);
        // Room again.
        assert_eq!(first.delete().await.status, 204);
        server.connect().await;

        // Who was idle longest makes room, but for who is busy.
        let server = Server::with(limit(0)).await;
        let oldest = server.connect().await;
        let second = server.connect().await;
        let call = tokio::spawn({
            let oldest = oldest.clone();
            async move { oldest.tool(1, "wait", json!({})).await.json().await }
        });
        server.controls.noted("wait begun").await;
        let third = server.connect().await;
        assert_eq!(second.request(1, "ping", json!({})).await.status, 404);
        server.controls.open("answer");
        assert_eq!(call.await.unwrap()["result"], json!({"waited": true}));
        assert_eq!(third.request(1, "ping", json!({})).await.status, 200);
    })
    .await;
}

// Shows: TRANSPORT-HTTP-045, TRANSPORT-HTTP-047, FC-054, FC-065
#[tokio::test]
async fn without_sessions_every_request_stands_alone() {
    bounded(async {
        let server = Server::with(|config| config.sessions = Sessions::Off).await;
        let mut client = server.client();
        client.initialize("2025-11-25").await;
        assert_eq!(client.session, None);
        let revision = async |client: &Client| {
            let tools = client.request(1, "tools/list", json!({})).await.json().await;
            tools["result"]["revision"].as_str().map(str::to_owned)
        };
        assert_eq!(revision(&client).await.as_deref(), Some("2025-11-25"));
        client.version = None;
        assert_eq!(revision(&client).await.as_deref(), Some("2025-03-26"));
        client.version = Some("2099-01-01".to_owned());
        assert_eq!(client.request(1, "ping", json!({})).await.status, 400);

        client.version = Some("2025-11-25".to_owned());
        let answer = client.tool(1, "count", json!({})).await;
        assert!(answer.is_stream());
        let mut answer = answer;
        let (_, id) = answer.message().await.unwrap();
        assert_eq!(id, None, "there is nothing to come back to");
        let asked = client.tool(2, "ask", json!({})).await.json().await;
        assert_eq!(asked["result"]["failed"], "the peer can't be asked here");
        assert_eq!(client.notify("notifications/roots/list_changed", json!({})).await.status, 202);
        assert_eq!(client.request(1, "nothing/such", json!({})).await.json().await["error"]["code"], -32601);

        for answer in [client.get(None).await, client.delete().await] {
            assert_eq!(answer.status, 405);
            assert_eq!(answer.header("allow"), Some("POST"));
        }
        // A lost connection cancels its request.
        let raw = {
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait"}}).to_string();
            let headers = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
            client.send("POST", &headers, body.as_bytes()).await
        };
        server.controls.noted("wait begun").await;
        drop(raw);
        server.controls.noted("wait dropped").await;
        eventually("nothing runs", || server.endpoint.exchanges() == 0).await;
        assert_eq!(server.endpoint.sessions(), 0);
    })
    .await;
}

#[tokio::test]
async fn the_last_endpoint_ends_everything() {
    bounded(async {
        let mut server = Server::start().await;
        let client = server.connect().await;
        let call = tokio::spawn(async move { client.tool(1, "wait", json!({})).await.status });
        server.controls.noted("wait begun").await;
        server.begin_shutdown();
        server.controls.open("answer");
        assert_eq!(call.await.unwrap(), 200, "what was running may end");
        server.ended().await;
        assert_eq!(server.endpoint.sessions(), 0);
        let _ = Arc::clone(&server.controls);
    })
    .await;
}
