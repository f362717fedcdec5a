use mcp_server::tool;

struct Weather;

impl Weather {
    #[tool]
    fn forecast(&self, /** The city. */ city: String) -> String {
        city
    }
}

fn main() {}
