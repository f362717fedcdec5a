//! Calls that run as tasks, and questions that run as tasks of the client.

use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::ErrorObject;
use mcp_lifecycle::Requestor;
use mcp_server::task::{MemoryTaskStore, TaskConfig};
use mcp_server::tool::{Args, TaskSupport, ToolEntry};
use mcp_server::{Context, ServeOptions, Server, ToolError};
use mcp_types::{
    CreateMessageRequestParams, ElicitRequestFormParams, RequestedSchema, SamplingMessage,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::capture::Capture;
use crate::wire::Wire;

const RELATED: &str = "io.modelcontextprotocol/related-task";

/// A tool that may run as a task.
fn optional<M>(name: &'static str, handler: impl mcp_server::tool::IntoTool<M>) -> ToolEntry {
    ToolEntry::new(name, handler).task_support(TaskSupport::Optional)
}

fn form() -> ElicitRequestFormParams {
    let schema: RequestedSchema = serde_json::from_value(json!({
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
    }))
    .unwrap();
    ElicitRequestFormParams::new("Who?", schema)
}

/// One tool of each kind. `open` lets `slow` go on.
fn server(open: Arc<Notify>, config: TaskConfig) -> Server {
    Server::new("tasks", "1")
        .tasks(config)
        .with_tool(optional("slow", move |cx: Context| {
            let open = Arc::clone(&open);
            async move {
                tokio::select! {
                    () = open.notified() => "done",
                    () = cx.cancelled() => "cancelled",
                }
            }
        }))
        .with_tool(optional("fails", || async { Err::<String, _>(ToolError::new("no luck")) }))
        .with_tool(optional("refuses", || async {
            Err::<String, _>(ToolError::protocol(ErrorObject::new(-32_077, "not today")))
        }))
        .with_tool(optional("panics", || async {
            if true {
                panic!("on purpose");
            }
            "never"
        }))
        .with_tool(optional("asks", |cx: Context| async move {
            let answer = cx.elicit(form()).await?;
            Ok::<_, ToolError>(serde_json::to_string(&answer.content)?)
        }))
        .with_tool(optional("reports", |cx: Context| async move {
            cx.progress().report(1.0, None).await;
            cx.task().unwrap().say("half of it").await;
            cx.progress().report(2.0, None).await;
            "reported"
        }))
        .with_tool(
            ToolEntry::new("only", || async { "only as a task" })
                .task_support(TaskSupport::Required)
                .immediate_response("It will be there soon."),
        )
        .tool("never", || async { "never as a task" })
}

async fn open(server: &Server) -> Wire {
    Wire::open(server).await
}

/// Calls a tool as a task; gives back the task.
async fn start(wire: &mut Wire, tool: &str) -> Value {
    let params = json!({"name": tool, "task": {"ttl": 60_000}});
    let answer = wire.call("tools/call", params).await;
    answer["result"]["task"].clone()
}

async fn get(wire: &mut Wire, id: &Value) -> Value {
    wire.call("tasks/get", json!({"taskId": id})).await
}

/// Looks until the task has this status.
async fn until(wire: &mut Wire, id: &Value, status: &str) -> Value {
    loop {
        let task = get(wire, id).await["result"].clone();
        if task["status"] == status {
            return task;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn quiet() -> TaskConfig {
    TaskConfig::new().with_notify(false)
}

// Shows: FC-049, TASK-016, TASK-029, TASK-030, TASK-032, TASK-042, TASK-043, TASK-045, TASK-047,
// TASK-048, TASK-049, TASK-050, TASK-051, TASK-059, TASK-060, TASK-081
#[tokio::test]
async fn a_call_as_a_task_has_exactly_these_shapes() {
    let go = Arc::new(Notify::new());
    let server = server(Arc::clone(&go), quiet().with_poll_interval(Duration::from_millis(500)));
    let mut wire = open(&server).await;
    let created = wire.call("tools/call", json!({"name": "slow", "task": {"ttl": 60_000}})).await;
    let task = created["result"]["task"].clone();
    let members = |value: &Value| -> Vec<String> {
        let mut names: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
        names.sort();
        names
    };
    assert_eq!(members(&created["result"]), ["task"]);
    assert_eq!(
        members(&task),
        ["createdAt", "lastUpdatedAt", "pollInterval", "status", "taskId", "ttl"]
    );
    assert_eq!(task["status"], "working");
    assert_eq!(task["ttl"], 60_000);
    assert_eq!(task["pollInterval"], 500);
    for moment in ["createdAt", "lastUpdatedAt"] {
        // 2025-11-25T10:30:00Z, with or without a fraction.
        let text = task[moment].as_str().unwrap();
        assert!(text.len() >= 20 && &text[10..11] == "T" && text.ends_with('Z'), "{text}");
    }
    // Flat, and without a word of what it is related to.
    let looked = get(&mut wire, &task["taskId"]).await;
    assert_eq!(looked["result"], task);
    // The result waits for the tool; others don't.
    let waiting = wire.send("tasks/result", json!({"taskId": task["taskId"]})).await;
    assert_eq!(wire.call("ping", json!({})).await["result"], json!({}));
    assert!(wire.notes.is_empty());
    go.notify_one();
    let result = wire.response(waiting).await;
    assert_eq!(
        result["result"],
        json!({
            "content": [{"type": "text", "text": "done"}],
            "_meta": {RELATED: {"taskId": task["taskId"]}},
        })
    );
    let ended = get(&mut wire, &task["taskId"]).await;
    assert_eq!(ended["result"]["status"], "completed");
    assert!(ended["result"].get("_meta").is_none());
    // It can be had again.
    let again = wire.call("tasks/result", json!({"taskId": task["taskId"]})).await;
    assert_eq!(again["result"], result["result"]);
    let listed = wire.call("tasks/list", json!({})).await;
    assert_eq!(listed["result"], json!({"tasks": [ended["result"]]}));
}

// Shows: TASK-001, TASK-002, TASK-005, TASK-101
#[tokio::test]
async fn tasks_are_announced_as_what_is_done() {
    let all = json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}});
    let go = Arc::new(Notify::new());
    let wire = open(&server(Arc::clone(&go), quiet())).await;
    assert_eq!(wire.hello["capabilities"]["tasks"], all);
    let wire = open(&server(Arc::clone(&go), quiet().with_list(false))).await;
    let unlisted = json!({"cancel": {}, "requests": {"tools": {"call": {}}}});
    assert_eq!(wire.hello["capabilities"]["tasks"], unlisted);
    // No tools, no calls of tools.
    let wire = open(&Server::new("s", "1").tasks(quiet())).await;
    assert_eq!(wire.hello["capabilities"]["tasks"], json!({"list": {}, "cancel": {}}));
    for revision in ["2025-06-18", "2025-03-26", "2024-11-05"] {
        let wire = Wire::open_as(&server(Arc::clone(&go), quiet()), revision, json!({})).await;
        assert!(wire.hello["capabilities"].get("tasks").is_none());
    }
}

// Shows: TASK-027, TASK-004
#[tokio::test]
async fn who_has_announced_no_tasks_runs_the_call_plainly() {
    let plain = Server::new("plain", "1").tool("now", || async { "now" });
    let mut wire = open(&plain).await;
    let answer = wire.call("tools/call", json!({"name": "now", "task": {"ttl": 5}})).await;
    assert_eq!(answer["result"], json!({"content": [{"type": "text", "text": "now"}]}));
    for method in ["tasks/get", "tasks/result", "tasks/cancel", "tasks/list"] {
        assert_eq!(wire.call(method, json!({"taskId": "x"})).await["error"]["code"], -32_601);
    }
    // A revision without tasks doesn't know of them, either.
    let server = server(Arc::default(), quiet());
    let mut wire = Wire::open_as(&server, "2025-06-18", json!({})).await;
    let answer = wire.call("tools/call", json!({"name": "never", "task": {}})).await;
    assert_eq!(answer["result"]["content"][0]["text"], "never as a task");
    assert_eq!(wire.call("tasks/get", json!({"taskId": "x"})).await["error"]["code"], -32_601);
    // The tool that has to run as a task runs, too: its client can't know of tasks.
    let answer = wire.call("tools/call", json!({"name": "only"})).await;
    assert_eq!(answer["result"]["content"][0]["text"], "only as a task");
}

// Shows: TASK-010, TASK-011, TASK-014, TASK-017, TASK-028, TOOLS-013
#[tokio::test]
async fn a_tool_says_whether_it_runs_as_a_task() {
    let mut wire = open(&server(Arc::default(), quiet())).await;
    let listed = wire.call("tools/list", json!({})).await;
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let support = &tool["execution"]["taskSupport"];
        match tool["name"].as_str().unwrap() {
            "only" => assert_eq!(support, "required"),
            // Forbidden is what nothing means.
            "never" => assert!(tool.get("execution").is_none()),
            _ => assert_eq!(support, "optional"),
        }
    }
    let plain = wire.call("tools/call", json!({"name": "only"})).await;
    assert_eq!(plain["error"]["code"], -32_601);
    let task = wire.call("tools/call", json!({"name": "never", "task": {}})).await;
    assert_eq!(task["error"]["code"], -32_601);
    let task = wire.call("tools/call", json!({"name": "only", "task": {}})).await;
    assert_eq!(
        task["result"]["_meta"],
        json!({"io.modelcontextprotocol/model-immediate-response": "It will be there soon."})
    );
    // A plain call of one that may is a plain call.
    let plain = wire.tool("fails", json!({})).await;
    assert_eq!(plain["result"]["isError"], true);
    let odd = wire.call("tools/call", json!({"name": "fails", "task": 7})).await;
    assert_eq!(odd["error"]["code"], -32_602);
    let odd = wire.call("tools/call", json!({"name": "fails", "task": {"ttl": -1}})).await;
    assert_eq!(odd["error"]["code"], -32_602);
    let none = wire.call("tools/call", json!({"name": "none", "task": {}})).await;
    assert_eq!(none["error"]["code"], -32_602);
}

// Shows: TASK-052, TASK-076, TASK-077, TASK-078, TASK-079, TASK-080, TASK-081
#[tokio::test]
async fn what_fails_says_why_and_its_result_is_what_the_call_would_have_got() {
    let server = server(Arc::default(), quiet());
    let mut wire = open(&server).await;
    for (tool, said) in [("fails", "no luck"), ("refuses", "not today"), ("panics", "has failed")] {
        let plain = wire.tool(tool, json!({})).await;
        let task = start(&mut wire, tool).await;
        let mut result = wire.call("tasks/result", json!({"taskId": task["taskId"]})).await;
        if let Some(result) = result.get_mut("result") {
            let meta = result.as_object_mut().unwrap().remove("_meta").unwrap();
            assert_eq!(meta, json!({RELATED: {"taskId": task["taskId"]}}));
        }
        assert_eq!(plain.get("result"), result.get("result"));
        assert_eq!(plain.get("error"), result.get("error"));
        let failed = get(&mut wire, &task["taskId"]).await["result"].clone();
        assert_eq!(failed["status"], "failed");
        let why = failed["statusMessage"].as_str().unwrap();
        assert!(why.contains(said), "{why}");
    }
    assert_eq!(server.running_tasks(), 0);
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Sum {
    a: i64,
}

// Shows: TASK-048, TASK-077
#[tokio::test]
async fn arguments_that_do_not_fit_make_a_task_that_fails() {
    let server = Server::new("s", "1")
        .tasks(quiet())
        .with_tool(optional("add", |Args(sum): Args<Sum>| async move { sum.a.to_string() }));
    let mut wire = open(&server).await;
    let params = json!({"name": "add", "arguments": {"a": "x"}, "task": {}});
    let task = wire.call("tools/call", params).await["result"]["task"].clone();
    until(&mut wire, &task["taskId"], "failed").await;
    let result = wire.call("tasks/result", json!({"taskId": task["taskId"]})).await;
    assert_eq!(result["result"]["isError"], true);
    let params = json!({"name": "add", "arguments": {"a": 4}, "task": {}});
    let task = wire.call("tools/call", params).await["result"]["task"].clone();
    let result = wire.call("tasks/result", json!({"taskId": task["taskId"]})).await;
    assert_eq!(result["result"]["content"][0]["text"], "4");
}

// Shows: FC-050, TASK-035, TASK-066, TASK-067, TASK-068, TASK-069
#[tokio::test]
async fn a_canceled_task_stays_so_and_ends_those_who_wait() {
    let go = Arc::new(Notify::new());
    let server = server(Arc::clone(&go), quiet());
    let mut wire = open(&server).await;
    let task = start(&mut wire, "slow").await;
    let id = &task["taskId"];
    let waiting = wire.send("tasks/result", json!({"taskId": id})).await;
    let cancelled = wire.call("tasks/cancel", json!({"taskId": id})).await;
    assert_eq!(cancelled["result"]["status"], "cancelled");
    assert!(cancelled["result"].get("_meta").is_none());
    let ended = match wire.notes.iter().position(|note| note["id"] == waiting) {
        Some(at) => wire.notes.remove(at),
        None => wire.response(waiting).await,
    };
    assert_eq!(ended["error"]["code"], -32_603);
    go.notify_one();
    while server.running_tasks() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(get(&mut wire, id).await["result"]["status"], "cancelled");
    // Once is enough, and what has ended can't be ended.
    let again = wire.call("tasks/cancel", json!({"taskId": id})).await;
    assert_eq!(again["error"]["code"], -32_602);
    let done = start(&mut wire, "fails").await;
    until(&mut wire, &done["taskId"], "failed").await;
    let late = wire.call("tasks/cancel", json!({"taskId": done["taskId"]})).await;
    assert_eq!(late["error"]["code"], -32_602);
    assert_eq!(get(&mut wire, &done["taskId"]).await["result"]["status"], "failed");
}

// Shows: FC-050, CANCEL-004
#[tokio::test]
async fn who_no_longer_waits_for_the_result_leaves_the_task_alone() {
    let go = Arc::new(Notify::new());
    let server = server(Arc::clone(&go), quiet());
    let mut wire = open(&server).await;
    let task = start(&mut wire, "slow").await;
    let waiting = wire.send("tasks/result", json!({"taskId": task["taskId"]})).await;
    wire.notify("notifications/cancelled", Some(json!({"requestId": waiting}))).await;
    assert_eq!(get(&mut wire, &task["taskId"]).await["result"]["status"], "working");
    assert_eq!(server.running_tasks(), 1);
    go.notify_one();
    let result = wire.call("tasks/result", json!({"taskId": task["taskId"]})).await;
    assert_eq!(result["result"]["content"][0]["text"], "done");
}

// Shows: FC-050, TASK-044, TASK-046, TASK-091, TASK-092
#[tokio::test(start_paused = true)]
async fn after_its_time_a_task_is_gone_wherever_it_stands() {
    let config = quiet().with_max_ttl(Duration::from_secs(90));
    let server = server(Arc::default(), config);
    let mut wire = open(&server).await;
    let working = start(&mut wire, "slow").await;
    let failed = start(&mut wire, "fails").await;
    let params = json!({"name": "fails", "task": {"ttl": 3_600_000}});
    let longer = wire.call("tools/call", params).await["result"]["task"].clone();
    assert_eq!(longer["ttl"], 90_000);
    let waiting = wire.send("tasks/result", json!({"taskId": working["taskId"]})).await;
    tokio::time::sleep(Duration::from_secs(59)).await;
    assert_eq!(get(&mut wire, &working["taskId"]).await["result"]["status"], "working");
    tokio::time::sleep(Duration::from_secs(2)).await;
    let ended = match wire.notes.iter().position(|note| note["id"] == waiting) {
        Some(at) => wire.notes.remove(at),
        None => wire.response(waiting).await,
    };
    assert_eq!(ended["error"]["code"], -32_602);
    for task in [&working, &failed] {
        assert_eq!(get(&mut wire, &task["taskId"]).await["error"]["code"], -32_602);
    }
    assert_eq!(server.running_tasks(), 0);
    assert!(get(&mut wire, &longer["taskId"]).await.get("result").is_some());
}

// Shows: TASK-015, TASK-045
#[tokio::test]
async fn without_a_wish_the_time_is_the_receivers() {
    let server = server(Arc::default(), quiet().with_ttl(Duration::from_secs(7)));
    let mut wire = open(&server).await;
    let answer = wire.call("tools/call", json!({"name": "fails", "task": {}})).await;
    assert_eq!(answer["result"]["task"]["ttl"], 7_000);
}

// Shows: FC-050, TASK-065, TASK-072, TASK-082, TASK-087, TASK-088
#[tokio::test]
async fn the_task_of_another_is_as_unknown_as_one_that_never_was() {
    let server = server(Arc::default(), quiet());
    let as_one = |name: &str| ServeOptions::new().know(Requestor::new(name.to_owned()));
    let none = json!({});
    let mut alice = Wire::open_with(&server, "2025-11-25", none.clone(), as_one("alice"), 64).await;
    let mut bob = Wire::open_with(&server, "2025-11-25", none.clone(), as_one("bob"), 64).await;
    let mut stranger = open(&server).await;
    let task = start(&mut alice, "slow").await;
    for other in [&mut bob, &mut stranger] {
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            let theirs = other.call(method, json!({"taskId": task["taskId"]})).await;
            let nobodys = other.call(method, json!({"taskId": "x"})).await;
            assert_eq!(theirs["error"]["code"], -32_602);
            assert_eq!(theirs["error"], nobodys["error"]);
        }
        let listed = other.call("tasks/list", json!({})).await;
        assert_eq!(listed["result"], json!({"tasks": []}));
    }
    // The same person, elsewhere.
    let mut elsewhere = Wire::open_with(&server, "2025-11-25", none, as_one("alice"), 64).await;
    assert_eq!(get(&mut elsewhere, &task["taskId"]).await["result"]["status"], "working");
    let listed = elsewhere.call("tasks/list", json!({})).await;
    assert_eq!(listed["result"]["tasks"][0]["taskId"], task["taskId"]);
    let cancelled = elsewhere.call("tasks/cancel", json!({"taskId": task["taskId"]})).await;
    assert_eq!(cancelled["result"]["status"], "cancelled");
}

// Shows: TASK-062, TASK-063, TASK-064, TASK-073, TASK-031
#[tokio::test]
async fn tasks_are_listed_page_by_page() {
    let mut wire = open(&server(Arc::default(), quiet().with_page_size(2))).await;
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(start(&mut wire, "fails").await["taskId"].clone());
    }
    let (mut seen, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let params = match &cursor {
            None => json!({}),
            Some(cursor) => json!({"cursor": cursor}),
        };
        let page = wire.call("tasks/list", params).await["result"].clone();
        let tasks = page["tasks"].as_array().unwrap();
        seen.extend(tasks.iter().map(|task| task["taskId"].clone()));
        pages += 1;
        match page.get("nextCursor") {
            Some(next) => cursor = Some(next.clone()),
            None => break,
        }
    }
    assert_eq!(pages, 3);
    let key = |id: &Value| id.as_str().unwrap().to_owned();
    made.sort_by_key(key);
    seen.sort_by_key(key);
    assert_eq!(made, seen);
    made.dedup();
    assert_eq!(made.len(), 5);
    for cursor in ["", "x", "t", "t01", "tg"] {
        let page = wire.call("tasks/list", json!({"cursor": cursor})).await;
        assert_eq!(page["error"]["code"], -32_602, "{cursor}");
    }
}

// Shows: TASK-072, TASK-074
#[tokio::test]
async fn what_can_not_be_a_task_id_is_refused() {
    let mut wire = open(&server(Arc::default(), quiet())).await;
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        for params in [json!({}), json!({"taskId": 7}), json!({"taskId": ""})] {
            let answer = wire.call(method, params.clone()).await;
            assert_eq!(answer["error"]["code"], -32_602, "{method} {params}");
        }
    }
}

// Shows: TASK-055, TASK-058
#[tokio::test]
async fn what_a_question_about_a_task_claims_to_be_related_to_is_ignored() {
    let mut wire = open(&server(Arc::default(), quiet())).await;
    let (one, other) = (start(&mut wire, "fails").await, start(&mut wire, "refuses").await);
    let params = json!({
        "taskId": one["taskId"],
        "_meta": {RELATED: {"taskId": other["taskId"]}},
    });
    assert_eq!(wire.call("tasks/get", params.clone()).await["result"]["taskId"], one["taskId"]);
    let result = wire.call("tasks/result", params).await;
    assert_eq!(result["result"]["_meta"][RELATED]["taskId"], one["taskId"]);
}

// Shows: TASK-033, TASK-034, TASK-038, TASK-039, TASK-041, TASK-053, TASK-054
#[tokio::test]
async fn a_task_that_asks_needs_input_until_it_is_answered() {
    let server = server(Arc::default(), quiet());
    let mut wire = Wire::open_as(&server, "2025-11-25", json!({"elicitation": {}})).await;
    let task = start(&mut wire, "asks").await;
    let id = &task["taskId"];
    until(&mut wire, id, "input_required").await;
    let asked = match wire.notes.pop() {
        Some(asked) => asked,
        None => wire.next().await,
    };
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(asked["params"]["_meta"], json!({RELATED: {"taskId": id}}));
    let waiting = wire.send("tasks/result", json!({"taskId": id})).await;
    let content = json!({"action": "accept", "content": {"name": "Ada"}});
    wire.answer(&asked["id"], content).await;
    let result = wire.response(waiting).await;
    assert_eq!(result["result"]["content"][0]["text"], r#"{"name":"Ada"}"#);
    assert_eq!(get(&mut wire, id).await["result"]["status"], "completed");
    // A question of a task that is canceled is withdrawn.
    let task = start(&mut wire, "asks").await;
    until(&mut wire, &task["taskId"], "input_required").await;
    let asked = match wire.notes.pop() {
        Some(asked) => asked,
        None => wire.next().await,
    };
    wire.call("tasks/cancel", json!({"taskId": task["taskId"]})).await;
    let withdrawn = match wire.notes.pop() {
        Some(withdrawn) => withdrawn,
        None => wire.next().await,
    };
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], asked["id"]);
}

// Shows: TASK-023, TASK-024, TASK-053, TASK-061, PROGRESS-013, PROGRESS-014, PROGRESS-015
#[tokio::test]
async fn what_a_task_reports_and_where_it_stands_is_told() {
    let server = server(Arc::default(), TaskConfig::new());
    let mut wire = open(&server).await;
    let params = json!({"name": "reports", "task": {}, "_meta": {"progressToken": "p"}});
    let task = wire.call("tools/call", params).await["result"]["task"].clone();
    while !wire.notes.iter().any(|note| note["params"]["status"] == "completed") {
        let note = wire.next().await;
        wire.notes.push(note);
    }
    let (progress, status): (Vec<_>, Vec<_>) =
        wire.notes.iter().partition(|note| note["method"] == "notifications/progress");
    let steps: Vec<_> = progress.iter().map(|note| &note["params"]["progress"]).collect();
    assert_eq!(steps, [1.0, 2.0]);
    for note in progress {
        assert_eq!(note["params"]["progressToken"], "p");
        assert_eq!(note["params"]["_meta"], json!({RELATED: {"taskId": task["taskId"]}}));
    }
    let stands: Vec<_> = status
        .iter()
        .map(|note| {
            assert_eq!(note["method"], "notifications/tasks/status");
            // All of the task, and what it is related to is what it is.
            let params = note["params"].as_object().unwrap();
            assert!(params.get("_meta").is_none());
            for member in ["taskId", "createdAt", "lastUpdatedAt", "ttl"] {
                assert!(params.contains_key(member), "{member}");
            }
            assert_eq!(params["taskId"], task["taskId"]);
            (params["status"].as_str().unwrap(), params.get("statusMessage"))
        })
        .collect();
    assert_eq!(stands, [("working", Some(&json!("half of it"))), ("completed", None)]);
}

// Shows: TASK-089, TASK-090, TASK-094
#[tokio::test]
async fn a_requestor_has_so_many_tasks_and_no_more() {
    let store = MemoryTaskStore::new().with_max_of_owner(2);
    let server = server(Arc::default(), quiet().with_store(store));
    let (mut one, mut other) = (open(&server).await, open(&server).await);
    for _ in 0..2 {
        assert!(start(&mut one, "slow").await["taskId"].is_string());
    }
    let refused = one.call("tools/call", json!({"name": "slow", "task": {}})).await;
    assert_eq!(refused["error"]["code"], -32_603);
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains('2'), "{message}");
    assert!(start(&mut other, "slow").await["taskId"].is_string());
    assert_eq!(server.running_tasks(), 3);
}

#[tokio::test]
async fn whoever_leaves_a_pipe_for_good_leaves_no_task() {
    let server = server(Arc::default(), quiet());
    let mut wire = open(&server).await;
    start(&mut wire, "slow").await;
    assert_eq!(server.running_tasks(), 1);
    drop(wire);
    while server.running_tasks() > 0 {
        tokio::task::yield_now().await;
    }
}

fn asking() -> Server {
    Server::new("asking", "1")
        .tool("form", |cx: Context| async move {
            let mut asked = cx.elicit_as_task(form(), Some(Duration::from_secs(60))).await?;
            let answer = asked.result().await?;
            Ok::<_, ToolError>(serde_json::to_string(&answer.content)?)
        })
        .tool("model", |cx: Context| async move {
            let params = CreateMessageRequestParams::new(vec![SamplingMessage::user("hi")], 10_u64);
            let mut asked = cx.sample_as_task(params, None).await?;
            let task = asked.cancel().await?;
            Ok::<_, ToolError>(task.status.to_string())
        })
}

fn task(id: &str, status: &str) -> Value {
    json!({
        "taskId": id, "status": status, "ttl": null, "pollInterval": 20,
        "createdAt": "2025-11-25T10:30:00Z", "lastUpdatedAt": "2025-11-25T10:30:00Z",
    })
}

// Shows: TASK-003, TASK-004, TASK-005, TASK-007
#[tokio::test]
async fn a_client_is_asked_for_no_task_that_it_has_not_announced() {
    for tasks in [
        json!({}),
        json!({"requests": {}}),
        json!({"requests": {"sampling": {}, "elicitation": {}}}),
    ] {
        let capabilities = json!({"elicitation": {}, "sampling": {}, "tasks": tasks});
        let mut wire = Wire::open_as(&asking(), "2025-11-25", capabilities).await;
        for tool in ["form", "model"] {
            let answer = wire.tool(tool, json!({})).await;
            let text = answer["result"]["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("tasks.requests"), "{text}");
        }
        assert!(wire.notes.is_empty());
    }
    // One of them, and without `cancel`.
    let capabilities = json!({
        "elicitation": {}, "sampling": {},
        "tasks": {"requests": {"sampling": {"createMessage": {}}}},
    });
    let mut wire = Wire::open_as(&asking(), "2025-11-25", capabilities.clone()).await;
    assert_eq!(wire.tool("form", json!({})).await["result"]["isError"], true);
    let call = wire.send("tools/call", json!({"name": "model"})).await;
    let asked = wire.next().await;
    assert_eq!(asked["method"], "sampling/createMessage");
    assert_eq!(asked["params"]["task"], json!({}));
    wire.answer(&asked["id"], json!({"task": task("1", "working")})).await;
    let answer = wire.response(call).await;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("tasks.cancel"), "{text}");
    // An older revision has none.
    let mut wire = Wire::open_as(&asking(), "2025-06-18", capabilities).await;
    assert_eq!(wire.tool("model", json!({})).await["result"]["isError"], true);
}

// Shows: TASK-020, TASK-021, TASK-040, TASK-056
#[tokio::test]
async fn a_question_that_runs_as_a_task_of_the_client_is_looked_at_and_fetched() {
    let capabilities = json!({
        "elicitation": {}, "tasks": {"requests": {"elicitation": {"create": {}}}, "cancel": {}},
    });
    let mut wire = Wire::open_as(&asking(), "2025-11-25", capabilities).await;
    for (content, fits) in [(json!({"name": "Ada"}), true), (json!({"name": 7}), false)] {
        let call = wire.send("tools/call", json!({"name": "form"})).await;
        let asked = wire.next().await;
        assert_eq!(asked["params"]["task"], json!({"ttl": 60_000}));
        wire.answer(&asked["id"], json!({"task": task("1", "working")})).await;
        for status in ["working", "input_required"] {
            let before = std::time::Instant::now();
            let look = wire.next().await;
            assert!(before.elapsed() >= Duration::from_millis(15), "polled too early");
            assert_eq!(look["method"], "tasks/get");
            assert_eq!(look["params"], json!({"taskId": "1"}));
            wire.answer(&look["id"], task("1", status)).await;
        }
        let fetch = wire.next().await;
        assert_eq!(fetch["method"], "tasks/result");
        assert_eq!(fetch["params"], json!({"taskId": "1"}));
        let result = json!({
            "action": "accept", "content": content, "_meta": {RELATED: {"taskId": "1"}},
        });
        wire.answer(&fetch["id"], result).await;
        let answer = wire.response(call).await;
        assert_eq!(answer["result"]["isError"] != true, fits, "{answer}");
    }
}

// Shows: TASK-095, TASK-096, TASK-097, TASK-098, TASK-099, TASK-100
#[tokio::test]
async fn what_becomes_of_tasks_is_logged_on_both_sides_and_whose_they_are() {
    let capture = Capture::of("mcp_");
    let server = server(Arc::default(), quiet().with_poll_interval(Duration::from_millis(10)));
    let mut wire = Wire::open_with(
        &server,
        "2025-11-25",
        json!({}),
        ServeOptions::new().know(Requestor::new("alice".to_owned())),
        64,
    )
    .await;
    let task = start(&mut wire, "slow").await;
    assert_eq!(server.running_tasks(), 1);
    wire.call("tasks/cancel", json!({"taskId": task["taskId"]})).await;
    get(&mut wire, &json!("guessed")).await;
    let task = start(&mut wire, "fails").await;
    wire.call("tasks/result", json!({"taskId": task["taskId"]})).await;
    let said = capture.events();
    for part in [
        "a request runs as a task",
        "a task is cancelled",
        "a task has ended",
        "what a task came to is fetched",
        "a task that is not there for them",
    ] {
        let line = said.iter().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}"));
        assert!(line.contains("alice"), "{line}");
    }
    // The id may open what it names.
    let secret = task["taskId"].as_str().unwrap();
    assert!(!said.iter().any(|line| line.contains(secret)), "{said:?}");
    // The other side, which has to find its tasks again.
    let client = mcp_client::Client::builder("c", "1").connect(server.connect()).await.unwrap();
    let mut task = client.call_tool("fails").as_task().await.unwrap();
    task.result().await.unwrap();
    let id = task.id().as_str();
    for part in ["a call runs as a task", "a task stands elsewhere", "what a task came to is here"]
    {
        let line = said_of(&capture, part);
        assert!(line.contains(id), "{line}");
    }
}

fn said_of(capture: &Capture, part: &str) -> String {
    capture.events().into_iter().find(|line| line.contains(part)).unwrap()
}
