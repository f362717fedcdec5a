//! The prompts of the public suite and of the interop drivers.

use mcp_server::Server;
use mcp_server::completion::{Completion, CompletionRequest};
use mcp_server::prompt::{PromptEntry, PromptRequest};
use mcp_types::{PromptMessage, Role};

use super::tools::{embedded, image};

pub(super) fn add(server: Server) -> Server {
    server
        .with_prompt(
            PromptEntry::new("test_simple_prompt", |_: PromptRequest| async {
                "This is a simple prompt for testing."
            })
            .title("Simple Test Prompt")
            .description("A prompt without arguments."),
        )
        .with_prompt(
            PromptEntry::new("test_prompt_with_arguments", |request: PromptRequest| async move {
                let value = |name| request.argument(name).unwrap_or_default().to_owned();
                format!("Prompt with arguments: arg1='{}', arg2='{}'", value("arg1"), value("arg2"))
            })
            .title("Prompt With Arguments")
            .description("A prompt with two arguments.")
            .required("arg1", "First test argument")
            .required("arg2", "Second test argument"),
        )
        .with_prompt(
            PromptEntry::new(
                "test_prompt_with_embedded_resource",
                |request: PromptRequest| async move {
                    let uri = request.argument("resourceUri").unwrap_or_default();
                    let text = "Embedded resource content for testing.";
                    vec![
                        PromptMessage::new(Role::User, embedded(uri, "text/plain", text)),
                        PromptMessage::user("Please process the embedded resource above."),
                    ]
                },
            )
            .title("Prompt With Embedded Resource")
            .description("A prompt that brings a resource along.")
            .required("resourceUri", "URI of the resource to embed"),
        )
        .with_prompt(
            PromptEntry::new("test_prompt_with_image", |_: PromptRequest| async {
                vec![
                    PromptMessage::new(Role::User, image()),
                    PromptMessage::user("Please analyze the image above."),
                ]
            })
            .title("Prompt With Image")
            .description("A prompt that brings an image along."),
        )
        .with_prompt(
            PromptEntry::new("greet", |request: PromptRequest| async move {
                format!("Please greet {}.", request.argument("name").unwrap_or_default())
            })
            .description("Greets somebody.")
            .required("name", "Whom to greet"),
        )
        .complete_prompt(
            "test_prompt_with_arguments",
            "arg1",
            |request: CompletionRequest| async move {
                Completion::by_prefix(["paris", "park", "party"], &request)
            },
        )
        .complete_prompt("greet", "name", |request: CompletionRequest| async move {
            Completion::by_prefix(["Alice", "Alan", "Bob"], &request)
        })
}
