//! The checks, in the order of a visit.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp_client::{Client, ClientError};
use mcp_types::{ContentBlock, LoggingLevel};
use serde::Deserialize;
use serde_json::json;

use super::{Failure, Host, Report, has};
use crate::everything::{PNG, WAV};

/// Runs one check after the other, whatever came of the one before.
pub(super) async fn all(client: &Client, host: &Host, report: &mut Report) {
    macro_rules! checks {
        ($($name:literal: $check:expr;)*) => {$(
            let outcome: Result<String, Failure> = $check.await;
            report.say($name, outcome);
        )*};
    }
    checks! {
        "ping": ping(client);
        "tools/list": list_tools(client);
        "tools/call text": echo(client, "hello");
        "tools/call large text": echo(client, &"0123456789abcdef".repeat(16 * 1024));
        "tools/call side by side": side_by_side(client);
        "tools/call contents": contents(client);
        "tools/call structured": add(client);
        "tools/call failing": fail(client);
        "progress": progress(client);
        "elicitation": tool_text(client, "ask", &[], "Hello, Ada!");
        "sampling": tool_text(client, "sample", &[("prompt", "hi")], "sampled");
        "roots": tool_text(client, "roots", &[], "file:///workspace");
        "logging": logging(client, host);
        "cancel on drop": cancel(client);
        "timeout": timeout(client);
        "unknown tool": unknown_tool(client);
        "resources/list": list_resources(client);
        "resources/read": read(client);
        "resources/read template": read_template(client);
        "resources/read unknown": read_unknown(client);
        "prompts/get": prompt(client);
        "completion": complete(client);
        "resource updates": updates(client, host);
        "list changes": grow(client, host);
        "ping at the end": ping(client);
    }
    // Servers of other SDKs hardly have any; whoever has none shows nothing.
    if has(client, "tasks.requests.tools.call") {
        checks! {
            "task": task(client);
            // A tool that runs only as a task, called like any other.
            "task that asks": tool_text(client, "task_ask", &[], "Hello, Ada!");
            "task canceled": cancel_task(client);
        }
    }
}

pub(super) fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(otherwise().into()) }
}

async fn ping(client: &Client) -> Result<String, Failure> {
    client.ping().await?;
    Ok(String::new())
}

async fn list_tools(client: &Client) -> Result<String, Failure> {
    let tools = client.list_tools().await?;
    for name in ["echo", "add", "fail", "progress"] {
        ensure(tools.iter().any(|tool| tool.name == name), || format!("there is no {name}"))?;
    }
    Ok(format!("{} tools", tools.len()))
}

async fn echo(client: &Client, text: &str) -> Result<String, Failure> {
    let answer = client.call_tool("echo").arg("text", text).text().await?;
    ensure(answer == text, || format!("{} bytes came back", answer.len()))?;
    Ok(String::new())
}

async fn side_by_side(client: &Client) -> Result<String, Failure> {
    let calls: Vec<_> = (0..20)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move {
                let text = format!("call {number}");
                let answer = client.call_tool("echo").arg("text", &text).text().await?;
                Ok::<_, ClientError>(answer == text)
            })
        })
        .collect();
    for call in calls {
        ensure(call.await??, || "the answers were mixed up".to_owned())?;
    }
    Ok(String::new())
}

/// One of each kind, as they are read and written again.
async fn contents(client: &Client) -> Result<String, Failure> {
    let result = client.call_tool("contents").await?;
    let expected = json!([
        {"type": "text", "text": "one of each"},
        {"type": "image", "data": PNG, "mimeType": "image/png"},
        {"type": "audio", "data": WAV, "mimeType": "audio/wav"},
        {
            "type": "resource",
            "resource": {"uri": "memo://one", "mimeType": "text/plain", "text": "first memo"},
        },
        {"type": "resource_link", "uri": "memo://two", "name": "two"},
    ]);
    let known = result.content.iter().all(|block| !matches!(block, ContentBlock::Unknown(_)));
    ensure(known, || "there is content of an unknown kind".to_owned())?;
    let found = serde_json::to_value(&result.content)?;
    ensure(found == expected, || found.to_string())?;
    Ok(String::new())
}

#[derive(Deserialize)]
struct Sum {
    sum: f64,
}

async fn add(client: &Client) -> Result<String, Failure> {
    let sum: Sum = client.call_tool("add").arg("a", 2).arg("b", 3).parsed().await?;
    ensure((sum.sum - 5.0).abs() < 1e-9, || format!("2 + 3 = {}", sum.sum))?;
    Ok(String::new())
}

async fn fail(client: &Client) -> Result<String, Failure> {
    let result = client.call_tool("fail").await?;
    ensure(result.failed(), || "it did not fail".to_owned())?;
    Ok(String::new())
}

async fn progress(client: &Client) -> Result<String, Failure> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let call = client.call_tool("progress").arg("count", 5).on_progress(move |progress| {
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(progress.progress);
    });
    call.await?;
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    ensure(seen == [1.0, 2.0, 3.0, 4.0, 5.0], || format!("{seen:?}"))?;
    Ok(String::new())
}

async fn tool_text(
    client: &Client,
    tool: &'static str,
    arguments: &[(&'static str, &'static str)],
    expected: &str,
) -> Result<String, Failure> {
    let mut call = client.call_tool(tool);
    for (name, value) in arguments {
        call = call.arg(*name, *value);
    }
    let text = call.text().await?;
    ensure(text == expected, || format!("it answers {text:?}"))?;
    Ok(String::new())
}

async fn logging(client: &Client, host: &Host) -> Result<String, Failure> {
    ensure(has(client, "logging"), || "the server does not announce logging".to_owned())?;
    client.set_log_level(LoggingLevel::Info).await?;
    let call = client.call_tool("log").arg("level", "warning").arg("message", "a warning of ours");
    call.await?;
    ensure(host.heard("a warning of ours").await, || "nothing was logged".to_owned())?;
    Ok(String::new())
}

async fn cancel(client: &Client) -> Result<String, Failure> {
    let before = cancelled(client).await?;
    let (started, has_started) = tokio::sync::oneshot::channel();
    let mut started = Some(started);
    let slow = client.call_tool("slow").on_progress(move |_| {
        if let Some(started) = started.take() {
            let _ = started.send(());
        }
    });
    tokio::select! {
        result = async { slow.await } => {
            ensure(false, || format!("it was not slow: {:?}", result.is_ok()))?;
        }
        _ = has_started => {}
        () = tokio::time::sleep(Duration::from_secs(10)) => {
            ensure(false, || "it did not start".to_owned())?;
        }
    }
    // The call is dropped; that the handler hears of it may take a moment.
    for _ in 0..100 {
        if cancelled(client).await? > before {
            return Ok(String::new());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err("the handler was not canceled".into())
}

async fn cancelled(client: &Client) -> Result<u64, Failure> {
    Ok(client.call_tool("cancelled").text().await?.trim().parse()?)
}

async fn timeout(client: &Client) -> Result<String, Failure> {
    let outcome = client.call_tool("slow").timeout(Duration::from_millis(200)).await;
    match outcome {
        Err(ClientError::TimedOut { .. }) => Ok(String::new()),
        other => Err(format!("{other:?}").into()),
    }
}

/// Some servers answer with an error, others with a result that says so: both are a refusal.
async fn unknown_tool(client: &Client) -> Result<String, Failure> {
    match client.call_tool("no_such_tool").await {
        Err(ClientError::Refused { source, .. }) => Ok(format!("error {}", source.code)),
        Ok(result) if result.failed() => Ok("a result with isError".to_owned()),
        other => Err(format!("{other:?}").into()),
    }
}

async fn list_resources(client: &Client) -> Result<String, Failure> {
    let resources = client.list_resources().await?;
    let templates = client.list_resource_templates().await?;
    ensure(resources.iter().any(|resource| resource.uri == "memo://one"), || {
        "there is no memo://one".to_owned()
    })?;
    ensure(templates.iter().any(|template| template.uri_template == "memo://{name}"), || {
        "there is no memo://{name}".to_owned()
    })?;
    Ok(String::new())
}

async fn read_text(client: &Client, uri: &str) -> Result<String, Failure> {
    let result = client.read_resource(uri).await?;
    let first = result.contents.first().ok_or("there are no contents")?;
    Ok(first.as_text().ok_or("it is no text")?.to_owned())
}

async fn read(client: &Client) -> Result<String, Failure> {
    let text = read_text(client, "memo://one").await?;
    ensure(text == "first memo", || text.clone())?;
    Ok(String::new())
}

async fn read_template(client: &Client) -> Result<String, Failure> {
    let text = read_text(client, "memo://two").await?;
    ensure(text == "second memo", || text.clone())?;
    Ok(String::new())
}

async fn read_unknown(client: &Client) -> Result<String, Failure> {
    match client.read_resource("memo://three").await {
        Err(ClientError::Refused { source, .. }) => Ok(format!("error {}", source.code)),
        other => Err(format!("{other:?}").into()),
    }
}

async fn prompt(client: &Client) -> Result<String, Failure> {
    let result = client.get_prompt("greet").arg("name", "Ada").await?;
    let message = result.messages.first().ok_or("there are no messages")?;
    let text = message.content.as_text().unwrap_or_default();
    ensure(text == "Please greet Ada.", || text.to_owned())?;
    Ok(String::new())
}

async fn complete(client: &Client) -> Result<String, Failure> {
    let result = client.complete_prompt("greet", "name", "Al").await?;
    let values = result.values;
    ensure(values == ["Alice", "Alan"], || format!("{values:?}"))?;
    Ok(String::new())
}

async fn updates(client: &Client, host: &Host) -> Result<String, Failure> {
    client.subscribe("memo://one").await?;
    client.call_tool("touch").arg("uri", "memo://one").await?;
    ensure(host.heard("updated memo://one").await, || "no update came".to_owned())?;
    client.unsubscribe("memo://one").await?;
    Ok(String::new())
}

async fn grow(client: &Client, host: &Host) -> Result<String, Failure> {
    client.call_tool("grow").await?;
    ensure(host.heard("tools changed").await, || "no change came".to_owned())?;
    let tools = client.list_tools().await?;
    ensure(tools.iter().any(|tool| tool.name == "grown"), || "the list is the old one".to_owned())?;
    tool_text(client, "grown", &[], "grown").await
}

async fn task(client: &Client) -> Result<String, Failure> {
    let call = client.call_tool("task_report").as_task().ttl(Duration::from_secs(60));
    let mut task = call.await?;
    let result = task.result().await?;
    let text = result.content.first().and_then(ContentBlock::as_text);
    ensure(text == Some("reported"), || format!("{result:?}"))?;
    let related = result.meta.as_ref().and_then(mcp_types::Meta::related_task);
    ensure(related.is_some_and(|related| related.task_id == *task.id()), || {
        "the result does not say to which task it belongs".to_owned()
    })?;
    let listed = client.list_tasks().await?;
    ensure(listed.iter().any(|known| known.task_id == *task.id()), || {
        format!("not among {} tasks", listed.len())
    })?;
    Ok(task.look().await?.status.to_string())
}

async fn cancel_task(client: &Client) -> Result<String, Failure> {
    let mut task = client.call_tool("task_slow").as_task().await?;
    let status = task.cancel().await?.status.to_string();
    ensure(status == "cancelled", || status.clone())?;
    let status = task.look().await?.status.to_string();
    ensure(status == "cancelled", || status.clone())?;
    match task.cancel().await {
        Err(ClientError::Refused { source, .. }) => {
            ensure(source.code == -32_602, || source.to_string())?;
        }
        other => return Err(format!("{other:?}").into()),
    }
    Ok(status)
}
