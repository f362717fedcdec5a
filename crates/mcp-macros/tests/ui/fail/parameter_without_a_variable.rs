use mcp_server::resource;

#[resource("note://{id}")]
fn note(id: u64, folder: String) -> String {
    format!("{id} {folder}")
}

#[resource("list://{ids}")]
fn list(ids: Vec<u64>) -> String {
    format!("{ids:?}")
}

fn main() {}
