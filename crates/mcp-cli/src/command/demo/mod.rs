//! `mcp demo`: a client and a server talk, and every message is shown and explained.

pub(crate) mod server;
mod tap;
mod wire;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp_client::{Builder, Client, ClientError, Context, HandlerError};
use mcp_transport_http::client::{Config, HttpConnector, Transport};
use mcp_transport_stdio::ChildCommand;
use mcp_types::{ElicitAction, ElicitRequestFormParams, ElicitResult, ElicitValue, OrderedMap};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Child;

use self::tap::{Tap, Way};
use self::wire::{Header, Seen, Wire};
use crate::failure::Failure;
use crate::output::{self, Screen, Style};
use crate::target::{Servers, connect_over};

/// Characters of a message that are shown, unless all are asked for.
const SHOWN: usize = 300;

/// Walks through it.
pub(super) async fn run(
    full: bool,
    http: bool,
    screen: Screen,
    servers: &Servers,
) -> Result<(), Failure> {
    let stage = Stage { screen, full };
    let myself = std::env::current_exe().map_err(Failure::Myself)?;
    if http { over_http(stage, myself).await } else { over_pipes(stage, myself, servers).await }
}

async fn over_pipes(stage: Stage, myself: PathBuf, servers: &Servers) -> Result<(), Failure> {
    stage.say(
        "A client and a server of the Model Context Protocol (MCP) talk.\n\
         This program is the client, and started itself again as the server, in a child\n\
         process. They talk over its stdin and stdout: each line is one JSON-RPC message.",
    )?;
    stage.legend()?;
    stage.handshake("")?;
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
    let client = connect_over(builder(), tap).await?;
    // The last word of the handshake is on its way; it belongs to this step.
    while !greeted.load(Ordering::Relaxed) && !client.is_closed() {
        tokio::task::yield_now().await;
    }
    stage.met(&client)?;
    talk(&client, stage).await?;
    stage.step(
        10,
        "Goodbye",
        "The client closes the server's stdin. That is all: the server sees the end of\n\
         its input, and leaves.",
    )?;
    client.close().await;
    stage.ended(child.gone().await)?;
    stage.say(
        "\nNow try a server of your own:\n  mcp tools -- your-server\n  mcp call add a=1 b=2 -- \
         mcp demo-server",
    )
}

async fn over_http(stage: Stage, myself: PathBuf) -> Result<(), Failure> {
    stage.say(
        "A client and a server of the Model Context Protocol (MCP) talk.\n\
         This program is the client, and started itself again as the server, in a child\n\
         process that listens on a port of this machine. They talk over HTTP: each JSON-RPC\n\
         message of the client is a POST, and those of the server come back as JSON, or as\n\
         a stream of events where there is more to say than one answer.",
    )?;
    stage.legend()?;
    stage.say("\nHeaders are shown when they first say something.")?;
    stage.handshake(
        "\nThe server's answer names a session, which the client names in every request from\n\
         then on. Then the client opens a stream (GET), for what the server has to say of\n\
         its own accord.",
    )?;
    let (mut server, address) = start(&myself).await?;
    let listening = Arc::new(AtomicBool::new(false));
    let (known, opened) = (Mutex::new(Vec::new()), Arc::clone(&listening));
    let wire = Wire::to(address, move |way, seen| {
        stage.seen(way, seen, &mut known.lock().unwrap_or_else(PoisonError::into_inner));
        if matches!(seen, Seen::Message { event: Some(_), .. }) {
            opened.store(true, Ordering::Relaxed);
        }
    });
    let wire = wire.await.map_err(Failure::Output)?;
    let mut config = Config::new();
    config.transport = Transport::StreamableHttp;
    let url = format!("http://{}/mcp", wire.address());
    let connector = HttpConnector::new(&url, config).map_err(Failure::Url)?;
    let client = connect_over(builder(), connector.link()).await?;
    // The last words of the handshake belong to this step.
    let opened = async {
        while !listening.load(Ordering::Relaxed) && !client.is_closed() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    // If they don't come, they come later.
    let _ = tokio::time::timeout(Duration::from_secs(2), opened).await;
    stage.met(&client)?;
    talk(&client, stage).await?;
    stage.step(
        10,
        "Goodbye",
        "The client ends its session (DELETE). The server goes on, for others; this one is\n\
         told to end by its parent.",
    )?;
    client.close().await;
    drop(server.stdin.take());
    stage.ended(server.wait().await.ok())?;
    stage.say(
        "\nNow try a server of your own:\n  mcp tools --url http://localhost:8080/mcp\nor this \
         one, in another terminal:\n  mcp demo-server --http",
    )
}

/// Starts this program as a server that ends with its stdin, and reads where it listens.
async fn start(myself: &Path) -> Result<(Child, SocketAddr), Failure> {
    let mut server = tokio::process::Command::new(myself)
        .args(["demo-server", "--http", "--leash"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(Failure::Myself)?;
    let mut line = String::new();
    if let Some(stdout) = server.stdout.take() {
        BufReader::new(stdout).read_line(&mut line).await.map_err(Failure::Myself)?;
    }
    let address = line.trim_end().strip_prefix(server::LISTENING);
    let address = address.and_then(|url| url.strip_prefix("http://")?.split('/').next());
    let address = address.and_then(|address| address.parse().ok()).ok_or_else(|| {
        Failure::Myself(io::Error::other("the server does not say where it listens"))
    })?;
    Ok((server, address))
}

fn builder() -> Builder {
    Client::builder("mcp-demo", env!("CARGO_PKG_VERSION")).on_elicitation(answer).on_log(|_| {})
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

    fn legend(self) -> Result<(), Failure> {
        self.say(&format!("\n  {} what the client sends", self.arrow(Way::Sent)))?;
        self.say(&format!("  {} what the server sends", self.arrow(Way::Received)))
    }

    fn handshake(self, more: &str) -> Result<(), Failure> {
        let text = format!(
            "Both say who they are and what they can do, and agree on a revision of the\n\
             protocol. This client can ask its user questions (\"elicitation\").{more}"
        );
        self.step(1, "The handshake", &text)
    }

    fn met(self, client: &Client) -> Result<(), Failure> {
        let server = client.server();
        let revision = client.revision();
        self.result(&format!(
            "They speak {revision}. The server is {} {}.",
            server.name, server.version
        ))
    }

    fn ended(self, status: Option<ExitStatus>) -> Result<(), Failure> {
        match status {
            Some(status) => self.result(&format!("The server has ended, {status}.")),
            None => self.result("The server has ended."),
        }
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

    /// Shows HTTP, and of the headers those that are not `known` yet.
    fn seen(self, way: Way, seen: &Seen, known: &mut Vec<(Way, Header)>) {
        let text = match seen {
            Seen::Head { line, headers } => {
                // When nobody reads it, the next step notices.
                let _ = self.screen.line(&format!("   {} {line}", self.arrow(way)));
                for header in headers {
                    let header = (way, header.clone());
                    if !known.contains(&header) {
                        let (_, (name, value)) = &header;
                        let text = self.screen.styled(Style::Dim, &format!("{name}: {value}"));
                        let _ = self.screen.line(&format!("       {text}"));
                        known.push(header);
                    }
                }
                return;
            }
            Seen::Message { event: Some(id), text } if text.is_empty() => {
                self.screen.styled(Style::Dim, &format!("(event {id}: a place to come back to)"))
            }
            Seen::Message { event: Some(id), text } => {
                let id = self.screen.styled(Style::Dim, &format!("(event {id})"));
                format!("{} {id}", self.shortened(text))
            }
            Seen::Message { event: None, text } => self.shortened(text),
        };
        let _ = self.screen.line(&format!("     {} {text}", self.arrow(way)));
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
