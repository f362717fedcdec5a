//! A server played by hand: what it hears and says, frame by frame.
#![allow(dead_code, reason = "each test file uses some of it")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use mcp_client::{Builder, Client};
use mcp_jsonrpc::link::v1::{Incoming, LinkError, LinkExt};
use mcp_jsonrpc::link::{MemoryLink, memory_pair};
use mcp_jsonrpc::{ErrorObject, Message, Outgoing, RawJson, RequestId};
use serde_json::{Value, json};

pub(crate) struct Server(MemoryLink);

/// One message of the client.
#[derive(Debug)]
pub(crate) enum Heard {
    Request(RequestId, String, Value),
    Notification(String, Value),
    Answer(RequestId, Result<Value, ErrorObject>),
    Closed,
}

fn value(params: Option<&RawJson>) -> Value {
    params.map_or(Value::Null, |params| params.parse().unwrap())
}

impl Server {
    pub(crate) fn pair() -> (MemoryLink, Self) {
        let (client, server) = memory_pair(16);
        (client, Self(server))
    }

    pub(crate) async fn hear(&mut self) -> Heard {
        match self.0.recv().await {
            Ok(Incoming::Message(Message::Request(request), _)) => Heard::Request(
                request.id,
                request.method.as_str().to_owned(),
                value(request.params.as_ref()),
            ),
            Ok(Incoming::Message(Message::Notification(note), _)) => {
                Heard::Notification(note.method.as_str().to_owned(), value(note.params.as_ref()))
            }
            Ok(Incoming::Message(Message::Response(response), _)) => {
                let outcome = response.outcome.map(|result| result.parse().unwrap());
                Heard::Answer(response.id.unwrap(), outcome)
            }
            Err(LinkError::Closed) => Heard::Closed,
            other => panic!("{other:?}"),
        }
    }

    /// The next message, which is a request for `method`.
    pub(crate) async fn asked(&mut self, method: &str) -> (RequestId, Value) {
        match self.hear().await {
            Heard::Request(id, name, params) if name == method => (id, params),
            other => panic!("expected {method}, heard {other:?}"),
        }
    }

    /// The next message, which is the notification `method`.
    pub(crate) async fn told(&mut self, method: &str) -> Value {
        match self.hear().await {
            Heard::Notification(name, params) if name == method => params,
            other => panic!("expected {method}, heard {other:?}"),
        }
    }

    /// The next message, which answers the request `id`.
    pub(crate) async fn answered(&mut self, id: i64) -> Result<Value, ErrorObject> {
        match self.hear().await {
            Heard::Answer(known, outcome) if known == RequestId::from(id) => outcome,
            other => panic!("expected an answer to {id}, heard {other:?}"),
        }
    }

    /// Whether there is nothing to hear now.
    pub(crate) fn is_quiet(&mut self) -> bool {
        let hear = pin!(self.hear());
        hear.poll(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    async fn send(&mut self, message: Outgoing) {
        self.0.send(message).await.unwrap();
    }

    pub(crate) async fn answer(&mut self, id: RequestId, result: Value) {
        self.send(Outgoing::result(id, &result).unwrap()).await;
    }

    /// An answer, byte for byte.
    pub(crate) async fn answer_raw(&mut self, id: RequestId, result: &str) {
        self.send(Outgoing::result_raw(id, result.as_bytes())).await;
    }

    pub(crate) async fn refuse(&mut self, id: RequestId, error: ErrorObject) {
        self.send(Outgoing::error(Some(id), &error)).await;
    }

    /// An error that answers nothing.
    pub(crate) async fn complain(&mut self, error: ErrorObject) {
        self.send(Outgoing::error(None, &error)).await;
    }

    /// A notification without parameters.
    pub(crate) async fn mention(&mut self, method: &str) {
        self.send(Outgoing::notification_raw(method.into(), None)).await;
    }

    pub(crate) async fn tell(&mut self, method: &str, params: Value) {
        self.send(Outgoing::notification(method.into(), Some(&params)).unwrap()).await;
    }

    pub(crate) async fn ask(&mut self, id: i64, method: &str, params: Value) {
        self.send(Outgoing::request(id.into(), method.into(), Some(&params)).unwrap()).await;
    }

    pub(crate) async fn progress(&mut self, token: &Value, progress: f64) {
        let params = json!({"progressToken": token, "progress": progress});
        self.tell("notifications/progress", params).await;
    }

    /// Takes part in the handshake.
    pub(crate) async fn greet(&mut self, revision: &str, capabilities: Value) -> Value {
        let (id, params) = self.asked("initialize").await;
        let result = json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "serverInfo": {"name": "scripted", "version": "1"},
            "instructions": "be nice",
        });
        self.answer(id, result).await;
        self.told("notifications/initialized").await;
        params
    }
}

/// Everything that a server can do.
pub(crate) fn everything() -> Value {
    json!({
        "tools": {"listChanged": true},
        "resources": {"listChanged": true, "subscribe": true},
        "prompts": {"listChanged": true},
        "completions": {},
        "logging": {},
    })
}

/// A client and its server, past the handshake.
pub(crate) async fn connect(builder: Builder) -> (Client, Server) {
    connect_to(builder, "2025-11-25", everything()).await
}

pub(crate) async fn connect_to(
    builder: Builder,
    revision: &str,
    capabilities: Value,
) -> (Client, Server) {
    let (link, mut server) = Server::pair();
    let (client, _) = tokio::join!(builder.connect(link), server.greet(revision, capabilities));
    (client.unwrap(), server)
}

pub(crate) fn builder() -> Builder {
    Client::builder("test", "1.0")
}

/// Lets every other task run until nothing more happens.
pub(crate) async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

/// Polls once.
pub(crate) fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}
