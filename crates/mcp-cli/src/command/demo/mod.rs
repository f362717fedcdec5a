//! `mcp demo`: a client and a server talk, and every message is shown and explained.

pub(crate) mod server;
mod tap;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_client::{Client, ClientError, Context, HandlerError};
use mcp_transport_stdio::ChildCommand;
use mcp_types::{ElicitAction, ElicitRequestFormParams, ElicitResult, ElicitValue, OrderedMap};
use serde::Deserialize;

use self::tap::{Tap, Way};
use crate::failure::Failure;
use crate::output::{self, Screen, Style};
use crate::target::{Servers, connect_over};

/// Characters of a message that are shown, unless all are asked for.
const SHOWN: usize = 300;

/// Walks through it.
pub(super) async fn run(full: bool, screen: Screen, servers: &Servers) -> Result<(), Failure> {
    let stage = Stage { screen, full };
    let myself = std::env::current_exe().map_err(Failure::Myself)?;
    stage.say(
        "A client and a server of the Model Context Protocol (MCP) talk.\n\
         This program is the client, and started itself again as the server, in a child\n\
         process. They talk over its stdin and stdout: each line is one JSON-RPC message.",
    )?;
    screen.line(&format!("\n  {} what the client sends", stage.arrow(Way::Sent)))?;
    screen.line(&format!("  {} what the server sends", stage.arrow(Way::Received)))?;

    stage.step(
        1,
        "The handshake",
        "Both say who they are and what they can do, and agree on a revision of the\n\
         protocol. This client can ask its user questions (\"elicitation\").",
    )?;
    let link = ChildCommand::new(myself).arg("demo-server").spawn().map_err(Failure::Spawn)?;
    servers.add(&link);
    let child = link.handle();
    let greeted = Arc::new(AtomicBool::new(false));
    let greeting = Arc::clone(&greeted);
    let tap = Tap::new(link, move |way, text: &str| {
        stage.message(way, text);
        if text.contains("notifications/initialized") {
            greeting.store(true, Ordering::Relaxed);
        }
    });
    let builder = Client::builder("mcp-demo", env!("CARGO_PKG_VERSION")).on_elicitation(answer);
    let client = connect_over(builder.on_log(|_| {}), tap).await?;
    // The last word of the handshake is on its way; it belongs to this step.
    while !greeted.load(Ordering::Relaxed) && !client.is_closed() {
        tokio::task::yield_now().await;
    }
    stage.result(&format!(
        "They speak {}. The server is {} {}.",
        client.revision(),
        client.server().name,
        client.server().version
    ))?;

    talk(&client, stage).await?;

    stage.step(
        10,
        "Goodbye",
        "The client closes the server's stdin. That is all: the server sees the end of\n\
         its input, and leaves.",
    )?;
    client.close().await;
    match child.gone().await {
        Some(status) => stage.result(&format!("The server has ended, {status}.")),
        None => stage.result("The server has ended."),
    }?;
    stage.say(
        "\nNow try a server of your own:\n  mcp tools -- your-server\n  mcp call add a=1 b=2 -- \
         mcp demo-server",
    )
}

#[derive(Deserialize)]
struct Sum {
    sum: f64,
}

async fn talk(client: &Client, stage: Stage) -> Result<(), Failure> {
    stage.step(
        2,
        "What can you do?",
        "Each tool comes with a JSON Schema of its arguments, for a model to fill in.",
    )?;
    let tools = client.list_tools().await?;
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    stage.result(&format!("{} tools: {}.", tools.len(), names.join(", ")))?;

    stage.step(
        3,
        "Call a tool",
        "The result comes twice: as text for a model, and as a value for programs, which\n\
         has the form that the tool has promised in its output schema.",
    )?;
    let sum: Sum = client.call_tool("add").arg("a", 2).arg("b", 40).parsed().await?;
    stage.result(&format!("As a Rust value: sum = {}.", sum.sum))?;

    stage.step(
        4,
        "A call that takes time",
        "The client asked for progress by a token, and the server names it in each report.",
    )?;
    let mut reports = 0;
    let count = client.call_tool("count").arg("to", 3).on_progress(|_| reports += 1);
    let text = count.text().await?;
    stage.result(&format!("{reports} reports, and then: {text}."))?;

    stage.step(
        5,
        "A tool that fails",
        "That is a result, marked with isError: the model reads why, and can do better.",
    )?;
    let divide = client.call_tool("divide").arg("dividend", 1).arg("divisor", 0);
    let failed = divide.await?;
    let why: Vec<_> = failed.content.iter().map(output::content).collect();
    stage.result(&format!("For the model: {}.", why.join(" ")))?;

    stage.step(
        6,
        "A mistake",
        "There is no such tool. That is an error of the protocol, for the program.",
    )?;
    match client.call_tool("multiply").await {
        Err(ClientError::Refused { source, .. }) => {
            stage.result(&format!("For the program: code {}, {}.", source.code, source.message))?;
        }
        Err(error) => return Err(error.into()),
        Ok(_) => stage.result("The server has learned to multiply.")?,
    }

    stage.step(
        7,
        "A question back",
        "While the call is under way the server asks the client's user for a name. (Here\n\
         the user is this program.)",
    )?;
    let greeting = client.call_tool("greet").text().await?;
    stage.result(&format!("The tool says: {greeting}"))?;

    stage.step(
        8,
        "Prompts and resources",
        "Prompts are messages that a person picks by name; resources are data that a\n\
         client reads by URI.",
    )?;
    let prompt = client.get_prompt("explain").arg("word", "protocol").await?;
    for message in &prompt.messages {
        let text = output::content(&message.content);
        stage.result(&format!("{}: {text}", message.role.as_str()))?;
    }
    let motto = client.read_resource("demo://motto").await?;
    for contents in &motto.contents {
        stage.result(&output::contents(contents))?;
    }

    stage.step(9, "Are you there?", "Either side may ask at any time.")?;
    client.ping().await?;
    stage.result("It is.")
}

/// The user of the demo.
async fn answer(
    question: ElicitRequestFormParams,
    _: Context,
) -> Result<ElicitResult, HandlerError> {
    let form = mcp_client::form::Form::of(&question.requested_schema);
    let mut content: OrderedMap<ElicitValue> = form.defaults();
    content.set("name", ElicitValue::from("Ada"));
    let mut result = ElicitResult::new(ElicitAction::Accept);
    result.content = Some(content);
    Ok(result)
}

/// Where it is shown.
#[derive(Clone, Copy)]
struct Stage {
    screen: Screen,
    full: bool,
}

impl Stage {
    fn say(self, text: &str) -> Result<(), Failure> {
        self.screen.line(text)
    }

    fn step(self, number: u32, title: &str, text: &str) -> Result<(), Failure> {
        let title = self.screen.styled(Style::Bold, &format!("{number}. {title}"));
        self.screen.line(&format!("\n{title}"))?;
        for line in text.lines() {
            self.screen.line(&format!("   {}", self.screen.styled(Style::Dim, line)))?;
        }
        Ok(())
    }

    fn result(self, text: &str) -> Result<(), Failure> {
        self.screen.line(&format!("   {text}"))
    }

    fn arrow(self, way: Way) -> String {
        match way {
            Way::Sent => self.screen.styled(Style::Sent, "→"),
            Way::Received => self.screen.styled(Style::Received, "←"),
        }
    }

    fn message(self, way: Way, text: &str) {
        // When nobody reads it, the next step notices.
        let _ = self.screen.line(&format!("   {} {}", self.arrow(way), self.shortened(text)));
    }

    fn shortened(self, text: &str) -> String {
        let length = text.chars().count();
        if self.full || length <= SHOWN {
            return text.to_owned();
        }
        let shown: String = text.chars().take(SHOWN).collect();
        let more = format!("… {} more characters", length - SHOWN);
        format!("{shown}{}", self.screen.styled(Style::Dim, &more))
    }
}
