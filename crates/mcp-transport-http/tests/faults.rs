//! What goes wrong on real networks.

#![cfg(test)]
#![cfg(feature = "server")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcp_jsonrpc::Outgoing;
use mcp_transport_http::EVENTS_LOST;
use mcp_transport_http::memory::{EventLogLimits, MemoryEventLog};
use mcp_transport_http::server::{Config, ListenerConfig};
use mcp_transport_http::sse::Decoder;
use serde_json::{Value, json};
use support::{Client, Raw, Server, bounded, eventually};
use tokio::io::AsyncWriteExt;

const STEPS: usize = 3;

/// What a client has of a stream, over all of its connections.
#[derive(Default)]
struct Collected {
    messages: Vec<Value>,
    cursor: Option<String>,
}

impl Collected {
    /// Takes in what came before the cut.
    fn take(&mut self, answer: &[u8]) {
        let Some(head) = answer.windows(4).position(|w| w == b"\r\n\r\n") else { return };
        let mut rest = &answer[head + 4..];
        let mut decoder = Decoder::new(1 << 20);
        // Chunks, as far as they came; a cut one counts too.
        while let Some(line) = rest.windows(2).position(|w| w == b"\r\n") {
            let size = std::str::from_utf8(&rest[..line]).unwrap();
            let size = usize::from_str_radix(size, 16).unwrap();
            let data = &rest[line + 2..(line + 2 + size).min(rest.len())];
            let mut data = Bytes::copy_from_slice(data);
            while let Some(event) = decoder.feed(&mut data).unwrap() {
                if !event.data.is_empty() {
                    self.messages.push(serde_json::from_slice(&event.data).unwrap());
                }
            }
            rest = rest.get(line + 2 + size + 2..).unwrap_or_default();
        }
        if let Some(id) = decoder.last_event_id() {
            self.cursor = Some(String::from_utf8(id.to_vec()).unwrap());
        }
    }

    fn check(&self, id: i64, cut: usize) {
        let count = STEPS + 1;
        assert_eq!(self.messages.len(), count, "cut at {cut}: {:?}", self.messages);
        for (at, message) in self.messages.iter().enumerate().take(count - 1) {
            assert_eq!(message["params"]["progress"], at + 1, "cut at {cut}");
        }
        assert_eq!(self.messages[count - 1]["id"], id, "cut at {cut}");
    }
}

async fn call(client: &Client, id: i64, name: &str) -> Raw {
    let body = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": name, "arguments": {"steps": STEPS}}})
    .to_string();
    let headers = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("Connection", "close"),
    ];
    client.send("POST", &headers, body.as_bytes()).await
}

async fn resume(client: &Client, cursor: &str) -> Raw {
    let headers =
        [("Accept", "text/event-stream"), ("Last-Event-ID", cursor), ("Connection", "close")];
    client.send("GET", &headers, b"").await
}

// Shows: TRANSPORT-HTTP-026, TRANSPORT-RESUME-005, TRANSPORT-RESUME-007
#[tokio::test]
async fn a_socket_cut_after_any_byte_loses_nothing_and_doubles_nothing() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let mut id = 0;
        let mut resumed = 0;
        for name in ["count", "spread"] {
            let whole = call(&client, id, name).await.exactly(1 << 20).await;
            assert!(whole.ends_with(b"0\r\n\r\n"));
            for cut in 0..=whole.len() {
                id += 1;
                let mut collected = Collected::default();
                collected.take(&call(&client, id, name).await.exactly(cut).await);
                // Before the first event id there is nothing to come back with.
                let Some(cursor) = collected.cursor.clone() else { continue };
                if collected.messages.len() <= STEPS {
                    // Cut again, somewhere else.
                    collected.take(&resume(&client, &cursor).await.exactly(cut * 7 % 600).await);
                }
                if collected.messages.len() <= STEPS {
                    let cursor = collected.cursor.clone().unwrap();
                    collected.take(&resume(&client, &cursor).await.exactly(1 << 20).await);
                    resumed += 1;
                }
                collected.check(id, cut);
            }
        }
        assert!(100 < resumed, "{resumed}");
        eventually("nothing runs", || server.endpoint.exchanges() == 0).await;
        eventually("nothing is open", || server.endpoint.streams() == 0).await;
    })
    .await;
}

#[tokio::test]
async fn a_gap_in_what_is_resumed_is_an_explicit_error() {
    bounded(async {
        let mut limits = EventLogLimits::default();
        limits.session_events = 2;
        let log = Arc::new(MemoryEventLog::new(limits));
        let server = Server::build(|builder| builder.event_log(log)).await;
        let client = server.connect().await;
        let whole = call(&client, 0, "count").await.exactly(1 << 20).await;
        for (id, cut) in (0..=whole.len()).enumerate() {
            let id = id as i64 + 1;
            let mut collected = Collected::default();
            collected.take(&call(&client, id, "count").await.exactly(cut).await);
            let Some(cursor) = collected.cursor.clone() else { continue };
            let before = collected.messages.len();
            if before <= STEPS {
                collected.take(&resume(&client, &cursor).await.exactly(1 << 20).await);
            }
            let lost = |message: &&Value| message["error"]["code"] == EVENTS_LOST;
            let gaps = collected.messages.iter().filter(lost).count();
            // The log keeps two of four messages.
            assert_eq!(gaps, usize::from(before < 2), "cut at {cut}: {:?}", collected.messages);
            let last = collected.messages.last().unwrap();
            assert_eq!(last["id"], id, "the response is there, cut at {cut}");
        }
    })
    .await;
}

const LOG_BYTES: usize = 256 << 10;

fn small_log() -> Arc<MemoryEventLog> {
    let mut limits = EventLogLimits::default();
    limits.session_bytes = LOG_BYTES;
    Arc::new(MemoryEventLog::new(limits))
}

// Shows: FC-070, TRANSPORT-HTTP-026
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_is_cut_off_and_disturbs_nobody() {
    bounded(async {
        let mut listener = ListenerConfig::new();
        listener.stall = Duration::from_millis(300);
        let log = small_log();
        let server =
            Server::listen(|builder| builder.event_log(Arc::clone(&log) as Arc<_>), listener).await;
        let client = server.connect().await;
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "flood", "arguments": {"messages": 4000}}})
        .to_string();
        let headers = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let mut flooded = client.send("POST", &headers, body.as_bytes()).await;
        assert!(flooded.more().await);
        server.controls.noted("flood begun").await;
        // Not read from here on. The session goes on, at once.
        for id in 2..20 {
            let answer = client.request(id, "ping", json!({})).await;
            assert_eq!(answer.json().await["result"], json!({}));
        }
        // Cut off, the call ends, into the log.
        server.controls.noted("flood done").await;
        let mut collected = Collected::default();
        let head = flooded.read.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
        collected.take(&flooded.read[..head + 4 + 200]);
        let cursor = collected.cursor.unwrap();
        let messages = client.get(Some(&cursor)).await.messages().await;
        assert_eq!(messages[0]["error"]["code"], EVENTS_LOST);
        assert_eq!(messages.last().unwrap()["result"], json!({"sent": 4000}));
        assert!(messages.len() < 400, "most of it is gone: {}", messages.len());
        assert!(log.bytes() <= LOG_BYTES);
        // The old connection is gone: it ends after what was in the pipe.
        while flooded.more().await {}
        eventually("nothing runs", || server.endpoint.exchanges() == 0).await;
    })
    .await;
}

// Shows: FC-092
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_not_read_does_not_keep_its_session() {
    bounded(async {
        let mut config = Config::new();
        config.times.idle = Duration::from_millis(400);
        config.times.keep_alive = Duration::from_millis(50);
        config.limits.queued = 10_000;
        config.limits.queued_bytes = 64 << 20;
        let mut listener = ListenerConfig::new();
        listener.stall = Duration::from_millis(100);
        let server =
            Server::listen(|builder| builder.config(config).event_log(small_log()), listener).await;
        let client = server.connect().await;
        let mut listening = client.get(None).await;
        assert!(listening.event().await.is_some());
        let outlet = server.controls.outlet();
        let filler = json!({"level": "info", "data": "x".repeat(16 << 10)});
        let message =
            Outgoing::notification("notifications/message".into(), Some(&filler)).unwrap();
        // More than all the pipes on the way hold.
        for _ in 0..2000 {
            outlet.try_notify(message.clone()).unwrap();
        }
        eventually("the stream is cut", || server.endpoint.streams() == 0).await;
        eventually("the session has ended", || server.endpoint.sessions() == 0).await;
        assert!(outlet.is_closed());
    })
    .await;
}

// Shows: TRANSPORT-HTTP-040
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_for_a_slow_reader_goes_to_nobody_else() {
    bounded(async {
        let mut config = Config::new();
        config.times.keep_alive = Duration::from_millis(1);
        config.limits.queued = 10_000;
        config.limits.queued_bytes = 64 << 20;
        let server = Server::build(|builder| builder.config(config)).await;
        let client = server.connect().await;
        let mut old = client.get(None).await;
        let mut new = client.get(None).await;
        assert!(old.event().await.is_some() && new.event().await.is_some());
        let filler = "x".repeat(16 << 10);
        let outlet = server.controls.outlet();
        for n in 0..1000 {
            let params = json!({"level": "info", "data": filler, "logger": n.to_string()});
            let message = Outgoing::notification("notifications/message".into(), Some(&params));
            outlet.try_notify(message.unwrap()).unwrap();
        }
        // The older stream is looked at all the while.
        for _ in 0..50 {
            assert_eq!(old.piece().await.unwrap(), ":\n\n");
        }
        for n in 0..1000 {
            let (message, _) = new.message().await.unwrap();
            assert_eq!(message["params"]["logger"], n.to_string());
        }
    })
    .await;
}

// Shows: FC-053
#[tokio::test]
async fn slow_senders_are_given_up() {
    bounded(async {
        let mut listener = ListenerConfig::new();
        listener.head = Duration::from_millis(500);
        let mut config = Config::new();
        config.times.body = Duration::from_millis(500);
        let server = Server::listen(|builder| builder.config(config), listener).await;
        let client = server.connect().await;
        // Silent, in the middle of a head, in the middle of a body.
        for part in ["", "POST /mcp HT", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: "] {
            let mut raw = Raw::open(server.addr).await;
            raw.send(part, b"").await;
            while raw.more().await {}
            assert!(raw.read.is_empty() || raw.read.starts_with(b"HTTP/1.1 408"), "{part:?}");
        }
        let mut raw = Raw::open(server.addr).await;
        let headers = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        raw.send(&client.head("POST", &headers, 100), b"{\"jsonrpc\"").await;
        assert_eq!(raw.answer().await.status, 408);
        // One byte at a time, but quick enough.
        let mut raw = Raw::open(server.addr).await;
        let body = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        raw.send(&client.head("POST", &headers, body.len()), b"").await;
        for byte in body {
            raw.stream.write_all(&[*byte]).await.unwrap();
        }
        assert_eq!(raw.answer().await.json().await["result"], json!({}));
    })
    .await;
}

#[tokio::test]
async fn floods_over_each_limit_are_refused() {
    bounded(async {
        let mut config = Config::new();
        config.limits.session_exchanges = 3;
        config.limits.exchanges = 5;
        let server = Server::build(|builder| builder.config(config)).await;
        let one = server.connect().await;
        let two = server.connect().await;
        let mut calls = Vec::new();
        for (client, ids) in [(&one, 0..3), (&two, 0..2)] {
            for id in ids {
                let client = client.clone();
                calls.push(tokio::spawn(async move {
                    client.tool(id, "wait", json!({})).await.json().await
                }));
            }
        }
        server.controls.noted_times("wait begun", 5).await;
        for client in [&one, &two] {
            let refused = client.request(9, "ping", json!({})).await;
            assert_eq!(refused.status, 503);
            assert!(refused.header("retry-after").is_some());
            assert_eq!(refused.json().await["error"]["code"], -32603);
        }
        for _ in 0..5 {
            server.controls.open("answer");
        }
        for call in calls {
            assert_eq!(call.await.unwrap()["result"], json!({"waited": true}));
        }
        eventually("room again", || server.endpoint.exchanges() == 0).await;
        assert_eq!(one.request(9, "ping", json!({})).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn heads_have_limits() {
    bounded(async {
        let server = Server::start().await;
        let client = server.client();
        let many: Vec<_> = (0..100).map(|n| format!("X-{n}")).collect();
        let many: Vec<_> = many.iter().map(|name| (name.as_str(), "y")).collect();
        assert_eq!(client.send("POST", &many, b"").await.answer().await.status, 431);
        let long = "y".repeat(200 << 10);
        let refused = client.send("POST", &[("X-Long", &long)], b"").await.answer().await;
        assert_eq!(refused.status, 431);
        let fine = "y".repeat(8 << 10);
        let taken = client.send("PUT", &[("X-Long", &fine)], b"").await.answer().await;
        assert_eq!(taken.status, 405);
    })
    .await;
}

#[tokio::test]
async fn connections_over_the_limit_wait_for_their_turn() {
    bounded(async {
        let mut listener = ListenerConfig::new();
        listener.connections = 2;
        let server = Server::listen(|builder| builder, listener).await;
        let client = server.connect().await;
        let first = client.get(None).await;
        let second = client.get(None).await;
        let waiting = tokio::spawn({
            let client = client.clone();
            async move { client.request(1, "ping", json!({})).await.status }
        });
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        assert!(!waiting.is_finished());
        drop(first);
        assert_eq!(waiting.await.unwrap(), 200);
        drop(second);
    })
    .await;
}

// Shows: TRANSPORT-SESSION-008
#[tokio::test]
async fn a_server_that_was_restarted_knows_no_old_session() {
    bounded(async {
        let mut old = Server::start().await;
        let mut client = old.connect().await;
        let mut listening = client.get(None).await;
        let call = client.tool(1, "count", json!({})).await;
        let messages = call.messages().await;
        assert_eq!(messages.len(), 4);
        old.begin_shutdown();
        old.ended().await;
        while listening.event().await.is_some() {}
        let new = Server::start().await;
        client.addr = new.addr;
        assert_eq!(client.request(2, "ping", json!({})).await.status, 404);
        client.session = None;
        client.initialize("2025-11-25").await;
        assert_eq!(client.request(2, "ping", json!({})).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn a_shutdown_ends_streams_and_lets_calls_end_within_its_limit() {
    bounded(async {
        let mut listener = ListenerConfig::new();
        listener.drain = Duration::from_millis(100);
        let mut server = Server::listen(|builder| builder, listener).await;
        let client = server.connect().await;
        let mut listening = client.get(None).await;
        assert!(listening.event().await.is_some());
        server.controls.open("step");
        let mut call = client.tool(1, "steps", json!({"steps": 2})).await;
        assert!(call.message().await.is_some());
        server.begin_shutdown();
        let last = listening.event().await.unwrap();
        assert!(last.data.is_empty(), "only when to come back");
        assert_eq!(listening.retry(), Some(Duration::from_secs(1)));
        assert!(listening.event().await.is_none());
        server.ended().await;
        server.controls.noted("steps dropped").await;
        assert!(call.messages().await.is_empty());
    })
    .await;
}
