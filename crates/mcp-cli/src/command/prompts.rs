use mcp_client::Client;
use mcp_types::{ListPromptsResult, Prompt};

use crate::failure::Failure;
use crate::output::{self, Screen, Style};

/// Lists the prompts.
pub(super) async fn list(client: &Client, screen: Screen) -> Result<(), Failure> {
    let prompts = client.list_prompts().await?;
    super::warn(&prompts, screen);
    if screen.is_json() {
        return screen.json(&ListPromptsResult::new(prompts.to_vec()));
    }
    if prompts.is_empty() {
        return screen.line("There are no prompts.");
    }
    for prompt in &prompts {
        let name = screen.styled(Style::Bold, &prompt.name);
        screen.line(&format!("{name}({})", arguments(prompt)))?;
        let description = super::described(screen, prompt.description.as_deref());
        if !description.is_empty() {
            screen.line(&description)?;
        }
    }
    Ok(())
}

fn arguments(prompt: &Prompt) -> String {
    let arguments = prompt.arguments.as_deref().unwrap_or_default().iter().map(|argument| {
        let optional = if argument.required == Some(true) { "" } else { "?" };
        format!("{}{optional}", argument.name)
    });
    arguments.collect::<Vec<_>>().join(", ")
}

/// Fills in a prompt.
pub(super) async fn get(
    client: &Client,
    screen: Screen,
    name: String,
    arguments: Vec<(String, String)>,
) -> Result<(), Failure> {
    let mut call = client.get_prompt(name);
    for (name, value) in arguments {
        call = call.arg(name, value);
    }
    let prompt = call.await?;
    if screen.is_json() {
        return screen.json(&prompt);
    }
    for message in &prompt.messages {
        let role = screen.styled(Style::Bold, message.role.as_str());
        screen.line(&format!("{role}: {}", output::content(&message.content)))?;
    }
    Ok(())
}
