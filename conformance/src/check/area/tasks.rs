//! Tasks: calls whose results are fetched later.

use serde_json::{Value, json};

use super::super::talk::Talk;
use super::super::{Check, Fault, Outcome, Site, both, ensure, skip};

const PARAMS: i64 = -32602;

/// The conversation, if the server has tasks, and in it this method.
fn with<'s>(site: &'s Site, capability: &str) -> Result<Talk<'s>, Fault> {
    let talk = site.with("tasks")?;
    talk.need(capability)?;
    Ok(talk)
}

/// A task that was just made by a tool that can be called as one.
fn made(site: &Site) -> Result<(Talk<'_>, Value), Fault> {
    let mut talk = with(site, "tasks.requests.tools.call")?;
    let tools = super::every(&mut talk, "tools/list", "tools")?;
    let can = |tool: &&Value| {
        let support = &tool["execution"]["taskSupport"];
        let free = tool["inputSchema"]["required"].as_array().is_none_or(Vec::is_empty);
        (support == "optional" || support == "required") && free
    };
    let Some(tool) = tools.iter().find(can) else {
        return skip("no tool without required arguments can be called as a task");
    };
    let params = json!({"name": tool["name"], "arguments": {}, "task": {"ttl": 60_000}});
    let result = talk.result("tools/call", params)?;
    Ok((talk, result))
}

/// What is no task is refused.
fn unknown(site: &Site, method: &str) -> Outcome {
    let mut talk = site.with("tasks")?;
    talk.refused(method, json!({"taskId": "no-such-task"}), &[PARAMS])
}

pub(super) const CHECKS: &[Check] = &[
    both("tasks/get-unknown", &["TASK-072"], "an unknown task can't be looked at", |site| {
        unknown(site, "tasks/get")
    }),
    both("tasks/result-unknown", &["TASK-072"], "an unknown task has no result", |site| {
        unknown(site, "tasks/result")
    }),
    both("tasks/cancel-unknown", &["TASK-072"], "an unknown task can't be cancelled", |site| {
        with(site, "tasks.cancel")?;
        unknown(site, "tasks/cancel")
    }),
    both("tasks/list", &["TASK-063"], "tasks/list has a list of tasks", |site| {
        let list = with(site, "tasks.list")?.result("tasks/list", json!({}))?;
        ensure(list["tasks"].is_array(), || list.to_string())
    }),
    both("tasks/list-cursor", &["TASK-073"], "an unknown cursor of tasks is -32602", |site| {
        let mut talk = with(site, "tasks.list")?;
        talk.refused("tasks/list", json!({"cursor": "no such cursor"}), &[PARAMS])
    }),
    both(
        "tasks/created",
        &["TASK-029", "TASK-030", "TASK-048"],
        "a call as a task makes one",
        |site| {
            let result = made(site)?.1;
            let id = result["task"]["taskId"].as_str().unwrap_or_default();
            ensure(!id.is_empty(), || result.to_string())
        },
    ),
    both("tasks/working", &["TASK-032"], "a task begins as working", |site| {
        let result = made(site)?.1;
        ensure(result["task"]["status"] == "working", || result.to_string())
    }),
    both("tasks/times", &["TASK-042", "TASK-043"], "a task has its times", |site| {
        let result = made(site)?.1;
        let is_time = |name| {
            let text: &str = result["task"][name].as_str().unwrap_or_default();
            // 2025-11-25T10:30:00Z, at the least.
            text.len() >= 20 && text.as_bytes().get(10) == Some(&b'T')
        };
        ensure(is_time("createdAt") && is_time("lastUpdatedAt"), || result.to_string())
    }),
    both(
        "tasks/result",
        &["TASK-050", "TASK-060", "TASK-081"],
        "its result is that of the call, and names the task",
        |site| {
            let (mut talk, made) = made(site)?;
            let id = &made["task"]["taskId"];
            let result = talk.result("tasks/result", json!({"taskId": id}))?;
            let related = &result["_meta"]["io.modelcontextprotocol/related-task"]["taskId"];
            ensure(result["content"].is_array() && related == id, || result.to_string())
        },
    ),
    both(
        "tasks/finished",
        &["TASK-035", "TASK-066"],
        "what is finished can't be cancelled",
        |site| {
            let (mut talk, made) = made(site)?;
            talk.need("tasks.cancel")?;
            let id = &made["task"]["taskId"];
            talk.result("tasks/result", json!({"taskId": id}))?;
            talk.refused("tasks/cancel", json!({"taskId": id}), &[PARAMS])
        },
    ),
];
