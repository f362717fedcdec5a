//! A client that is nothing but frames: what is sent is written out, what comes back is JSON.

use mcp_jsonrpc::link::v1::{Incoming, LinkExt};
use mcp_jsonrpc::link::{MemoryLink, memory_pair};
use mcp_jsonrpc::{Message, Outgoing, RawJson};
use mcp_server::{ServeOptions, Server};
use serde_json::{Value, json};

/// One end of a conversation with a server that runs in a task of its own.
pub(crate) struct Wire {
    link: MemoryLink,
    next: i64,
    /// The result of `initialize`.
    pub(crate) hello: Value,
    /// What came in while a response was waited for.
    pub(crate) notes: Vec<Value>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Wire {
    /// Initialized, without capabilities, in the newest revision.
    pub(crate) async fn open(server: &Server) -> Self {
        Self::open_as(server, "2025-11-25", json!({})).await
    }

    /// Initialized, in some revision, with some capabilities.
    pub(crate) async fn open_as(server: &Server, revision: &str, capabilities: Value) -> Self {
        Self::open_with(server, revision, capabilities, ServeOptions::new(), 64).await
    }

    /// Initialized, known for something, over a link that holds `capacity` messages.
    pub(crate) async fn open_with(
        server: &Server,
        revision: &str,
        capabilities: Value,
        options: ServeOptions,
        capacity: usize,
    ) -> Self {
        let (ours, theirs) = memory_pair(capacity);
        let server = server.clone();
        let task = tokio::spawn(async move {
            let _ = server.serve_with(theirs, options).await;
        });
        let mut wire = Self { link: ours, next: 1, hello: Value::Null, notes: Vec::new(), task };
        let params = json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "clientInfo": {"name": "wire", "version": "0"},
        });
        let hello = wire.call("initialize", params).await;
        assert_eq!(hello["result"]["protocolVersion"], revision);
        wire.hello = hello["result"].clone();
        wire.notify("notifications/initialized", None).await;
        wire
    }

    pub(crate) async fn send(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next;
        self.next += 1;
        let params = RawJson::from_serialize(&params).unwrap();
        let request = Outgoing::request_raw(id.into(), method.into(), Some(&params));
        self.link.send(request).await.unwrap();
        id
    }

    /// A request whose parameters are this very text.
    pub(crate) async fn call_raw(&mut self, method: &str, params: &str) -> Value {
        let id = self.next;
        self.next += 1;
        let params = RawJson::new(params.to_owned()).unwrap();
        let request = Outgoing::request_raw(id.into(), method.into(), Some(&params));
        self.link.send(request).await.unwrap();
        self.response(id).await
    }

    /// Sends nothing more; gives back what still comes, until the server has closed, too.
    pub(crate) async fn leave(&mut self) -> Vec<Value> {
        self.link.close().await.unwrap();
        let mut rest = Vec::new();
        loop {
            match self.link.recv().await {
                Ok(incoming) => rest.push(shown(incoming)),
                Err(cause) => {
                    assert!(cause.is_closed(), "{cause:?}");
                    return rest;
                }
            }
        }
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Option<Value>) {
        let params = params.map(|params| RawJson::from_serialize(&params).unwrap());
        let note = Outgoing::notification_raw(method.into(), params.as_ref());
        self.link.send(note).await.unwrap();
    }

    /// The next message, whatever it is.
    pub(crate) async fn next(&mut self) -> Value {
        shown(self.link.recv().await.unwrap())
    }

    /// The response to request `id`; what comes before it is kept.
    pub(crate) async fn response(&mut self, id: i64) -> Value {
        loop {
            let message = self.next().await;
            if message.get("method").is_none() && message["id"] == id {
                return message;
            }
            self.notes.push(message);
        }
    }

    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.response(id).await
    }

    pub(crate) async fn tool(&mut self, name: &str, arguments: Value) -> Value {
        self.call("tools/call", json!({"name": name, "arguments": arguments})).await
    }

    /// Answers a request of the server's.
    pub(crate) async fn answer(&mut self, id: &Value, result: Value) {
        let id = serde_json::from_value(id.clone()).unwrap();
        self.link.send(Outgoing::result(id, &result).unwrap()).await.unwrap();
    }
}

fn shown(incoming: Incoming) -> Value {
    let Incoming::Message(message, _) = incoming else { panic!("{incoming:?}") };
    match message {
        Message::Request(request) => json!({
            "id": request.id,
            "method": request.method.as_str(),
            "params": request.params.map(|p| p.parse::<Value>().unwrap()),
        }),
        Message::Notification(note) => json!({
            "method": note.method.as_str(),
            "params": note.params.map(|p| p.parse::<Value>().unwrap()),
        }),
        Message::Response(response) => match response.outcome {
            Ok(result) => json!({"id": response.id, "result": result.parse::<Value>().unwrap()}),
            Err(error) => {
                json!({"id": response.id, "error": serde_json::to_value(error).unwrap()})
            }
        },
        other => panic!("{other:?}"),
    }
}
