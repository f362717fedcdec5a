use mcp_server::prompt;

#[prompt]
fn summarize(ids: Vec<u64>) -> String {
    format!("{ids:?}")
}

fn main() {}
