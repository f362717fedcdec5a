//! Events of `tracing`, sent to the client.

use mcp_server::{Context, LogForwarder, ServeOptions, Server};
use serde_json::{Value, json};
use tracing::Instrument as _;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::wire::Wire;

/// A forwarder that this thread's events go to.
fn forwarder() -> (LogForwarder, DefaultGuard) {
    let logs = LogForwarder::of(["app", "helper::inner"]);
    let subscriber = tracing_subscriber::registry().with(logs.clone());
    (logs, tracing::subscriber::set_default(subscriber))
}

fn server(logs: &LogForwarder) -> Server {
    Server::new("s", "1").forward_logs(logs.clone()).tool("work", |_: Context| async {
        tracing::info!(target: "app", done = 3, ratio = 0.5, ok = true, name = "x", "it goes on");
        tokio::task::yield_now().await;
        let span = tracing::info_span!(target: "app", "step");
        async {
            tokio::task::yield_now().await;
            tracing::warn!(target: "app::deep", "careful");
        }
        .instrument(span)
        .await;
        tracing::debug!(target: "app", "too much");
        tracing::error!(target: "application", "not this one");
        tracing::error!(target: "helper", "nor this one");
        tracing::error!(target: "mcp_server::log", "nor ours");
        tracing::error!(target: "helper::inner", error = &std::io::Error::other("why") as &dyn std::error::Error);
        let spawned = async { tracing::info!(target: "app", "elsewhere") }.in_current_span();
        tokio::spawn(spawned).await.unwrap();
        tokio::spawn(async { tracing::info!(target: "app", "lost") }).await.unwrap();
        "done"
    })
}

fn said(wire: &mut Wire) -> Vec<(String, String, Value)> {
    let notes = std::mem::take(&mut wire.notes);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let part = |note: Value| {
        assert_eq!(note["method"], "notifications/message");
        let params = &note["params"];
        (text(&params["level"]), text(&params["logger"]), params["data"].clone())
    };
    notes.into_iter().map(part).collect()
}

// Shows: LOGGING-002, LOGGING-003, LOGGING-004
#[tokio::test]
async fn what_happens_in_a_request_is_told_to_who_made_it() {
    let (logs, _guard) = forwarder();
    let server = server(&logs);
    let mut wire = Wire::open(&server).await;
    assert_eq!(wire.hello["capabilities"]["logging"], json!({}));
    let mut other = Wire::open(&server).await;
    tracing::error!(target: "app", "outside of every request");
    wire.tool("work", json!({})).await;
    let row = |level: &str, logger: &str, data: Value| (level.to_owned(), logger.to_owned(), data);
    let first = json!({
        "message": "it goes on", "done": 3, "ratio": 0.5, "ok": true, "name": "x",
    });
    assert_eq!(
        said(&mut wire),
        [
            row("info", "app", first),
            row("warning", "app::deep", json!({"message": "careful"})),
            row("error", "helper::inner", json!({"error": "why"})),
            row("info", "app", json!({"message": "elsewhere"})),
        ]
    );
    other.call("ping", json!({})).await;
    assert!(other.notes.is_empty());
    // The level counts, for each session.
    wire.call("logging/setLevel", json!({"level": "error"})).await;
    other.call("logging/setLevel", json!({"level": "debug"})).await;
    wire.tool("work", json!({})).await;
    assert_eq!(said(&mut wire).len(), 1);
    other.tool("work", json!({})).await;
    assert_eq!(said(&mut other).len(), 5);
}

#[tokio::test]
async fn there_is_a_bound_and_nothing_is_kept() {
    let (logs, _guard) = forwarder();
    let server = Server::new("s", "1")
        .forward_logs(logs.clone())
        .log_limit(10, std::time::Duration::from_secs(3600))
        .tool("noise", || async {
            for _ in 0..100 {
                tracing::info!(target: "app", "again");
            }
            "done"
        });
    let mut wire =
        Wire::open_with(&server, "2025-11-25", json!({}), ServeOptions::new(), 256).await;
    wire.tool("noise", json!({})).await;
    assert_eq!(said(&mut wire).len(), 10);
    assert!(!format!("{logs:?}").is_empty());
}
