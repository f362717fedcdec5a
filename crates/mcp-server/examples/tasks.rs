//! Tasks: a call that takes its time, runs apart from its request, and asks the person on the way.
//!
//! ```sh
//! cargo run --example tasks --features tasks
//! ```

use std::time::Duration;

use mcp_server::task::TaskConfig;
use mcp_server::{Context, Server, ToolError, tool};
use mcp_types::{ElicitAction, ElicitRequestFormParams, RequestedSchema};

/// Prints a book, when somebody has agreed to the price.
#[tool(task_support = "required")]
async fn print(pages: u32, cx: Context) -> Result<String, ToolError> {
    let schema = r#"{"type": "object", "properties": {"agreed": {"type": "boolean"}}}"#;
    let schema: RequestedSchema = serde_json::from_str(schema)?;
    let price = format!("{pages} pages cost {} €. Print them?", pages / 10);
    // While the question is open the task stands at `input_required`.
    let answer = cx.elicit(ElicitRequestFormParams::new(price, schema)).await?;
    if answer.action != ElicitAction::Accept {
        return Ok("nothing was printed".to_owned());
    }
    for page in 1..=pages {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(1)) => {}
            () = cx.cancelled() => return Err(ToolError::new("the paper tray was emptied")),
        }
        cx.progress().report(f64::from(page), Some(f64::from(pages))).await;
    }
    Ok(format!("{pages} pages are printed"))
}

pub(crate) fn server() -> Server {
    let tasks = TaskConfig::new().with_poll_interval(Duration::from_millis(20));
    Server::new("printer", "1.0.0").tasks(tasks).with(print_tool())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    server().serve(mcp_transport_stdio::stdio()).await?;
    Ok(())
}
