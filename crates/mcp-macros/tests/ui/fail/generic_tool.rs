use mcp_server::tool;

#[tool]
async fn show<T: ToString + Send>(value: T) -> String {
    value.to_string()
}

fn main() {}
