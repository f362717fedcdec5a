//! Requests: what is sent, what comes back, and what happens when nothing does.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests are tests, too"
)]

mod common;

use std::error::Error as _;
use std::time::Duration;

use common::{Heard, builder, connect, connect_to, poll_once, settle};
use mcp_client::ClientError;
use mcp_jsonrpc::{ErrorObject, RawJson};
use mcp_lifecycle::{GateError, ProgressReset, TimedOut, Timeouts};
use mcp_types::error_code::Meaning;
use mcp_types::{ListToolsRequest, LoggingLevel, Method, PaginatedRequestParams};
use serde_json::json;

// Shows: COMPLETION-003, COMPLETION-018
#[tokio::test]
async fn typed_requests_say_what_the_specification_says() {
    let (client, mut server) = connect(builder()).await;
    let talk = async {
        client.ping().await.unwrap();
        let read = client.read_resource("file:///a").meta("com.example/x", &1).await.unwrap();
        assert_eq!(read.contents.len(), 1);
        client.subscribe("file:///a").await.unwrap();
        client.unsubscribe("file:///a").await.unwrap();
        let prompt = client.get_prompt("p").arg("k", "v").await.unwrap();
        assert_eq!(prompt.messages.len(), 0);
        let done = client.complete_prompt("p", "a", "x").known("k", "v").await.unwrap();
        assert_eq!(done.values, ["xyz"]);
        let done = client.complete_template("t://{v}", "v", "").await.unwrap();
        assert!(done.values.is_empty() && done.total.is_none());
        client.set_log_level(LoggingLevel::Warning).await.unwrap();
        let page = client.request::<ListToolsRequest>(&PaginatedRequestParams::new()).await;
        assert_eq!(page.unwrap().tools.len(), 0);
        let raw = client.request_raw("x/y", RawJson::new("{\"a\": 1}").ok()).await.unwrap();
        assert_eq!(raw.as_str(), r#"{"z":1e400}"#);
    };
    let script = async {
        let mut reply = async |method: &str, wanted: serde_json::Value, result: &str| {
            let (id, params) = server.asked(method).await;
            assert_eq!(params, wanted, "{method}");
            server.answer_raw(id, result).await;
        };
        reply("ping", json!(null), "{}").await;
        let read = r#"{"contents":[{"uri":"file:///a","text":""}]}"#;
        let params = json!({"uri": "file:///a", "_meta": {"com.example/x": 1}});
        reply("resources/read", params, read).await;
        reply("resources/subscribe", json!({"uri": "file:///a"}), "{}").await;
        reply("resources/unsubscribe", json!({"uri": "file:///a"}), "{}").await;
        let params = json!({"name": "p", "arguments": {"k": "v"}});
        reply("prompts/get", params, r#"{"messages":[]}"#).await;
        let params = json!({
            "ref": {"type": "ref/prompt", "name": "p"},
            "argument": {"name": "a", "value": "x"},
            "context": {"arguments": {"k": "v"}},
        });
        let found = r#"{"completion":{"values":["xyz"],"hasMore":true}}"#;
        reply("completion/complete", params, found).await;
        let params = json!({
            "ref": {"type": "ref/resource", "uri": "t://{v}"},
            "argument": {"name": "v", "value": ""},
        });
        reply("completion/complete", params, r#"{"completion":{"values":[]}}"#).await;
        reply("logging/setLevel", json!({"level": "warning"}), "{}").await;
        reply("tools/list", json!({}), r#"{"tools":[]}"#).await;
        reply("x/y", json!({"a": 1}), r#"{"z":1e400}"#).await;
    };
    tokio::join!(talk, script);
}

#[tokio::test]
async fn what_the_server_does_not_offer_is_not_sent() {
    let (client, mut server) = connect_to(builder(), "2025-11-25", json!({"tools": {}})).await;
    let refused = [
        client.list_prompts().await.map(drop),
        client.subscribe("a:b").await,
        client.set_log_level(LoggingLevel::Debug).await,
        client.complete_prompt("p", "a", "").await.map(drop),
        client.request_raw("resources/list", None).await.map(drop),
        // It goes the other way.
        client.request_raw("roots/list", None).await.map(drop),
    ];
    for outcome in refused {
        let Err(ClientError::Unsupported(error)) = outcome else { panic!("{outcome:?}") };
        assert!(matches!(error, GateError::PeerLacks { .. } | GateError::WrongDirection { .. }));
    }
    settle().await;
    assert!(server.is_quiet());
}

// With 2024-11-05 completion has no capability: it can only be tried.
#[tokio::test]
async fn what_an_older_revision_does_not_gate_is_tried() {
    let (client, mut server) = connect_to(builder(), "2024-11-05", json!({})).await;
    let script = async {
        let (id, params) = server.asked("completion/complete").await;
        assert!(params.get("context").is_none(), "{params}");
        server.refuse(id, ErrorObject::method_not_found("completion/complete")).await;
    };
    let call = client.complete_prompt("p", "a", "").known("b", "c");
    let (outcome, ()) = tokio::join!(call.into_future(), script);
    assert!(matches!(outcome.unwrap_err().meaning(), Some(Meaning::UnknownMethod)));
}

// Shows: FC-036
#[tokio::test]
async fn a_refusal_is_the_servers_word() {
    let (client, mut server) = connect(builder()).await;
    let script = async {
        let (id, _) = server.asked("tools/call").await;
        server.refuse(id, ErrorObject::invalid_params("Unknown tool: nope")).await;
        let (id, _) = server.asked("resources/read").await;
        let error = ErrorObject::new(-32002, "gone").with_data_from(&json!({"uri": "a:b"}));
        server.refuse(id, error).await;
    };
    let talk = async {
        let error = client.call_tool("nope").await.unwrap_err();
        assert_eq!(error.to_string(), "the server refused `tools/call`");
        assert_eq!(error.source().unwrap().to_string(), "Unknown tool: nope (-32602)");
        assert!(!error.is_retryable());
        let error = client.read_resource("a:b").await.unwrap_err();
        assert!(matches!(error.meaning(), Some(Meaning::ResourceMissing { uri }) if uri == "a:b"));
    };
    tokio::join!(script, talk);
}

// Shows: FC-027
#[tokio::test]
async fn an_error_is_a_sign_of_life() {
    let (client, mut server) = connect(builder()).await;
    let script = async {
        let (id, _) = server.asked("ping").await;
        server.refuse(id, ErrorObject::method_not_found("ping")).await;
    };
    let (alive, ()) = tokio::join!(client.ping().into_future(), script);
    alive.unwrap();
}

#[tokio::test]
async fn a_result_of_another_shape_is_an_error_of_its_own() {
    let (client, mut server) = connect(builder()).await;
    let script = async {
        let (id, _) = server.asked("resources/read").await;
        server.answer(id, json!({"contents": 7})).await;
    };
    let (outcome, ()) = tokio::join!(client.read_resource("a:b").into_future(), script);
    assert!(matches!(outcome, Err(ClientError::Decode { .. })));
}

// Shows: TOOLS-053, LIFE-032, LIFE-033
#[tokio::test(start_paused = true)]
async fn a_silent_server_is_given_up_and_told_why() {
    let (client, mut server) = connect(builder()).await;
    let start = tokio::time::Instant::now();
    let script = async {
        let (id, _) = server.asked("tools/call").await;
        let notice = server.told("notifications/cancelled").await;
        assert_eq!(notice["requestId"], json!(id));
        assert!(notice["reason"].as_str().unwrap().contains("2000 ms"), "{notice}");
    };
    let call = client.call_tool("slow").timeout(Duration::from_secs(2));
    let (outcome, ()) = tokio::join!(call.into_future(), script);
    let error = outcome.unwrap_err();
    assert_eq!(start.elapsed().as_secs(), 2);
    assert!(error.is_retryable() && error.meaning().is_none());
    let ClientError::TimedOut { method, source: TimedOut::Idle { .. } } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(method.as_str(), "tools/call");
}

#[tokio::test(start_paused = true)]
async fn the_defaults_are_a_minute_of_silence() {
    let (client, mut server) = connect(builder()).await;
    let start = tokio::time::Instant::now();
    let script = async {
        server.asked("resources/read").await;
        server.told("notifications/cancelled").await;
    };
    let (outcome, ()) = tokio::join!(client.read_resource("a:b").into_future(), script);
    assert!(matches!(outcome, Err(ClientError::TimedOut { .. })));
    assert_eq!(start.elapsed().as_secs(), 60);
}

// Shows: LIFE-035
#[tokio::test(start_paused = true)]
async fn every_request_has_its_own_limit() {
    let (client, mut server) = connect(builder().timeout(Duration::from_secs(5))).await;
    let start = tokio::time::Instant::now();
    let long = tokio::spawn(client.ping().timeout(Duration::from_secs(9)).into_future());
    let short = tokio::spawn(client.ping().timeout(Duration::from_secs(1)).into_future());
    let usual = tokio::spawn(client.ping().into_future());
    for _ in 0..3 {
        server.asked("ping").await;
    }
    assert!(short.await.unwrap().is_err());
    assert_eq!(start.elapsed().as_secs(), 1);
    assert!(usual.await.unwrap().is_err());
    assert_eq!(start.elapsed().as_secs(), 5);
    assert!(long.await.unwrap().is_err());
    assert_eq!(start.elapsed().as_secs(), 9);
}

// Shows: FC-031, CANCEL-011
#[tokio::test(start_paused = true)]
async fn a_late_answer_is_dropped_and_nothing_else_happens() {
    let (client, mut server) = connect(builder()).await;
    let script = async {
        let (id, _) = server.asked("ping").await;
        server.told("notifications/cancelled").await;
        server.refuse(id.clone(), ErrorObject::new(0, "Request cancelled")).await;
        server.answer(id, json!({})).await;
        let (id, _) = server.asked("ping").await;
        server.answer(id, json!({})).await;
    };
    let talk = async {
        assert!(client.ping().timeout(Duration::from_secs(1)).await.is_err());
        client.ping().await.unwrap();
    };
    tokio::join!(script, talk);
    assert!(!client.is_closed());
}

// Shows: CANCEL-001
#[tokio::test]
async fn dropping_a_call_cancels_it() {
    let (client, mut server) = connect(builder()).await;
    let mut call = client.call_tool("slow").into_future();
    assert!(poll_once(&mut call).is_pending());
    let (id, _) = server.asked("tools/call").await;
    drop(call);
    assert_eq!(server.told("notifications/cancelled").await["requestId"], json!(id));
    // One that was never polled was never sent.
    drop(client.call_tool("slow").into_future());
    settle().await;
    assert!(server.is_quiet());
}

#[tokio::test]
async fn a_finished_call_is_not_canceled() {
    let (client, mut server) = connect(builder()).await;
    let script = async {
        let (id, _) = server.asked("ping").await;
        server.answer(id, json!({})).await;
    };
    let (alive, ()) = tokio::join!(client.ping().into_future(), script);
    alive.unwrap();
    settle().await;
    assert!(server.is_quiet());
}

// Shows: FC-030, LIFE-036
#[tokio::test(start_paused = true)]
async fn progress_ends_a_silence_though_nobody_watches_it() {
    let (client, mut server) = connect(builder()).await;
    let script = async {
        let (id, params) = server.asked("tools/call").await;
        let token = params["_meta"]["progressToken"].clone();
        for step in 1..=10 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            server.progress(&token, f64::from(step)).await;
        }
        server.answer(id, json!({"content": []})).await;
    };
    let call = client.call_tool("slow").timeout(Duration::from_millis(300));
    let (outcome, ()) = tokio::join!(call.into_future(), script);
    outcome.unwrap();
}

#[tokio::test(start_paused = true)]
async fn other_requests_carry_a_token_when_it_is_asked_for() {
    let (client, mut server) = connect(builder()).await;
    let script = async {
        let (id, params) = server.asked("resources/read").await;
        assert_eq!(params.get("_meta"), None);
        server.answer(id, json!({"contents": []})).await;
        let (id, params) = server.asked("resources/read").await;
        assert!(params["_meta"]["progressToken"].is_number(), "{params}");
        server.answer(id, json!({"contents": []})).await;
    };
    let talk = async {
        client.read_resource("a:b").await.unwrap();
        let always = Timeouts::new().with_reset(ProgressReset::Always);
        client.read_resource("a:b").timeouts(always).await.unwrap();
    };
    tokio::join!(script, talk);
}

// Shows: LIFE-037
#[tokio::test(start_paused = true)]
async fn nothing_goes_on_past_the_maximum() {
    let (client, mut server) = connect(builder()).await;
    let start = tokio::time::Instant::now();
    let script = async {
        let (_, params) = server.asked("tools/call").await;
        let token = params["_meta"]["progressToken"].clone();
        let mut step = 0.0;
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            if !server.is_quiet() {
                break;
            }
            step += 1.0;
            server.progress(&token, step).await;
        }
    };
    let call =
        client.call_tool("slow").timeout(Duration::from_secs(2)).max_time(Duration::from_secs(10));
    let (outcome, ()) = tokio::join!(call.into_future(), script);
    assert!(matches!(outcome, Err(ClientError::TimedOut { source: TimedOut::Max { .. }, .. })));
    assert!(start.elapsed().as_secs() <= 11);
}

// Shows: PROGRESS-001, PROGRESS-018, FC-028, FC-029
#[tokio::test]
async fn progress_comes_in_order_before_the_result() {
    let (client, mut server) = connect(builder()).await;
    let script = async {
        let (id, params) = server.asked("tools/call").await;
        let token = params["_meta"]["progressToken"].clone();
        server.progress(&json!("made up"), 0.0).await;
        for value in [5.0, 5.0, 3.0, 7.0, 7.25] {
            server.progress(&token, value).await;
        }
        server.answer(id, json!({"content": []})).await;
        // Late: the ping shows that it has been dealt with.
        let (id, _) = server.asked("ping").await;
        server.progress(&token, 100.0).await;
        server.answer(id, json!({})).await;
    };
    let mut seen = Vec::new();
    let talk = async {
        client.call_tool("slow").on_progress(|step| seen.push(step.progress)).await.unwrap();
        client.ping().await.unwrap();
    };
    tokio::join!(script, talk);
    assert_eq!(seen, [5.0, 7.0, 7.25]);
}

// Shows: FC-028
#[tokio::test]
async fn progress_that_nobody_asked_for_is_ignored() {
    let (client, mut server) = connect(builder()).await;
    let script = async {
        let (id, _) = server.asked("ping").await;
        server.progress(&json!("tool-call-4"), 0.0).await;
        server.answer(id, json!({})).await;
    };
    let (alive, ()) = tokio::join!(client.ping().into_future(), script);
    alive.unwrap();
}

#[tokio::test]
async fn what_can_not_be_written_is_not_sent() {
    let (client, mut server) = connect(builder()).await;
    let odd = std::collections::HashMap::from([(vec![1], 2)]);
    for call in [
        client.call_tool("a").arg("odd", &odd),
        client.call_tool("a").args(&[1, 2]),
        client.call_tool("a").meta("odd", &odd),
    ] {
        assert!(matches!(call.await, Err(ClientError::Encode { .. })));
    }
    settle().await;
    assert!(server.is_quiet());
}

#[tokio::test]
async fn too_many_requests_are_refused_here() {
    let mut config = mcp_jsonrpc::peer::DriverConfig::new();
    config.max_pending = 2;
    let (client, mut server) = connect(builder().driver(config)).await;
    let mut first = client.ping().into_future();
    let mut second = client.ping().into_future();
    assert!(poll_once(&mut first).is_pending() && poll_once(&mut second).is_pending());
    let error = client.ping().await.unwrap_err();
    assert!(matches!(error, ClientError::TooMany { limit: 2 }) && error.is_retryable());
    server.asked("ping").await;
    server.asked("ping").await;
    drop((first, second));
    for _ in 0..2 {
        assert!(matches!(server.hear().await, Heard::Notification(..)));
    }
}

#[tokio::test]
async fn a_method_of_the_protocol_is_gated_however_it_is_sent() {
    let (client, _server) = connect_to(builder(), "2025-03-26", common::everything()).await;
    let outcome = client.request_raw(Method::TasksList.as_str(), None).await;
    assert!(matches!(outcome, Err(ClientError::Unsupported(GateError::NotInRevision { .. }))));
}
