use mcp_server::offer;

struct Notes;

#[offer]
impl Notes {
    #[tool]
    fn add(&self) -> String {
        String::new()
    }

    #[tool(name = "add")]
    fn append(&self) -> String {
        String::new()
    }

    #[resource("note://{id}")]
    fn note(&self, id: u8) -> String {
        id.to_string()
    }

    #[resource("note://{id}")]
    fn other(&self, id: u8) -> String {
        id.to_string()
    }
}

fn main() {}
