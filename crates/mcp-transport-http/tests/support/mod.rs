//! A server to test against, and a client that does nothing it isn't told.

#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "each test program uses a part of it"
)]

mod client;
mod service;

pub use client::{Answer, Client, Raw};
pub use service::{Controls, TestService};

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mcp_transport_http::server::{Config, Endpoint, EndpointBuilder, Listener, ListenerConfig};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// An endpoint behind a listener on loopback. Ends with the value.
pub struct Server {
    pub addr: SocketAddr,
    pub endpoint: Endpoint,
    pub controls: Arc<Controls>,
    shutdown: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Server {
    pub async fn start() -> Self {
        Self::with(|_| {}).await
    }

    pub async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::new();
        change(&mut config);
        Self::build(|builder| builder.config(config)).await
    }

    pub async fn build(change: impl FnOnce(EndpointBuilder) -> EndpointBuilder) -> Self {
        Self::listen(change, ListenerConfig::new()).await
    }

    pub async fn listen(
        change: impl FnOnce(EndpointBuilder) -> EndpointBuilder,
        config: ListenerConfig,
    ) -> Self {
        Self::listen_with(change, |listener| listener.with_config(config)).await
    }

    pub async fn listen_with(
        change: impl FnOnce(EndpointBuilder) -> EndpointBuilder,
        prepare: impl FnOnce(Listener) -> Listener,
    ) -> Self {
        let controls = Arc::new(Controls::default());
        let service = TestService { controls: Arc::clone(&controls) };
        let endpoint = change(Endpoint::builder(service)).build();
        let listener = Listener::bind(endpoint.clone(), "127.0.0.1:0").await.unwrap();
        let listener = prepare(listener);
        let addr = listener.local_addr();
        let (shutdown, ended) = oneshot::channel();
        let run = listener.run(async {
            let _ = ended.await;
        });
        Self { addr, endpoint, controls, shutdown: Some(shutdown), task: tokio::spawn(run) }
    }

    pub fn client(&self) -> Client {
        Client::new(self.addr)
    }

    /// A client that has been through the handshake.
    pub async fn connect(&self) -> Client {
        let mut client = self.client();
        client.initialize("2025-11-25").await;
        client
    }

    pub fn begin_shutdown(&mut self) {
        if let Some(shutdown) = self.shutdown.take() {
            let _ = shutdown.send(());
        }
    }

    pub async fn ended(&mut self) {
        (&mut self.task).await.unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Waits until `condition` holds; for what happens in another task without an event.
pub async fn eventually(what: &str, condition: impl Fn() -> bool) {
    let wait = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(10), wait).await.is_ok(), "not so: {what}");
}

/// Runs a test within a bound.
pub fn bounded<'a, T>(test: impl Future<Output = T> + 'a) -> Pin<Box<dyn Future<Output = T> + 'a>> {
    Box::pin(async {
        let ended = tokio::time::timeout(Duration::from_secs(60), test).await;
        ended.expect("the test ends in time")
    })
}
