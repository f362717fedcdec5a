use mcp_client::Client;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Screen, Style};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Info<'a> {
    protocol_version: &'static str,
    server_info: &'a mcp_types::Implementation,
    capabilities: &'a mcp_types::ServerCapabilities,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
}

/// Says what the server is and what it can do.
pub(super) fn run(client: &Client, screen: Screen) -> Result<(), Failure> {
    let server = client.server();
    if screen.is_json() {
        return screen.json(&Info {
            protocol_version: client.revision().as_str(),
            server_info: server,
            capabilities: client.capabilities(),
            instructions: client.instructions(),
        });
    }
    let title = server.title.as_ref().map(|title| format!("{title}, "));
    let name = screen.styled(Style::Bold, &server.name);
    screen.line(&format!("{}{name} {}", title.unwrap_or_default(), server.version))?;
    screen.line(&format!("speaks {}", client.revision()))?;
    let offered = [
        "tools",
        "tools.listChanged",
        "resources",
        "resources.listChanged",
        "resources.subscribe",
        "prompts",
        "prompts.listChanged",
        "completions",
        "logging",
        "tasks",
    ];
    let offered: Vec<_> =
        offered.into_iter().filter(|path| client.capabilities().has(path)).collect();
    let offered = if offered.is_empty() { "nothing".to_owned() } else { offered.join(", ") };
    screen.line(&format!("offers {offered}"))?;
    if let Some(instructions) = client.instructions() {
        screen.line("")?;
        screen.line(instructions)?;
    }
    Ok(())
}
