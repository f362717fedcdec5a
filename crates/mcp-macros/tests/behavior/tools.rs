//! `#[tool]` on functions.

use std::sync::atomic::{AtomicU32, Ordering};

use mcp_jsonrpc::ErrorObject;
use mcp_server::tool::{
    Args, Ext, FromCall, Json, Rejection, SessionState, State, ToolCall, ToolEntry,
};
use mcp_server::{
    Context, FromRequest, Grants, Offer, RequestParts, ServeOptions, Server, ToolError, tool,
};
use mcp_types::{CallToolResult, ContentBlock, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{connect, json};

async fn listed(entry: ToolEntry) -> Value {
    let client = connect(&Server::new("test", "1").with_tool(entry)).await;
    json(&client.list_tools().await.unwrap()[0])
}

async fn called(offer: impl Offer, arguments: Value) -> CallToolResult {
    let client = connect(&Server::new("test", "1").with(offer)).await;
    let name = client.list_tools().await.unwrap()[0].name.clone();
    client.call_tool(name).args(&arguments).unchecked().await.unwrap()
}

fn text(result: &CallToolResult) -> &str {
    result.content[0].as_text().unwrap()
}

/// Tells the weather.
///
/// Of some days:
/// - at least one
#[tool]
async fn forecast(
    /// The city.
    city: String,
    /// How many days.
    /// At most seven.
    #[schemars(range(min = 1, max = 7))]
    days: Option<u8>,
    #[serde(default = "celsius", rename = "in")] unit: String,
) -> String {
    format!("{city} {days:?} {unit}")
}

fn celsius() -> String {
    "C".to_owned()
}

// Shows: TOOLS-011, TOOLS-012
#[tokio::test]
async fn doc_comments_are_descriptions_and_parameters_a_schema() {
    let tool = listed(forecast_tool()).await;
    assert_eq!(tool["name"], "forecast");
    assert_eq!(tool["description"], "Tells the weather.\n\nOf some days:\n- at least one");
    assert_eq!(
        tool["inputSchema"],
        json!({
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "The city."},
                "days": {
                    "type": "integer", "minimum": 1, "maximum": 7,
                    "description": "How many days.\nAt most seven.",
                },
                "in": {"type": "string", "default": "C"},
            },
            "required": ["city"],
        })
    );
    assert_eq!(tool.get("outputSchema"), None);
}

// Shows: TOOLS-041
#[tokio::test]
async fn arguments_are_parsed_checked_and_passed() {
    let all = called(forecast_tool(), json!({"city": "Bern", "days": 2, "in": "K"})).await;
    assert_eq!(text(&all), "Bern Some(2) K");
    let least = called(forecast_tool(), json!({"city": "Bern"})).await;
    assert_eq!(text(&least), "Bern None C");
    let null = called(forecast_tool(), json!({"city": "Bern", "days": null})).await;
    assert_eq!(text(&null), "Bern None C");
    for (arguments, named) in [(json!({}), "city"), (json!({"city": 7}), "string")] {
        let result = called(forecast_tool(), arguments.clone()).await;
        assert_eq!(result.is_error, Some(true), "{arguments}");
        assert!(text(&result).contains(named), "{arguments}: {}", text(&result));
    }
}

#[tokio::test]
async fn the_function_is_still_a_function() {
    assert_eq!(forecast("Bern".into(), None, "C".into()).await, "Bern None C");
}

#[tool(
    name = "all.of-it",
    title = "All of it",
    description = concat!("one ", "two"),
    read_only,
    idempotent = false,
    open_world = true,
    task_support = "optional",
    icons = vec![mcp_types::Icon::new("https://example.com/i.png")],
    output_schema = mcp_server::ToolSchema::from_value(json!({"type": "object", "required": ["a"]})),
    input_schema = mcp_server::ToolSchema::from_value(json!({"type": "object", "title": "in"})),
)]
fn everything() -> CallToolResult {
    let mut result = CallToolResult::new(Vec::new());
    result.structured_content =
        Some(mcp_types::JsonValue::from_serialize(&json!({"a": 1})).unwrap());
    result
}

#[tokio::test]
async fn arguments_of_the_attribute_are_listed() {
    let tool = listed(everything_tool()).await;
    assert_eq!(
        tool,
        json!({
            "name": "all.of-it",
            "title": "All of it",
            "description": "one two",
            "annotations": {"readOnlyHint": true, "idempotentHint": false, "openWorldHint": true},
            "execution": {"taskSupport": "optional"},
            "icons": [{"src": "https://example.com/i.png"}],
            "inputSchema": {"type": "object", "title": "in"},
            "outputSchema": {"type": "object", "required": ["a"]},
        })
    );
    assert_eq!(called(everything_tool(), json!({})).await.is_error, None);
}

#[tool(annotations = ToolAnnotations::default().with_destructive_hint(true))]
fn annotated() {}

// Shows: TOOLS-013
#[tokio::test]
async fn annotations_can_be_given_as_a_whole() {
    let tool = listed(annotated_tool()).await;
    assert_eq!(tool["annotations"], json!({"destructiveHint": true}));
    assert_eq!(tool["inputSchema"], json!({"type": "object", "additionalProperties": false}));
    assert!(called(annotated_tool(), json!({"filler": 1})).await.content.is_empty());
}

#[derive(Deserialize, JsonSchema)]
struct Query {
    /// What to look for.
    word: String,
}

#[tool]
async fn together(Args(query): Args<Query>, cx: Context) -> String {
    format!("{} {}", query.word, cx.revision())
}

#[tokio::test]
async fn arguments_can_be_taken_all_together() {
    let tool = listed(together_tool()).await;
    let word = json!({"type": "string", "description": "What to look for."});
    assert_eq!(
        tool["inputSchema"],
        json!({"type": "object", "properties": {"word": word}, "required": ["word"]})
    );
    assert_eq!(text(&called(together_tool(), json!({"word": "a"})).await), "a 2025-11-25");
}

struct Greeting(&'static str);

/// A type of the user's, which nobody has put on a list.
#[derive(Clone)]
struct User(String);

impl FromRequest for User {
    fn from_request(parts: &RequestParts<'_>) -> Result<Self, ErrorObject> {
        let greeting = parts.state::<Greeting>().map(|greeting| greeting.0);
        let user = parts.context.extension::<Self>().cloned();
        let user = user.ok_or_else(|| ErrorObject::invalid_request("nobody has signed in"))?;
        Ok(Self(format!("{} {}", greeting.unwrap_or_default(), user.0)))
    }
}

/// And one that reads the call.
struct Length(usize);

impl FromCall for Length {
    const READS_ARGUMENTS: bool = false;

    fn from_call(call: &ToolCall) -> Result<Self, Rejection> {
        Ok(Self(call.arguments_json().len()))
    }
}

type Shared<T> = State<T>;

#[tool]
#[expect(clippy::too_many_arguments, reason = "one of each kind")]
async fn mixed(
    _context: Context,
    count: Shared<AtomicU32>,
    /// Not an argument, in spite of this.
    user: Option<User>,
    word: &str,
    Length(length): Length,
    SessionState(mine): SessionState<AtomicU32>,
    list: &[u8],
    nobody: Option<Ext<Query>>,
) -> String {
    let calls = count.fetch_add(1, Ordering::Relaxed);
    let user = user.map(|user| user.0);
    let mine = mine.fetch_add(1, Ordering::Relaxed);
    format!("{calls} {user:?} {word} {length} {mine} {list:?} {}", nobody.is_some())
}

#[tokio::test]
async fn what_the_request_holds_is_known_by_its_trait() {
    let schema = listed(mixed_tool()).await["inputSchema"].clone();
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": {
                "word": {"type": "string"},
                "list": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}},
            },
            "required": ["word", "list"],
        })
    );
    let server = Server::new("test", "1")
        .state(AtomicU32::new(5))
        .state(Greeting("dear"))
        .with(mixed_tool());
    let client = connect(&server).await;
    // A member that is named like a parameter of the other kind means nothing.
    let call = client.call_tool("mixed").arg("word", "w").arg("list", [1, 2]).arg("user", 7);
    assert_eq!(call.text().await.unwrap(), "5 None w 34 0 [1, 2] false");
    let (link, conversation) = server.connect_with(ServeOptions::new().know(User("Ada".into())));
    let known = tokio::spawn(conversation);
    let client = mcp_client::Client::builder("test", "1").connect(link).await.unwrap();
    let call = client.call_tool("mixed").arg("word", "w").arg("list", [0_u8; 0]);
    assert_eq!(call.text().await.unwrap(), "6 Some(\"dear Ada\") w 22 0 [] false");
    client.close().await;
    known.await.unwrap().unwrap();
}

#[tool]
fn state_that_is_missing(_state: State<Greeting>) {}

#[tokio::test]
async fn a_parameter_that_can_not_be_had_answers_the_request() {
    let client = connect(&Server::new("test", "1").with(state_that_is_missing_tool())).await;
    let error = client.call_tool("state_that_is_missing").await.unwrap_err();
    assert_eq!(crate::code(&error), -32603);
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[tool]
fn sum(a: i64, b: i64) -> Result<Json<Sum>, ToolError> {
    let sum = a.checked_add(b).ok_or(ToolError::new("too large"))?;
    Ok(Json(Sum { sum }))
}

#[tokio::test]
async fn structured_results_have_a_schema_and_errors_are_for_the_model() {
    let tool = listed(sum_tool()).await;
    assert_eq!(tool["outputSchema"]["properties"]["sum"]["type"], "integer");
    let result = called(sum_tool(), json!({"a": 1, "b": 2})).await;
    assert_eq!(json(&result.structured_content.unwrap()), json!({"sum": 3}));
    let failed = called(sum_tool(), json!({"a": i64::MAX, "b": 1})).await;
    assert_eq!((text(&failed), failed.is_error), ("too large", Some(true)));
}

#[tool]
fn any_error(text: &str) -> Result<Vec<ContentBlock>, std::num::ParseIntError> {
    Ok(vec![ContentBlock::text(text.parse::<u8>()?.to_string())])
}

#[tokio::test]
async fn any_error_will_do() {
    assert_eq!(text(&called(any_error_tool(), json!({"text": "7"})).await), "7");
    let failed = called(any_error_tool(), json!({"text": "x"})).await;
    assert_eq!((text(&failed), failed.is_error), ("invalid digit found in string", Some(true)));
}

#[tool]
fn r#type(r#match: bool, mut count: u8) -> String {
    count += 1;
    format!("{match} {count}")
}

impl FromCall for Unit {
    const READS_ARGUMENTS: bool = false;

    fn from_call(_: &ToolCall) -> Result<Self, Rejection> {
        Ok(Self)
    }
}

struct Unit;

#[tool(needs = "staff", needs = "night")]
fn secret(_: Unit) -> &'static str {
    "hidden"
}

#[tokio::test]
async fn labels_are_all_needed() {
    let server = |granted: &'static [&'static str]| {
        Server::new("test", "1")
            .grants(move |_| Grants::new(granted.iter().copied()))
            .with(secret_tool())
    };
    let shown = connect(&server(&["staff", "night"])).await;
    assert_eq!(shown.list_tools().await.unwrap().len(), 1);
    assert_eq!(shown.call_tool("secret").text().await.unwrap(), "hidden");
    let hidden = connect(&server(&["staff"])).await;
    assert!(hidden.list_tools().await.unwrap().is_empty());
}

#[tokio::test]
async fn raw_names_are_plain_names() {
    let tool = listed(type_tool()).await;
    assert_eq!(tool["name"], "type");
    assert_eq!(tool["inputSchema"]["required"], json!(["match", "count"]));
    let result = called(type_tool(), json!({"match": true, "count": 1})).await;
    assert_eq!(text(&result), "true 2");
}

mod elsewhere {
    pub(super) use mcp_server as renamed;

    /// A tool in a crate that calls us something else.
    #[renamed::tool(crate = renamed)]
    pub(super) fn far_away(#[serde(default)] count: u8) -> String {
        count.to_string()
    }
}

#[tokio::test]
async fn the_path_to_the_crate_can_be_given() {
    assert_eq!(text(&called(elsewhere::far_away_tool(), json!({})).await), "0");
}

#[doc = concat!("Made ", "up.")]
///
/// Twice.
#[tool]
fn made_up() {}

#[tokio::test]
async fn documentation_can_come_from_a_macro() {
    assert_eq!(listed(made_up_tool()).await["description"], "Made up.\n\n Twice.");
}

/// Types of the user's may be called what they like.
#[derive(Deserialize, JsonSchema)]
struct Arguments {
    value: u8,
}

#[tool]
fn names_that_are_like_ours(arguments: Arguments, call: Option<Arguments>, this: u8) -> String {
    format!("{} {} {this}", arguments.value, call.is_some())
}

#[tokio::test]
async fn names_do_not_collide() {
    let result = called(
        names_that_are_like_ours_tool(),
        json!({"arguments": {"value": 1}, "call": {"value": 2}, "this": 3}),
    );
    assert_eq!(text(&result.await), "1 true 3");
}
