//! Tool calls: arguments, results, and what was promised about them.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests are tests, too"
)]

mod common;

use common::{Server, builder, connect, connect_to, everything};
use std::sync::{Arc, Mutex};

use mcp_client::v1::Decision;
use mcp_client::{Client, ClientError, OutputError};
use mcp_types::{ContentBlock, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Forecast {
    high: f64,
    city: String,
}

/// One call, and the server's answer to it.
async fn call<T>(
    server: &mut Server,
    call: impl IntoFuture<Output = Result<T, ClientError>>,
    result: Value,
) -> (Result<T, ClientError>, Value) {
    let script = async {
        let (id, params) = server.asked("tools/call").await;
        server.answer(id, result).await;
        params
    };
    tokio::join!(call.into_future(), script)
}

async fn list(client: &Client, server: &mut Server, tools: Value) {
    let script = async {
        let (id, _) = server.asked("tools/list").await;
        server.answer(id, json!({"tools": tools})).await;
    };
    let (listed, ()) = tokio::join!(client.list_tools().fresh().into_future(), script);
    listed.unwrap();
}

fn arguments(mut params: Value) -> Value {
    params["arguments"].take()
}

#[tokio::test]
async fn arguments_are_set_one_by_one_or_all_at_once() {
    let (client, mut server) = connect(builder()).await;
    let ok = json!({"content": []});
    let by_one = client.call_tool("t").arg("a", 1).arg("b", [true]).arg("a", "x");
    let (_, params) = call(&mut server, by_one, ok.clone()).await;
    assert_eq!(arguments(params), json!({"a": "x", "b": [true]}));
    let whole = Forecast { high: 1.5, city: "Bern".to_owned() };
    let (_, params) = call(&mut server, client.call_tool("t").args(&whole), ok.clone()).await;
    assert_eq!(arguments(params), json!({"high": 1.5, "city": "Bern"}));
    let both = client.call_tool("t").args(&whole).arg("city", "Basel").arg("n", 1);
    let (_, params) = call(&mut server, both, ok.clone()).await;
    assert_eq!(arguments(params), json!({"high": 1.5, "city": "Basel", "n": 1}));
    // Some servers take the absence of arguments for a mistake.
    let (_, params) = call(&mut server, client.call_tool("t"), ok).await;
    assert_eq!(arguments(params), json!({}));
}

// Shows: FC-041
#[tokio::test]
async fn all_kinds_of_content_arrive_in_order() {
    let (client, mut server) = connect(builder()).await;
    let content = json!([
        {"type": "text", "text": "a"},
        {"type": "resource_link", "uri": "file:///r.pdf", "name": "r"},
        {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        {"type": "hologram", "frames": [1, 2]},
        {"type": "resource", "resource": {"uri": "x:y", "text": ""}},
    ]);
    let (result, _) =
        call(&mut server, client.call_tool("t"), json!({"content": content.clone()})).await;
    let result = result.unwrap();
    assert!(matches!(
        result.content.as_slice(),
        [
            ContentBlock::Text(_),
            ContentBlock::ResourceLink(_),
            ContentBlock::Audio(_),
            ContentBlock::Unknown(_),
            ContentBlock::Resource(_),
        ]
    ));
    assert_eq!(serde_json::to_value(&result.content).unwrap(), content);
    let broken = json!({"content": [{"type": "text", "text": "a"}, {"type": "image"}]});
    let (result, _) = call(&mut server, client.call_tool("t"), broken).await;
    let Err(ClientError::Decode { source, .. }) = result else { panic!("{result:?}") };
    assert!(source.to_string().contains("item 1"), "{source}");
}

#[tokio::test]
async fn a_result_is_read_as_what_is_wanted() {
    let (client, mut server) = connect(builder()).await;
    let value = json!({"high": 20.0, "city": "Bern"});
    let wanted = Forecast { high: 20.0, city: "Bern".to_owned() };
    for result in [
        json!({"content": [], "structuredContent": value.clone()}),
        json!({"content": [{"type": "text", "text": value.to_string()}]}),
    ] {
        let (parsed, _) =
            call(&mut server, client.call_tool("t").parsed::<Forecast>(), result).await;
        assert_eq!(parsed.unwrap(), wanted);
    }
    let text = |text: &str| json!({"type": "text", "text": text});
    let several = json!({"content": [text("a"), {"type": "hologram"}, text("b")]});
    let (read, _) = call(&mut server, client.call_tool("t").text(), several.clone()).await;
    assert_eq!(read.unwrap(), "a\nb");
    let (parsed, _) = call(&mut server, client.call_tool("t").parsed::<Forecast>(), several).await;
    let Err(ClientError::NotParsed { result, .. }) = parsed else { panic!("{parsed:?}") };
    assert_eq!(result.content.len(), 3);
}

// Shows: TOOLS-043
#[tokio::test]
async fn a_tool_that_failed_is_a_result_or_an_error_as_you_like() {
    let (client, mut server) = connect(builder()).await;
    let silent = json!({"content": [{"type": "text", "text": "fine"}]});
    let (text, _) = call(&mut server, client.call_tool("t").text(), silent).await;
    assert_eq!(text.unwrap(), "fine");
    let failed = json!({"isError": true, "content": [{"type": "text", "text": "no such city"}]});
    let (result, _) = call(&mut server, client.call_tool("t"), failed.clone()).await;
    assert!(result.unwrap().failed());
    let (text, _) = call(&mut server, client.call_tool("t").text(), failed).await;
    let error = text.unwrap_err();
    assert_eq!(error.to_string(), "the tool `t` failed: no such city");
    assert!(matches!(error, ClientError::ToolFailed { .. }));
}

fn promising(schema: Value) -> Value {
    json!([{"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}])
}

// Shows: TOOLS-037, TOOLS-052, FC-038, FC-039
#[tokio::test]
async fn a_structured_result_is_held_against_its_schema() {
    let (client, mut server) = connect(builder()).await;
    let schema = json!({
        "type": "object", "properties": {"high": {"type": "number"}}, "required": ["high"],
    });
    list(&client, &mut server, promising(schema)).await;
    let good = json!({"content": [], "structuredContent": {"high": 1}});
    let (result, _) = call(&mut server, client.call_tool("t"), good).await;
    result.unwrap();

    let bad = json!({"content": [], "structuredContent": {"high": "hot"}});
    let (result, _) = call(&mut server, client.call_tool("t"), bad.clone()).await;
    let Err(ClientError::Output { result, source, .. }) = result else { panic!("{result:?}") };
    let OutputError::Invalid { violations } = &source else { panic!("{source:?}") };
    assert_eq!(violations[0].path, "/high");
    assert!(result.structured_content.is_some(), "the result is there all the same");
    let (result, _) = call(&mut server, client.call_tool("t").unchecked(), bad).await;
    result.unwrap();

    let missing = json!({"content": [{"type": "text", "text": "hot"}]});
    let (result, _) = call(&mut server, client.call_tool("t"), missing).await;
    assert!(matches!(result, Err(ClientError::Output { source: OutputError::Missing, .. })));

    let failed = json!({"isError": true, "content": []});
    let (result, _) = call(&mut server, client.call_tool("t"), failed).await;
    assert!(result.unwrap().failed());
}

#[tokio::test]
async fn a_promise_is_forgotten_when_the_list_changes() {
    let (client, mut server) = connect(builder()).await;
    list(&client, &mut server, promising(json!({"type": "object"}))).await;
    let nothing = json!({"content": []});
    let (result, _) = call(&mut server, client.call_tool("t"), nothing.clone()).await;
    assert!(result.is_err());
    server.tell("notifications/tools/list_changed", json!({})).await;
    let ping = async {
        let (id, _) = server.asked("ping").await;
        server.answer(id, json!({})).await;
    };
    let (alive, ()) = tokio::join!(client.ping().into_future(), ping);
    alive.unwrap();
    let (result, _) = call(&mut server, client.call_tool("t"), nothing.clone()).await;
    result.unwrap();
    // The newest list counts.
    list(&client, &mut server, promising(json!({"type": "object"}))).await;
    let plain = json!([{"name": "t", "inputSchema": {"type": "object"}}]);
    list(&client, &mut server, plain).await;
    let (result, _) = call(&mut server, client.call_tool("t"), nothing).await;
    result.unwrap();
}

// Shows: SCHEMA-008
#[tokio::test]
async fn a_schema_of_no_use_spoils_its_own_tool_alone() {
    let (client, mut server) = connect(builder()).await;
    let unknown = json!({"$schema": "https://example.com/dialect", "type": "object"});
    let external = json!({"$ref": "https://example.com/schema"});
    let tools: Vec<_> = [("unknown", unknown), ("external", external)]
        .map(|(name, schema)| {
            json!({"name": name, "inputSchema": {"type": "object"}, "outputSchema": schema})
        })
        .into();
    list(&client, &mut server, json!(tools)).await;
    for name in ["unknown", "external"] {
        let error = client.call_tool(name).await.unwrap_err();
        assert!(matches!(error, ClientError::OutputSchema { .. }), "{error:?}");
    }
    assert!(server.is_quiet(), "nothing was sent");
    let ok = json!({"content": []});
    let (result, _) = call(&mut server, client.call_tool("other"), ok.clone()).await;
    result.unwrap();
    let (result, _) = call(&mut server, client.call_tool("unknown").unchecked(), ok).await;
    result.unwrap();
}

#[tokio::test]
async fn a_page_that_was_fetched_alone_counts_too() {
    let (client, mut server) = connect(builder()).await;
    let script = async {
        let (id, _) = server.asked("tools/list").await;
        server.answer(id, json!({"tools": promising(json!({"type": "object"}))})).await;
    };
    let (page, ()) = tokio::join!(client.list_tools_page(None).into_future(), script);
    page.unwrap();
    let (result, _) = call(&mut server, client.call_tool("t"), json!({"content": []})).await;
    assert!(matches!(result, Err(ClientError::Output { source: OutputError::Missing, .. })));
}

#[tokio::test]
async fn older_revisions_promise_nothing() {
    let (client, mut server) = connect_to(builder(), "2025-03-26", everything()).await;
    list(&client, &mut server, promising(json!({"type": "object"}))).await;
    assert!(client.known::<Tool>().unwrap().0[0].output_schema.is_some());
    let (result, _) = call(&mut server, client.call_tool("t"), json!({"content": []})).await;
    result.unwrap();
}

#[tokio::test]
async fn without_a_validator_only_the_presence_counts() {
    let (client, mut server) = connect(builder().without_schema_validator()).await;
    list(&client, &mut server, promising(json!({"type": "object", "required": ["a"]}))).await;
    let bad = json!({"content": [], "structuredContent": {}});
    let (result, _) = call(&mut server, client.call_tool("t"), bad).await;
    result.unwrap();
    let (result, _) = call(&mut server, client.call_tool("t"), json!({"content": []})).await;
    assert!(matches!(result, Err(ClientError::Output { .. })));
}

// Shows: TOOLS-001, TOOLS-004
#[tokio::test]
async fn a_tool_is_called_only_when_that_was_approved() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&asked);
    let builder = builder().approve_calls(move |wish, client| {
        assert_eq!(client.server().name, "scripted");
        let listed = wish.listed.is_some();
        let arguments = serde_json::to_value(&wish.arguments).unwrap();
        keep.lock().unwrap().push((wish.tool.as_str().to_owned(), arguments, listed));
        assert!(wish.tool != "panics", "on purpose");
        async move {
            tokio::task::yield_now().await;
            if wish.tool == "good" { Decision::Allow } else { Decision::Refuse }
        }
    });
    let (client, mut server) = connect(builder).await;
    list(&client, &mut server, json!([{"name": "good", "inputSchema": {"type": "object"}}])).await;
    let (result, params) =
        call(&mut server, client.call_tool("good").arg("a", 1), json!({"content": []})).await;
    assert!(result.is_ok() && params["arguments"] == json!({"a": 1}));
    for tool in ["bad", "panics"] {
        let error = client.call_tool(tool).await.unwrap_err();
        assert!(matches!(error, ClientError::NotApproved { .. }), "{error}");
        let error = client.call_tool(tool).as_task().await.unwrap_err();
        assert!(matches!(error, ClientError::NotApproved { .. }), "{error}");
        assert!(!error.is_retryable());
    }
    assert!(server.is_quiet(), "nothing was sent");
    let asked = asked.lock().unwrap();
    assert_eq!(asked[0], ("good".to_owned(), json!({"a": 1}), true));
    assert_eq!(asked[1], ("bad".to_owned(), json!({}), false));
    assert_eq!(asked.len(), 5);
}
