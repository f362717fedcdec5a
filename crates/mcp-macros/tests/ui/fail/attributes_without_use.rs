use mcp_server::tool::State;
use mcp_server::{prompt, tool};

#[prompt]
fn ask(#[serde(default)] name: String) -> String {
    name
}

#[tool]
fn add(#[serde(default)] State(a): State<String>) -> String {
    a.to_string()
}

fn main() {}
