use mcp_server::{prompt, tool};

#[tool(title = 7, read_only = "yes", icons, description("no"))]
fn forecast() -> String {
    String::new()
}

#[tool("Tells the weather.")]
fn weather() -> String {
    String::new()
}

#[tool(task_support = "sometimes")]
fn later() -> String {
    String::new()
}

#[prompt(needs)]
fn ask() -> String {
    String::new()
}

#[tool(crate = "mcp_server")]
fn elsewhere() -> String {
    String::new()
}

fn main() {}
