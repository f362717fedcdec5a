use mcp_server::{Server, tool};

struct Notes;

/// Adds.
#[tool]
fn add() {}

fn main() {
    let _ = Server::new("a", "1").with(Notes);
    let _ = Server::new("a", "1").with(add);
}
