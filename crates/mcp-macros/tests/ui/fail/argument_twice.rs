use mcp_server::tool;

#[tool(title = "a", title = "b")]
fn forecast() -> String {
    String::new()
}

fn main() {}
