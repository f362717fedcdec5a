use mcp_server::tool;
use mcp_server::tool::Args;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Query {
    city: String,
}

#[tool]
fn forecast(Args(query): Args<Query>, days: u8) -> String {
    format!("{} {days}", query.city)
}

fn main() {}
