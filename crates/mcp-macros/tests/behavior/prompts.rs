//! `#[prompt]` on functions.

use mcp_server::prompt::PromptRequest;
use mcp_server::tool::State;
use mcp_server::{Context, PromptError, Server, prompt};
use mcp_types::{ContentBlock, GetPromptResult, PromptMessage, Role, TextResourceContents};
use serde_json::json;

use crate::{code, connect, json};

struct Tone(&'static str);

/// Asks for a review.
#[prompt(title = "Review", icons = vec![mcp_types::Icon::new("https://example.com/i.png")])]
async fn review(
    /// What is to be reviewed.
    code: &str,
    /// How many remarks.
    remarks: Option<u8>,
    cx: &Context,
    tone: Option<State<Tone>>,
) -> String {
    let tone = tone.map(|tone| tone.0.0);
    format!("{code} {remarks:?} {} {tone:?}", cx.revision())
}

// Shows: PROMPTS-006, PROMPTS-008
#[tokio::test]
async fn parameters_are_arguments_unless_requests_hold_them() {
    let server = Server::new("test", "1").state(Tone("kind")).with(review_prompt());
    let client = connect(&server).await;
    assert_eq!(
        json(&client.list_prompts().await.unwrap()[0]),
        json!({
            "name": "review",
            "title": "Review",
            "description": "Asks for a review.",
            "icons": [{"src": "https://example.com/i.png"}],
            "arguments": [
                {"name": "code", "description": "What is to be reviewed.", "required": true},
                {"name": "remarks", "description": "How many remarks."},
            ],
        })
    );
    let result = client.get_prompt("review").arg("code", "x").arg("remarks", "3").await.unwrap();
    let message = &result.messages[0];
    assert_eq!(message.role, Role::User);
    assert_eq!(message.content.as_text(), Some("x Some(3) 2025-11-25 Some(\"kind\")"));
    let least = client.get_prompt("review").arg("code", "x").await.unwrap();
    assert_eq!(least.messages[0].content.as_text(), Some("x None 2025-11-25 Some(\"kind\")"));
}

// Shows: PROMPTS-017, PROMPTS-019
#[tokio::test]
async fn arguments_that_are_missing_or_wrong_are_refused() {
    let client = connect(&Server::new("test", "1").with(review_prompt())).await;
    assert_eq!(code(&client.get_prompt("review").await.unwrap_err()), -32602);
    let wrong = client.get_prompt("review").arg("code", "x").arg("remarks", "many");
    let error = wrong.await.unwrap_err();
    assert_eq!(code(&error), -32602);
    assert!(format!("{error:?}").contains("remarks"), "{error:?}");
}

#[prompt(name = "another name", description = "Given.")]
fn messages(request: PromptRequest) -> Result<Vec<PromptMessage>, PromptError> {
    let one = PromptMessage::new(
        Role::Assistant,
        ContentBlock::text(request.arguments.len().to_string()),
    );
    let number: u8 = "7".parse()?;
    Ok(vec![one, PromptMessage::new(Role::User, ContentBlock::text(number.to_string()))])
}

#[prompt]
fn whole() -> GetPromptResult {
    GetPromptResult::new(Vec::new())
}

#[tokio::test]
async fn prompts_can_be_messages_and_have_other_names() {
    let server = Server::new("test", "1").with(messages_prompt()).with(whole_prompt());
    let client = connect(&server).await;
    let names: Vec<String> =
        client.list_prompts().await.unwrap().iter().map(|prompt| prompt.name.clone()).collect();
    assert_eq!(names, ["another name", "whole"]);
    assert_eq!(client.get_prompt("another name").await.unwrap().messages.len(), 2);
    assert!(client.get_prompt("whole").await.unwrap().messages.is_empty());
    assert_eq!(whole(), GetPromptResult::new(Vec::new()));
}

#[prompt]
fn picture() -> Vec<PromptMessage> {
    let settings = TextResourceContents::new("config://app", "{}");
    vec![
        PromptMessage::new(Role::User, ContentBlock::image(b"GIF89a", "image/gif")),
        PromptMessage::new(Role::User, ContentBlock::audio(b"RIFF", "audio/wav")),
        PromptMessage::new(Role::User, ContentBlock::resource(settings)),
        PromptMessage::new(Role::User, ContentBlock::resource_link("config://app", "settings")),
    ]
}

// Shows: PROMPTS-009, PROMPTS-010, PROMPTS-011, PROMPTS-012, PROMPTS-014
#[tokio::test]
async fn prompts_carry_content_of_every_kind() {
    let client = connect(&Server::new("test", "1").with(picture_prompt())).await;
    let result = client.get_prompt("picture").await.unwrap();
    assert_eq!(
        json(&result.messages),
        json!([
            {"role": "user", "content": {"type": "image", "data": "R0lGODlh", "mimeType": "image/gif"}},
            {"role": "user", "content": {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}},
            {"role": "user", "content": {
                "type": "resource", "resource": {"uri": "config://app", "text": "{}"},
            }},
            {"role": "user", "content": {
                "type": "resource_link", "uri": "config://app", "name": "settings",
            }},
        ])
    );
}
