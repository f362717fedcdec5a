//! What the server under test does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use mcp_jsonrpc::service::v1::{Ask, Call, Inbound, PeerOutlet, Replies, Reply, Service};
use mcp_jsonrpc::{ErrorObject, Outgoing, RawJson, RequestId};
use mcp_lifecycle::v1::McpService;
use mcp_lifecycle::{PeerFacts, Profile};
use mcp_transport_http::server::HttpExchange;
use mcp_transport_http::v1::Principal;
use mcp_types::ServerCapabilities;
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};

/// How a test steers its server, and learns what happened there.
#[derive(Default)]
pub struct Controls {
    /// How often each thing happened.
    log: Mutex<HashMap<String, usize>>,
    logged: Notify,
    gates: Mutex<HashMap<String, Arc<Semaphore>>>,
    outlet: Mutex<Option<PeerOutlet>>,
}

impl Controls {
    fn gate(&self, name: &str) -> Arc<Semaphore> {
        let mut gates = self.gates.lock().unwrap();
        Arc::clone(gates.entry(name.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(0))))
    }

    /// Lets one call that waits at the gate `name` go on.
    pub fn open(&self, name: &str) {
        self.gate(name).add_permits(1);
    }

    async fn pass(&self, name: &str) {
        self.gate(name).acquire().await.unwrap().forget();
    }

    pub fn note(&self, what: impl Into<String>) {
        *self.log.lock().unwrap().entry(what.into()).or_default() += 1;
        self.logged.notify_waiters();
    }

    pub fn count(&self, what: &str) -> usize {
        self.log.lock().unwrap().get(what).copied().unwrap_or_default()
    }

    /// Waits until `what` was noted.
    pub async fn noted(&self, what: &str) {
        self.noted_times(what, 1).await;
    }

    pub async fn noted_times(&self, what: &str, times: usize) {
        let wait = async {
            loop {
                let logged = self.logged.notified();
                if times <= self.count(what) {
                    return;
                }
                logged.await;
            }
        };
        let limit = std::time::Duration::from_secs(10);
        assert!(tokio::time::timeout(limit, wait).await.is_ok(), "never noted: {what}");
    }

    /// The way to the client that connected last, outside of its requests.
    pub fn outlet(&self) -> PeerOutlet {
        self.outlet.lock().unwrap().clone().expect("a client has connected")
    }
}

pub struct TestService {
    pub controls: Arc<Controls>,
}

impl McpService for TestService {
    fn profile(&self) -> Arc<Profile> {
        let capabilities = json!({"tools": {}, "logging": {}, "resources": {"subscribe": true}});
        let capabilities: ServerCapabilities = serde_json::from_value(capabilities).unwrap();
        Arc::new(Profile::new(capabilities))
    }
}

/// Notes when a call is dropped before its end.
struct Watch {
    controls: Arc<Controls>,
    name: String,
    done: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let end = if self.done { "done" } else { "dropped" };
        self.controls.note(format!("{} {end}", self.name));
    }
}

pub fn notification(method: &str, params: &Value) -> Outgoing {
    Outgoing::notification(method.into(), Some(params)).unwrap()
}

impl Service for TestService {
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        if let Some(outlet) = inbound.extensions.get::<PeerOutlet>() {
            *self.controls.outlet.lock().unwrap() = Some(outlet.clone());
        }
        let request = match inbound.call.clone() {
            Call::Request(request) => request,
            Call::Notification(notification) => {
                self.controls.note(notification.method.as_str());
                if notification.method == "notifications/roots/list_changed" {
                    let mut watch = self.watch("notification");
                    self.controls.pass("notification").await;
                    watch.done = true;
                }
                return Reply::Silent;
            }
        };
        let params: Value =
            request.params.as_ref().map_or(Value::Null, |params| params.parse().unwrap());
        match request.method.as_str() {
            "initialize" => {
                let facts = PeerFacts::of(&inbound.extensions).unwrap();
                if params["clientInfo"]["name"] == "refused" {
                    return Reply::error(&request.id, &ErrorObject::internal("not you"));
                }
                if params["clientInfo"]["name"] == "logged" {
                    let level = json!({"level": "info", "data": "hello"});
                    replies.notify(notification("notifications/message", &level)).await.unwrap();
                }
                let result = json!({
                    "protocolVersion": facts.caller.revision.as_str(),
                    "capabilities": self.profile().capabilities,
                    "serverInfo": {"name": "test", "version": "1"},
                });
                Reply::result(&request.id, &result)
            }
            "ping" => Reply::result(&request.id, &json!({})),
            "tools/list" => {
                let facts = PeerFacts::of(&inbound.extensions).unwrap();
                let tools = json!({"tools": [], "revision": facts.caller.revision.as_str()});
                Reply::result(&request.id, &tools)
            }
            "tools/call" => {
                let name = params["name"].as_str().unwrap_or_default().to_owned();
                self.controls.note(format!("{name} begun"));
                let mut watch = self.watch(&name);
                let reply =
                    self.tool(&request.id, &name, &params["arguments"], &inbound, &replies).await;
                watch.done = true;
                reply
            }
            other => Reply::error(&request.id, &ErrorObject::method_not_found(other)),
        }
    }
}

impl TestService {
    fn watch(&self, name: &str) -> Watch {
        Watch { controls: Arc::clone(&self.controls), name: name.to_owned(), done: false }
    }

    async fn tool(
        &self,
        id: &RequestId,
        name: &str,
        arguments: &Value,
        inbound: &Inbound,
        replies: &Replies,
    ) -> Reply {
        let progress = |n: u64| {
            notification("notifications/progress", &json!({"progressToken": "t", "progress": n}))
        };
        let result = match name {
            "echo" => arguments.clone(),
            // Emits some messages, then answers.
            "count" => {
                let steps = arguments["steps"].as_u64().unwrap_or(3);
                for n in 1..=steps {
                    replies.notify(progress(n)).await.unwrap();
                }
                json!({"counted": steps})
            }
            // As `count`, but not in one go.
            "spread" => {
                let steps = arguments["steps"].as_u64().unwrap_or(3);
                for n in 1..=steps {
                    replies.notify(progress(n)).await.unwrap();
                    for _ in 0..5 {
                        tokio::task::yield_now().await;
                    }
                }
                json!({"counted": steps})
            }
            // Emits a message each time the test says so, and answers when it says so.
            "steps" => {
                for n in 1..=arguments["steps"].as_u64().unwrap_or(1) {
                    self.controls.pass("step").await;
                    if replies.notify(progress(n)).await.is_err() {
                        break;
                    }
                }
                self.controls.pass("answer").await;
                json!({"stepped": true})
            }
            // Waits for the test.
            "wait" => {
                self.controls.pass("answer").await;
                json!({"waited": true})
            }
            // Says something, and never ends.
            "linger" => {
                replies.notify(progress(1)).await.unwrap();
                std::future::pending().await
            }
            // As `wait`, but notices a cancellation.
            "careful" => {
                replies.cancelled().await;
                self.controls.note("careful noticed");
                json!({})
            }
            "ask" => {
                let params = RawJson::from_serialize(&json!({"messages": [], "maxTokens": 1}));
                let ask = Ask::new("sampling/createMessage", params.ok());
                match replies.ask(ask).await {
                    Ok(response) => match response.outcome {
                        Ok(result) => json!({"answer": result.parse::<Value>().unwrap()}),
                        Err(error) => json!({"error": error.code}),
                    },
                    Err(error) => json!({"failed": error.to_string()}),
                }
            }
            // Asks, and gives up when the test says so.
            "give_up" => {
                let ask = replies.ask(Ask::new("roots/list", None));
                tokio::select! {
                    biased;
                    _ = ask => {}
                    () = self.controls.pass("give up") => {}
                }
                json!({"gave_up": true})
            }
            // Lets go of its connection, then answers when the test says so.
            "suspend" => {
                replies.notify(progress(1)).await.unwrap();
                replies.close_stream();
                self.controls.pass("answer").await;
                json!({"resumed": true})
            }
            "close_connection" => {
                let http = inbound.extensions.get::<HttpExchange>().unwrap();
                let possible = http.close_connection();
                self.controls.pass("answer").await;
                json!({"possible": possible})
            }
            "header" => {
                let http = inbound.extensions.get::<HttpExchange>().unwrap();
                let value = http.headers().get("x-test").map(|v| v.to_str().unwrap());
                json!({"header": value})
            }
            "who" => {
                let http = inbound.extensions.get::<HttpExchange>().unwrap();
                let principal = inbound.extensions.get::<Principal>();
                json!({
                    "subject": principal.map(Principal::subject),
                    "sees_credential": http.headers().contains_key("authorization"),
                })
            }
            "panic" => panic!("on purpose"),
            // A flood that nobody reads.
            "flood" => {
                let filler = "x".repeat(16 << 10);
                let mut sent = 0u64;
                let params = json!({"level": "info", "data": filler});
                while replies.notify(notification("notifications/message", &params)).await.is_ok() {
                    sent += 1;
                    if arguments["messages"].as_u64().is_some_and(|limit| limit <= sent) {
                        break;
                    }
                }
                json!({"sent": sent})
            }
            other => return Reply::error(id, &ErrorObject::invalid_params(other.to_owned())),
        };
        Reply::result(id, &result)
    }
}
