use mcp_server::tool;

#[tool]
fn forecast() -> impl Future<Output = String> {
    async { String::new() }
}

fn main() {}
