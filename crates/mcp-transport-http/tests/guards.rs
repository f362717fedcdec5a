//! Host, Origin, and cross-origin requests.

#![cfg(test)]
#![cfg(feature = "server")]

mod support;

use mcp_transport_http::server::BrowserGuard;
use serde_json::json;
use support::{Client, Server, bounded};

// Shows: FC-066, TRANSPORT-HTTP-002, TRANSPORT-HTTP-003, TRANSPORT-HTTP-004, TRANSPORT-HTTP-005
#[tokio::test]
async fn foreign_hosts_and_origins_are_refused_whatever_the_method() {
    bounded(async {
        let server = Server::start().await;
        assert!(server.addr.ip().is_loopback());
        let client = server.connect().await;
        let port = server.addr.port();
        let table = [
            (format!("evil.example:{port}"), None, 403),
            (format!("127.0.0.1:{port}"), Some("https://evil.example"), 403),
            (format!("localhost:{port}"), Some("null"), 403),
            (format!("localhost:{port}"), Some("not an origin"), 403),
            (format!("127.0.0.1:{port}"), None, 200),
            (format!("[::1]:{port}"), Some("http://localhost:5173"), 200),
        ];
        for (host, origin, status) in &table {
            let mut headers = vec![("Host", host.as_str())];
            headers.extend(origin.map(|origin| ("Origin", origin)));
            let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
            let answer = client.post_with(&headers, ping).await;
            assert_eq!(answer.status, *status, "{host} {origin:?}");
            if *status == 403 {
                let error = answer.json().await;
                assert!(error.get("id").is_none(), "{error}");
                assert!(error["error"]["message"].as_str().unwrap().contains("list"), "{error}");
                for method in ["GET", "DELETE", "OPTIONS", "PUT"] {
                    let answer = client.send(method, &headers, b"").await.answer().await;
                    assert_eq!(answer.status, 403, "{method} {host} {origin:?}");
                }
                // Before the body is looked at.
                assert_eq!(client.post_with(&headers, "not json").await.status, 403);
            }
        }
        assert_eq!(client.request(2, "ping", json!({})).await.status, 200);
    })
    .await;
}

// Shows: FC-067
#[tokio::test]
async fn pages_of_allowed_origins_may_read_answers() {
    bounded(async {
        let server = Server::build(|builder| {
            let guard = BrowserGuard::new().allow_origin("https://app.example").unwrap();
            builder.browser_guard(guard).cors()
        })
        .await;
        let origin = ("Origin", "https://app.example");
        let asked = [
            origin,
            ("Access-Control-Request-Method", "POST"),
            (
                "Access-Control-Request-Headers",
                "authorization,content-type,mcp-protocol-version,mcp-session-id,last-event-id,\
                 mcp-method,mcp-name,mcp-param-city",
            ),
        ];
        let client = server.client();
        let preflight = client.send("OPTIONS", &asked, b"").await.answer().await;
        assert_eq!(preflight.status, 204);
        let allowed = preflight.header("access-control-allow-headers").unwrap();
        for name in asked[2].1.split(',') {
            assert!(allowed.split(", ").any(|known| known == name), "{name} in {allowed}");
        }
        assert_eq!(preflight.header("access-control-allow-methods"), Some("POST, GET, DELETE"));
        assert_eq!(preflight.header("access-control-allow-origin"), Some("https://app.example"));
        assert_eq!(preflight.header("vary"), Some("Origin"));

        let hello = Client::hello("2025-11-25", "page").to_string();
        for answer in [
            client.post_with(&[origin], &hello).await,
            client.post_with(&[origin], "not json").await,
        ] {
            assert_eq!(answer.header("access-control-allow-origin"), Some("https://app.example"));
            let exposed = answer.header("access-control-expose-headers").unwrap();
            assert!(exposed.contains("Mcp-Session-Id") && exposed.contains("WWW-Authenticate"));
            assert_eq!(answer.header("access-control-allow-credentials"), None);
        }
        let foreign = [("Origin", "https://evil.example"), asked[1]];
        let refused = client.send("OPTIONS", &foreign, b"").await.answer().await;
        assert_eq!(refused.status, 403);
        assert_eq!(refused.header("access-control-allow-origin"), None);
        // Off by default.
        let plain = Server::start().await;
        let answer = plain.client().post_with(&[("Origin", "http://localhost")], &hello).await;
        assert_eq!(answer.header("access-control-allow-origin"), None);
    })
    .await;
}
