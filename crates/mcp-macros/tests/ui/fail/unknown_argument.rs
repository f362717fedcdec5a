use mcp_server::{resource, tool};

#[tool(titel = "Forecast", weather)]
fn forecast() -> String {
    String::new()
}

#[resource("config://app", mimetype = "text/plain")]
fn config() -> String {
    String::new()
}

fn main() {}
