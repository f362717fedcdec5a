use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_server::tool::{Args, Json, RawArgs, State, ToolEntry};
use mcp_server::{Context, Server, ToolError, ToolSchema};
use mcp_types::{CallToolResult, ContentBlock, JsonValue, LoggingLevel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::wire::Wire;

#[derive(Deserialize, JsonSchema)]
struct Query {
    /// Where.
    city: String,
    #[schemars(range(max = 7))]
    days: Option<u8>,
}

#[derive(Serialize, JsonSchema)]
struct Report {
    summary: String,
}

fn weather() -> Server {
    Server::new("weather", "1").with_tool(
        ToolEntry::new("forecast", |Args(query): Args<Query>| async move {
            let days = query.days.unwrap_or(1);
            Json(Report { summary: format!("{}: {days}", query.city) })
        })
        .title("Forecast")
        .description("Tells the weather.")
        .read_only(true),
    )
}

// Shows: TOOLS-005
#[tokio::test]
async fn a_tool_is_listed_with_all_that_was_said_about_it() {
    let mut wire = Wire::open(&weather()).await;
    let listed = wire.call("tools/list", json!({})).await;
    assert_eq!(
        listed["result"],
        json!({"tools": [{
            "name": "forecast",
            "title": "Forecast",
            "description": "Tells the weather.",
            "annotations": {"readOnlyHint": true},
            "inputSchema": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "Where."},
                    "days": {"type": "integer", "minimum": 0, "maximum": 7},
                },
                "required": ["city"],
            },
            "outputSchema": {
                "type": "object",
                "properties": {"summary": {"type": "string"}},
                "required": ["summary"],
            },
        }]})
    );
}

#[tokio::test]
async fn members_of_a_schema_stay_in_the_order_of_the_type() {
    #[derive(Deserialize, JsonSchema)]
    struct Ordered {
        zebra: String,
        ant: String,
    }
    let server =
        Server::new("s", "1").tool("t", |Args(o): Args<Ordered>| async move { o.zebra + &o.ant });
    let mut wire = Wire::open(&server).await;
    let listed = wire.call("tools/list", json!({})).await.to_string();
    assert!(listed.find("zebra").unwrap() < listed.find("ant\"").unwrap(), "{listed}");
}

// Shows: TOOLS-035
#[tokio::test]
async fn a_structured_result_has_a_text_twin() {
    let mut wire = Wire::open(&weather()).await;
    let answer = wire.tool("forecast", json!({"city": "Bern", "days": 3})).await;
    assert_eq!(
        answer["result"],
        json!({
            "content": [{"type": "text", "text": r#"{"summary":"Bern: 3"}"#}],
            "structuredContent": {"summary": "Bern: 3"},
        })
    );
}

// Shows: TOOLS-041, TOOLS-046, FC-036
#[tokio::test]
async fn arguments_that_do_not_fit_are_told_to_the_model() {
    let mut wire = Wire::open(&weather()).await;
    for (arguments, names) in [
        (json!({}), "city"),
        (json!({"city": 7}), "/city"),
        (json!({"city": "Bern", "days": "two"}), "days"),
        // What only the schema knows.
        (json!({"city": "Bern", "days": 8}), "days"),
    ] {
        let answer = wire.tool("forecast", arguments).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("invalid arguments: ") && text.contains(names), "{text}");
    }
}

#[tokio::test]
async fn older_peers_get_an_error_for_arguments_that_do_not_fit() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let mut wire = Wire::open_as(&weather(), revision, json!({})).await;
        assert_eq!(wire.tool("forecast", json!({})).await["error"]["code"], -32602, "{revision}");
    }
}

// Shows: TOOLS-038, TOOLS-039, TOOLS-042
#[tokio::test]
async fn what_is_no_call_is_invalid_params() {
    let mut wire = Wire::open(&weather()).await;
    for params in [
        json!({"name": "storm"}),
        json!({}),
        json!({"name": 7}),
        json!({"name": "forecast", "arguments": []}),
        json!({"name": "forecast", "arguments": "city"}),
    ] {
        let answer = wire.call("tools/call", params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
}

#[tokio::test]
async fn a_server_without_tools_has_no_such_method() {
    let mut wire = Wire::open(&Server::new("bare", "1")).await;
    for method in ["tools/list", "resources/list", "prompts/list", "logging/setLevel", "x"] {
        assert_eq!(wire.call(method, json!({})).await["error"]["code"], -32601, "{method}");
    }
    assert_eq!(wire.tool("x", json!({})).await["error"]["code"], -32601);
    assert_eq!(wire.call("ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn absent_arguments_are_an_empty_object() {
    let server = Server::new("s", "1")
        .tool("raw", |RawArgs(arguments): RawArgs| async move { arguments.to_string() });
    let mut wire = Wire::open(&server).await;
    let answer = wire.call("tools/call", json!({"name": "raw"})).await;
    assert_eq!(answer["result"]["content"][0]["text"], "{}");
}

#[tokio::test]
async fn arguments_reach_the_tool_byte_for_byte() {
    let server = Server::new("s", "1")
        .tool("raw", |RawArgs(arguments): RawArgs| async move { arguments.to_string() });
    let mut wire = Wire::open(&server).await;
    // What no parser would write back as it was.
    let odd = r#"{ "n":1e40, "m":0.10,"m":"\u0061", "big":123456789012345678901234567890 }"#;
    let params = format!(r#"{{"name":"raw","arguments":{odd}}}"#);
    let answer = wire.call_raw("tools/call", &params).await;
    assert_eq!(answer["result"]["content"][0]["text"], odd);
}

// Shows: TOOLS-008, PAGE-003, PAGE-012
#[tokio::test]
async fn a_long_list_is_walked_in_pages() {
    let mut server = Server::new("s", "1").page_size(10);
    for number in 0..25 {
        server = server.tool(format!("t{number}"), || async {});
    }
    let mut wire = Wire::open(&server).await;
    let (mut names, mut cursor) = (Vec::new(), json!({}));
    loop {
        let page = wire.call("tools/list", cursor).await;
        let tools = page["result"]["tools"].as_array().unwrap();
        assert!(tools.len() <= 10);
        names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        match page["result"].get("nextCursor") {
            Some(next) => cursor = json!({"cursor": next}),
            None => break,
        }
    }
    assert_eq!(names, (0..25).map(|number| format!("t{number}")).collect::<Vec<_>>());
    let refused = wire.call("tools/list", json!({"cursor": "made up"})).await;
    assert_eq!(refused["error"]["code"], -32602);
}

// Shows: TOOLS-040
#[tokio::test]
async fn any_error_becomes_a_result_that_the_model_reads() {
    let server = Server::new("s", "1")
        .tool("parse", || async { Ok::<_, ToolError>("x".parse::<u8>()?.to_string()) })
        .tool("refuse", || async {
            let error = mcp_jsonrpc::ErrorObject::new(-32000, "not today");
            Err::<(), _>(ToolError::protocol(error))
        });
    let mut wire = Wire::open(&server).await;
    let failed = wire.tool("parse", json!({})).await;
    assert_eq!(failed["result"]["isError"], true);
    assert_eq!(failed["result"]["content"][0]["text"], "invalid digit found in string");
    assert_eq!(wire.tool("refuse", json!({})).await["error"]["code"], -32000);
}

#[tokio::test]
async fn a_panic_costs_its_own_call() {
    let server = Server::new("s", "1")
        .tool("now", || -> std::future::Ready<()> { panic!("at once") })
        .tool("later", || async {
            tokio::task::yield_now().await;
            assert_eq!(1, 2, "later");
        })
        .tool("fine", || async { "fine" });
    let mut wire = Wire::open(&server).await;
    for name in ["now", "later"] {
        let answer = wire.tool(name, json!({})).await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert!(!answer.to_string().contains("later") && !answer.to_string().contains("at once"));
    }
    assert_eq!(wire.tool("fine", json!({})).await["result"]["content"][0]["text"], "fine");
}

// Shows: TOOLS-036, FC-038, FC-039
#[tokio::test]
async fn a_result_that_breaks_its_schema_is_not_sent() {
    let schema = json!({
        "type": "object",
        "properties": {"sum": {"type": "integer"}},
        "required": ["sum"],
    });
    let result = |structured: Option<Value>| {
        let mut result = CallToolResult::new(Vec::new());
        result.structured_content = structured.map(|v| JsonValue::from_serialize(&v).unwrap());
        result
    };
    let entry = |name: &str, value: Option<Value>, is_error: bool| {
        ToolEntry::new(name, move || {
            let mut result = result(value.clone());
            result.is_error = is_error.then_some(true);
            async move { result }
        })
        .output_schema(ToolSchema::from_value(schema.clone()))
    };
    let server = Server::new("s", "1")
        .with_tool(entry("good", Some(json!({"sum": 1})), false))
        .with_tool(entry("bad", Some(json!({"sum": "one"})), false))
        .with_tool(entry("none", None, false))
        .with_tool(entry("failed", None, true));
    let mut wire = Wire::open(&server).await;
    assert_eq!(
        wire.tool("good", json!({})).await["result"]["structuredContent"],
        json!({"sum": 1})
    );
    for name in ["bad", "none"] {
        assert_eq!(wire.tool(name, json!({})).await["error"]["code"], -32603, "{name}");
    }
    assert_eq!(wire.tool("failed", json!({})).await["result"]["isError"], true);
}

// Shows: SCHEMA-007, FC-040
#[tokio::test]
async fn a_schema_of_an_unknown_dialect_is_refused_and_known_ones_are_not() {
    let entry = |name: &str, dialect: &str| {
        ToolEntry::new(name, || async { "ok" }).input_schema(ToolSchema::from_value(json!({
            "$schema": dialect,
            "type": "object",
            "required": ["a"],
        })))
    };
    let known = [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ];
    let mut server = Server::new("s", "1").with_tool(entry("unknown", "https://example.com/x"));
    for (number, dialect) in known.iter().enumerate() {
        server = server.with_tool(entry(&format!("known{number}"), dialect));
    }
    let mut wire = Wire::open(&server).await;
    let refused = wire.tool("unknown", json!({"a": 1})).await;
    assert_eq!(refused["error"]["code"], -32603);
    assert!(refused["error"]["message"].as_str().unwrap().contains("https://example.com/x"));
    let listed = wire.call("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"][0]["name"], "unknown");
    for number in 0..known.len() {
        let name = format!("known{number}");
        assert_eq!(wire.tool(&name, json!({})).await["result"]["isError"], true, "{name}");
        let text = wire.tool(&name, json!({"a": 1})).await["result"]["content"][0]["text"].clone();
        assert_eq!(text, "ok", "{name}");
    }
}

// Shows: PROGRESS-004, PROGRESS-005, PROGRESS-019
#[tokio::test]
async fn progress_is_reported_only_to_who_asked_and_only_grows() {
    let server = Server::new("s", "1").tool("work", |cx: Context| async move {
        let progress = cx.progress();
        for step in [1.0, 3.0, 2.0, f64::NAN, 4.0] {
            progress.report_with(step, Some(4.0), "on").await;
        }
    });
    let mut wire = Wire::open(&server).await;
    wire.tool("work", json!({})).await;
    assert!(wire.notes.is_empty());
    let id = wire
        .send(
            "tools/call",
            json!({"name": "work", "_meta": {"progressToken": 123_456_789_012_i64}}),
        )
        .await;
    wire.response(id).await;
    let seen: Vec<_> = wire.notes.iter().map(|note| note["params"]["progress"].clone()).collect();
    assert_eq!(seen, [json!(1), json!(3), json!(4)]);
    assert_eq!(wire.notes[0]["params"]["progressToken"], 123_456_789_012_i64);
    assert_eq!(wire.notes[0]["params"]["message"], "on");
}

// Shows: CANCEL-005, CANCEL-007
#[tokio::test]
async fn a_canceled_call_is_dropped_and_not_answered() {
    struct Gone(Arc<AtomicUsize>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let server = Server::new("s", "1").state(Arc::clone(&dropped)).tool(
        "hang",
        |State(dropped): State<Arc<AtomicUsize>>| async move {
            let _gone = Gone(Arc::clone(&dropped));
            std::future::pending::<()>().await;
        },
    );
    let mut wire = Wire::open(&server).await;
    let id = wire.send("tools/call", json!({"name": "hang"})).await;
    // An answer to a later request shows that the call has begun.
    wire.call("ping", json!({})).await;
    assert_eq!(dropped.load(Ordering::SeqCst), 0);
    wire.notify("notifications/cancelled", Some(json!({"requestId": id, "reason": "enough"})))
        .await;
    wire.call("ping", json!({})).await;
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    assert!(wire.notes.is_empty(), "{:?}", wire.notes);
}

// Shows: LOGGING-004, LOGGING-005, LOGGING-007
#[tokio::test]
async fn messages_below_the_level_are_not_sent() {
    let server = Server::new("s", "1").logging().tool("work", |cx: Context| async move {
        cx.log(LoggingLevel::Debug, None, "detail");
        cx.log(LoggingLevel::Info, Some("here"), &json!({"step": 1}));
        cx.log(LoggingLevel::Error, None, "broken");
    });
    let mut wire = Wire::open(&server).await;
    let levels = |wire: &mut Wire| {
        let notes = std::mem::take(&mut wire.notes);
        notes
            .iter()
            .map(|note| note["params"]["level"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    wire.tool("work", json!({})).await;
    assert_eq!(
        wire.notes[0]["params"],
        json!({"level": "info", "logger": "here", "data": {"step": 1}})
    );
    assert_eq!(levels(&mut wire), ["info", "error"]);
    assert_eq!(wire.call("logging/setLevel", json!({"level": "error"})).await["result"], json!({}));
    wire.tool("work", json!({})).await;
    assert_eq!(levels(&mut wire), ["error"]);
    wire.call("logging/setLevel", json!({"level": "debug"})).await;
    wire.tool("work", json!({})).await;
    assert_eq!(levels(&mut wire), ["debug", "info", "error"]);
    let refused = wire.call("logging/setLevel", json!({"level": "loud"})).await;
    assert_eq!(refused["error"]["code"], -32602);
}

// Shows: LOGGING-001
#[tokio::test]
async fn a_server_that_does_not_announce_logging_does_not_log() {
    let server = Server::new("s", "1")
        .tool("work", |cx: Context| async move { cx.log(LoggingLevel::Error, None, "broken") });
    let mut wire = Wire::open(&server).await;
    wire.tool("work", json!({})).await;
    assert!(wire.notes.is_empty());
}

// Shows: TOOLS-009, TOOLS-010
#[tokio::test]
async fn tools_come_and_go_and_clients_are_told() {
    let server = Server::new("s", "1").dynamic_tools();
    let (mut first, mut second) = (Wire::open(&server).await, Wire::open(&server).await);
    // `initialized` was handled once a later request is answered.
    for wire in [&mut first, &mut second] {
        assert_eq!(wire.call("tools/list", json!({})).await["result"], json!({"tools": []}));
    }
    server.add_tool(ToolEntry::new("new", || async { "new" })).unwrap();
    for wire in [&mut first, &mut second] {
        assert_eq!(wire.next().await["method"], "notifications/tools/list_changed");
        assert_eq!(wire.tool("new", json!({})).await["result"]["content"][0]["text"], "new");
    }
    assert!(server.add_tool(ToolEntry::new("new", || async {})).is_err());
    assert!(server.remove_tool("new"));
    assert_eq!(first.next().await["method"], "notifications/tools/list_changed");
    assert_eq!(first.tool("new", json!({})).await["error"]["code"], -32602);
}

// Shows: TOOLS-013
#[tokio::test]
async fn older_peers_get_what_they_know() {
    let server = Server::new("s", "1").title("S").with_tool(
        ToolEntry::new("mixed", || async {
            let mut result = CallToolResult::new(vec![
                ContentBlock::resource_link("file:///x", "x"),
                ContentBlock::text("t"),
            ]);
            result.structured_content = Some(JsonValue::from_serialize(&json!({"a": 1})).unwrap());
            result
        })
        .title("Mixed")
        .read_only(true),
    );
    let mut old = Wire::open_as(&server, "2024-11-05", json!({})).await;
    let listed = old.call("tools/list", json!({})).await;
    assert_eq!(
        listed["result"]["tools"][0],
        json!({"name": "mixed", "inputSchema": {"type": "object", "additionalProperties": false}})
    );
    let answer = old.tool("mixed", json!({})).await;
    assert_eq!(answer["result"].get("structuredContent"), None);
    assert_eq!(answer["result"]["content"][0]["type"], "text");
    let mut new = Wire::open_as(&server, "2025-06-18", json!({})).await;
    let answer = new.tool("mixed", json!({})).await;
    assert_eq!(answer["result"]["structuredContent"], json!({"a": 1}));
    assert_eq!(answer["result"]["content"][0]["type"], "resource_link");
}

// Shows: TOOLS-027
#[test]
fn a_name_that_is_taken_is_told_at_once() {
    let twice = std::panic::catch_unwind(|| {
        Server::new("s", "1").tool("a", || async {}).tool("a", || async {})
    });
    let message = *twice.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("`a`"), "{message}");
}
