//! Sessions that outlive their endpoint.

#![cfg(test)]
#![cfg(feature = "server")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcp_transport_http::SessionId;
use mcp_transport_http::memory::{MemoryEventLog, MemorySessionStore};
use mcp_transport_http::server::Config;
use mcp_transport_http::v1::{SessionRecord, SessionStore, Step, StoreError};
use serde_json::json;
use support::{Client, Server, bounded, eventually};

#[tokio::test]
async fn a_session_and_its_streams_go_on_at_another_endpoint() {
    bounded(async {
        let store = Arc::new(MemorySessionStore::default());
        let log = Arc::new(MemoryEventLog::default());
        let start = || {
            let (store, log) = (Arc::clone(&store), Arc::clone(&log));
            Server::build(|builder| builder.session_store(store).event_log(log))
        };
        let mut old = start().await;
        let mut client = old.connect().await;
        let mut call = client.tool(1, "count", json!({"steps": 3})).await;
        let prime = call.event().await.unwrap().id.unwrap();
        let prime = String::from_utf8(prime.to_vec()).unwrap();
        let all = call.messages().await;
        old.begin_shutdown();
        old.ended().await;

        let new = start().await;
        client.addr = new.addr;
        let tools = client.request(2, "tools/list", json!({})).await.json().await;
        assert_eq!(tools["result"]["revision"], "2025-11-25");
        assert_eq!(new.endpoint.sessions(), 1);
        // What the old one wrote, and then what the new one writes.
        assert_eq!(client.get(Some(&prime)).await.messages().await, all);
        let mut call = client.tool(3, "count", json!({"steps": 1})).await;
        assert_ne!(call.event().await.unwrap().id.unwrap(), prime.as_bytes());
        let mut listening = client.get(None).await;
        assert!(listening.event().await.is_some());

        // An end is an end everywhere.
        let third = start().await;
        assert_eq!(client.delete().await.status, 204);
        client.addr = third.addr;
        assert_eq!(client.request(4, "ping", json!({})).await.status, 404);
    })
    .await;
}

#[tokio::test]
async fn with_a_store_an_idle_session_only_leaves_memory() {
    bounded(async {
        let mut config = Config::new();
        config.times.idle = Duration::from_millis(100);
        let server = Server::build(|builder| {
            builder.config(config).session_store(Arc::new(MemorySessionStore::default()))
        })
        .await;
        let client = server.connect().await;
        eventually("it is out of memory", || server.endpoint.sessions() == 0).await;
        assert_eq!(client.request(1, "ping", json!({})).await.status, 200);
        assert_eq!(server.endpoint.sessions(), 1);
    })
    .await;
}

/// A store that can be switched off.
#[derive(Default)]
struct Flaky {
    inner: MemorySessionStore,
    down: AtomicBool,
}

impl Flaky {
    fn or_down<T: Send + 'static>(
        &self,
        step: impl FnOnce() -> Step<Result<T, StoreError>>,
    ) -> Step<Result<T, StoreError>> {
        if self.down.load(Ordering::Relaxed) {
            return Step::later(async { Err(StoreError::Down("unplugged".into())) });
        }
        step()
    }
}

impl SessionStore for Flaky {
    fn create(&self, record: SessionRecord) -> Step<Result<(), StoreError>> {
        self.or_down(|| self.inner.create(record))
    }
    fn load(&self, id: &SessionId) -> Step<Result<Option<SessionRecord>, StoreError>> {
        self.or_down(|| self.inner.load(id))
    }
    fn touch(&self, id: &SessionId) -> Step<Result<(), StoreError>> {
        self.or_down(|| self.inner.touch(id))
    }
    fn remove(&self, id: &SessionId) -> Step<Result<bool, StoreError>> {
        self.or_down(|| self.inner.remove(id))
    }
}

#[tokio::test]
async fn a_store_that_is_down_is_503_and_an_unknown_session_404() {
    bounded(async {
        let store = Arc::new(Flaky::default());
        let server = Server::build(|builder| {
            builder.session_store(Arc::clone(&store) as Arc<dyn SessionStore>)
        })
        .await;
        let known = server.connect().await;
        let mut unknown = server.client();
        unknown.session = Some("unknown".to_owned());
        assert_eq!(unknown.request(1, "ping", json!({})).await.status, 404);
        store.down.store(true, Ordering::Relaxed);
        assert_eq!(unknown.request(1, "ping", json!({})).await.status, 503);
        assert_eq!(server.client().post(&Client::hello("2025-11-25", "c")).await.status, 503);
        assert_eq!(known.delete().await.status, 503);
        assert_eq!(known.request(1, "ping", json!({})).await.status, 200, "it is in memory");
        assert_eq!(server.endpoint.sessions(), 1);
        store.down.store(false, Ordering::Relaxed);
        assert_eq!(known.delete().await.status, 204);
    })
    .await;
}
