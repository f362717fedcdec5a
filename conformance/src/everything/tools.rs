//! The tools of the public suite.

use std::time::Duration;

use mcp_server::tool::{RawArgs, ToolEntry};
use mcp_server::{Context, Server, ToolError, ToolSchema};
use mcp_types::{
    AudioContent, ContentBlock, ImageContent, LoggingLevel, ResourceContents, TextResourceContents,
};
use tokio::time::sleep;

use super::{PNG, WAV};

const SHORT: Duration = Duration::from_millis(50);

pub(super) fn add(server: Server) -> Server {
    server
        .with_tool(
            ToolEntry::new("test_simple_text", || async {
                "This is a simple text response for testing."
            })
            .description("Answers with a text."),
        )
        .with_tool(
            ToolEntry::new("test_image_content", || async { image() })
                .description("Answers with an image."),
        )
        .with_tool(
            ToolEntry::new("test_audio_content", || async {
                ContentBlock::Audio(AudioContent::new(WAV, "audio/wav"))
            })
            .description("Answers with a sound."),
        )
        .with_tool(
            ToolEntry::new("test_embedded_resource", || async {
                let text = "This is an embedded resource content.";
                embedded("test://embedded-resource", "text/plain", text)
            })
            .description("Answers with an embedded resource."),
        )
        .with_tool(
            ToolEntry::new("test_multiple_content_types", || async {
                let json = r#"{"test":"data","value":123}"#;
                vec![
                    ContentBlock::text("Multiple content types test:"),
                    image(),
                    embedded("test://mixed-content-resource", "application/json", json),
                ]
            })
            .description("Answers with a text, an image and a resource."),
        )
        .with_tool(
            ToolEntry::new("test_tool_with_logging", |cx: Context| async move {
                cx.log(LoggingLevel::Info, None, "Tool execution started");
                sleep(SHORT).await;
                cx.log(LoggingLevel::Info, None, "Tool processing data");
                sleep(SHORT).await;
                cx.log(LoggingLevel::Info, None, "Tool execution completed");
                "Tool with logging executed successfully"
            })
            .description("Logs while it runs."),
        )
        .with_tool(
            ToolEntry::new("test_tool_with_progress", with_progress)
                .description("Reports its progress."),
        )
        .with_tool(
            ToolEntry::new("test_error_handling", || async {
                Err::<(), _>(ToolError::new("This tool intentionally returns an error for testing"))
            })
            .description("Always fails."),
        )
        .with_tool(
            ToolEntry::new("test_reconnection", |cx: Context| async move {
                cx.close_stream();
                sleep(Duration::from_millis(100)).await;
                "Reconnection test completed successfully. If you received this, the client properly reconnected after stream closure."
            })
            .description("Closes its stream before it answers."),
        )
        .with_tool(
            ToolEntry::new("json_schema_2020_12_tool", |RawArgs(arguments): RawArgs| async move {
                format!("JSON Schema 2020-12 tool called with: {arguments}")
            })
            .description("Has an input schema with keywords of 2020-12.")
            .input_schema(schema_2020_12()),
        )
}

pub(super) fn image() -> ContentBlock {
    ContentBlock::Image(ImageContent::new(PNG, "image/png"))
}

pub(super) fn embedded(uri: &str, mime_type: &str, text: &str) -> ContentBlock {
    let contents = TextResourceContents::new(uri, text).with_mime_type(mime_type);
    ContentBlock::resource(ResourceContents::Text(contents))
}

async fn with_progress(cx: Context) -> String {
    let progress = cx.progress();
    for step in [0.0, 50.0, 100.0] {
        progress.report_with(step, Some(100.0), format!("Completed step {step} of 100")).await;
        if step < 100.0 {
            sleep(SHORT).await;
        }
    }
    progress
        .token()
        .map_or_else(|| "0".to_owned(), |token| token.to_string().trim_matches('"').to_owned())
}

fn schema_2020_12() -> ToolSchema {
    let schema = serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {
            "properties": {"contactMethod": {"const": "phone"}},
            "required": ["contactMethod"],
        },
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    });
    ToolSchema::from_value(schema)
}
