//! `everything-client URL`: the client that the public suite drives, one scenario a run.
//!
//! `MCP_CONFORMANCE_SCENARIO` names the scenario, `MCP_CONFORMANCE_PROTOCOL_VERSION` the revision
//! to ask for, `MCP_CONFORMANCE_CONTEXT` holds the credentials of an authorization scenario.

#![expect(clippy::print_stderr, reason = "a program")]

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::form::Form;
use mcp_client::{Client, Context, HandlerError};
use mcp_conformance::auth::scenario::authorizer;
use mcp_transport_http::client::{Config, HttpConnector};
use mcp_types::{ElicitAction, ElicitRequestFormParams, ElicitResult, Revision};
use serde_json::json;

type Outcome = Result<(), Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("everything-client: {error}");
            let mut source = error.source();
            while let Some(cause) = source {
                eprintln!("  {cause}");
                source = cause.source();
            }
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Outcome {
    let url = std::env::args().next_back().ok_or("usage: everything-client URL")?;
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO")?;
    let steps = match scenario.as_str() {
        "initialize" => Steps::Connect,
        "tools_call" => Steps::Add,
        "elicitation-sep1034-client-defaults" => Steps::Call("test_client_elicitation_defaults"),
        "sse-retry" => Steps::Call("test_reconnection"),
        "json-schema-2020-12-preservation" => Steps::EchoSchema,
        authorized if authorized.starts_with("auth/") => Steps::Call("test-tool"),
        other => return Err(format!("unknown scenario {other}").into()),
    };
    let mut config = Config::new();
    if scenario.starts_with("auth/") {
        let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
        let context = serde_json::from_str(&context).unwrap_or_default();
        config.authorizer = Some(Arc::new(authorizer(&scenario, &context, &url)?));
    }
    let client = connect(&url, config).await?;
    steps.take(&client).await?;
    client.close().await;
    Ok(())
}

async fn connect(url: &str, config: Config) -> Result<Client, Box<dyn Error>> {
    let version = std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION");
    let newest: Revision = version.as_deref().unwrap_or("2025-11-25").parse()?;
    let revisions: mcp_lifecycle::RevisionSet =
        Revision::ALL.into_iter().filter(|revision| *revision <= newest).collect();
    let link = HttpConnector::new(url, config)?.link();
    let client = Client::builder("mcp-conformance-test-client", env!("CARGO_PKG_VERSION"))
        .revisions(revisions)
        .on_elicitation(leave_as_it_is)
        .timeout(Duration::from_secs(20))
        .connect(link)
        .await?;
    Ok(client)
}

/// A person who is content with what the form says.
async fn leave_as_it_is(
    question: ElicitRequestFormParams,
    _: Context,
) -> Result<ElicitResult, HandlerError> {
    let answer = Form::of(&question.requested_schema).defaults();
    Ok(ElicitResult::new(ElicitAction::Accept).with_content(answer))
}

/// What a scenario asks of the client once it is connected.
enum Steps {
    Connect,
    Add,
    Call(&'static str),
    EchoSchema,
}

impl Steps {
    async fn take(self, client: &Client) -> Outcome {
        match self {
            Self::Connect => {}
            Self::Add => {
                client.list_tools().await?;
                client.call_tool("add_numbers").arg("a", 2).arg("b", 3).text().await?;
            }
            Self::Call(tool) => {
                client.list_tools().await?;
                client.call_tool(tool).text().await?;
            }
            Self::EchoSchema => {
                let tools = client.list_tools().await?;
                let tool = tools
                    .iter()
                    .find(|tool| tool.name == "json_schema_2020_12_tool")
                    .ok_or("the tool with the schema is not listed")?;
                let schema = json!(tool.input_schema);
                client.call_tool("json_schema_echo").arg("schema", schema).text().await?;
            }
        }
        Ok(())
    }
}
