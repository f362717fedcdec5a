use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::report::{Report, Side};
use super::schema::Schema;

/// Requests that are remembered until they are answered.
const PENDING: usize = 10_000;

/// The schema of a revision; all conversations have the same one, since it is dear to make.
fn of(revision: &str) -> Option<Arc<Mutex<Schema>>> {
    static MADE: Mutex<BTreeMap<String, Arc<Mutex<Schema>>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(schema) = made.get(revision) {
        return Some(Arc::clone(schema));
    }
    let schema = Arc::new(Mutex::new(Schema::of(revision).ok()??));
    made.insert(revision.to_owned(), Arc::clone(&schema));
    Some(schema)
}

/// One conversation.
#[derive(Default)]
pub(crate) struct Watch {
    /// Of what was agreed on.
    schema: Option<Arc<Mutex<Schema>>>,
    /// What each side has asked, by the id as it is written.
    asked: HashMap<(Side, String), Asked>,
}

struct Asked {
    method: String,
    /// It may be answered by a task.
    as_task: bool,
}

impl Watch {
    /// Looks at one frame.
    pub(super) fn frame(&mut self, from: Side, text: &str, report: &Report) {
        let faults = match serde_json::from_str(text) {
            Ok(Value::Array(messages)) => {
                messages.iter().flat_map(|message| self.message(from, message)).collect()
            }
            Ok(message) => self.message(from, &message),
            Err(error) => vec![format!("no JSON: {error}")],
        };
        report.frame(from, text, &faults);
    }

    /// Looks at one message, and says what is wrong with it.
    pub(crate) fn message(&mut self, from: Side, message: &Value) -> Vec<String> {
        let method = message.get("method").and_then(Value::as_str);
        match (method, message.get("id")) {
            (Some(method), Some(id)) => self.request(from, method, id, message),
            (Some(method), None) => {
                let own = |schema: &Schema| schema.of_method(method, "Notification");
                self.check(message, own, &["JSONRPCNotification"])
            }
            (None, id) => self.response(from, id, message),
        }
    }

    fn request(&mut self, from: Side, method: &str, id: &Value, message: &Value) -> Vec<String> {
        if method == "initialize"
            && let Some(wanted) = message.pointer("/params/protocolVersion").and_then(Value::as_str)
            && let Some(schema) = of(wanted)
        {
            // Until there is an agreement, each side speaks as it wants to.
            self.schema = Some(schema);
        }
        if self.asked.len() < PENDING {
            let as_task = message.pointer("/params/task").is_some();
            let asked = Asked { method: method.to_owned(), as_task };
            self.asked.insert((from, id.to_string()), asked);
        }
        self.check(message, |schema| schema.of_method(method, "Request"), &["JSONRPCRequest"])
    }

    fn response(&mut self, from: Side, id: Option<&Value>, message: &Value) -> Vec<String> {
        let asked = id.and_then(|id| self.asked.remove(&(from.other(), id.to_string())));
        let Some(result) = message.get("result") else {
            return self.check(message, |_| None, &["JSONRPCErrorResponse", "JSONRPCError"]);
        };
        if asked.as_ref().is_some_and(|asked| asked.method == "initialize")
            && let Some(agreed) = result.get("protocolVersion").and_then(Value::as_str)
            && let Some(schema) = of(agreed)
        {
            self.schema = Some(schema);
        }
        let mut faults =
            self.check(message, |_| None, &["JSONRPCResultResponse", "JSONRPCResponse"]);
        let (Some(schema), Some(Asked { method, as_task })) = (&self.schema, asked) else {
            return faults;
        };
        let mut schema = schema.lock().unwrap_or_else(PoisonError::into_inner);
        let request = schema.of_method(&method, "Request");
        let named = request.map(|name| name.replace("Request", "Result"));
        let mut names = vec![named.as_deref().unwrap_or("Result")];
        if schema.first(&names).is_none() {
            // Those that answer by nothing have no definition of their own.
            names = vec![if method == "tasks/result" { "Result" } else { "EmptyResult" }];
        }
        if as_task && schema.first(&["CreateTaskResult"]).is_some() {
            names.push("CreateTaskResult");
        }
        faults.extend(schema.faults(&names, result).unwrap_or_else(|e| vec![e.to_string()]));
        faults
    }

    /// Holds a message against its own definition, and against the one that all of its kind have.
    fn check(
        &mut self,
        message: &Value,
        own: impl FnOnce(&Schema) -> Option<String>,
        general: &[&str],
    ) -> Vec<String> {
        let Some(schema) = &self.schema else { return Vec::new() };
        let mut schema = schema.lock().unwrap_or_else(PoisonError::into_inner);
        let own = own(&schema);
        let general = schema.first(general);
        let names = own.as_deref().into_iter().chain(general);
        let mut faults = Vec::new();
        for name in names {
            let found = schema.faults(&[name], message);
            faults.extend(found.unwrap_or_else(|error| vec![error.to_string()]));
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found wrong in a conversation of which the last frame counts.
    fn faults(frames: &[(Side, &str)]) -> Vec<String> {
        let mut watch = Watch::default();
        let mut last = Vec::new();
        for (from, text) in frames {
            last = watch.message(*from, &serde_json::from_str(text).unwrap());
        }
        last
    }

    const HELLO: (Side, &str) = (
        Side::Client,
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",
            "capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    );
    const WELCOME: (Side, &str) = (
        Side::Server,
        r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},
            "serverInfo":{"name":"s","version":"1"}}}"#,
    );

    #[test]
    fn what_is_right_is_left_alone() {
        let list = (Side::Client, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        let tools = (
            Side::Server,
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[
                {"name":"a","inputSchema":{"type":"object"}}]}}"#,
        );
        assert_eq!(faults(&[HELLO]), [""; 0]);
        assert_eq!(faults(&[HELLO, WELCOME]), [""; 0]);
        assert_eq!(faults(&[HELLO, WELCOME, list]), [""; 0]);
        assert_eq!(faults(&[HELLO, WELCOME, list, tools]), [""; 0]);
    }

    #[test]
    fn what_breaks_the_schema_is_found_on_either_side() {
        for broken in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"m"}}"#,
        ] {
            for side in [Side::Client, Side::Server] {
                assert_ne!(faults(&[HELLO, WELCOME, (side, broken)]), [""; 0], "{broken}");
            }
        }
        let list = (Side::Client, r#"{"jsonrpc":"2.0","id":"1","method":"tools/list"}"#);
        for result in [
            r#"{"tools":[{"name":"a"}]}"#,
            r#"{"tools":[{"name":"a","inputSchema":{"type":"string"}}]}"#,
            r#"{"tools":{}}"#,
            r#"{"tools":[],"nextCursor":7}"#,
            r#"{"content":[]}"#,
        ] {
            let answer = format!(r#"{{"jsonrpc":"2.0","id":"1","result":{result}}}"#);
            let frames = [HELLO, WELCOME, list, (Side::Server, answer.as_str())];
            assert_ne!(faults(&frames), [""; 0], "{result}");
        }
    }

    #[test]
    fn the_schema_is_that_of_the_agreed_revision() {
        let hello = HELLO.1.replace("2025-11-25", "2024-11-05");
        let welcome = WELCOME.1.replace("2025-11-25", "2024-11-05");
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
        let result = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[
            {"type":"resource_link","uri":"a:b","name":"n"}]}}"#;
        let frames = [
            (Side::Client, hello.as_str()),
            (Side::Server, welcome.as_str()),
            (Side::Client, call),
            (Side::Server, result),
        ];
        assert_ne!(faults(&frames), [""; 0], "it has no links");
        let now = [HELLO, WELCOME, (Side::Client, call), (Side::Server, result)];
        assert_eq!(faults(&now), [""; 0]);
    }
}
