use mcp_server::resource;

#[resource]
fn config() -> String {
    String::new()
}

#[resource(name = "settings")]
fn settings() -> String {
    String::new()
}

fn main() {}
