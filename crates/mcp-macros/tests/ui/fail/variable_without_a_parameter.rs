use mcp_server::{Context, resource};

#[resource("note://{folder}/{id}")]
fn note(id: u64) -> String {
    id.to_string()
}

#[resource("note://{folder}/{name}")]
fn named(name: String, cx: Context) -> String {
    format!("{name} {}", cx.revision())
}

fn main() {}
