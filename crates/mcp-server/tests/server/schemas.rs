use mcp_server::tool::{Args, Json, Parsed, RawArgs, ToolEntry};
use mcp_server::{Context, RegisterError, Server, ToolSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::wire::Wire;

// Shows: SCHEMA-009
#[test]
fn a_schema_that_is_none_is_told_when_the_tool_is_added() {
    let server = Server::new("s", "1").dynamic_tools();
    let tool = || ToolEntry::new("t", || async {});
    let broken = json!({"type": "object", "properties": {"a": {"type": "objekt"}}});
    for entry in [
        tool().input_schema(ToolSchema::from_value(broken.clone())),
        tool().output_schema(ToolSchema::from_value(broken)),
        tool().input_schema(ToolSchema::from_value(
            json!({"type": "object", "$ref": "https://example.com/elsewhere.json"}),
        )),
    ] {
        let refused = server.add_tool(entry);
        assert!(matches!(refused, Err(RegisterError::Schema { .. })), "{refused:?}");
    }
    for schema in [json!({"type": "string"}), json!({"type": "array"}), json!({"minLength": 1})] {
        let refused = server.add_tool(tool().input_schema(ToolSchema::from_value(schema)));
        assert!(matches!(refused, Err(RegisterError::NotAnObject { which: "input", .. })));
    }
    let list =
        ToolEntry::new("t", |Args(list): Args<Vec<u8>>| async move { list.len().to_string() });
    assert!(matches!(server.add_tool(list), Err(RegisterError::NotAnObject { .. })));
}

// Shows: TOOLS-013, TOOLS-014
#[tokio::test]
async fn a_tool_without_arguments_says_so_and_bears_a_filler() {
    let server = Server::new("s", "1")
        .tool("none", |_: Context| async { "none" })
        .tool("maybe", |_: Parsed<Value>| async { "maybe" })
        .tool("any", |RawArgs(_): RawArgs| async { "any" })
        .with_tool(
            ToolEntry::new("open", || async { "open" }).input_schema(ToolSchema::any_object()),
        )
        .with_tool(ToolEntry::new("closed", || async { "closed" }).input_schema(
            ToolSchema::from_value(json!({"type": "object", "additionalProperties": false})),
        ));
    let mut wire = Wire::open(&server).await;
    let listed = wire.call("tools/list", json!({})).await;
    let schemas: Vec<&Value> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["inputSchema"])
        .collect();
    let closed = json!({"type": "object", "additionalProperties": false});
    let open = json!({"type": "object"});
    assert_eq!(schemas, [&closed, &open, &open, &open, &closed]);
    for name in ["none", "maybe", "any", "open", "closed"] {
        for params in [json!({"name": name}), json!({"name": name, "arguments": {}})] {
            let answer = wire.call("tools/call", params).await;
            assert_eq!(answer["result"]["content"][0]["text"], name);
        }
        let answer = wire.tool(name, json!({"random_string": "x"})).await;
        // A schema that was written by hand is meant.
        assert_eq!(answer["result"]["isError"] == true, name == "closed", "{answer}");
    }
}

// Shows: FC-037
#[tokio::test]
async fn null_absent_and_empty_are_told_apart_where_the_schema_does() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": ["null", "string"]},
            "b": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null},
        },
    });
    let server = Server::new("s", "1").with_tool(
        ToolEntry::new("t", |Parsed(value): Parsed<Value>| async move { value.to_string() })
            .input_schema(ToolSchema::from_value(schema)),
    );
    let mut wire = Wire::open(&server).await;
    for arguments in [json!({"a": "x"}), json!({"a": null, "b": null}), json!({}), json!({"a": ""})]
    {
        let answer = wire.tool("t", arguments.clone()).await;
        assert_eq!(answer["result"]["content"][0]["text"], arguments.to_string());
    }
    let refused = wire.tool("t", json!({"b": ""})).await;
    assert_eq!(refused["result"]["isError"], true);
    assert!(refused["result"]["content"][0]["text"].as_str().unwrap().contains("/b"));
}

#[derive(Deserialize, JsonSchema)]
struct Optional {
    note: Option<String>,
    count: Option<u8>,
}

#[derive(Deserialize, JsonSchema)]
struct Checked {
    #[schemars(range(min = 1))]
    size: u8,
    note: Option<String>,
}

// Shows: FC-037
#[tokio::test]
async fn an_optional_argument_may_be_absent_or_null_whether_it_is_validated_or_not() {
    let server = Server::new("s", "1")
        .tool(
            "plain",
            |Args(o): Args<Optional>| async move { format!("{:?} {:?}", o.note, o.count) },
        )
        .tool(
            "checked",
            |Args(c): Args<Checked>| async move { format!("{:?} {}", c.note, c.size) },
        );
    let mut wire = Wire::open(&server).await;
    let listed = wire.call("tools/list", json!({})).await.to_string();
    assert!(!listed.contains("null"), "clients choke on unions with null: {listed}");
    for (tool, arguments, expected) in [
        ("plain", json!({}), "None None"),
        ("plain", json!({"note": null, "count": null}), "None None"),
        ("plain", json!({"note": "", "count": 0}), "Some(\"\") Some(0)"),
        ("checked", json!({"size": 1}), "None 1"),
        ("checked", json!({"size": 1, "note": null}), "None 1"),
    ] {
        let answer = wire.tool(tool, arguments).await;
        assert_eq!(answer["result"]["content"][0]["text"], expected);
    }
    assert_eq!(wire.tool("checked", json!({"size": 0})).await["result"]["isError"], true);
}

#[derive(Serialize, JsonSchema)]
struct Report {
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u8>,
}

// Shows: TOOLS-036, SCHEMA-005
#[tokio::test]
async fn a_structured_result_fits_the_schema_that_is_listed() {
    let server =
        Server::new("s", "1").tool("report", || async { Json(Report { note: None, count: None }) });
    let mut wire = Wire::open(&server).await;
    let listed = wire.call("tools/list", json!({})).await;
    let schema = &listed["result"]["tools"][0]["outputSchema"];
    let answer = wire.tool("report", json!({})).await;
    assert_eq!(answer["result"]["structuredContent"], json!({"note": null}));
    assert_eq!(schema["properties"]["note"]["type"], json!(["string", "null"]));
    assert_eq!(schema["required"], json!(["note"]));
    assert!(jsonschema::draft202012::meta::is_valid(schema));
    assert!(jsonschema::is_valid(schema, &answer["result"]["structuredContent"]));
}
