use mcp_server::offer;

struct Notes;

trait Add {
    fn add(&self) -> String;
}

#[offer]
impl Add for Notes {
    #[tool]
    fn add(&self) -> String {
        String::new()
    }
}

#[offer]
fn add() {}

fn main() {}
