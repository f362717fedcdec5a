use mcp_server::tool;

#[tool]
fn sort(numbers: &mut Vec<u8>) -> String {
    numbers.sort();
    String::new()
}

#[tool]
fn forever(name: &'static str) -> String {
    name.to_owned()
}

fn main() {}
