use mcp_server::offer;

struct Counter(u32);

#[offer]
impl Counter {
    #[tool]
    fn count(&mut self) -> String {
        self.0 += 1;
        self.0.to_string()
    }
}

fn main() {}
