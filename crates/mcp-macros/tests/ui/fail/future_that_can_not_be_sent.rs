use std::rc::Rc;

use mcp_server::{Context, tool};

#[tool]
async fn forecast(cx: Context) -> String {
    let city = Rc::new(String::from("Bern"));
    cx.progress().report(1.0, None).await;
    city.to_string()
}

fn main() {}
