use mcp_server::tool;

#[tool]
extern "C" fn foreign() -> String {
    String::new()
}

#[tool]
const fn fixed() -> &'static str {
    "a"
}

fn main() {}
