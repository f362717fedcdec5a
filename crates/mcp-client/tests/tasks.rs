//! Calls that run as tasks on the server's side.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests are tests, too"
)]

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Heard, Server, builder, connect_to};
use mcp_client::{Client, ClientError};
use mcp_jsonrpc::ErrorObject;
use mcp_types::TaskStatus;
use serde_json::{Value, json};

fn capabilities() -> Value {
    json!({
        "tools": {},
        "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}},
    })
}

fn task(status: &str) -> Value {
    json!({
        "taskId": "t1", "status": status, "ttl": null, "pollInterval": 500,
        "createdAt": "2025-11-25T10:30:00Z", "lastUpdatedAt": "2025-11-25T10:30:00Z",
    })
}

async fn connect() -> (Client, Server) {
    connect_to(builder(), "2025-11-25", capabilities()).await
}

async fn list(client: &Client, server: &mut Server, tools: Value) {
    let script = async {
        let (id, _) = server.asked("tools/list").await;
        server.answer(id, json!({"tools": tools})).await;
    };
    let (listed, ()) = tokio::join!(client.list_tools().fresh().into_future(), script);
    listed.unwrap();
}

fn tool(name: &str, support: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}, "execution": {"taskSupport": support}})
}

// Shows: FC-049, TASK-012, TASK-015, TASK-016, TASK-020, TASK-021, TASK-022, TASK-026, TASK-040,
// TASK-025, TASK-056, PROGRESS-003, PROGRESS-013
#[tokio::test(start_paused = true)]
async fn a_task_is_looked_at_as_often_as_the_server_wishes_and_fetched_when_it_is_time() {
    let (client, mut server) = connect().await;
    let mut steps = Vec::new();
    let script = async {
        let (id, params) = server.asked("tools/call").await;
        assert_eq!(params["name"], "t");
        assert_eq!(params["task"], json!({"ttl": 60_000}));
        assert_eq!(params["arguments"], json!({"a": 1}));
        let token = params["_meta"]["progressToken"].clone();
        let meta = json!({"io.modelcontextprotocol/model-immediate-response": "soon"});
        server.answer(id, json!({"task": task("working"), "_meta": meta})).await;
        for (nth, status) in ["working", "working", "input_required"].into_iter().enumerate() {
            let before = tokio::time::Instant::now();
            let (id, params) = server.asked("tasks/get").await;
            assert_eq!(before.elapsed(), Duration::from_millis(500));
            // The id, and not a word of what it is related to.
            assert_eq!(params, json!({"taskId": "t1"}));
            server.progress(&token, f64::from(u8::try_from(nth).unwrap())).await;
            // Whatever the server tells: the next look comes when it comes.
            server.tell("notifications/tasks/status", task("completed")).await;
            server.answer(id, task(status)).await;
        }
        let (id, params) = server.asked("tasks/result").await;
        assert_eq!(params, json!({"taskId": "t1"}));
        let related = json!({"io.modelcontextprotocol/related-task": {"taskId": "t1"}});
        server.progress(&token, 7.0).await;
        server.answer(id, json!({"content": [], "_meta": related})).await;
    };
    let call = async {
        let call = client.call_tool("t").arg("a", 1).on_progress(|step| steps.push(step.progress));
        let mut task = call.as_task().ttl(Duration::from_secs(60)).await.unwrap();
        assert_eq!(task.id().as_str(), "t1");
        assert_eq!(task.task().status, TaskStatus::Working);
        assert_eq!(task.immediate_response(), Some("soon"));
        let result = task.result().await.unwrap();
        assert!(result.meta.is_some(), "it is as it came");
        assert_eq!(task.task().status, TaskStatus::InputRequired);
    };
    tokio::join!(call, script);
    assert_eq!(steps, [0.0, 1.0, 2.0, 7.0]);
}

// Shows: TASK-003, TASK-005, TASK-008, TASK-009
#[tokio::test]
async fn what_does_not_run_as_a_task_is_not_asked_to() {
    for (revision, capabilities) in [
        ("2025-11-25", json!({"tools": {}})),
        ("2025-11-25", json!({"tools": {}, "tasks": {"list": {}, "cancel": {}}})),
        ("2025-11-25", json!({"tools": {}, "tasks": {"requests": {"tools": {}}}})),
        ("2025-06-18", capabilities()),
    ] {
        let (client, mut server) = connect_to(builder(), revision, capabilities.clone()).await;
        list(&client, &mut server, json!([tool("t", "required")])).await;
        let error = client.call_tool("t").as_task().await.unwrap_err();
        assert!(matches!(error, ClientError::Unsupported(_)), "{error}");
        // It is called as if there were no tasks.
        let script = async {
            let (id, params) = server.asked("tools/call").await;
            assert!(params.get("task").is_none());
            server.answer(id, json!({"content": []})).await;
        };
        let (result, ()) = tokio::join!(client.call_tool("t").into_future(), script);
        result.unwrap();
        if capabilities.get("tasks").is_some() && revision == "2025-11-25" {
            continue;
        }
        let error = client.get_task("t1").await.unwrap_err();
        assert!(matches!(error, ClientError::Unsupported(_)), "{error}");
        let error = client.task_result("t1").await.unwrap_err();
        assert!(matches!(error, ClientError::Unsupported(_)), "{error}");
    }
    let (client, mut server) = connect().await;
    let tools = json!([tool("t", "forbidden"), {"name": "u", "inputSchema": {"type": "object"}}]);
    list(&client, &mut server, tools).await;
    for name in ["t", "u"] {
        let error = client.call_tool(name).as_task().await.unwrap_err();
        assert!(matches!(error, ClientError::NotAsTask { .. }), "{error}");
    }
    assert!(server.is_quiet());
}

// Shows: TASK-006, TASK-007
#[tokio::test]
async fn tasks_are_listed_and_canceled_only_where_that_is_offered() {
    let capabilities = json!({"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}});
    let (client, mut server) = connect_to(builder(), "2025-11-25", capabilities).await;
    let error = client.list_tasks().await.unwrap_err();
    assert!(matches!(error, ClientError::Unsupported(_)), "{error}");
    let error = client.cancel_task("t1").await.unwrap_err();
    assert!(matches!(error, ClientError::Unsupported(_)), "{error}");
    assert!(server.is_quiet());
}

// Shows: TASK-013, TASK-052
#[tokio::test(start_paused = true)]
async fn a_tool_that_runs_only_as_a_task_is_called_like_any_other() {
    let (client, mut server) = connect().await;
    let mut tool = tool("t", "required");
    tool["outputSchema"] = json!({"type": "object", "required": ["n"]});
    list(&client, &mut server, json!([tool])).await;
    for (structured, fits) in [(json!({"n": 1}), true), (json!({}), false)] {
        let script = async {
            let (id, params) = server.asked("tools/call").await;
            assert_eq!(params["task"], json!({}));
            server.answer(id, json!({"task": task("working")})).await;
            let (id, _) = server.asked("tasks/get").await;
            server.answer(id, task("completed")).await;
            let (id, _) = server.asked("tasks/result").await;
            server.answer(id, json!({"content": [], "structuredContent": structured})).await;
        };
        let (result, ()) = tokio::join!(client.call_tool("t").into_future(), script);
        match result {
            Ok(_) => assert!(fits),
            Err(error) => assert!(!fits && matches!(error, ClientError::Output { .. }), "{error}"),
        }
    }
    assert!(server.is_quiet(), "what has ended is not canceled");
}

#[tokio::test(start_paused = true)]
async fn to_give_such_a_call_up_cancels_the_task() {
    let (client, mut server) = connect().await;
    list(&client, &mut server, json!([tool("t", "required")])).await;
    // By drop.
    {
        let call = client.call_tool("t").into_future();
        let script = async {
            let (id, _) = server.asked("tools/call").await;
            server.answer(id, json!({"task": task("working")})).await;
            server.asked("tasks/get").await
        };
        let call = async {
            let _ = call.await;
            panic!("nobody ends it");
        };
        tokio::select! {
            _ = script => {}
            () = call => {}
        }
    }
    let mut heard = Vec::new();
    for _ in 0..2 {
        heard.push(server.hear().await);
    }
    let cancel = heard.iter().find_map(|heard| match heard {
        Heard::Request(id, method, params) if method == "tasks/cancel" => Some((id, params)),
        _ => None,
    });
    let (id, params) = cancel.unwrap();
    assert_eq!(*params, json!({"taskId": "t1"}));
    server.answer(id.clone(), task("cancelled")).await;
    // The other one: nobody looks any more.
    assert!(heard.iter().any(|heard| matches!(heard, Heard::Notification(method, _)
        if method == "notifications/cancelled")));
    // Because its time is over.
    let call = client.call_tool("t").max_time(Duration::from_secs(2)).into_future();
    let script = async {
        let (id, _) = server.asked("tools/call").await;
        server.answer(id, json!({"task": task("working")})).await;
        loop {
            match server.hear().await {
                Heard::Request(id, method, _) if method == "tasks/get" => {
                    server.answer(id, task("working")).await;
                }
                Heard::Request(id, method, _) if method == "tasks/cancel" => {
                    return server.answer(id, task("cancelled")).await;
                }
                other => panic!("{other:?}"),
            }
        }
    };
    let (result, ()) = tokio::join!(call, script);
    assert!(matches!(result, Err(ClientError::TimedOut { .. })), "{result:?}");
    assert!(server.is_quiet());
}

// Shows: TASK-022, TASK-051
#[tokio::test(start_paused = true)]
async fn a_result_that_does_not_come_is_asked_for_again() {
    let (client, mut server) = connect().await;
    let script = async {
        let (id, _) = server.asked("tools/call").await;
        server.answer(id, json!({"task": task("input_required")})).await;
        let (waiting, _) = server.asked("tasks/result").await;
        // Nothing for a minute.
        let given_up = server.told("notifications/cancelled").await;
        assert_eq!(given_up["requestId"], json!(waiting));
        let (id, _) = server.asked("tasks/get").await;
        server.answer(id, task("input_required")).await;
        let (id, _) = server.asked("tasks/result").await;
        server.answer(id, json!({"content": []})).await;
    };
    let call = async {
        let mut task = client.call_tool("t").as_task().await.unwrap();
        task.result().await.unwrap();
    };
    tokio::join!(call, script);
}

// Shows: TASK-050, TASK-080
#[tokio::test]
async fn a_task_is_taken_up_again_by_its_id() {
    let (client, mut server) = connect().await;
    let script = async {
        let (id, params) = server.asked("tasks/get").await;
        assert_eq!(params["taskId"], "t1");
        server.answer(id, task("failed")).await;
        let (id, _) = server.asked("tasks/result").await;
        server.refuse(id, ErrorObject::new(-32_077, "no luck")).await;
        let (id, _) = server.asked("tasks/cancel").await;
        server.refuse(id, ErrorObject::invalid_params("it has ended")).await;
    };
    let call = async {
        let mut task = client.tool_task("t1").await.unwrap();
        assert_eq!(task.task().status, TaskStatus::Failed);
        match task.result().await.unwrap_err() {
            ClientError::Refused { source, .. } => assert_eq!(source.code, -32_077),
            other => panic!("{other:?}"),
        }
        assert!(task.cancel().await.is_err());
    };
    tokio::join!(call, script);
}

// Shows: TASK-023, TASK-024
#[tokio::test]
async fn where_tasks_stand_is_heard_of() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&heard);
    let builder = builder().on_task_status(move |task| {
        keep.lock().unwrap().push((task.task_id.as_str().to_owned(), task.status));
    });
    let (client, mut server) = connect_to(builder, "2025-11-25", capabilities()).await;
    server.tell("notifications/tasks/status", task("input_required")).await;
    // One that can't be read is ignored.
    server.tell("notifications/tasks/status", json!({"taskId": "t1"})).await;
    let script = async {
        let (id, _) = server.asked("ping").await;
        server.answer(id, json!({})).await;
    };
    let (alive, ()) = tokio::join!(client.ping().into_future(), script);
    alive.unwrap();
    assert_eq!(*heard.lock().unwrap(), [("t1".to_owned(), TaskStatus::InputRequired)]);
}

// Shows: TASK-057, TASK-062, TASK-064
#[tokio::test]
async fn the_list_of_tasks_is_followed_and_fetched_anew_each_time() {
    let (client, mut server) = connect().await;
    for _ in 0..2 {
        let script = async {
            let (id, params) = server.asked("tasks/list").await;
            assert!(params.get("cursor").is_none() && params.get("_meta").is_none());
            let page = json!({"tasks": [task("working")], "nextCursor": " odd\u{e9}"});
            server.answer(id, page).await;
            let (id, params) = server.asked("tasks/list").await;
            assert_eq!(params, json!({"cursor": " odd\u{e9}"}));
            let mut other = task("completed");
            other["taskId"] = json!("t2");
            server.answer(id, json!({"tasks": [other]})).await;
        };
        let (tasks, ()) = tokio::join!(client.list_tasks().into_future(), script);
        let ids: Vec<_> = tasks.unwrap().iter().map(|task| task.task_id.clone()).collect();
        assert_eq!(ids, ["t1", "t2"].map(mcp_types::TaskId::from));
    }
}

/// The other direction: what the server asks runs as a task on the client's side.
#[cfg(feature = "tasks")]
mod received {
    use mcp_client::{Builder, MemoryTaskStore, TaskConfig};
    use mcp_types::{CreateMessageResult, ElicitAction, ElicitResult, OrderedMap};
    use tokio::sync::Notify;

    use super::*;

    const RELATED: &str = "io.modelcontextprotocol/related-task";

    fn host(go: Arc<Notify>, config: TaskConfig) -> Builder {
        builder()
            .tasks(config.with_notify(false))
            .on_sampling(move |_, cx| {
                let go = Arc::clone(&go);
                async move {
                    assert!(cx.task().is_some());
                    tokio::select! {
                        () = go.notified() => {}
                        () = cx.cancelled() => {}
                    }
                    let text = json!({"type": "text", "text": "hi"});
                    let message = json!({"role": "assistant", "content": text, "model": "m"});
                    Ok(serde_json::from_value::<CreateMessageResult>(message).unwrap())
                }
            })
            .on_elicitation(|_, _| async {
                let mut result = ElicitResult::new(ElicitAction::Accept);
                let name = serde_json::from_value(json!("Ada")).unwrap();
                result.content = Some(OrderedMap::from_iter([("name".to_owned(), name)]));
                Ok(result)
            })
    }

    fn message(task: &Value) -> Value {
        let content = json!({"type": "text", "text": "hi"});
        json!({
            "messages": [{"role": "user", "content": content}], "maxTokens": 10, "task": task,
        })
    }

    fn question(task: &Value) -> Value {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        json!({"message": "Who?", "requestedSchema": schema, "task": task})
    }

    async fn open(builder: Builder, revision: &str) -> (Client, Server, Value) {
        let (link, mut server) = Server::pair();
        let greet = server.greet(revision, capabilities());
        let (client, params) = tokio::join!(builder.connect(link), greet);
        (client.unwrap(), server, params)
    }

    // Shows: FC-049, TASK-001, TASK-002, TASK-048, TASK-051, TASK-052, TASK-060, TASK-068,
    // TASK-101
    #[tokio::test]
    async fn the_model_is_asked_in_a_task() {
        let go = Arc::new(Notify::new());
        let host = host(Arc::clone(&go), TaskConfig::new());
        let (_client, mut server, hello) = open(host, "2025-11-25").await;
        assert_eq!(
            hello["capabilities"]["tasks"],
            json!({
                "list": {}, "cancel": {},
                "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
            })
        );
        server.ask(1, "sampling/createMessage", message(&json!({"ttl": 60_000}))).await;
        let made = server.answered(1).await.unwrap();
        let task = made["task"].clone();
        assert_eq!((&task["status"], &task["ttl"]), (&json!("working"), &json!(60_000)));
        let id = json!({"taskId": task["taskId"]});
        server.ask(2, "tasks/result", id.clone()).await;
        server.ask(3, "tasks/get", id.clone()).await;
        assert_eq!(server.answered(3).await.unwrap(), task);
        go.notify_one();
        let result = server.answered(2).await.unwrap();
        assert_eq!(result["model"], "m");
        assert_eq!(result["_meta"], json!({RELATED: id}));
        server.ask(4, "tasks/list", json!({})).await;
        let listed = server.answered(4).await.unwrap();
        assert_eq!(listed["tasks"][0]["status"], "completed");
        // One that is canceled.
        server.ask(5, "sampling/createMessage", message(&json!({}))).await;
        let task = server.answered(5).await.unwrap()["task"].clone();
        let id = json!({"taskId": task["taskId"]});
        server.ask(6, "tasks/cancel", id.clone()).await;
        assert_eq!(server.answered(6).await.unwrap()["status"], "cancelled");
        server.ask(7, "tasks/result", id.clone()).await;
        assert_eq!(server.answered(7).await.unwrap_err().code, -32_603);
        server.ask(8, "tasks/cancel", id).await;
        assert_eq!(server.answered(8).await.unwrap_err().code, -32_602);
        server.ask(9, "tasks/get", json!({"taskId": "unknown"})).await;
        assert_eq!(server.answered(9).await.unwrap_err().code, -32_602);
    }

    // Shows: TASK-053
    #[tokio::test]
    async fn the_person_is_asked_in_a_task_or_for_one() {
        let host = host(Arc::default(), TaskConfig::new());
        let (_client, mut server, _) = open(host, "2025-11-25").await;
        server.ask(1, "elicitation/create", question(&json!({}))).await;
        let task = server.answered(1).await.unwrap()["task"].clone();
        server.ask(2, "tasks/result", json!({"taskId": task["taskId"]})).await;
        let result = server.answered(2).await.unwrap();
        assert_eq!(result["content"], json!({"name": "Ada"}));
        // A plain question that belongs to a task of the server's: the answer does, too.
        let mut plain = question(&Value::Null);
        plain.as_object_mut().unwrap().remove("task");
        plain["_meta"] = json!({RELATED: {"taskId": "theirs"}});
        server.ask(3, "elicitation/create", plain).await;
        let result = server.answered(3).await.unwrap();
        assert_eq!(result["action"], "accept");
        assert_eq!(result["_meta"], json!({RELATED: {"taskId": "theirs"}}));
        let odd = question(&json!(7));
        server.ask(4, "elicitation/create", odd).await;
        assert_eq!(server.answered(4).await.unwrap_err().code, -32_602);
    }

    // Shows: TASK-004, TASK-027, TASK-005
    #[tokio::test]
    async fn who_has_declared_no_tasks_answers_as_ever() {
        let with = host(Arc::default(), TaskConfig::new());
        let without =
            builder().on_elicitation(|_, _| async { Ok(ElicitResult::new(ElicitAction::Decline)) });
        for (builder, revision) in [(with, "2025-06-18"), (without, "2025-11-25")] {
            let (_client, mut server, hello) = open(builder, revision).await;
            server.ask(1, "elicitation/create", question(&json!({}))).await;
            let result = server.answered(1).await.unwrap();
            assert!(result.get("task").is_none() && result["action"].is_string(), "{hello}");
            server.ask(2, "tasks/get", json!({"taskId": "x"})).await;
            assert_eq!(server.answered(2).await.unwrap_err().code, -32_601);
        }
        // A kind of request that there is no handler for is not among them.
        let only = builder()
            .tasks(TaskConfig::new())
            .on_elicitation(|_, _| async { Ok(ElicitResult::new(ElicitAction::Decline)) });
        let (_client, mut server, hello) = open(only, "2025-11-25").await;
        let requests = &hello["capabilities"]["tasks"]["requests"];
        assert_eq!(*requests, json!({"elicitation": {"create": {}}}));
        server.ask(1, "sampling/createMessage", message(&json!({}))).await;
        assert_eq!(server.answered(1).await.unwrap_err().code, -32_601);
    }

    // Shows: TASK-082, TASK-087, TASK-088
    #[tokio::test]
    async fn a_store_that_is_shared_keeps_servers_apart() {
        let store = Arc::new(MemoryTaskStore::new());
        let config = || {
            let mut config = TaskConfig::new();
            config.store = Arc::clone(&store) as _;
            config
        };
        let (_one, mut one, _) = open(host(Arc::default(), config()), "2025-11-25").await;
        let (_two, mut two, _) = open(host(Arc::default(), config()), "2025-11-25").await;
        one.ask(1, "elicitation/create", question(&json!({}))).await;
        let task = one.answered(1).await.unwrap()["task"].clone();
        two.ask(1, "tasks/get", json!({"taskId": task["taskId"]})).await;
        assert_eq!(two.answered(1).await.unwrap_err().code, -32_602);
        two.ask(2, "tasks/list", json!({})).await;
        assert_eq!(two.answered(2).await.unwrap(), json!({"tasks": []}));
        one.ask(2, "tasks/list", json!({})).await;
        assert_eq!(one.answered(2).await.unwrap()["tasks"][0]["taskId"], task["taskId"]);
    }
}
