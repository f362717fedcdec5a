//! POST: what is taken, and what answers it.

#![cfg(test)]
#![cfg(feature = "server")]

mod support;

use serde_json::json;
use support::{Client, Server, bounded};

// Shows: TRANSPORT-HTTP-001, TRANSPORT-HTTP-013, TRANSPORT-HTTP-014, TRANSPORT-SESSION-001
#[tokio::test]
async fn a_plain_call_is_answered_by_one_json_body() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let answer = client.tool(1, "echo", json!({"a": [1, 2]})).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("mcp-session-id"), None);
        let expected = json!({"jsonrpc": "2.0", "id": 1, "result": {"a": [1, 2]}});
        assert_eq!(answer.json().await, expected);
    })
    .await;
}

// Shows: TRANSPORT-HTTP-016, TRANSPORT-HTTP-021, TRANSPORT-HTTP-022, TRANSPORT-HTTP-025, FC-068
#[tokio::test]
async fn a_call_that_says_something_first_is_answered_by_a_stream() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let mut answer = client.tool(1, "count", json!({"steps": 2})).await;
        assert_eq!(answer.status, 200);
        assert!(answer.is_stream());
        assert_eq!(answer.header("cache-control"), Some("no-cache"));
        assert_eq!(answer.header("x-accel-buffering"), Some("no"));
        let prime = answer.event().await.unwrap();
        assert!(prime.data.is_empty() && prime.id.is_some() && prime.name.is_none());
        let messages = answer.messages().await;
        assert_eq!(messages.len(), 3);
        assert_eq!(messages[0]["params"]["progress"], 1);
        assert_eq!(messages[2]["result"], json!({"counted": 2}));
    })
    .await;
}

#[tokio::test]
async fn head_priming_event_and_answer_go_out_in_one_write() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "count", "arguments": {"steps": 2}}})
        .to_string();
        let headers = [("Content-Type", "application/json"), ("Accept", support_both())];
        let mut raw = client.send("POST", &headers, body.as_bytes()).await;
        assert!(raw.more().await);
        // What one write brought is in one read.
        assert!(raw.read.ends_with(b"\r\n0\r\n\r\n"), "{:?}", String::from_utf8_lossy(&raw.read));
    })
    .await;
}

fn support_both() -> &'static str {
    "application/json, text/event-stream"
}

// Shows: TRANSPORT-HTTP-010, FC-014
#[tokio::test]
async fn notifications_and_responses_are_accepted_without_a_body() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        for message in [
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "method": "notifications/unheard_of", "params": {"x": 1}}),
            json!({"jsonrpc": "2.0", "id": 77, "result": {}}),
            json!({"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "m"}}),
        ] {
            let answer = client.post(&message).await;
            assert_eq!(answer.status, 202, "{message}");
            assert_eq!(answer.text().await, "");
        }
    })
    .await;
}

// Shows: TRANSPORT-HTTP-011, FC-012, FC-053
#[tokio::test]
async fn what_is_no_message_is_refused_with_a_json_rpc_error() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let table = [
            ("not json", -32700, json!(null)),
            ("", -32700, json!(null)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, -32600, json!(null)),
            (r#"{"jsonrpc":"1.0","id":5,"method":"tools/list"}"#, -32600, json!(5)),
            (r#"{"jsonrpc":"2.0","id":6}"#, -32600, json!(6)),
            ("[]", -32600, json!(null)),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, json!(null)),
        ];
        for (body, code, id) in table {
            let answer = client.post_with(&[], body).await;
            assert_eq!(answer.status, 400, "{body}");
            assert_eq!(answer.header("content-type"), Some("application/json"));
            let error = answer.json().await;
            assert_eq!(error["error"]["code"], code, "{body}");
            assert_eq!(error["id"], id, "{body}");
            assert_eq!(error.get("id").is_some(), !id.is_null(), "{body}");
        }
    })
    .await;
}

// Shows: FC-052, TRANSPORT-HTTP-008
#[tokio::test]
async fn the_accept_header_decides_what_may_be_sent() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let table = [
            ("application/json, text/event-stream", 200),
            ("*/*", 200),
            ("(none)", 200),
            ("application/json", 406),
            ("text/event-stream;q=0, application/json", 406),
            ("text/html", 406),
        ];
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        for (accept, status) in table {
            let answer = client.post_with(&[("Accept", accept)], ping).await;
            assert_eq!(answer.status, status, "{accept}");
            if status == 406 {
                assert_eq!(answer.json().await["error"]["code"], -32600);
            }
        }
    })
    .await;
}

// Shows: FC-052
#[tokio::test]
async fn accept_can_be_taken_strictly_or_leniently() {
    use mcp_transport_http::server::AcceptPolicy;

    bounded(async {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let strict = Server::with(|config| config.accept = AcceptPolicy::Named).await;
        let client = strict.connect().await;
        assert_eq!(client.post_with(&[("Accept", "*/*")], ping).await.status, 406);
        assert_eq!(client.post_with(&[("Accept", "(none)")], ping).await.status, 406);

        let lenient = Server::with(|config| config.accept = AcceptPolicy::Lenient).await;
        let client = lenient.connect().await.with_header("x", "y");
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "count", "arguments": {}}})
        .to_string();
        // No stream for who takes none: what is not the response is dropped.
        let answer = client.post_with(&[("Accept", "application/json")], &call).await;
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.json().await["result"], json!({"counted": 3}));
        let answer = client.post_with(&[("Accept", "text/event-stream")], ping).await;
        assert!(answer.is_stream());
        assert_eq!(answer.messages().await.len(), 1);
    })
    .await;
}

// Shows: TRANSPORT-HTTP-013
#[tokio::test]
async fn the_form_of_answers_can_be_chosen() {
    use mcp_transport_http::server::Answers;

    bounded(async {
        let json_only = Server::with(|config| config.answers = Answers::Json).await;
        let client = json_only.connect().await;
        let answer = client.tool(1, "count", json!({})).await;
        assert_eq!(answer.json().await["result"], json!({"counted": 3}));
        let answer = client.tool(2, "ask", json!({})).await;
        let failed = answer.json().await;
        assert_eq!(failed["result"]["failed"], "the peer can't be asked here");

        let streams = Server::with(|config| config.answers = Answers::EventStream).await;
        let mut client = streams.client();
        let answer = client.post(&Client::hello("2025-11-25", "c")).await;
        assert!(answer.is_stream());
        client.session = answer.header("mcp-session-id").map(str::to_owned);
        assert_eq!(answer.messages().await.len(), 1);
        assert_eq!(client.notify("notifications/initialized", json!({})).await.status, 202);
        let answer = client.request(1, "ping", json!({})).await;
        assert!(answer.is_stream());
        assert_eq!(answer.messages().await, [json!({"jsonrpc": "2.0", "id": 1, "result": {}})]);
    })
    .await;
}

// Shows: FC-053
#[tokio::test]
async fn bodies_have_limits() {
    bounded(async {
        let server = Server::with(|config| {
            config.limits.body_bytes = 300;
            config.times.body = std::time::Duration::from_millis(300);
        })
        .await;
        let client = server.connect().await;
        let fitting = |len: usize| {
            let start = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":""#;
            format!("{start}{}\"}}}}", "y".repeat(len - start.len() - 3))
        };
        assert_eq!(client.post_with(&[], &fitting(300)).await.status, 200);
        let answer = client.post_with(&[], &fitting(301)).await;
        assert_eq!(answer.status, 413);
        let error = answer.json().await;
        assert!(error["error"]["message"].as_str().unwrap().contains("300"), "{error}");

        let huge = [("Content-Length", "10737418240")];
        assert_eq!(client.post_with(&huge, "{").await.status, 413);

        let chunked = format!("12d\r\n{}\r\n0\r\n\r\n", fitting(301));
        let headers = [("Transfer-Encoding", "chunked")];
        assert_eq!(client.post_with(&headers, &chunked).await.status, 413);

        // Five bytes are announced, two come, then nothing.
        let short = [("Content-Length", "5")];
        assert_eq!(client.post_with(&short, "{}").await.status, 408);
    })
    .await;
}

// Shows: FC-053, TRANSPORT-HTTP-015
#[tokio::test]
async fn only_plain_json_is_taken() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let table = [
            (("Content-Type", "application/json; charset=UTF-8"), 200),
            (("Content-Type", "text/plain"), 415),
            (("Content-Type", "(none)"), 415),
            (("Content-Encoding", "identity"), 200),
            (("Content-Encoding", "gzip"), 415),
        ];
        for (header, status) in table {
            let answer = client.post_with(&[header], ping).await;
            assert_eq!(answer.status, status, "{header:?}");
            if header == ("Content-Encoding", "gzip") {
                assert_eq!(answer.header("accept-encoding"), Some("identity"));
            }
        }
    })
    .await;
}

// Shows: FC-054
#[tokio::test]
async fn other_methods_are_answered_by_what_is_allowed() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        for method in ["PUT", "PATCH", "OPTIONS", "TRACE"] {
            let answer = client.send(method, &[], b"").await.answer().await;
            assert_eq!(answer.status, 405, "{method}");
            assert_eq!(answer.header("allow"), Some("POST, GET, DELETE"));
            assert_eq!(answer.json().await["error"]["code"], -32600);
        }
        let head = client.send("HEAD", &[], b"").await.answer().await;
        assert_eq!(head.status, 405);

        // A browser that follows a link.
        let html = [("Accept", "text/html, */*;q=0.1")];
        assert_eq!(client.send("GET", &[], b"").await.answer().await.status, 406);
        assert_eq!(client.send("GET", &html, b"").await.answer().await.status, 406);
    })
    .await;
}

#[tokio::test]
async fn only_the_path_is_served() {
    bounded(async {
        let server = Server::with(|config| config.path = Some("/other".into())).await;
        let answer = server.client().post(&Client::hello("2025-11-25", "c")).await;
        assert_eq!(answer.status, 404);
    })
    .await;
}

#[tokio::test]
async fn a_handler_that_panics_is_an_internal_error() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let answer = client.tool(1, "panic", json!({})).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json().await["error"]["code"], -32603);
        assert_eq!(client.request(1, "ping", json!({})).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn handlers_see_the_http_request() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await.with_header("X-Test", "seen");
        let answer = client.tool(1, "header", json!({})).await.json().await;
        assert_eq!(answer["result"]["header"], "seen");
    })
    .await;
}

// Shows: FC-013, TRANSPORT-HTTP-011
#[tokio::test]
async fn two_requests_with_one_id_are_an_error_to_the_second() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let first = tokio::spawn({
            let client = client.clone();
            async move { client.tool(7, "wait", json!({})).await.json().await }
        });
        server.controls.noted("wait begun").await;
        let second = client.tool(7, "echo", json!({})).await;
        assert_eq!(second.status, 400);
        assert_eq!(second.json().await["error"]["code"], -32600);
        assert_eq!(server.controls.count("echo begun"), 0);
        // Another kind of id is another id, and so is one that is free again.
        assert_eq!(
            client.post(&json!({"jsonrpc": "2.0", "id": "7", "method": "ping"})).await.json().await
                ["id"],
            "7"
        );
        server.controls.open("answer");
        assert_eq!(first.await.unwrap()["result"], json!({"waited": true}));
        assert_eq!(client.tool(7, "echo", json!({})).await.status, 200);
    })
    .await;
}

// Shows: FC-017
#[tokio::test]
async fn batches_are_for_the_one_revision_that_has_them() {
    bounded(async {
        let server = Server::start().await;
        let mut client = server.client();
        client.initialize("2025-03-26").await;
        let batch = json!([
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/x"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
            {"jsonrpc": "2.0", "id": 3},
            {"jsonrpc": "2.0", "id": 4, "method": "initialize", "params": {}},
        ]);
        let answer = client.post(&batch).await;
        assert_eq!(answer.status, 200);
        let mut answers = answer.json().await.as_array().unwrap().clone();
        answers.sort_by_key(|answer| answer["id"].as_i64());
        let ids: Vec<_> = answers.iter().map(|answer| answer["id"].as_i64().unwrap()).collect();
        assert_eq!(ids, [1, 2, 3, 4]);
        assert_eq!(answers[0]["result"], json!({}));
        assert_eq!(answers[2]["error"]["code"], -32600);
        assert_eq!(answers[3]["error"]["code"], -32600);

        // What would have been a notification gets no answer, malformed or not.
        let notices = json!([{"jsonrpc": "2.0", "method": "notifications/x", "params": 1}]);
        assert_eq!(client.post(&notices).await.status, 202);
        let notices = json!([{"jsonrpc": "2.0", "method": "notifications/x"}]);
        let answer = client.post(&notices).await;
        assert_eq!(answer.status, 202);
        assert_eq!(answer.text().await, "");
        assert_eq!(client.post(&json!([])).await.status, 400);
        assert_eq!(client.post(&json!([1])).await.status, 400);

        // What a member says first makes the answer a stream.
        let batch = json!([
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
             "params": {"name": "count", "arguments": {"steps": 1}}},
            {"jsonrpc": "2.0", "id": 2, "method": "ping"},
        ]);
        let answer = client.post(&batch).await;
        assert!(answer.is_stream());
        let messages = answer.messages().await;
        assert_eq!(messages.len(), 2);
        assert_eq!(messages[1].as_array().map(Vec::len), Some(2));

        for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
            let mut client = server.client();
            client.initialize(version).await;
            let answer = client.post(&json!([{"jsonrpc": "2.0", "id": 1, "method": "ping"}])).await;
            assert_eq!(answer.status, 400, "{version}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_member_of_a_batch_can_be_canceled() {
    bounded(async {
        let server = Server::start().await;
        let mut client = server.client();
        client.initialize("2025-03-26").await;
        let batch = json!([
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "careful"}},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "wait"}},
        ]);
        let running = tokio::spawn({
            let client = client.clone();
            async move { client.post(&batch).await.json().await }
        });
        server.controls.noted("wait begun").await;
        let taken = client.request(1, "ping", json!({})).await;
        assert_eq!(taken.status, 400, "the id is in use");
        client.notify("notifications/cancelled", json!({"requestId": 1})).await;
        server.controls.noted("careful noticed").await;
        server.controls.open("answer");
        let answers = running.await.unwrap();
        assert_eq!(answers.as_array().map(Vec::len), Some(1));
        assert_eq!(answers[0]["id"], 2);
    })
    .await;
}
