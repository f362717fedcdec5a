use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use mcp_jsonrpc::service::v1::{
    Ask, AskError, BoxFuture, Call, Inbound, Outlet, PeerOutlet, Replies, Service, TrySendError,
};
use mcp_jsonrpc::{Extensions, Notification, Outgoing, Request, Response};
use mcp_lifecycle::{Caller, Session};
use mcp_server::Server;
use mcp_server::completion::{Completion, CompletionRequest};
use mcp_server::prompt::{PromptEntry, PromptRequest};
use mcp_server::resource::{ReadRequest, ResourceEntry, TemplateEntry};
use mcp_server::tool::{SessionState, State, ToolEntry};
use mcp_types::Revision;
use serde_json::json;

use crate::wire::Wire;

// Shows: BASE-033, TOOLS-005, RESOURCES-001, PROMPTS-001, COMPLETION-001, LOGGING-001
#[tokio::test]
async fn what_was_registered_is_what_is_announced() {
    let list_changed = json!({"listChanged": true});
    let prompt = || PromptEntry::new("p", |_: PromptRequest| async { "p" }).required("a", "A");
    let bare = Server::new("s", "1");
    for (server, expected) in [
        (bare.clone(), json!({})),
        (bare.clone().tool("t", || async {}), json!({"tools": list_changed})),
        (bare.clone().resource("a:b", "r", "r"), json!({"resources": list_changed})),
        (
            bare.clone().subscriptions(),
            json!({"resources": {"listChanged": true, "subscribe": true}}),
        ),
        (bare.clone().with_prompt(prompt()), json!({"prompts": list_changed})),
        (
            bare.clone().with_prompt(prompt()).complete_prompt(
                "p",
                "a",
                |_: CompletionRequest| async { Completion::default() },
            ),
            json!({"prompts": list_changed, "completions": {}}),
        ),
        (bare.logging(), json!({"logging": {}})),
    ] {
        let wire = Wire::open(&server).await;
        assert_eq!(wire.hello["capabilities"], expected);
    }
}

#[tokio::test]
async fn a_clone_that_is_built_on_is_a_server_of_its_own() {
    let base = Server::new("s", "1").tool("a", || async { "a" });
    let same = base.clone();
    let more = base.clone().tool("b", || async { "b" });
    let mut wire = Wire::open(&same).await;
    assert_eq!(wire.tool("b", json!({})).await["error"]["code"], -32602);
    let mut wire = Wire::open(&more).await;
    assert_eq!(wire.tool("b", json!({})).await["result"]["content"][0]["text"], "b");
    // A clone that isn't is the same server.
    base.add_tool(ToolEntry::new("c", || async { "c" })).unwrap();
    let mut wire = Wire::open(&same).await;
    assert_eq!(wire.tool("c", json!({})).await["result"]["content"][0]["text"], "c");
    assert_eq!(Wire::open(&more).await.tool("c", json!({})).await["error"]["code"], -32602);
}

// Shows: PROMPTS-004, PROMPTS-005, RESOURCES-005, RESOURCES-006
#[tokio::test]
async fn every_list_tells_of_its_changes() {
    let server = Server::new("s", "1").dynamic_resources().dynamic_prompts();
    let mut wire = Wire::open(&server).await;
    wire.call("ping", json!({})).await;
    server.add_resource(ResourceEntry::new("a:b", "r", "r")).unwrap();
    let template = TemplateEntry::new("a:{b}", "t", |_: ReadRequest| async { "t" }).unwrap();
    server.add_template(template).unwrap();
    server.add_prompt(PromptEntry::new("p", |_: PromptRequest| async { "p" })).unwrap();
    for list in ["resources", "resources", "prompts"] {
        let method = format!("notifications/{list}/list_changed");
        assert_eq!(wire.next().await, json!({"method": method, "params": null}));
    }
    assert!(server.remove_resource("a:b") && !server.remove_resource("a:b"));
    assert!(server.remove_template("a:{b}") && !server.remove_template("a:{b}"));
    assert!(server.remove_prompt("p") && !server.remove_prompt("p"));
    for list in ["resources", "resources", "prompts"] {
        let method = format!("notifications/{list}/list_changed");
        assert_eq!(wire.next().await["method"], method);
    }
    assert_eq!(wire.call("resources/list", json!({})).await["result"]["resources"], json!([]));
}

// Shows: PROMPTS-003, RESOURCES-004, PAGE-002
#[tokio::test]
async fn every_list_is_walked_in_pages() {
    let mut server = Server::new("s", "1").page_size(2);
    for number in 0..5 {
        let template = format!("a{number}:{{b}}");
        server = server
            .resource(format!("a:{number}"), format!("n{number}"), "r")
            .prompt(format!("n{number}"), |_: PromptRequest| async { "p" })
            .with_template(
                TemplateEntry::new(template, format!("n{number}"), |_: ReadRequest| async { "t" })
                    .unwrap(),
            );
    }
    let mut wire = Wire::open(&server).await;
    for (method, member) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        let (mut names, mut cursor) = (Vec::new(), json!({}));
        loop {
            let page = wire.call(method, cursor).await;
            let items = page["result"][member].as_array().unwrap();
            names.extend(items.iter().map(|item| item["name"].as_str().unwrap().to_owned()));
            match page["result"].get("nextCursor") {
                Some(next) => cursor = json!({"cursor": next}),
                None => break,
            }
        }
        assert_eq!(names, ["n0", "n1", "n2", "n3", "n4"], "{method}");
        let foreign = wire.call(method, json!({"cursor": "00000000"})).await;
        assert_eq!(foreign["error"]["code"], -32602, "{method}");
    }
}

/// A client that can be reached outside of exchanges as long as there is room.
#[derive(Default)]
struct Queue {
    has_room: AtomicBool,
    heard: Mutex<Vec<String>>,
}

impl Outlet for Queue {
    fn try_notify(&self, notification: Outgoing) -> Result<(), TrySendError> {
        if !self.has_room.load(Ordering::SeqCst) {
            return Err(TrySendError::Full);
        }
        self.heard.lock().unwrap().push(notification.method().unwrap().as_str().to_owned());
        Ok(())
    }

    fn ask(&self, _: Ask) -> BoxFuture<'_, Result<Response, AskError>> {
        Box::pin(std::future::ready(Err(AskError::Unavailable)))
    }

    fn is_closed(&self) -> bool {
        false
    }
}

// Shows: FC-043
#[tokio::test]
async fn a_session_that_does_not_read_hears_of_changes_with_its_next_request_and_once() {
    let server = Server::new("s", "1").dynamic_tools();
    let queue = Arc::new(Queue::default());
    let caller = Caller::new(Revision::V2025_11_25, Default::default());
    let mut known = Extensions::new();
    known.insert_arc(Arc::new(Session::new(None, Arc::new(caller))));
    known.insert(PeerOutlet::new(Arc::clone(&queue) as Arc<dyn Outlet>));
    let send = async |call: Call| {
        let inbound = Inbound::new(call).with_extensions(known.clone());
        server.call(inbound, Replies::nowhere()).await
    };
    send(Call::Notification(Notification::new("notifications/initialized", None))).await;
    for number in 0..50 {
        server.add_tool(ToolEntry::new(format!("t{number}"), || async {})).unwrap();
    }
    queue.has_room.store(true, Ordering::SeqCst);
    for id in 0..3 {
        send(Call::Request(Request::new(id, "ping", None))).await;
    }
    assert_eq!(*queue.heard.lock().unwrap(), ["notifications/tools/list_changed"]);
}

#[tokio::test]
async fn a_value_of_a_session_is_shared_by_its_calls_and_by_no_other_session() {
    let server = Server::new("s", "1").tool(
        "count",
        |SessionState(count): SessionState<AtomicU32>| async move {
            (count.fetch_add(1, Ordering::Relaxed) + 1).to_string()
        },
    );
    let (mut one, mut other) = (Wire::open(&server).await, Wire::open(&server).await);
    for expected in ["1", "2", "3"] {
        let answer = one.tool("count", json!({})).await;
        assert_eq!(answer["result"]["content"][0]["text"], expected);
    }
    let answer = other.tool("count", json!({})).await;
    assert_eq!(answer["result"]["content"][0]["text"], "1");
}

#[tokio::test]
async fn a_mounted_server_keeps_its_state_and_gets_new_names() {
    let part = |name: &'static str| {
        Server::new(name, "1")
            .state(name)
            .tool("who", |State(name): State<&'static str>| async move { (*name).to_owned() })
            .prompt("hello", |request: PromptRequest| async move {
                (*request.state::<&'static str>().unwrap()).to_owned()
            })
            .resource(format!("{name}:x"), "x", move |request: ReadRequest| async move {
                (*request.state::<&'static str>().unwrap()).to_owned()
            })
    };
    let server = Server::new("outer", "1")
        .state("outer")
        .tool("who", |State(name): State<&'static str>| async move { (*name).to_owned() })
        .mount("a.", &part("a"))
        .mount("b.", &Server::new("middle", "1").state("middle").mount("c_", &part("b")));
    let mut wire = Wire::open(&server).await;
    for (tool, name) in [("who", "outer"), ("a.who", "a"), ("b.c_who", "b")] {
        let answer = wire.tool(tool, json!({})).await;
        assert_eq!(answer["result"]["content"][0]["text"], name, "{tool}");
    }
    for (prompt, name) in [("a.hello", "a"), ("b.c_hello", "b")] {
        let answer = wire.call("prompts/get", json!({"name": prompt})).await;
        assert_eq!(answer["result"]["messages"][0]["content"]["text"], name);
    }
    let answer = wire.call("resources/read", json!({"uri": "b:x"})).await;
    assert_eq!(answer["result"]["contents"][0]["text"], "b");
    let listed = wire.call("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"][1]["name"], "a.who");
}

#[test]
fn a_server_with_layers_is_not_mounted() {
    let refused = |make: &dyn Fn() -> Server| catch_unwind(AssertUnwindSafe(make)).is_err();
    let layered = Server::new("s", "1").layer(mcp_server::layer::PanicGuard::new());
    assert!(refused(&|| Server::new("o", "1").mount("", &layered)));
    let one = Server::new("s", "1").tool("a", || async {});
    assert!(refused(&|| one.clone().mount("", &one)));
}
