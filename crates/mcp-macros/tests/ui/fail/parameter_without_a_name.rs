use mcp_server::{prompt, tool};

#[tool]
fn add((a, b): (i64, i64)) -> String {
    (a + b).to_string()
}

#[prompt]
fn ask(_: String) -> String {
    String::new()
}

fn main() {}
