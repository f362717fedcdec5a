use mcp_server::tool;

#[tool(name = "tell the weather")]
fn forecast() -> String {
    String::new()
}

#[tool(name = "")]
fn empty() -> String {
    String::new()
}

#[tool]
fn größe() -> String {
    String::new()
}

fn main() {}
