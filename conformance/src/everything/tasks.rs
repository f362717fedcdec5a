//! Tools that run as tasks, and one that asks the client for a task.

use std::time::Duration;

use mcp_server::task::TaskConfig;
use mcp_server::tool::{TaskSupport, ToolEntry};
use mcp_server::{Context, Server, ToolError};
use mcp_types::{CreateMessageRequestParams, SamplingMessage, SamplingMessageContentBlock};
use serde_json::json;

use super::elicit::ask;

pub(super) fn add(server: Server) -> Server {
    server
        .tasks(TaskConfig::new().with_poll_interval(Duration::from_millis(50)))
        .with_tool(
            ToolEntry::new("task_report", |cx: Context| async move {
                if let Some(task) = cx.task() {
                    task.say("half of it is there").await;
                }
                cx.progress().report(1.0, Some(2.0)).await;
                tokio::time::sleep(Duration::from_millis(100)).await;
                cx.progress().report(2.0, Some(2.0)).await;
                "reported"
            })
            .description("Takes its time, and may run as a task.")
            .task_support(TaskSupport::Optional),
        )
        .with_tool(
            ToolEntry::new("task_ask", |cx: Context| async move {
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
                    Some(name) => format!("Hello, {name}!"),
                    None => format!("no answer: {}", answer.action.as_str()),
                })
            })
            .description("Asks the person, and runs only as a task.")
            .task_support(TaskSupport::Required),
        )
        .with_tool(
            ToolEntry::new("task_slow", |cx: Context| async move {
                cx.cancelled().await;
                "cancelled"
            })
            .description("Runs as a task until it is cancelled.")
            .task_support(TaskSupport::Optional),
        )
        .with_tool(
            ToolEntry::new("task_sample", |cx: Context| async move {
                let question = vec![SamplingMessage::user("hi")];
                let request = CreateMessageRequestParams::new(question, 50_u64);
                let minute = Some(Duration::from_secs(60));
                let answer = cx.sample_as_task(request, minute).await?.result().await?;
                Ok::<_, ToolError>(match answer.content.blocks() {
                    [SamplingMessageContentBlock::Text(text)] => text.text.clone(),
                    _ => "something else".to_owned(),
                })
            })
            .description("Has the client's model asked in a task of the client."),
        )
}
