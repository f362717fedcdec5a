use std::time::Duration;

use mcp_server::{Context, Server};
use mcp_types::LoggingLevel;
use serde_json::json;

use crate::wire::Wire;

fn talkative() -> Server {
    Server::new("s", "1")
        .logging()
        .log_limit(20, Duration::from_secs(1))
        .tool("burst", |cx: Context| async move {
            for number in 0..10_000 {
                cx.log(LoggingLevel::Info, None, &number);
            }
        })
        .tool("one", |cx: Context| async move { cx.log(LoggingLevel::Info, None, "one") })
        .tool("large", |cx: Context| async move {
            cx.log(LoggingLevel::Info, None, &"x".repeat(100_000));
            cx.log(LoggingLevel::Info, None, &"y".repeat(60_000));
        })
}

// Shows: LOGGING-009, LOGGING-020
#[tokio::test(start_paused = true)]
async fn a_burst_of_log_messages_is_cut_and_what_is_missing_is_told() {
    let server = talkative();
    let mut wire = Wire::open(&server).await;
    wire.tool("burst", json!({})).await;
    assert_eq!(wire.notes.len(), 20);
    wire.notes.clear();
    wire.tool("one", json!({})).await;
    assert!(wire.notes.is_empty());
    // Another session has its own allowance.
    let mut other = Wire::open(&server).await;
    other.tool("one", json!({})).await;
    assert_eq!(other.notes.len(), 1);
    tokio::time::advance(Duration::from_millis(50)).await;
    wire.tool("one", json!({})).await;
    let told: Vec<_> = wire.notes.iter().map(|note| &note["params"]).collect();
    assert_eq!(told.len(), 2);
    assert_eq!(*told[0], json!({"level": "warning", "data": "9981 log messages were dropped"}));
    assert_eq!(*told[1], json!({"level": "info", "data": "one"}));
}

// Shows: LOGGING-021
#[tokio::test]
async fn data_that_is_too_large_is_cut() {
    let mut wire = Wire::open(&talkative()).await;
    wire.tool("large", json!({})).await;
    let data = |at: usize| wire.notes[at]["params"]["data"].as_str().unwrap();
    assert!(data(0).len() < 2000 && data(0).ends_with("(cut: 100002 bytes)"), "{}", data(0));
    assert_eq!(data(1).len(), 60_000);
}

// Shows: LOGGING-004, LOGGING-022
#[tokio::test]
async fn a_level_and_the_messages_are_for_one_session_only() {
    let server = talkative();
    let (mut one, mut other) = (Wire::open(&server).await, Wire::open(&server).await);
    one.call("logging/setLevel", json!({"level": "error"})).await;
    for wire in [&mut one, &mut other] {
        wire.tool("one", json!({})).await;
    }
    one.call("ping", json!({})).await;
    assert!(one.notes.is_empty());
    assert_eq!(other.notes.len(), 1);
}
