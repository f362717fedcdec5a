use mcp_server::{Server, offer};

struct Notes;

#[offer]
impl Notes {
    fn add(&self) {}
}

#[offer(name = "notes")]
impl Other {
    #[tool]
    fn add(&self) {}
}

struct Other;

fn main() {
    let _ = Server::new("a", "1").with(Notes).with(Other);
}
