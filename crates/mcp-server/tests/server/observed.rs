use mcp_server::layer::Spans;
use mcp_server::prompt::PromptRequest;
use mcp_server::resource::{ReadRequest, TemplateEntry};
use mcp_server::tool::ToolEntry;
use mcp_server::{Context, RegisterError, Server, ToolError};
use mcp_types::{ContentBlock, ElicitRequestUrlParams, ResourceContents};
use serde_json::json;

use crate::capture::Capture;
use crate::wire::Wire;

#[tokio::test]
async fn each_message_has_a_span_with_what_the_conventions_say_and_no_contents() {
    let capture = Capture::start();
    let server = Server::new("s", "1")
        .layer(Spans::new())
        .tool("good", || async { "s3cret" })
        .tool("bad", || async { Err::<(), _>(ToolError::new("no \"isError\":true")) })
        .tool("quoted", || async { r#"{"isError":true}"# })
        .prompt("p", |_: PromptRequest| async { "p" })
        .resource("a:b", "r", "r");
    let mut wire = Wire::open(&server).await;
    for tool in ["good", "bad", "quoted", "none"] {
        wire.tool(tool, json!({})).await;
    }
    wire.call("prompts/get", json!({"name": "p"})).await;
    wire.call("resources/read", json!({"uri": "a:b"})).await;
    let spans = capture.spans();
    let shown = |span: usize, names: &[&str]| {
        names
            .iter()
            .map(|name| spans[span].get(*name).cloned().unwrap_or_default())
            .collect::<Vec<_>>()
    };
    let names = ["otel.name", "mcp.method.name", "mcp.protocol.version", "jsonrpc.request.id"];
    assert_eq!(shown(0, &names), ["initialize", "initialize", "2025-11-25", "1"]);
    let initialized = "notifications/initialized";
    assert_eq!(shown(1, &names), [initialized, initialized, "2025-11-25", ""]);
    assert_eq!(shown(2, &names), ["tools/call good", "tools/call", "2025-11-25", "2"]);
    let outcome = ["gen_ai.tool.name", "error.type", "otel.status_code"];
    assert_eq!(shown(2, &outcome), ["good", "", ""]);
    assert_eq!(shown(3, &outcome), ["bad", "tool_error", "ERROR"]);
    assert_eq!(shown(4, &outcome), ["quoted", "", ""]);
    assert_eq!(shown(5, &outcome), ["none", "-32602", "ERROR"]);
    assert_eq!(shown(5, &["rpc.response.status_code"]), ["-32602"]);
    assert_eq!(shown(6, &["otel.name", "gen_ai.prompt.name"]), ["prompts/get p", "p"]);
    assert_eq!(shown(7, &["otel.name", "mcp.resource.uri"]), ["resources/read", "a:b"]);
    assert!(spans.iter().all(|span| span["otel.kind"] == "server"));
    assert!(!format!("{spans:?}").contains("s3cret"));
}

// Shows: TOOLS-023, TOOLS-025, TOOLS-026
#[tokio::test]
async fn a_name_that_clients_may_not_understand_is_told_and_works() {
    let capture = Capture::start();
    let long = "x".repeat(129);
    let odd = ["has space", "a,b", "ü", "a/b", long.as_str()];
    let mut server = Server::new("s", "1").tool("Fine_name-1.0", || async {});
    assert!(capture.events().is_empty());
    for name in odd {
        server = server.tool(name, || async { "ok" });
    }
    assert_eq!(capture.events().len(), odd.len());
    assert!(capture.events()[0].starts_with("WARN"), "{:?}", capture.events());
    let mut wire = Wire::open(&server).await;
    for name in odd {
        assert_eq!(wire.tool(name, json!({})).await["result"]["content"][0]["text"], "ok");
    }
}

// Shows: TOOLS-024, TOOLS-027, PROMPTS-007
#[tokio::test]
async fn names_are_unique_and_differ_by_case() {
    let server = Server::new("s", "1")
        .tool("getUser", || async { "upper" })
        .tool("getuser", || async { "lower" })
        .prompt("p", |_: PromptRequest| async { "p" });
    let mut wire = Wire::open(&server).await;
    for (name, text) in [("getUser", "upper"), ("getuser", "lower")] {
        assert_eq!(wire.tool(name, json!({})).await["result"]["content"][0]["text"], text);
    }
    assert_eq!(wire.tool("GETUSER", json!({})).await["error"]["code"], -32602);
    let taken = server.add_tool(ToolEntry::new("getUser", || async {})).unwrap_err();
    assert!(matches!(taken, RegisterError::NameTaken { name } if name == "getUser"));
    let prompt = mcp_server::prompt::PromptEntry::new("p", |_: PromptRequest| async { "q" });
    assert!(server.add_prompt(prompt).is_err());
}

// Shows: TOOLS-031
#[tokio::test]
async fn a_link_may_lead_to_what_is_not_listed() {
    let server = Server::new("s", "1")
        .tool("link", || async { ContentBlock::resource_link("n:7", "seven") })
        .with_template(TemplateEntry::new("n:{n}", "n", |_: ReadRequest| async { "n" }).unwrap());
    let mut wire = Wire::open(&server).await;
    let link = wire.tool("link", json!({})).await;
    let uri = link["result"]["content"][0]["uri"].clone();
    assert_eq!(wire.call("resources/list", json!({})).await["result"]["resources"], json!([]));
    let read = wire.call("resources/read", json!({"uri": uri})).await;
    assert_eq!(read["result"]["contents"][0]["text"], "n");
}

// Shows: TOOLS-033
#[tokio::test]
async fn an_embedded_resource_of_a_server_without_resources_is_told() {
    let embed = || async { ContentBlock::resource(ResourceContents::text("a:b", "x")) };
    let capture = Capture::start();
    let with = Server::new("s", "1").tool("embed", embed).dynamic_resources();
    Wire::open(&with).await.tool("embed", json!({})).await;
    assert!(capture.events().is_empty(), "{:?}", capture.events());
    let without = Server::new("s", "1").tool("embed", embed);
    let answer = Wire::open(&without).await.tool("embed", json!({})).await;
    assert_eq!(answer["result"]["content"][0]["type"], "resource");
    assert!(capture.events()[0].contains("announces no resources"), "{:?}", capture.events());
}

// Shows: ELICIT-060
#[tokio::test]
async fn a_url_that_others_can_read_on_the_way_is_told() {
    for (url, told) in [
        ("http://example.com/login", true),
        ("https://example.com/login", false),
        ("http://localhost:8080/x", false),
        ("http://127.0.0.1/x", false),
        ("http://localhost.example.com/x", true),
    ] {
        let capture = Capture::start();
        let server = Server::new("s", "1").tool("send", move |cx: Context| async move {
            let params = ElicitRequestUrlParams::new("Log in", url).with_elicitation_id("e");
            Ok::<_, ToolError>(cx.elicit_url(params).await?.action.as_str().to_owned())
        });
        let capabilities = json!({"elicitation": {"url": {}}});
        let mut wire = Wire::open_as(&server, "2025-11-25", capabilities).await;
        let id = wire.send("tools/call", json!({"name": "send"})).await;
        let asked = wire.next().await;
        assert_eq!(asked["params"]["url"], url);
        wire.answer(&asked["id"], json!({"action": "decline"})).await;
        wire.response(id).await;
        assert_eq!(!capture.events().is_empty(), told, "{url}: {:?}", capture.events());
        assert!(!format!("{:?}", capture.events()).contains("login"), "the URL is not logged");
    }
}

#[tokio::test]
async fn what_fails_is_logged_here_with_its_cause() {
    let capture = Capture::start();
    let server =
        Server::new("s", "1").tool("panics", || -> std::future::Ready<()> { panic!("the reason") });
    Wire::open(&server).await.tool("panics", json!({})).await;
    assert!(capture.events()[0].starts_with("ERROR"));
    assert!(capture.events()[0].contains("the reason"), "{:?}", capture.events());
}
