use std::cell::Cell;

use mcp_server::offer;

struct Counter(Cell<u32>);

#[offer]
impl Counter {
    #[tool]
    fn count(&self) -> String {
        self.0.set(self.0.get() + 1);
        self.0.get().to_string()
    }
}

fn main() {}
