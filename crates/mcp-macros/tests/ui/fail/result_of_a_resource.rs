use mcp_server::resource;

#[resource("config://app")]
fn config() -> Option<String> {
    None
}

fn main() {}
