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

// Shows: ELICIT-010, SAMPLING-006, ROOTS-022
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

// Shows: CANCEL-006, CANCEL-011
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

fn form(schema: serde_json::Value) -> Server {
    Server::new("s", "1").tool("ask", move |cx: Context| {
        let schema = schema.clone();
        async move {
            let schema: RequestedSchema = serde_json::from_value(schema)?;
            let answer = cx.elicit(ElicitRequestFormParams::new("?", schema)).await?;
            Ok::<_, ToolError>(serde_json::to_string(&answer.content)?)
        }
    })
}

// Shows: FC-047, ELICIT-072
#[tokio::test]
async fn an_answer_is_held_against_every_kind_of_choice() {
    let titled = json!([{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]);
    for (field, good, bad) in [
        (json!({"type": "string", "enum": ["a", "b"]}), json!("a"), json!("c")),
        (json!({"type": "string", "oneOf": titled}), json!("b"), json!("c")),
        (
            json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]},
                   "minItems": 1, "maxItems": 2, "default": ["a"]}),
            json!(["a"]),
            json!([]),
        ),
        (
            json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}),
            json!(["a"]),
            json!(["b"]),
        ),
        (
            json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}),
            json!("a"),
            json!("A"),
        ),
        (json!({"type": "integer", "minimum": 1}), json!(2), json!(0)),
    ] {
        let schema =
            json!({"type": "object", "properties": {"f": field.clone()}, "required": ["f"]});
        let mut wire = Wire::open_as(&form(schema), "2025-11-25", json!({"elicitation": {}})).await;
        for (content, fits) in
            [(json!({"f": good}), true), (json!({"f": bad}), false), (json!({}), false)]
        {
            let id = wire.send("tools/call", json!({"name": "ask"})).await;
            let asked = wire.next().await;
            assert_eq!(asked["params"]["requestedSchema"]["properties"]["f"], field);
            wire.answer(&asked["id"], json!({"action": "accept", "content": content})).await;
            let answer = wire.response(id).await;
            assert_eq!(answer["result"]["isError"] != true, fits, "{field} {content}: {answer}");
        }
        // Nothing is filled in by who declines.
        let id = wire.send("tools/call", json!({"name": "ask"})).await;
        let asked = wire.next().await;
        wire.answer(&asked["id"], json!({"action": "decline"})).await;
        assert_eq!(wire.response(id).await["result"]["content"][0]["text"], "null");
    }
}

// Shows: FC-047
#[tokio::test]
async fn an_older_client_gets_titles_in_the_old_way_and_no_multiple_choice() {
    let options = json!([{"const": "a", "title": "A"}]);
    let single =
        json!({"type": "object", "properties": {"f": {"type": "string", "oneOf": options}}});
    let mut wire = Wire::open_as(&form(single), "2025-06-18", json!({"elicitation": {}})).await;
    wire.send("tools/call", json!({"name": "ask"})).await;
    let asked = wire.next().await;
    assert_eq!(
        asked["params"]["requestedSchema"]["properties"]["f"],
        json!({"type": "string", "enum": ["a"], "enumNames": ["A"]})
    );
    let many = json!({"type": "array", "items": {"type": "string", "enum": ["a"]}});
    let many = json!({"type": "object", "properties": {"f": many}});
    let mut wire = Wire::open_as(&form(many), "2025-06-18", json!({"elicitation": {}})).await;
    let answer = wire.tool("ask", json!({})).await;
    assert_eq!(answer["result"]["isError"], true);
    assert!(wire.notes.is_empty(), "nothing was sent");
}

// Shows: FC-048
#[tokio::test]
async fn defaults_are_sent_as_they_are_also_where_they_are_false_or_empty() {
    let properties = json!({
        "n": {"type": "integer", "default": 0},
        "b": {"type": "boolean", "default": false},
        "s": {"type": "string", "default": ""},
        "e": {"type": "string", "enum": ["x", "y"], "default": "y"},
    });
    let schema = json!({"type": "object", "properties": properties, "required": ["n"]});
    let server = form(schema.clone());
    let mut wire = Wire::open_as(&server, "2025-11-25", json!({"elicitation": {}})).await;
    let id = wire.send("tools/call", json!({"name": "ask"})).await;
    let asked = wire.next().await;
    assert_eq!(asked["params"]["requestedSchema"], schema);
    let content = json!({"n": 0, "b": false, "s": "", "e": "y"});
    wire.answer(&asked["id"], json!({"action": "accept", "content": content})).await;
    assert!(wire.response(id).await["result"].get("isError").is_none());
}

// Shows: FC-046, SAMPLING-012, SAMPLING-013, SAMPLING-047
#[tokio::test]
async fn what_is_sampled_keeps_the_rules_and_fits_the_revision() {
    let server = Server::new("s", "1").tool(
        "sample",
        |mcp_server::tool::Parsed(messages): mcp_server::tool::Parsed<serde_json::Value>,
         cx: Context| async move {
            let mut params: CreateMessageRequestParams =
                serde_json::from_value(json!({"maxTokens": 1, "messages": messages["m"]}))?;
            params.tools = serde_json::from_value(messages["tools"].clone())?;
            Ok::<_, ToolError>(cx.sample(params).await?.model)
        },
    );
    let text = |text: &str| json!({"type": "text", "text": text});
    let user = json!({"role": "user", "content": text("a")});
    let uses = json!({"type": "tool_use", "id": "c1", "name": "t", "input": {}});
    let used = json!({"role": "assistant", "content": [text("a"), uses]});
    let result = |id: &str| {
        json!({"role": "user", "content": [
            {"type": "tool_result", "toolUseId": id, "content": [text("ok")], "isError": false},
        ]})
    };
    let tools = json!([{"name": "t", "inputSchema": {"type": "object"}}]);
    let with_tools = json!({"sampling": {"tools": {}}});
    for (revision, messages, sent) in [
        ("2025-11-25", json!([user]), true),
        ("2025-11-25", json!([user, used, result("c1")]), true),
        ("2025-11-25", json!([user, used]), false),
        ("2025-11-25", json!([user, used, user]), false),
        ("2025-11-25", json!([user, used, result("c2")]), false),
        ("2025-06-18", json!([user]), true),
        ("2025-06-18", json!([user, {"role": "user", "content": [text("a"), text("b")]}]), false),
    ] {
        let mut wire = Wire::open_as(&server, revision, with_tools.clone()).await;
        let list = if revision == "2025-11-25" { tools.clone() } else { json!(null) };
        let params = json!({"name": "sample", "arguments": {"m": messages, "tools": list}});
        let id = wire.send("tools/call", params).await;
        let first = wire.next().await;
        assert_eq!(first.get("method").is_some(), sent, "{revision} {messages}: {first}");
        if sent {
            assert_eq!(first["params"]["messages"], messages);
        } else {
            assert_eq!((&first["id"], &first["result"]["isError"]), (&json!(id), &json!(true)));
        }
    }
}

// Shows: SAMPLING-009
#[tokio::test]
async fn context_of_servers_is_asked_for_only_where_it_was_declared() {
    let server = Server::new("s", "1").tool("sample", |cx: Context| async move {
        let params = CreateMessageRequestParams::new(vec![SamplingMessage::user("x")], 1_u64)
            .with_include_context(mcp_types::IncludeContext::ThisServer);
        Ok::<_, ToolError>(cx.sample(params).await?.model)
    });
    for (revision, sampling, expected) in [
        ("2025-11-25", json!({}), json!(null)),
        ("2025-11-25", json!({"context": {}}), json!("thisServer")),
        ("2025-06-18", json!({}), json!("thisServer")),
    ] {
        let mut wire = Wire::open_as(&server, revision, json!({"sampling": sampling})).await;
        wire.send("tools/call", json!({"name": "sample"})).await;
        assert_eq!(wire.next().await["params"]["includeContext"], expected, "{revision}");
    }
}

// Shows: ROOTS-006, ROOTS-023, ROOTS-024
#[tokio::test]
async fn roots_are_asked_for_again_when_they_have_changed_and_not_before() {
    let capabilities = json!({"roots": {"listChanged": true}});
    let mut wire = Wire::open_as(&curious(), "2025-11-25", capabilities).await;
    let root = |n: u32| json!({"uri": format!("file:///{n}")});
    let ask = async |wire: &mut Wire| wire.send("tools/call", json!({"name": "roots"})).await;
    let id = ask(&mut wire).await;
    let asked = wire.next().await;
    assert_eq!(asked["method"], "roots/list");
    wire.answer(&asked["id"], json!({"roots": [root(1)]})).await;
    assert_eq!(wire.response(id).await["result"]["content"][0]["text"], "1");
    let id = ask(&mut wire).await;
    let answer = wire.next().await;
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(id), &json!("1")));
    // A change while they are being fetched: the answer is used, and not kept.
    wire.notify("notifications/roots/list_changed", None).await;
    let id = ask(&mut wire).await;
    let asked = wire.next().await;
    wire.notify("notifications/roots/list_changed", None).await;
    wire.call("ping", json!({})).await;
    wire.answer(&asked["id"], json!({"roots": [root(1), root(2)]})).await;
    assert_eq!(wire.response(id).await["result"]["content"][0]["text"], "2");
    ask(&mut wire).await;
    assert_eq!(wire.next().await["method"], "roots/list");
}

#[tokio::test]
async fn roots_of_a_client_that_announces_no_changes_are_not_kept() {
    let mut wire = Wire::open_as(&curious(), "2025-11-25", json!({"roots": {}})).await;
    for _ in 0..2 {
        let id = wire.send("tools/call", json!({"name": "roots"})).await;
        let asked = wire.next().await;
        assert_eq!(asked["method"], "roots/list");
        wire.answer(&asked["id"], json!({"roots": []})).await;
        wire.response(id).await;
    }
}

fn gated() -> Server {
    let urls = || {
        let url = mcp_types::ElicitRequestUrlParams::new("Log in", "https://example.com/login")
            .with_elicitation_id("e1");
        vec![url]
    };
    Server::new("s", "1")
        .tool("gated", move || {
            let urls = urls();
            async move { Err::<(), _>(ToolError::open_url_first(urls)) }
        })
        .tool("send", move |cx: Context| {
            let mut urls = urls();
            async move {
                let later = cx.elicitation("e1");
                let answer = cx.elicit_url(urls.remove(0)).await?;
                later.complete();
                Ok::<_, ToolError>(answer.action.as_str().to_owned())
            }
        })
        .tool("none", || async { Err::<(), _>(ToolError::open_url_first(Vec::new())) })
}

// Shows: ELICIT-031, ELICIT-032, ELICIT-049
#[tokio::test]
async fn a_url_that_has_to_be_opened_first_is_an_error_of_its_own() {
    let url = json!({"elicitation": {"url": {}}});
    let mut wire = Wire::open_as(&gated(), "2025-11-25", url).await;
    let answer = wire.tool("gated", json!({})).await;
    assert_eq!(answer["error"]["code"], -32042);
    let elicitation = &answer["error"]["data"]["elicitations"][0];
    assert_eq!(elicitation["url"], "https://example.com/login");
    assert_eq!(
        (&elicitation["mode"], &elicitation["elicitationId"]),
        (&json!("url"), &json!("e1"))
    );
    assert_eq!(wire.tool("none", json!({})).await["result"]["isError"], true);
    // Who doesn't know it reads the URL.
    for (revision, capabilities) in
        [("2025-11-25", json!({})), ("2025-06-18", json!({"elicitation": {}}))]
    {
        let mut wire = Wire::open_as(&gated(), revision, capabilities).await;
        let answer = wire.tool("gated", json!({})).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("https://example.com/login"), "{text}");
    }
}

// Shows: ELICIT-025, ELICIT-026, ELICIT-027
#[tokio::test]
async fn only_the_client_that_was_asked_hears_that_it_is_done() {
    let (server, url) = (gated(), json!({"elicitation": {"url": {}}}));
    let mut asked = Wire::open_as(&server, "2025-11-25", url.clone()).await;
    let mut other = Wire::open_as(&server, "2025-11-25", url).await;
    let id = asked.send("tools/call", json!({"name": "send"})).await;
    let question = asked.next().await;
    assert_eq!(question["params"]["elicitationId"], "e1");
    asked.answer(&question["id"], json!({"action": "accept"})).await;
    assert_eq!(asked.response(id).await["result"]["content"][0]["text"], "accept");
    let note = match asked.notes.pop() {
        Some(note) => note,
        None => asked.next().await,
    };
    assert_eq!(note["method"], "notifications/elicitation/complete");
    assert_eq!(note["params"]["elicitationId"], "e1");
    other.call("ping", json!({})).await;
    assert!(other.notes.is_empty());
}
