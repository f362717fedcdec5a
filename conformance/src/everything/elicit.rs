//! The tools of the public suite that ask the client for something.

use mcp_server::tool::{Args, ToolEntry};
use mcp_server::{Context, Server, ToolError};
use mcp_types::{
    CreateMessageRequestParams, ElicitRequestFormParams, ElicitResult, RequestedSchema,
    SamplingMessage, SamplingMessageContentBlock,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
struct Prompt {
    /// The prompt to send to the LLM
    prompt: String,
}

#[derive(Deserialize, JsonSchema)]
struct Message {
    /// The message to show the user
    message: String,
}

pub(super) fn add(server: Server) -> Server {
    server
        .with_tool(
            ToolEntry::new("test_sampling", |Args(Prompt { prompt }), cx: Context| async move {
                if !cx.can_sample() {
                    return Err(ToolError::new("Sampling not supported by the client"));
                }
                let text = sample(&cx, prompt, 100).await?;
                Ok(format!("LLM response: {text}"))
            })
            .description("Asks the client's model."),
        )
        .with_tool(
            ToolEntry::new(
                "test_elicitation",
                |Args(Message { message }), cx: Context| async move {
                    if !cx.can_elicit() {
                        return Err(ToolError::new("Elicitation not supported by the client"));
                    }
                    let answer = ask(&cx, message, contact()).await?;
                    Ok(format!("User response: {}", told(&answer)))
                },
            )
            .description("Asks the user for a name and an address."),
        )
        .with_tool(
            ToolEntry::new("test_elicitation_sep1034_defaults", |cx: Context| async move {
                if !cx.can_elicit() {
                    return Err(ToolError::new("Elicitation not supported by the client"));
                }
                let message = "Please review and update the form fields with defaults";
                let answer = ask(&cx, message, defaults()).await?;
                Ok(format!("Elicitation completed: {}", told(&answer)))
            })
            .description("Asks with a form whose fields have defaults."),
        )
        .with_tool(
            ToolEntry::new("test_elicitation_sep1330_enums", |cx: Context| async move {
                if !cx.can_elicit() {
                    return Err(ToolError::new("Elicitation not supported by the client"));
                }
                let answer = ask(&cx, "Please choose", enums()).await?;
                Ok(format!("Elicitation completed: {}", told(&answer)))
            })
            .description("Asks with a form of every kind of choice."),
        )
}

pub(super) async fn sample(cx: &Context, prompt: String, tokens: u64) -> Result<String, ToolError> {
    let message = SamplingMessage::user(prompt.as_str());
    let answer = cx.sample(CreateMessageRequestParams::new(vec![message], tokens)).await?;
    Ok(match answer.content.blocks().first() {
        Some(SamplingMessageContentBlock::Text(text)) => text.text.clone(),
        _ => String::new(),
    })
}

pub(super) async fn ask(
    cx: &Context,
    message: impl Into<String>,
    schema: Value,
) -> Result<ElicitResult, ToolError> {
    let schema: RequestedSchema = serde_json::from_value(schema)?;
    Ok(cx.elicit(ElicitRequestFormParams::new(message, schema)).await?)
}

fn told(answer: &ElicitResult) -> String {
    let content = answer.content.as_ref().and_then(|content| serde_json::to_string(content).ok());
    format!("action={}, content={}", answer.action.as_str(), content.as_deref().unwrap_or("{}"))
}

fn contact() -> Value {
    json!({
        "type": "object",
        "properties": {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        },
        "required": ["username", "email"],
    })
}

fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {
                "type": "string",
                "enum": ["active", "inactive", "pending"],
                "default": "active",
            },
            "verified": {"type": "boolean", "default": true},
        },
    })
}

fn enums() -> Value {
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
            "titledSingle": {"type": "string", "oneOf": [
                {"const": "value1", "title": "First Option"},
                {"const": "value2", "title": "Second Option"},
                {"const": "value3", "title": "Third Option"},
            ]},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {
                "type": "array",
                "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
                "minItems": 1,
                "maxItems": 3,
            },
            "titledMulti": {
                "type": "array",
                "items": {"anyOf": [
                    {"const": "value1", "title": "First Choice"},
                    {"const": "value2", "title": "Second Choice"},
                    {"const": "value3", "title": "Third Choice"},
                ]},
                "minItems": 1,
                "maxItems": 3,
            },
        },
    })
}
