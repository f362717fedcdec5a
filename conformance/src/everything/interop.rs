//! The tools that the drivers of other SDKs check, beyond what the public suite has.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_server::tool::{Args, Json, State, ToolEntry};
use mcp_server::{Context, Server, ToolError};
use mcp_types::LoggingLevel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::elicit::{ask, sample};

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Summands {
    a: f64,
    b: f64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: serde_json::Number,
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    #[schemars(range(min = 1, max = 100))]
    count: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Prompt {
    prompt: String,
}

#[derive(Deserialize, JsonSchema)]
struct Entry {
    level: String,
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Touch {
    uri: String,
}

/// Calls of `slow` that were cancelled.
#[derive(Default)]
struct Cancelled(AtomicUsize);

/// Counts a call that was dropped before it was done.
struct Guard {
    count: Arc<Cancelled>,
    done: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.done {
            self.count.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

pub(super) fn add(server: Server) -> Server {
    server
        .with_tool(
            ToolEntry::new("echo", |Args(Text { text })| async move { text })
                .description("Says it back.")
                .read_only(true),
        )
        .with_tool(
            ToolEntry::new("add", |Args(Summands { a, b })| async move {
                Json(Sum { sum: number(a + b) })
            })
            .description("Adds two numbers.")
            .read_only(true),
        )
        .with_tool(
            ToolEntry::new("fail", || async {
                Err::<(), _>(ToolError::new("this tool always fails"))
            })
            .description("Always fails."),
        )
        .with_tool(
            ToolEntry::new("progress", |Args(Count { count }), cx: Context| async move {
                let progress = cx.progress();
                for step in 1..=count {
                    progress.report(f64::from(step), Some(f64::from(count))).await;
                }
                "done"
            })
            .description("Counts, and says how far it is."),
        )
        .with_tool(
            ToolEntry::new("ask", |cx: Context| async move {
                if !cx.can_elicit() {
                    return Ok("client cannot be asked".to_owned());
                }
                let schema = json!({
                    "type": "object",
                    "properties": {"name": {"type": "string"}},
                    "required": ["name"],
                });
                let answer = ask(&cx, "What is your name?", schema).await?;
                let name = answer.content.as_ref().and_then(|content| {
                    serde_json::to_value(content).ok()?.get("name")?.as_str().map(str::to_owned)
                });
                Ok::<_, ToolError>(match name {
                    Some(name) if answer.action.as_str() == "accept" => format!("Hello, {name}!"),
                    _ => format!("no answer: {}", answer.action.as_str()),
                })
            })
            .description("Asks for a name."),
        )
        .with_tool(
            ToolEntry::new("sample", |Args(Prompt { prompt }), cx: Context| async move {
                if cx.can_sample() {
                    sample(&cx, prompt, 50).await
                } else {
                    Ok("client cannot sample".to_owned())
                }
            })
            .description("Asks the client's model."),
        )
        .with_tool(
            ToolEntry::new("roots", |cx: Context| async move {
                if !cx.can_list_roots() {
                    return Ok("client has no roots".to_owned());
                }
                let roots = cx.roots().await?;
                let uris: Vec<_> = roots.iter().map(|root| root.uri.as_str().to_owned()).collect();
                Ok::<_, ToolError>(uris.join("\n"))
            })
            .description("Lists the client's roots."),
        )
        .with_tool(
            ToolEntry::new("log", |Args(Entry { level, message }), cx: Context| async move {
                let level: LoggingLevel = serde_json::from_value(level.into())?;
                cx.log(level, Some("interop"), &message);
                Ok::<_, ToolError>("logged")
            })
            .description("Logs a message."),
        )
        .state(Cancelled::default())
        .with_tool(
            ToolEntry::new("slow", |State(count): State<Cancelled>, cx: Context| async move {
                let mut guard = Guard { count, done: false };
                cx.progress().report(1.0, None).await;
                tokio::time::sleep(Duration::from_secs(30)).await;
                guard.done = true;
                "done"
            })
            .description("Takes its time."),
        )
        .with_tool(
            ToolEntry::new("cancelled", |State(count): State<Cancelled>| async move {
                count.0.load(Ordering::Relaxed).to_string()
            })
            .description("Says how many calls of `slow` were cancelled."),
        )
        .with_tool(
            ToolEntry::new("touch", |Args(Touch { uri }), cx: Context| async move {
                cx.server().resource_updated(&uri);
                "touched"
            })
            .description("Says that a resource has changed."),
        )
        .with_tool(
            ToolEntry::new("grow", |cx: Context| async move {
                let grown = ToolEntry::new("grown", || async { "grown" })
                    .description("Came while the server was running.");
                // It comes anew with each call, so that each is heard of.
                cx.server().remove_tool("grown");
                cx.server().add_tool(grown)?;
                Ok::<_, ToolError>("grown")
            })
            .description("Adds a tool."),
        )
}

/// Whole sums without a point.
fn number(sum: f64) -> serde_json::Number {
    #[expect(clippy::cast_possible_truncation, reason = "only where nothing is lost")]
    let whole = sum as i64;
    #[expect(clippy::cast_precision_loss, reason = "that is what is compared")]
    if whole as f64 == sum {
        whole.into()
    } else {
        serde_json::Number::from_f64(sum).unwrap_or_else(|| 0.into())
    }
}
