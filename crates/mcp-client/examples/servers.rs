//! Several servers in one client: those of a host's `mcp.json`, their tools in one list.
//!
//! ```sh
//! cargo run --example servers -- mcp.json                 # lists the tools of all of them
//! cargo run --example servers -- mcp.json SERVER__TOOL    # calls one
//! ```
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "that is what programs do")]

use mcp_client::config::{ServerConfig, ServerMap};
use mcp_client::{Client, ClientSet};
use mcp_transport_http::client::{Config, HttpConnector};
use mcp_transport_stdio::ChildCommand;
use mcp_types::Tool;

/// Connects to every server of the file. One that can't be reached costs only itself.
pub(crate) async fn connect(text: &str) -> Result<ClientSet, Box<dyn std::error::Error>> {
    let map = ServerMap::parse(text)?;
    let servers = ClientSet::new(|_| Client::builder("many", "1.0.0"));
    let variable = |name: &str| std::env::var(name).ok();
    for name in map.names().filter(|name| !map.is_disabled(name)) {
        let connected = match map.get(name, variable)? {
            ServerConfig::Command(config) => {
                let command = ChildCommand::new(config.command).args(config.args).envs(config.env);
                servers.connect(name, command).await
            }
            ServerConfig::Url(config) => {
                servers.connect(name, HttpConnector::new(&config.url, Config::new())?).await
            }
            _ => continue,
        };
        if let Err(error) = connected {
            eprintln!("{name}: {error}");
        }
    }
    Ok(servers)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: servers FILE [SERVER__TOOL]")?;
    let servers = connect(&std::fs::read_to_string(file)?).await?;
    if let Some(tool) = arguments.next() {
        println!("{}", servers.call_tool(&tool)?.text().await?);
        return Ok(());
    }
    let tools = servers.list::<Tool>().await;
    for (server, error) in &tools.failures {
        eprintln!("{server}: {error}");
    }
    for tool in &tools.items {
        println!("{:<40} {}", tool.name, tool.item.description.as_deref().unwrap_or_default());
    }
    Ok(())
}
