//! An agent: a host whose model uses the tools of its servers until it has an answer. The model
//! is a fake one, so that this runs anywhere.
//!
//! ```sh
//! cargo run --example agent
//! ```
#![allow(clippy::print_stdout, reason = "that is what programs do")]

use mcp_client::{Client, ClientSet, SetItem};
use mcp_server::{Server, tool};
use mcp_types::{ContentBlock, Tool};
use serde_json::{Value, json};

/// What a model says: that it wants a tool used, or its answer.
enum Said {
    Use { tool: String, arguments: Value },
    Answer(String),
}

/// Stands for the model. It sees the tools and what came of their use so far.
fn model(question: &str, tools: &[SetItem<Tool>], seen: &[String]) -> Said {
    match seen {
        [] => {
            let add = tools.iter().find(|tool| tool.item.name == "add");
            match add {
                Some(add) => {
                    Said::Use { tool: add.name.clone(), arguments: json!({"a": 20, "b": 22}) }
                }
                None => Said::Answer("I can't add.".to_owned()),
            }
        }
        [.., last] => Said::Answer(format!("{question} {last}.")),
    }
}

/// A loop that ends: a model that goes on for ever must not.
pub(crate) async fn answer(
    servers: &ClientSet,
    question: &str,
) -> Result<String, Box<dyn std::error::Error>> {
    const MOST_STEPS: usize = 8;
    let tools = servers.list::<Tool>().await.items;
    let mut seen = Vec::new();
    for _ in 0..MOST_STEPS {
        match model(question, &tools, &seen) {
            Said::Answer(text) => return Ok(text),
            Said::Use { tool, arguments } => {
                // A tool that failed says why, and the model may do better.
                let result = servers.call_tool(&tool)?.args(&arguments).await?;
                let texts = result.content.iter().filter_map(ContentBlock::as_text);
                seen.push(texts.collect::<Vec<_>>().join("\n"));
            }
        }
    }
    Err("the model has come to no end".into())
}

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> String {
    (a + b).to_string()
}

pub(crate) async fn servers() -> Result<ClientSet, Box<dyn std::error::Error>> {
    let servers = ClientSet::new(|_| Client::builder("agent", "1.0.0"));
    servers.connect("calculator", &Server::new("calculator", "1.0.0").with(add_tool())).await?;
    Ok(servers)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", answer(&servers().await?, "20 and 22 are").await?);
    Ok(())
}
