//! The commands, one file each.

mod call;
mod demo;
mod info;
mod login;
mod prompts;
mod resources;
mod tools;

use std::time::Instant;

use mcp_client::Client;

use crate::args::{Command, Invocation, Run};
use crate::failure::Failure;
use crate::output::Screen;
use crate::target::{self, Servers};

/// Does what is to be done inside of a runtime.
pub(crate) async fn run(
    invocation: Invocation,
    screen: Screen,
    servers: &Servers,
) -> Result<(), Failure> {
    match invocation {
        Invocation::Demo { full, http } => demo::run(full, http, screen, servers).await,
        Invocation::DemoServer(way) => demo::server::run(way, screen).await,
        Invocation::Run(run) => talk(*run, screen, servers).await,
        Invocation::Login(wanted) => login::login(wanted, screen).await,
        Invocation::Logout(wanted) => login::logout(wanted, screen).await,
        // Neither needs a runtime.
        Invocation::Help(_) | Invocation::Version => Ok(()),
    }
}

async fn talk(run: Run, screen: Screen, servers: &Servers) -> Result<(), Failure> {
    let Run { command, mut options, target } = run;
    // Read before the server is started: it may come from stdin, and may be wrong.
    let prepared = call::prepare(&command)?;
    let login = target.login();
    let target = target.resolve(&mut options)?;
    let with_hint = |failure: Failure| failure.with_login(login.as_deref());
    let client = target::connect(&target, &options, servers, screen).await.map_err(with_hint)?;
    let outcome = match command {
        Command::Info => info::run(&client, screen),
        Command::Ping => ping(&client, screen).await,
        Command::Tools => tools::run(&client, screen).await,
        Command::Call { tool, arguments } => {
            call::run(&client, screen, tool, prepared, arguments.members).await
        }
        Command::Resources => resources::list(&client, screen).await,
        Command::Read { uri } => resources::read(&client, screen, uri).await,
        Command::Prompts => prompts::list(&client, screen).await,
        Command::Prompt { name, arguments } => prompts::get(&client, screen, name, arguments).await,
    };
    client.close().await;
    outcome.map_err(with_hint)
}

async fn ping(client: &Client, screen: Screen) -> Result<(), Failure> {
    let start = Instant::now();
    client.ping().await?;
    let ms = start.elapsed().as_secs_f64() * 1000.0;
    if screen.is_json() {
        screen.json(&serde_json::json!({"ms": ms}))
    } else {
        screen.line(&format!("{} answered in {ms:.1} ms", client.server().name))
    }
}

/// Says why a list may be incomplete.
fn warn<T>(list: &mcp_client::Listing<T>, screen: Screen) {
    if let Some(warning) = list.warning() {
        screen.remark(&format!("mcp: the list may be incomplete: {warning}"));
    }
}

/// The first line of a description, with a dash before it; nothing without one.
fn described(screen: Screen, description: Option<&str>) -> String {
    let line = description.and_then(|text| text.trim().lines().next()).unwrap_or_default();
    if line.is_empty() {
        return String::new();
    }
    format!("  {}", screen.styled(crate::output::Style::Dim, line))
}
