use mcp_server::resource;

#[resource("settings")]
fn settings() -> String {
    String::new()
}

#[resource("notes://all of them")]
fn notes() -> String {
    String::new()
}

fn main() {}
