use mcp_server::tool;
use mcp_types::ToolAnnotations;

#[tool(read_only, destructive)]
fn forget() -> String {
    String::new()
}

#[tool(idempotent, annotations = ToolAnnotations::default())]
fn again() -> String {
    String::new()
}

fn main() {}
