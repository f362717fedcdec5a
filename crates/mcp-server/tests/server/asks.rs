use mcp_server::{Context, Server, ToolError};
use mcp_types::{
    CreateMessageRequestParams, ElicitRequestFormParams, RequestedSchema, SamplingMessage,
    ToolChoice,
};
use serde_json::json;

use crate::wire::Wire;

fn curious() -> Server {
    Server::new("curious", "1")
        .tool("name", |cx: Context| async move {
            let schema: RequestedSchema = serde_json::from_value(json!({
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
            }))?;
            let answer = cx.elicit(ElicitRequestFormParams::new("Who?", schema)).await?;
            Ok::<_, ToolError>(serde_json::to_string(&answer)?)
        })
        .tool("write", |cx: Context| async move {
            let params = CreateMessageRequestParams::new(vec![SamplingMessage::user("hi")], 10_u64);
            Ok::<_, ToolError>(cx.sample(params).await?.model)
        })
        .tool("write_with_tools", |cx: Context| async move {
            let params = CreateMessageRequestParams::new(vec![SamplingMessage::user("hi")], 10_u64)
                .with_tool_choice(ToolChoice::new());
            Ok::<_, ToolError>(cx.sample(params).await?.model)
        })
        .tool("roots", |cx: Context| async move {
            Ok::<_, ToolError>(cx.roots().await?.len().to_string())
        })
}

// Shows: ELIC-004, SAMP-004, ROOT-003
#[tokio::test]
async fn what_the_client_has_not_declared_is_not_asked_for() {
    let mut wire = Wire::open(&curious()).await;
    for (tool, names) in [
        ("name", "elicitation"),
        ("write", "sampling"),
        ("write_with_tools", "sampling"),
        ("roots", "roots"),
    ] {
        let answer = wire.tool(tool, json!({})).await;
        assert_eq!(answer["result"]["isError"], true);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("does not support") && text.contains(names), "{text}");
    }
    assert!(wire.notes.is_empty());
    let mut wire = Wire::open_as(&curious(), "2025-11-25", json!({"sampling": {}})).await;
    let answer = wire.tool("write_with_tools", json!({})).await;
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("sampling.tools"));
}

#[tokio::test]
async fn an_answer_reaches_the_handler_that_asked() {
    let capabilities = json!({"elicitation": {}, "sampling": {}, "roots": {}});
    let mut wire = Wire::open_as(&curious(), "2025-11-25", capabilities).await;
    let id = wire.send("tools/call", json!({"name": "name"})).await;
    let asked = wire.next().await;
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(asked["params"]["message"], "Who?");
    wire.answer(&asked["id"], json!({"action": "accept", "content": {"name": "Ada"}})).await;
    let answer = wire.response(id).await;
    assert_eq!(
        answer["result"]["content"][0]["text"],
        r#"{"action":"accept","content":{"name":"Ada"}}"#
    );
    let id = wire.send("tools/call", json!({"name": "write"})).await;
    let asked = wire.next().await;
    assert_eq!(asked["params"]["maxTokens"], 10);
    let message =
        json!({"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m"});
    wire.answer(&asked["id"], message).await;
    assert_eq!(wire.response(id).await["result"]["content"][0]["text"], "m");
}

#[tokio::test]
async fn an_answer_that_can_not_be_read_fails_the_tool_only() {
    let mut wire = Wire::open_as(&curious(), "2025-11-25", json!({"elicitation": {}})).await;
    let id = wire.send("tools/call", json!({"name": "name"})).await;
    let asked = wire.next().await;
    wire.answer(&asked["id"], json!({"action": 7})).await;
    assert_eq!(wire.response(id).await["result"]["isError"], true);
}

// Shows: CANCEL-001
#[tokio::test]
async fn what_a_canceled_call_has_asked_is_withdrawn() {
    let mut wire = Wire::open_as(&curious(), "2025-11-25", json!({"elicitation": {}})).await;
    let id = wire.send("tools/call", json!({"name": "name"})).await;
    let asked = wire.next().await;
    wire.notify("notifications/cancelled", Some(json!({"requestId": id}))).await;
    let withdrawn = wire.next().await;
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], asked["id"]);
    // A late answer is nobody's, and harms nobody.
    wire.answer(&asked["id"], json!({"action": "cancel"})).await;
    assert_eq!(wire.call("ping", json!({})).await["result"], json!({}));
}
