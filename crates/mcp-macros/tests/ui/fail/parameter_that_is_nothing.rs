use mcp_server::tool;

struct Config {
    city: String,
}

#[tool]
fn forecast(days: u8, config: Config) -> String {
    format!("{days} {}", config.city)
}

fn main() {}
