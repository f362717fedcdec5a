//! HTTP+SSE of 2024-11-05.

#![cfg(test)]
#![cfg(feature = "server")]

mod support;

use mcp_transport_http::server::LegacyConfig;
use serde_json::{Value, json};
use support::{Answer, Client, Raw, Server, bounded, eventually};

async fn get(server: &Server, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n", server.addr);
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    let mut raw = Raw::open(server.addr).await;
    raw.send(&(head + "Accept: text/event-stream\r\n\r\n"), b"").await;
    raw.answer().await
}

async fn post(server: &Server, target: &str, body: &str) -> Answer {
    let mut raw = Raw::open(server.addr).await;
    let head = format!(
        "POST {target} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        server.addr,
        body.len()
    );
    raw.send(&head, body.as_bytes()).await;
    raw.answer().await
}

async fn endpoint(stream: &mut Answer) -> String {
    let event = stream.event().await.unwrap();
    assert_eq!(event.name.as_deref(), Some(&b"endpoint"[..]));
    String::from_utf8(event.data.to_vec()).unwrap()
}

async fn message(stream: &mut Answer) -> Value {
    let event = stream.event().await.unwrap();
    assert_eq!(event.name.as_deref(), Some(&b"message"[..]));
    serde_json::from_slice(&event.data).unwrap()
}

async fn with_legacy() -> Server {
    Server::build(|builder| builder.legacy(LegacyConfig::new())).await
}

// Shows: TRANSPORT-LEGACY-001, TRANSPORT-LEGACY-008, TRANSPORT-LEGACY-009, TRANSPORT-LEGACY-011
#[tokio::test]
async fn a_conversation_over_two_endpoints() {
    bounded(async {
        let server = with_legacy().await;
        let mut stream = get(&server, "/sse", &[]).await;
        assert_eq!(stream.status, 200);
        assert!(stream.is_stream());
        let target = endpoint(&mut stream).await;
        assert!(target.starts_with("/messages?sessionId="), "{target}");

        let hello = Client::hello("2024-11-05", "old").to_string();
        let accepted = post(&server, &target, &hello).await;
        assert_eq!(accepted.status, 202);
        assert_eq!(message(&mut stream).await["result"]["protocolVersion"], "2024-11-05");
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(post(&server, &target, &ready.to_string()).await.status, 202);

        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "count", "arguments": {"steps": 2}}});
        assert_eq!(post(&server, &target, &call.to_string()).await.status, 202);
        assert_eq!(message(&mut stream).await["params"]["progress"], 1);
        assert_eq!(message(&mut stream).await["params"]["progress"], 2);
        assert_eq!(message(&mut stream).await["result"], json!({"counted": 2}));

        // The server asks, on the same stream.
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "ask"}});
        assert_eq!(post(&server, &target, &call.to_string()).await.status, 202);
        let asked = message(&mut stream).await;
        assert_eq!(asked["method"], "sampling/createMessage");
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"x": 1}});
        assert_eq!(post(&server, &target, &answer.to_string()).await.status, 202);
        assert_eq!(message(&mut stream).await["result"]["answer"]["x"], 1);

        assert_eq!(post(&server, &target, "not json").await.status, 400);
    })
    .await;
}

#[tokio::test]
async fn a_conversation_ends_with_its_connection() {
    bounded(async {
        let server = with_legacy().await;
        let mut stream = get(&server, "/sse", &[]).await;
        let target = endpoint(&mut stream).await;
        post(&server, &target, &Client::hello("2024-11-05", "old").to_string()).await;
        message(&mut stream).await;
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        post(&server, &target, &ready.to_string()).await;
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "wait"}});
        post(&server, &target, &call.to_string()).await;
        server.controls.noted("wait begun").await;
        drop(stream);
        server.controls.noted("wait dropped").await;
        eventually("the stream is gone", || server.endpoint.streams() == 0).await;
        assert_eq!(post(&server, &target, &ready.to_string()).await.status, 404);
        assert_eq!(post(&server, "/messages", &ready.to_string()).await.status, 400);
        assert_eq!(post(&server, "/messages?sessionId=x", &ready.to_string()).await.status, 404);
    })
    .await;
}

// Shows: FC-071
#[tokio::test]
async fn the_address_is_right_behind_a_prefix() {
    bounded(async {
        let server = Server::build(|builder| {
            let mut legacy = LegacyConfig::new();
            legacy.public_base = "/some/prefix".into();
            legacy.sse = "/old".into();
            builder.legacy(legacy)
        })
        .await;
        let mut stream = get(&server, "/old", &[]).await;
        let target = endpoint(&mut stream).await;
        assert!(target.starts_with("/some/prefix/messages?sessionId="), "{target}");
    })
    .await;
}

// Shows: TRANSPORT-LEGACY-012, TRANSPORT-LEGACY-002
#[tokio::test]
async fn the_old_endpoints_are_guarded_and_off_by_default() {
    bounded(async {
        let server = with_legacy().await;
        let foreign = [("Origin", "https://evil.example")];
        assert_eq!(get(&server, "/sse", &foreign).await.status, 403);
        let posted = post(&server, "/sse", "{}").await;
        assert_eq!(posted.status, 405, "so that a newer client falls back");
        assert_eq!(posted.header("allow"), Some("GET"));
        assert_eq!(get(&server, "/messages", &[]).await.status, 405);
        // Beside it, the newer transport.
        let client = server.connect().await;
        assert_eq!(client.request(1, "ping", json!({})).await.status, 200);

        let plain = Server::with(|config| config.path = Some("/mcp".into())).await;
        assert_eq!(get(&plain, "/sse", &[]).await.status, 404);
    })
    .await;
}
