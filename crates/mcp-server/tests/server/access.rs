use mcp_server::completion::CompletionRequest;
use mcp_server::prompt::{PromptEntry, PromptRequest};
use mcp_server::resource::{ReadRequest, ResourceEntry, TemplateEntry};
use mcp_server::tool::{Ext, ToolEntry};
use mcp_server::{Context, Grants, ServeOptions, Server};
use serde_json::{Value, json};
use std::sync::{Arc, RwLock};

use crate::wire::Wire;

/// Who is on the other side, as a guard would say it. What they may do can change.
#[derive(Clone)]
struct User(Arc<RwLock<Vec<&'static str>>>);

impl User {
    fn new(labels: &[&'static str]) -> Self {
        Self(Arc::new(RwLock::new(labels.to_vec())))
    }
}

fn shop() -> Server {
    let secret = TemplateEntry::new("order://{id}", "orders", |_: ReadRequest| async { "order" });
    Server::new("shop", "1")
        .subscriptions()
        .grants(|asker| match asker.extension::<User>() {
            Some(user) => Grants::new(user.0.read().unwrap().iter().copied()),
            None => Grants::none(),
        })
        .tool("browse", || async { "browsed" })
        .with_tool(ToolEntry::new("refund", || async { "refunded" }).needs("staff"))
        .with_tool(ToolEntry::new("close", || async { "closed" }).needs("staff").needs("boss"))
        .resource("doc://prices", "prices", "1")
        .with_resource(ResourceEntry::new("doc://costs", "costs", "2").needs("staff"))
        .with_template(secret.unwrap().needs("staff"))
        .with_prompt(
            PromptEntry::new("scold", |_: PromptRequest| async { "no" })
                .required("whom", "Whom")
                .needs("boss"),
        )
        .complete_prompt("scold", "whom", |_: CompletionRequest| async { vec!["all".to_owned()] })
}

async fn open(server: &Server, user: Option<&User>) -> Wire {
    let options = match user {
        Some(user) => ServeOptions::new().know(user.clone()),
        None => ServeOptions::new(),
    };
    Wire::open_with(server, "2025-11-25", json!({}), options, 64).await
}

async fn names(wire: &mut Wire, method: &str, member: &str, key: &str) -> Vec<String> {
    let listed = wire.call(method, json!({})).await;
    let items = listed["result"][member].as_array().unwrap().iter();
    items.map(|item| item[key].as_str().unwrap().to_owned()).collect()
}

// Shows: TOOLS-047, RESOURCES-028, RESOURCES-030
#[tokio::test]
async fn what_may_not_be_used_is_not_listed_and_what_is_not_listed_may_not_be_used() {
    let server = shop();
    let staff = User::new(&["staff"]);
    let boss = User::new(&["boss", "staff", "other"]);
    let only_boss = User::new(&["boss"]);
    // Twice, so that kept pages are seen, too.
    for _ in 0..2 {
        for (user, tools, resources, templates, prompts) in [
            (None, &["browse"][..], 1, 0, 0),
            (Some(&staff), &["browse", "refund"], 2, 1, 0),
            (Some(&only_boss), &["browse"], 1, 0, 1),
            (Some(&boss), &["browse", "refund", "close"], 2, 1, 1),
        ] {
            let mut wire = open(&server, user).await;
            assert_eq!(names(&mut wire, "tools/list", "tools", "name").await, tools);
            for tool in ["browse", "refund", "close"] {
                let answer = wire.tool(tool, json!({})).await;
                assert_eq!(answer.get("result").is_some(), tools.contains(&tool), "{answer}");
            }
            let listed = names(&mut wire, "resources/list", "resources", "uri").await;
            assert_eq!(listed.len(), resources);
            let listed =
                names(&mut wire, "resources/templates/list", "resourceTemplates", "name").await;
            assert_eq!(listed.len(), templates);
            for uri in ["doc://costs", "order://7"] {
                for method in ["resources/read", "resources/subscribe"] {
                    let answer = wire.call(method, json!({"uri": uri})).await;
                    assert_eq!(answer.get("result").is_some(), resources == 2, "{answer}");
                }
            }
            assert_eq!(names(&mut wire, "prompts/list", "prompts", "name").await.len(), prompts);
            let whom = json!({"name": "scold", "arguments": {"whom": "all"}});
            let made = wire.call("prompts/get", whom).await;
            let reference = json!({"type": "ref/prompt", "name": "scold"});
            let argument = json!({"name": "whom", "value": ""});
            let completed = wire
                .call("completion/complete", json!({"ref": reference, "argument": argument}))
                .await;
            for answer in [made, completed] {
                assert_eq!(answer.get("result").is_some(), prompts == 1, "{answer}");
            }
        }
    }
}

#[tokio::test]
async fn what_is_hidden_is_answered_like_what_is_not_there() {
    let mut wire = open(&shop(), None).await;
    let shown = |answer: Value, name: &str| {
        let mut answer = answer["error"].to_string();
        answer = answer.replace(name, "X");
        answer
    };
    let hidden = wire.tool("refund", json!({})).await;
    let missing = wire.tool("nothing", json!({})).await;
    assert_eq!(shown(hidden, "refund"), shown(missing, "nothing"));
    let hidden = wire.call("resources/read", json!({"uri": "doc://costs"})).await;
    let missing = wire.call("resources/read", json!({"uri": "doc://nothing"})).await;
    assert_eq!(shown(hidden, "doc://costs"), shown(missing, "doc://nothing"));
    let hidden = wire.call("prompts/get", json!({"name": "scold"})).await;
    let missing = wire.call("prompts/get", json!({"name": "nothing"})).await;
    assert_eq!(shown(hidden, "scold"), shown(missing, "nothing"));
}

#[tokio::test]
async fn without_a_judge_nothing_is_granted() {
    let server =
        Server::new("s", "1").with_tool(ToolEntry::new("t", || async {}).needs("anything"));
    let mut wire = open(&server, Some(&User::new(&["anything"]))).await;
    assert_eq!(wire.call("tools/list", json!({})).await["result"]["tools"], json!([]));
    assert_eq!(wire.tool("t", json!({})).await["error"]["code"], -32602);
}

#[tokio::test]
async fn who_loses_a_grant_hears_no_more_of_what_it_covered() {
    let server = shop();
    let user = User::new(&["staff"]);
    let mut wire = open(&server, Some(&user)).await;
    let mut guest = open(&server, None).await;
    for wire in [&mut wire, &mut guest] {
        wire.call("resources/subscribe", json!({"uri": "doc://costs"})).await;
        wire.call("resources/subscribe", json!({"uri": "doc://prices"})).await;
    }
    server.resource_updated("doc://costs");
    assert_eq!(wire.next().await["params"]["uri"], "doc://costs");
    user.0.write().unwrap().clear();
    // What was granted last is what the next request says.
    wire.call("resources/subscribe", json!({"uri": "doc://prices"})).await;
    assert_eq!(wire.tool("refund", json!({})).await["error"]["code"], -32602);
    server.resource_updated("doc://costs");
    server.resource_updated("doc://prices");
    for wire in [&mut wire, &mut guest] {
        assert_eq!(wire.next().await["params"]["uri"], "doc://prices");
    }
}

#[tokio::test]
async fn only_who_may_see_a_change_is_told_of_it() {
    let server = shop();
    let mut staff = open(&server, Some(&User::new(&["staff"]))).await;
    let mut guest = open(&server, None).await;
    for wire in [&mut staff, &mut guest] {
        wire.call("ping", json!({})).await;
    }
    server.add_tool(ToolEntry::new("count", || async {}).needs("staff")).unwrap();
    assert_eq!(staff.next().await["method"], "notifications/tools/list_changed");
    guest.call("ping", json!({})).await;
    assert!(guest.notes.is_empty(), "{:?}", guest.notes);
    server.grants_changed();
    for wire in [&mut staff, &mut guest] {
        for list in ["tools", "resources", "prompts"] {
            let method = format!("notifications/{list}/list_changed");
            assert_eq!(wire.next().await["method"], method);
        }
    }
}

// Shows: COMPLETION-021, ELICIT-042
#[tokio::test]
async fn a_handler_knows_who_asks_and_what_they_were_granted() {
    let server = Server::new("s", "1")
        .grants(|asker| Grants::new(asker.caller().map(|caller| caller.revision.as_str())))
        .tool("who", |Ext(user): Ext<User>, cx: Context| async move {
            format!("{:?} {}", user.0.read().unwrap(), cx.grants().contains("2025-11-25"))
        });
    let mut wire = open(&server, Some(&User::new(&["a"]))).await;
    let answer = wire.tool("who", json!({})).await;
    assert_eq!(answer["result"]["content"][0]["text"], "[\"a\"] true");
}

#[tokio::test]
async fn a_mounted_server_is_as_guarded_as_it_was() {
    let morning = Server::new("morning", "1").mount("shop.", &shop());
    // Who grants what is the outer server's business, and it grants nothing.
    let mut wire = open(&morning, Some(&User::new(&["staff"]))).await;
    assert_eq!(names(&mut wire, "tools/list", "tools", "name").await, ["shop.browse"]);
    let answer = wire.tool("shop.browse", json!({})).await;
    assert_eq!(answer["result"]["content"][0]["text"], "browsed");
    assert_eq!(wire.tool("shop.refund", json!({})).await["error"]["code"], -32602);
    assert_eq!(wire.tool("browse", json!({})).await["error"]["code"], -32602);
}
