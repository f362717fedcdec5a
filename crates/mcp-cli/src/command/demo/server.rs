//! The server that the demo talks to: one of everything, and none of it useful.

use std::io;
use std::time::Duration;

use mcp_jsonrpc::link::v1::LinkError;
use mcp_server::prompt::PromptEntry;
use mcp_server::resource::ResourceEntry;
use mcp_server::tool::{Parsed, ToolEntry};
use mcp_server::{Context, Server, ToolError, ToolSchema};
use mcp_transport_http::server::{Endpoint, Listener};
use mcp_types::{
    CallToolResult, ElicitAction, ElicitRequestFormParams, ElicitValue, LoggingLevel,
    RequestedSchema,
};
use serde::Deserialize;
use serde_json::json;

use crate::args::DemoServer;
use crate::failure::Failure;
use crate::output::Screen;

/// How the line that says where the server is begins.
pub(super) const LISTENING: &str = "listening on ";

/// Serves until the client leaves, or until it is told to end.
pub(crate) async fn run(way: DemoServer, screen: Screen) -> Result<(), Failure> {
    match way {
        DemoServer::Stdio => server()
            .serve(mcp_transport_stdio::stdio())
            .await
            .map_err(|cause: LinkError| Failure::Output(io::Error::other(cause))),
        DemoServer::Http { address, leashed } => http(&address, leashed, screen).await,
    }
}

/// Serves over HTTP, and says on the first line of stdout where.
async fn http(address: &str, leashed: bool, screen: Screen) -> Result<(), Failure> {
    let endpoint = Endpoint::new(server());
    let listener = Listener::bind(endpoint, address).await.map_err(Failure::Listen)?;
    screen.line(&format!("{LISTENING}http://{}/mcp", listener.local_addr()))?;
    let end = async {
        if leashed {
            let mut nothing = tokio::io::sink();
            // However it ends, it has ended.
            let _ = tokio::io::copy(&mut tokio::io::stdin(), &mut nothing).await;
        } else {
            std::future::pending::<()>().await;
        }
    };
    listener.run(end).await;
    Ok(())
}

#[derive(Deserialize)]
struct Add {
    a: f64,
    b: f64,
}

#[derive(Deserialize)]
struct Divide {
    dividend: f64,
    divisor: f64,
}

#[derive(Deserialize)]
struct Count {
    to: u32,
    /// The wait before each step.
    pause_ms: Option<u64>,
}

fn server() -> Server {
    Server::new("demo-server", env!("CARGO_PKG_VERSION"))
        .description("A server to try things out with.")
        .instructions("Add numbers with `add`. Everything else is for show.")
        .logging()
        .with_tool(
            ToolEntry::new("add", |Parsed(Add { a, b })| async move {
                CallToolResult::structured(&json!({"sum": a + b}))
            })
            .description("Adds two numbers.")
            .input_schema(ToolSchema::from_value(json!({
                "type": "object",
                "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
                "required": ["a", "b"],
            })))
            .output_schema(ToolSchema::from_value(json!({
                "type": "object",
                "properties": {"sum": {"type": "number"}},
                "required": ["sum"],
            })))
            .read_only(true),
        )
        .with_tool(
            ToolEntry::new("divide", |Parsed(Divide { dividend, divisor })| async move {
                if divisor == 0.0 {
                    return Err(ToolError::new("nothing can be divided by 0; try another divisor"));
                }
                Ok((dividend / divisor).to_string())
            })
            .description("Divides one number by another.")
            .input_schema(ToolSchema::from_value(json!({
                "type": "object",
                "properties": {"dividend": {"type": "number"}, "divisor": {"type": "number"}},
                "required": ["dividend", "divisor"],
            })))
            .read_only(true),
        )
        .with_tool(
            ToolEntry::new("count", count)
                .description("Counts slowly, and says how far it has come.")
                .input_schema(ToolSchema::from_value(json!({
                    "type": "object",
                    "properties": {
                        "to": {"type": "integer", "minimum": 1, "maximum": 100},
                        "pause_ms": {"type": "integer", "minimum": 0, "maximum": 10_000},
                    },
                    "required": ["to"],
                }))),
        )
        .with_tool(
            ToolEntry::new("greet", greet).description("Asks for your name, and greets you."),
        )
        .with_resource(
            ResourceEntry::new("demo://motto", "motto", "Say what you do, do what you say.")
                .description("What a protocol is about.")
                .mime_type("text/plain"),
        )
        .with_prompt(
            PromptEntry::new("explain", |request: mcp_server::prompt::PromptRequest| async move {
                let word = request.argument("word").unwrap_or_default().to_owned();
                format!("Explain {word:?} to a child, in two sentences.")
            })
            .description("Asks a model to explain a word.")
            .required("word", "What is to be explained."),
        )
}

async fn count(Parsed(Count { to, pause_ms }): Parsed<Count>, cx: Context) -> String {
    let progress = cx.progress();
    for step in 1..=to {
        tokio::time::sleep(Duration::from_millis(pause_ms.unwrap_or(50))).await;
        let message = format!("{step} of {to}");
        progress.report_with(f64::from(step), Some(f64::from(to)), message).await;
    }
    cx.log(LoggingLevel::Info, Some("count"), "done counting");
    format!("counted to {to}")
}

async fn greet(cx: Context) -> Result<String, ToolError> {
    let schema: RequestedSchema = serde_json::from_value(json!({
        "type": "object",
        "properties": {"name": {"type": "string", "title": "Name", "minLength": 1}},
        "required": ["name"],
    }))?;
    let answer = cx.elicit(ElicitRequestFormParams::new("What is your name?", schema)).await?;
    let name = answer.content.as_ref().and_then(|content| content.get("name"));
    Ok(match (answer.action, name) {
        (ElicitAction::Accept, Some(ElicitValue::String(name))) => format!("Hello, {name}!"),
        (ElicitAction::Accept, _) => "Hello, whoever you are!".to_owned(),
        _ => "As you like. Hello!".to_owned(),
    })
}
