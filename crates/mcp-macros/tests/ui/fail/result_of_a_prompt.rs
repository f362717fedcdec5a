use mcp_server::prompt;

#[prompt]
fn summarize(id: u64) -> u64 {
    id
}

fn main() {}
