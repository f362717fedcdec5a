use mcp_server::tool;

#[tool]
async fn show(value: impl ToString + Send) -> String {
    value.to_string()
}

fn main() {}
