use mcp_server::offer;

struct Once;

#[offer]
impl Once {
    #[prompt]
    fn say(self) -> String {
        String::new()
    }
}

fn main() {}
