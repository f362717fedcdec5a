use mcp_server::offer;

struct Notes;

#[offer]
impl Notes {
    #[tool]
    #[prompt]
    fn add(&self) -> String {
        String::new()
    }

    #[resource = "note://all"]
    fn all(&self) -> String {
        String::new()
    }

    #[tool]
    const MOST: u8 = 7;
}

fn main() {}
