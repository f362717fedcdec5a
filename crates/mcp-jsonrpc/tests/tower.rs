//! Layers of `tower` around a service of ours.
#![cfg(feature = "tower")]
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests, too")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_jsonrpc::service::tower::{Exchange, FromTower, IntoTower, TowerLayer};
use mcp_jsonrpc::service::v1::{Call, Inbound, Layer, Replies, Reply, Service};
use mcp_jsonrpc::{Name, Notification, Request};
use tower::{Service as _, ServiceExt as _};

/// Counts how many calls run at a time; answers after a while.
#[derive(Default)]
struct Slow {
    running: AtomicUsize,
    most: AtomicUsize,
}

struct Shared(Arc<Slow>);

impl Service for Shared {
    async fn call(&self, inbound: Inbound, _: Replies) -> Reply {
        let now = self.0.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(20)).await;
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        match inbound.id() {
            Some(id) => Reply::result(id, &7),
            None => Reply::Silent,
        }
    }
}

fn request(id: i64) -> Inbound {
    Inbound::new(Call::Request(Request::new(id, Name::from_static("x"), None)))
}

fn text(reply: Reply) -> String {
    let Reply::Response(response) = reply else { return String::new() };
    String::from_utf8(response.frame().to_vec()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_concurrency_limit_is_one_for_all_messages() {
    let slow = Arc::new(Slow::default());
    let layer = TowerLayer::new(tower::limit::ConcurrencyLimitLayer::new(2));
    let service = Arc::new(layer.layer(Shared(Arc::clone(&slow))));
    let calls: Vec<_> = (0..10)
        .map(|id| {
            let service = Arc::clone(&service);
            tokio::spawn(async move { service.call(request(id), Replies::nowhere()).await })
        })
        .collect();
    for (id, call) in calls.into_iter().enumerate() {
        let answer = text(call.await.unwrap());
        assert_eq!(answer, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":7}}"#));
    }
    assert_eq!(slow.most.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn what_a_layer_fails_by_is_an_error_of_that_request() {
    let layer = TowerLayer::new(tower::timeout::TimeoutLayer::new(Duration::from_millis(5)));
    let service = layer.layer(Shared(Arc::default()));
    let answer = text(service.call(request(1), Replies::nowhere()).await);
    assert!(answer.contains("-32603"), "{answer}");
    let note = Notification::new(Name::from_static("x"), None);
    let reply = service.call(Inbound::new(Call::Notification(note)), Replies::nowhere()).await;
    assert!(matches!(reply, Reply::Silent));
}

#[tokio::test(start_paused = true)]
async fn both_ways_and_back() {
    let mut ours = IntoTower::new(Shared(Arc::default()));
    let exchange = Exchange { inbound: request(3), replies: Replies::nowhere() };
    let reply = ours.ready().await.unwrap().call(exchange).await.unwrap();
    assert!(text(reply).contains(r#""id":3"#));
    let back = FromTower::new(ours);
    assert!(text(back.call(request(4), Replies::nowhere()).await).contains(r#""id":4"#));
}
