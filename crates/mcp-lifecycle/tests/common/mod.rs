//! What the tests of this crate share.
#![allow(dead_code, reason = "each test uses a part")]

pub(crate) mod script;

use mcp_jsonrpc::{Notification, RawJson, Request};
use mcp_types::{ClientCapabilities, ElicitationCapability, Implementation, ServerCapabilities};

/// The params of an `initialize` that asks for `revision`.
pub(crate) fn hello(revision: &str, capabilities: &str) -> String {
    format!(
        r#"{{"protocolVersion":"{revision}","capabilities":{capabilities},"clientInfo":{{"name":"c","version":"1"}}}}"#
    )
}

pub(crate) fn raw(json: &str) -> RawJson {
    RawJson::new(json.to_owned()).unwrap()
}

pub(crate) fn request(id: i64, method: &str, params: &str) -> Request {
    Request::new(id, method, (!params.is_empty()).then(|| raw(params)))
}

pub(crate) fn notification(method: &str, params: &str) -> Notification {
    Notification::new(method, (!params.is_empty()).then(|| raw(params)))
}

pub(crate) fn implementation(name: &str) -> Implementation {
    Implementation::new(name, "1")
}

/// Everything that a server can declare.
pub(crate) fn whole_server() -> ServerCapabilities {
    let json = r#"{"tools":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},
        "prompts":{"listChanged":true},"logging":{},"completions":{},
        "tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}"#;
    serde_json::from_str(json).unwrap()
}

/// Everything that a client can declare.
pub(crate) fn whole_client() -> ClientCapabilities {
    let json = r#"{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},
        "elicitation":{"form":{},"url":{}},
        "tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}},
        "elicitation":{"create":{}}}}}"#;
    serde_json::from_str(json).unwrap()
}

pub(crate) fn with_elicitation(json: &str) -> ClientCapabilities {
    let elicitation: ElicitationCapability = serde_json::from_str(json).unwrap();
    ClientCapabilities::new().with_elicitation(elicitation)
}

/// A few numbers, the same for the same seed (xorshift, by Marsaglia).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}
