use serde_json::{Value, json};

use super::{Break, answers, code, deal, message, result, without};

/// Changes the task that a call has made.
fn made(asked: &Value, message: &mut Value, change: impl FnOnce(&mut Value)) {
    if let Some(result) = result(asked, message, "tools/call")
        && result["task"].is_object()
    {
        change(&mut result["task"]);
    }
}

fn is_of(request: &Value, method: &str) -> bool {
    request["method"] == method && request["params"]["taskId"] == "no-such-task"
}

pub(super) const BREAKS: &[Break] = &[
    message("unknown-task-not-found", "tasks/get-unknown", |asked, m| {
        code(asked, m, "tasks/get", -32002);
    }),
    message("unknown-result-not-found", "tasks/result-unknown", |asked, m| {
        code(asked, m, "tasks/result", -32002);
    }),
    deal("unknown-task-has-a-result", "tasks/result-unknown", |text| {
        answers(text, json!({"content": []}), |r| is_of(r, "tasks/result"))
    }),
    message("unknown-cancel-internal", "tasks/cancel-unknown", |asked, m| {
        code(asked, m, "tasks/cancel", -32603);
    }),
    message("tasks-as-object", "tasks/list", |asked, m| {
        if let Some(result) = result(asked, m, "tasks/list") {
            result["tasks"] = json!({});
        }
    }),
    deal("any-cursor-of-tasks", "tasks/list-cursor", |text| {
        answers(text, json!({"tasks": []}), |r| {
            r["method"] == "tasks/list" && r["params"]["cursor"].is_string()
        })
    }),
    message("task-without-id", "tasks/created", |asked, m| {
        made(asked, m, |t| without(t, "taskId"))
    }),
    message("task-id-as-number", "tasks/created", |asked, m| {
        made(asked, m, |task| task["taskId"] = json!(1));
    }),
    message("task-begins-as-submitted", "tasks/working", |asked, m| {
        made(asked, m, |task| task["status"] = json!("submitted"));
    }),
    message("task-time-in-seconds", "tasks/times", |asked, m| {
        made(asked, m, |task| task["createdAt"] = json!(1_764_000_000));
    }),
    message("task-without-update-time", "tasks/times", |asked, m| {
        made(asked, m, |task| without(task, "lastUpdatedAt"));
    }),
    message("task-result-unrelated", "tasks/result", |asked, m| {
        if let Some(result) = result(asked, m, "tasks/result") {
            without(result, "_meta");
        }
    }),
    message("task-result-wrapped", "tasks/result", |asked, m| {
        if let Some(result) = result(asked, m, "tasks/result") {
            *result = json!({"result": *result, "_meta": result["_meta"]});
        }
    }),
    deal("finished-tasks-are-cancelled", "tasks/finished", |text| {
        answers(text, json!({}), |r| r["method"] == "tasks/cancel")
    }),
];
