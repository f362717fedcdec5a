use mcp_server::tool;

struct Forecast;

#[tool]
async fn forecast() -> Forecast {
    Forecast
}

#[tool]
fn sum(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
