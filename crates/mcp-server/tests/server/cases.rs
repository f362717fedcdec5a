//! Faults from the field, as far as a server meets them.

use mcp_server::completion::CompletionRequest;
use mcp_server::prompt::{PromptEntry, PromptRequest};
use mcp_server::resource::{ReadRequest, TemplateEntry};
use mcp_server::{Context, Server, ToolError};
use mcp_types::{CallToolResult, CreateMessageRequestParams, SamplingMessage};
use serde_json::{Value, json};

use crate::wire::Wire;

// Shows: FC-024
#[tokio::test]
async fn capabilities_that_nobody_knows_are_kept_and_do_no_harm() {
    let server = Server::new("s", "1").tool("seen", |cx: Context| async move {
        let capabilities = &cx.caller().ok_or(ToolError::new("who?"))?.capabilities;
        Ok::<_, ToolError>(serde_json::to_string(capabilities)?)
    });
    let capabilities = json!({
        "roots": {"listChanged": false},
        "elicitation": {"form": {"applyDefaults": true}, "url": {}, "voice": {}},
        "sampling": {"tools": {}, "x": 1},
        "extensions": {"com.example/ui": {"a": [1]}},
        "experimental": {"z": {}},
        "brandNew": {},
    });
    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut wire = Wire::open_as(&server, revision, capabilities.clone()).await;
        let answer = wire.tool("seen", json!({})).await;
        let seen: Value =
            serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(seen, capabilities, "{revision}");
    }
}

// Shows: FC-008
#[tokio::test(start_paused = true)]
async fn a_call_that_sleeps_does_not_hold_up_the_end_for_long() {
    let sleeps = |seconds| {
        move || async move {
            tokio::time::sleep(std::time::Duration::from_secs(seconds)).await;
            "rested"
        }
    };
    let ended = std::sync::Arc::new(());
    let held = std::sync::Arc::clone(&ended);
    let server = Server::new("s", "1")
        .drain_time(std::time::Duration::from_secs(3))
        .tool("second", sleeps(1))
        .tool("hour", move || {
            let held = std::sync::Arc::clone(&held);
            async move {
                tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
                drop(held);
            }
        });
    let mut wire = Wire::open(&server).await;
    wire.send("tools/call", json!({"name": "hour"})).await;
    let second = wire.send("tools/call", json!({"name": "second"})).await;
    wire.call("ping", json!({})).await;
    let (start, open) = (tokio::time::Instant::now(), std::sync::Arc::strong_count(&ended));
    let rest = wire.leave().await;
    // What is done in time is still answered, and the other call is not left running.
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["id"], second);
    assert_eq!(start.elapsed().as_secs(), 3);
    assert_eq!(std::sync::Arc::strong_count(&ended), open - 1);
}

fn asking() -> Server {
    Server::new("s", "1").tool("ask", |cx: Context| async move {
        let params = CreateMessageRequestParams::new(vec![SamplingMessage::user("x")], 1_u64);
        Ok::<_, ToolError>(cx.sample(params).await?.model)
    })
}

fn sampled(model: &str) -> Value {
    json!({"role": "assistant", "content": {"type": "text", "text": ""}, "model": model})
}

// Shows: FC-025
#[tokio::test]
async fn many_calls_that_ask_the_client_at_once_all_end() {
    let mut wire = Wire::open_as(&asking(), "2025-11-25", json!({"sampling": {}})).await;
    let mut open = Vec::new();
    for _ in 0..10 {
        open.push(wire.send("tools/call", json!({"name": "ask"})).await);
    }
    let mut asked = Vec::new();
    for _ in 0..10 {
        asked.push(wire.next().await);
    }
    // The client calls the server again before it answers anything.
    let nested = wire.send("tools/call", json!({"name": "ask"})).await;
    let inner = wire.next().await;
    assert_eq!(inner["method"], "sampling/createMessage");
    wire.answer(&inner["id"], sampled("inner")).await;
    assert_eq!(wire.response(nested).await["result"]["content"][0]["text"], "inner");
    for (number, ask) in asked.iter().enumerate().rev() {
        wire.answer(&ask["id"], sampled(&number.to_string())).await;
    }
    let mut answers = Vec::new();
    for _ in 0..10 {
        let answer = wire.next().await;
        assert!(open.contains(&answer["id"].as_i64().unwrap()), "{answer}");
        answers.push(answer["result"]["content"][0]["text"].as_str().unwrap().to_owned());
    }
    answers.sort();
    assert_eq!(answers, (0..10).map(|number| number.to_string()).collect::<Vec<_>>());
}

// Shows: FC-027
#[tokio::test]
async fn a_ping_is_answered_whatever_it_comes_with() {
    let mut wire = Wire::open(&Server::new("s", "1")).await;
    for params in [json!({}), json!({"x": 1}), json!({"_meta": {"progressToken": 1}})] {
        assert_eq!(wire.call("ping", params).await["result"], json!({}));
    }
}

// Shows: FC-038
#[tokio::test]
async fn an_error_needs_no_structured_result_and_gets_none() {
    let schema = json!({
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": false,
    });
    let tool = |structured: bool| {
        mcp_server::tool::ToolEntry::new(format!("push{structured}"), move || async move {
            let mut result = CallToolResult::error("auth failed");
            if structured {
                let code = mcp_types::JsonValue::from_json(r#"{"code":401}"#);
                result.structured_content = code.ok();
            }
            result
        })
    };
    let schema = mcp_server::ToolSchema::from_value(schema);
    let server = Server::new("s", "1")
        .with_tool(tool(false).output_schema(schema.clone()))
        .with_tool(tool(true).output_schema(schema));
    let mut wire = Wire::open(&server).await;
    let plain = wire.tool("pushfalse", json!({})).await;
    let content = json!([{"type": "text", "text": "auth failed"}]);
    assert_eq!(plain["result"], json!({"isError": true, "content": content}));
    let with = wire.tool("pushtrue", json!({})).await;
    assert_eq!(with["result"]["structuredContent"], json!({"code": 401}));
}

// Shows: FC-041
#[tokio::test]
async fn content_of_every_kind_leaves_in_order_and_unknown_kinds_as_they_are() {
    let content = json!([
        {"type": "text", "text": "a"},
        {"type": "resource_link", "uri": "file:///r.pdf", "name": "r"},
        {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        {"type": "hologram", "frames": [1, 2]},
        {"type": "resource", "resource": {"uri": "x:y", "text": ""}},
    ]);
    let sent = content.clone();
    let server = Server::new("s", "1").tool("mixed", move || {
        let content = sent.clone();
        async move {
            Ok::<_, ToolError>(serde_json::from_value::<CallToolResult>(json!({
                "content": content,
            }))?)
        }
    });
    let mut wire = Wire::open(&server).await;
    assert_eq!(wire.tool("mixed", json!({})).await["result"]["content"], content);
}

// Shows: FC-042
#[tokio::test]
async fn a_uri_is_an_opaque_text() {
    let uris = [
        "file:///docs/caf%C3%A9/a.txt",
        "file:///docs/café/a.txt",
        "note://Daily",
        "https://h.example",
        "x:y",
        "urn:isbn:1",
        "file:///a/../b",
        "file:///C:/x",
    ];
    let mut server = Server::new("s", "1").with_template(
        TemplateEntry::new("file:///docs/café/{name}", "t", |request: ReadRequest| async move {
            format!("template {}", request.variables.get("name").unwrap_or_default())
        })
        .unwrap(),
    );
    for uri in uris {
        server = server.resource(uri, uri, uri);
    }
    let mut wire = Wire::open(&server).await;
    let listed = wire.call("resources/list", json!({})).await;
    for (resource, uri) in listed["result"]["resources"].as_array().unwrap().iter().zip(uris) {
        assert_eq!(resource["uri"], uri);
        let read = wire.call("resources/read", json!({"uri": uri})).await;
        assert_eq!(read["result"]["contents"], json!([{"uri": uri, "text": uri}]));
    }
    for uri in ["NOTE://Daily", "note://daily", "https://h.example/", "file:///b"] {
        let read = wire.call("resources/read", json!({"uri": uri})).await;
        assert_eq!(read["error"]["code"], -32002, "{uri}");
    }
    // A template knows both ways to write a character.
    for uri in ["file:///docs/caf%c3%a9/b.txt", "file:///docs/café/b.txt"] {
        let read = wire.call("resources/read", json!({"uri": uri})).await;
        assert_eq!(read["result"]["contents"][0]["text"], "template b.txt");
        assert_eq!(read["result"]["contents"][0]["uri"], uri);
    }
}

// Shows: FC-044, COMPLETION-011, COMPLETION-019
#[tokio::test]
async fn a_hundred_values_are_all_and_one_more_is_too_many() {
    let server = Server::new("s", "1")
        .with_prompt(
            PromptEntry::new("p", |_: PromptRequest| async { "p" })
                .required("n", "How many")
                .required("more", "And more"),
        )
        .complete_prompt("p", "n", |request: CompletionRequest| async move {
            let count: u32 = request.value.parse()?;
            let values = (0..count).map(|number| number.to_string());
            Ok::<_, mcp_server::PromptError>(mcp_server::completion::Completion::new(values))
        })
        .complete_prompt("p", "more", |_: CompletionRequest| async move {
            mcp_server::completion::Completion::new(["a"]).with_more()
        });
    let mut wire = Wire::open(&server).await;
    let mut complete = async |name: &str, value: &str| {
        let reference = json!({"type": "ref/prompt", "name": "p"});
        let argument = json!({"name": name, "value": value});
        wire.call("completion/complete", json!({"ref": reference, "argument": argument})).await
    };
    for (count, sent, more) in [("101", 100, true), ("100", 100, false), ("0", 0, false)] {
        let answer = complete("n", count).await;
        let completion = &answer["result"]["completion"];
        assert_eq!(completion["values"].as_array().unwrap().len(), sent);
        assert_eq!(completion["hasMore"], more);
        assert_eq!(completion["total"].to_string(), count);
    }
    let more = complete("more", "").await;
    assert_eq!(more["result"]["completion"], json!({"values": ["a"], "hasMore": true}));
    assert_eq!(complete("n", "x").await["error"]["code"], -32603);
    assert_eq!(complete("n", &"1".repeat(5000)).await["error"]["code"], -32602);
}

// Shows: FC-045, COMPLETION-008, COMPLETION-010, COMPLETION-015
#[tokio::test]
async fn completion_of_what_is_not_there_is_an_error_and_of_what_nobody_knows_is_empty() {
    let template =
        TemplateEntry::new("file:///{path}", "t", |_: ReadRequest| async { "t" }).unwrap();
    let server = Server::new("s", "1")
        .with_prompt(PromptEntry::new("p", |_: PromptRequest| async { "p" }).optional("a", "A"))
        .with_template(template)
        .complete_template("file:///{path}", "path", |request: CompletionRequest| async move {
            vec![format!("{}/{}", request.arguments["owner"], request.value)]
        });
    let mut wire = Wire::open(&server).await;
    let prompt = |name: &str| json!({"type": "ref/prompt", "name": name});
    for (reference, argument, expected) in [
        (prompt("nope"), json!({"name": "a", "value": ""}), json!(-32602)),
        (prompt("p"), json!({"name": "nope", "value": "x"}), json!(-32602)),
        (prompt("p"), json!({"name": "a", "value": "x"}), json!([])),
        (prompt("p"), json!({"value": "x"}), json!(-32602)),
        (json!({"type": "ref/other"}), json!({"name": "a", "value": ""}), json!(-32602)),
        (
            json!({"type": "ref/resource", "uri": "file:///{path}"}),
            json!({"name": "path", "value": "a"}),
            json!(["x/a"]),
        ),
        (
            json!({"type": "ref/resource", "uri": "file:///{path}"}),
            json!({"name": "nope", "value": "a"}),
            json!(-32602),
        ),
    ] {
        let context = json!({"arguments": {"owner": "x"}});
        let params = json!({"ref": reference, "argument": argument, "context": context});
        let answer = wire.call("completion/complete", params.clone()).await;
        let found = match answer.get("error") {
            Some(error) => error["code"].clone(),
            None => answer["result"]["completion"]["values"].clone(),
        };
        assert_eq!(found, expected, "{params}");
    }
    let mut wire =
        Wire::open(&Server::new("s", "1").prompt("p", |_: PromptRequest| async { "p" })).await;
    let params = json!({"ref": prompt("p"), "argument": {"name": "a", "value": ""}});
    assert_eq!(wire.call("completion/complete", params).await["error"]["code"], -32601);
}
