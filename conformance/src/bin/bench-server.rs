//! `bench-server stdio | http ADDR [sse | stateless]`: the server that independent drivers load.
//! Written with the public API only, with default limits and guards.
//!
//! `sse` makes every answer a stream, `stateless` has no sessions; else the first thing that a
//! call emits decides about the form of its answer.
#![expect(clippy::print_stderr, reason = "a program says there what goes wrong")]

use std::process::ExitCode;

use mcp_server::tool::{Args, Json, ToolEntry};
use mcp_server::{Context, Server};
use mcp_transport_http::server::{Answers, Config, Endpoint, Listener, Sessions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    count: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Walk {
    /// Where to start, relative to the root of the project.
    path: String,
    /// How many entries at most.
    limit: Option<u32>,
    /// Whether to go into folders.
    deep: Option<bool>,
}

fn server() -> Server {
    let mut server = Server::new("bench", env!("CARGO_PKG_VERSION"))
        .with_tool(
            ToolEntry::new("echo", |Args(Echo { text })| async move { text })
                .description("Says it back."),
        )
        .with_tool(
            ToolEntry::new("add", |Args(Add { a, b })| async move {
                Json(Sum { sum: a.saturating_add(b) })
            })
            .description("Adds two integers."),
        )
        .with_tool(
            ToolEntry::new("progress", |Args(Count { count }), cx: Context| async move {
                let progress = cx.progress();
                for step in 1..=count {
                    progress.report(f64::from(step), Some(f64::from(count))).await;
                }
                "done"
            })
            .description("Counts, and says how far it is."),
        );
    for number in 0..97 {
        server = server.with_tool(
            ToolEntry::new(format!("tool_{number:02}"), |Args(walk): Args<Walk>| async move {
                let limit = walk.limit.unwrap_or(100);
                let deep = walk.deep.unwrap_or_default();
                format!("{}: at most {limit} entries, deep: {deep}", walk.path)
            })
            .description(
                "Lists the entries under a path of the project, newest first, with their size and \
                 the time of their last change. Folders end with a slash.",
            ),
        );
    }
    server.resource("bench://text64k", "text64k", "0123456789abcdef".repeat(4096))
}

const USAGE: &str = "usage: bench-server stdio | http ADDR [sse | stateless]";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["stdio"] => stdio().await,
        ["http", address, how @ ..] => http(address, how).await,
        _ => Err(USAGE.into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-server: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn stdio() -> Result<(), Box<dyn std::error::Error>> {
    server().serve(mcp_transport_stdio::stdio()).await?;
    Ok(())
}

async fn http(address: &str, how: &[&str]) -> Result<(), Box<dyn std::error::Error>> {
    let mut config = Config::new();
    match how {
        [] => {}
        ["sse"] => config.answers = Answers::EventStream,
        ["stateless"] => config.sessions = Sessions::Off,
        _ => return Err(USAGE.into()),
    }
    let endpoint = Endpoint::builder(server()).config(config).build();
    let listener = Listener::bind(endpoint, address).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr());
    listener.run(std::future::pending()).await;
    Ok(())
}
