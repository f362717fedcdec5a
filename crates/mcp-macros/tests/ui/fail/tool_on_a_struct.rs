use mcp_server::tool;

#[tool]
struct Forecast;

fn main() {}
