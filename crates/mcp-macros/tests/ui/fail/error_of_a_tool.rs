use mcp_server::tool;

struct Cloudy;

#[tool]
async fn forecast() -> Result<String, Cloudy> {
    Err(Cloudy)
}

fn main() {}
