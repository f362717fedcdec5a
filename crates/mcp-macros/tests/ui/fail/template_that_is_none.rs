use mcp_server::resource;

#[resource("note://{id")]
fn unbalanced(id: u64) -> String {
    id.to_string()
}

#[resource("note://{id}/{id}")]
fn twice(id: u64) -> String {
    id.to_string()
}

#[resource("note://{path*}")]
fn explode(path: String) -> String {
    path
}

#[resource("note://{=id}")]
fn operator(id: u64) -> String {
    id.to_string()
}

#[resource("note://{id}", size = 7)]
fn sized(id: u64) -> String {
    id.to_string()
}

fn main() {}
