//! An event log that is somewhere else: no step of it is there at once.

#![cfg(test)]
#![cfg(feature = "server")]

mod support;

use std::sync::Arc;

use bytes::Bytes;
use mcp_jsonrpc::Outgoing;
use mcp_transport_http::SessionId;
use mcp_transport_http::memory::{EventLogLimits, MemoryEventLog};
use mcp_transport_http::v1::{EventLog, LogError, LogPage, ReadError, Step, StreamKey};
use serde_json::json;
use support::{Server, bounded, eventually};

/// Keeps events in memory, and takes its time for everything.
struct Slow(Arc<MemoryEventLog>);

impl Slow {
    fn after<T: Send + Unpin + 'static>(
        &self,
        work: impl FnOnce(&MemoryEventLog) -> Step<T> + Send + 'static,
    ) -> Step<T> {
        let log = Arc::clone(&self.0);
        Step::later(async move {
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            work(&log).await
        })
    }
}

impl EventLog for Slow {
    fn append(&self, stream: &StreamKey, event: u64, data: Bytes) -> Step<Result<(), LogError>> {
        let stream = stream.clone();
        self.after(move |log| log.append(&stream, event, data))
    }

    fn read(
        &self,
        stream: &StreamKey,
        after: u64,
        bytes: usize,
    ) -> Step<Result<LogPage, ReadError>> {
        let stream = stream.clone();
        self.after(move |log| log.read(&stream, after, bytes))
    }

    fn finish(&self, stream: &StreamKey) -> Step<Result<(), LogError>> {
        let stream = stream.clone();
        self.after(move |log| log.finish(&stream))
    }

    fn forget(&self, session: &SessionId) -> Step<Result<(), LogError>> {
        let session = session.clone();
        self.after(move |log| log.forget(&session))
    }
}

async fn server() -> Server {
    let log = Slow(Arc::new(MemoryEventLog::new(EventLogLimits::default())));
    Server::build(|builder| builder.event_log(Arc::new(log))).await
}

#[tokio::test]
async fn a_call_is_streamed_and_resumed_without_a_gap() {
    bounded(async {
        let server = server().await;
        let client = server.connect().await;
        let messages = client.tool(1, "count", json!({"steps": 20})).await.messages().await;
        let steps: Vec<_> =
            messages.iter().filter_map(|m| m["params"]["progress"].as_u64()).collect();
        assert_eq!(steps, (1..=20).collect::<Vec<_>>());
        assert_eq!(messages.last().unwrap()["result"], json!({"counted": 20}));

        // Cut in the middle: what comes later is there, and so is the answer.
        server.controls.open("step");
        let mut call = client.tool(2, "steps", json!({"steps": 5})).await;
        let (first, cursor) = call.message().await.unwrap();
        assert_eq!(first["params"]["progress"], 1);
        drop(call);
        let resumed = tokio::spawn({
            let client = client.clone();
            async move { client.get(cursor.as_deref()).await.messages().await }
        });
        for _ in 0..4 {
            server.controls.open("step");
        }
        server.controls.open("answer");
        let messages = resumed.await.unwrap();
        let steps: Vec<_> =
            messages.iter().filter_map(|m| m["params"]["progress"].as_u64()).collect();
        assert_eq!(steps, [2, 3, 4, 5]);
        assert_eq!(messages.last().unwrap()["result"], json!({"stepped": true}));
        eventually("nothing is left", || server.endpoint.exchanges() == 0).await;
    })
    .await;
}

#[tokio::test]
async fn a_stream_of_the_session_is_resumed_without_a_gap() {
    bounded(async {
        let server = server().await;
        let client = server.connect().await;
        let mut stream = client.get(None).await;
        stream.event().await.unwrap();
        let outlet = server.controls.outlet();
        let tell = |n: u64| {
            let params = json!({"level": "info", "data": n});
            let told = Outgoing::notification("notifications/message".into(), Some(&params));
            outlet.try_notify(told.unwrap()).unwrap();
        };
        for n in 0..10 {
            tell(n);
        }
        let mut cursor = None;
        for n in 0..5 {
            let (message, id) = stream.message().await.unwrap();
            assert_eq!(message["params"]["data"], n);
            cursor = id;
        }
        drop(stream);
        for n in 10..15 {
            tell(n);
        }
        let mut resumed = client.get(cursor.as_deref()).await;
        for n in 5..15 {
            let (message, _) = resumed.message().await.unwrap();
            assert_eq!(message["params"]["data"], n);
        }
    })
    .await;
}
