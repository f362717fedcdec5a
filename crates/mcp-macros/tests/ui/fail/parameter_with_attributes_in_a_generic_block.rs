use mcp_server::offer;

struct Scale<T>(T);

#[offer]
impl<T: Default + Send + Sync + 'static> Scale<T> {
    #[tool]
    fn show(&self, #[serde(default)] value: T) -> String {
        drop(value);
        String::new()
    }
}

fn main() {}
