//! Tasks over HTTP: whose they are, and what they outlive.

#![cfg(test)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests, too")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::header::HeaderValue;
use hyper::http::request::Parts;
use mcp_client::{Client, ClientError};
use mcp_server::task::TaskConfig;
use mcp_server::tool::{TaskSupport, ToolEntry};
use mcp_server::{Context, Server};
use mcp_transport_http::client::{Config, HttpConnector};
use mcp_transport_http::server::{Endpoint, Listener, Sessions};
use mcp_transport_http::v1::{Admission, Guard, Principal, Refusal, Step};
use mcp_types::{
    ElicitAction, ElicitRequestFormParams, ElicitResult, OrderedMap, RequestedSchema, Task,
    TaskStatus,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Notify;

/// Who calls is whoever the header says.
struct ByName;

impl Guard for ByName {
    fn admit(&self, head: &Parts) -> Step<Result<Admission, Refusal>> {
        let name = head.headers.get("x-name").and_then(|name| name.to_str().ok());
        Step::now(Ok(match name {
            Some(name) => Admission::of(Principal::new("test", name)),
            None => Admission::anonymous(),
        }))
    }
}

async fn listen(go: Arc<Notify>, guarded: bool, stateless: bool) -> String {
    let config = TaskConfig::new().with_poll_interval(Duration::from_millis(20));
    let server = Server::new("tasks", "1")
        .tasks(config)
        .with_tool(
            ToolEntry::new("slow", move |_: Context| {
                let go = Arc::clone(&go);
                async move {
                    go.notified().await;
                    "done"
                }
            })
            .task_support(TaskSupport::Optional),
        )
        .with_tool(
            ToolEntry::new("ask", |cx: Context| async move {
                let form =
                    ElicitRequestFormParams::new("?", RequestedSchema::new(OrderedMap::new()));
                Ok::<_, mcp_server::ToolError>(cx.elicit(form).await?.action.to_string())
            })
            .task_support(TaskSupport::Required),
        );
    let mut builder = Endpoint::builder(server);
    if guarded {
        builder = builder.guard(ByName);
    }
    if stateless {
        let mut config = mcp_transport_http::server::Config::new();
        config.sessions = Sessions::Off;
        builder = builder.config(config);
    }
    let listener = Listener::bind(builder.build(), "127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr());
    tokio::spawn(listener.run(std::future::pending()));
    url
}

async fn client(url: &str, name: Option<&'static str>) -> Client {
    let mut config = Config::new();
    if let Some(name) = name {
        config.headers.insert("x-name", HeaderValue::from_static(name));
    }
    let link = HttpConnector::new(url, config).unwrap().link();
    Client::builder("test", "1")
        .on_elicitation(|_, _| async { Ok(ElicitResult::new(ElicitAction::Decline)) })
        .on_task_status(|task| TOLD.lock().unwrap().push(task))
        .connect(link)
        .await
        .unwrap()
}

fn code<T: std::fmt::Debug>(outcome: Result<T, ClientError>) -> i64 {
    match outcome {
        Err(ClientError::Refused { source, .. }) => source.code,
        other => panic!("{other:?}"),
    }
}

// Shows: FC-050, TASK-018, TASK-019, TASK-082, TASK-087, TASK-088
#[tokio::test]
async fn a_task_outlives_its_session_and_belongs_to_its_principal() {
    let go = Arc::new(Notify::new());
    let url = listen(Arc::clone(&go), true, false).await;
    let alice = client(&url, Some("alice")).await;
    let task = alice.call_tool("slow").as_task().await.unwrap();
    let id = task.id().clone();
    // Somebody waits for the result, and goes: with the request, and with all the session.
    let waiting = tokio::time::timeout(
        Duration::from_millis(50),
        alice.task_result(id.clone()).into_future(),
    );
    waiting.await.unwrap_err();
    drop(task);
    alice.close().await;
    let bob = client(&url, Some("bob")).await;
    assert_eq!(code(bob.get_task(id.clone()).await), -32_602);
    assert_eq!(code(bob.task_result(id.clone()).await), -32_602);
    assert_eq!(code(bob.cancel_task(id.clone()).await), -32_602);
    assert!(bob.list_tasks().await.unwrap().is_empty());
    let alice = client(&url, Some("alice")).await;
    assert_eq!(alice.list_tasks().await.unwrap().len(), 1);
    let mut task = alice.tool_task(id).await.unwrap();
    assert_eq!(task.task().status, TaskStatus::Working);
    go.notify_one();
    let result = task.result().await.unwrap();
    assert_eq!(result.content.first().and_then(|block| block.as_text()), Some("done"));
    alice.close().await;
    bob.close().await;
}

// Shows: TASK-036, TASK-082, TASK-087
#[tokio::test]
async fn without_a_principal_it_belongs_to_its_session() {
    let url = listen(Arc::default(), false, false).await;
    let (one, other) = (client(&url, None).await, client(&url, None).await);
    let task = one.call_tool("slow").as_task().await.unwrap();
    assert_eq!(code(other.get_task(task.id().clone()).await), -32_602);
    assert_eq!(one.get_task(task.id().clone()).await.unwrap().status, TaskStatus::Working);
    // A question of a task finds the client by the request for its result.
    one.list_tools().await.unwrap();
    assert_eq!(one.call_tool("ask").text().await.unwrap(), "decline");
    // And where tasks stand is told on the stream that belongs to no request.
    let heard = async {
        while !TOLD.lock().unwrap().iter().any(|task| task.status == TaskStatus::InputRequired) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), heard).await.unwrap();
}

/// What was said about tasks without being asked.
static TOLD: Mutex<Vec<Task>> = Mutex::new(Vec::new());

// Shows: TASK-037
#[tokio::test]
async fn a_look_at_a_task_is_answered_by_json_and_no_stream() {
    let url = listen(Arc::default(), false, true).await;
    let client = client(&url, None).await;
    let task = client.call_tool("slow").as_task().await.unwrap();
    let address = url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
    for method in ["tasks/get", "tasks/cancel"] {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"taskId":"{}"}}}}"#,
            task.id()
        );
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        assert!(answer.contains(r#""status":""#), "{answer}");
        let head = answer.split("\r\n\r\n").next().unwrap().to_ascii_lowercase();
        assert!(head.contains("content-type: application/json"), "{head}");
    }
}

// Shows: TASK-083, TASK-086
#[tokio::test]
async fn where_nobody_can_be_told_from_others_tasks_are_not_listed() {
    let go = Arc::new(Notify::new());
    let url = listen(Arc::clone(&go), false, true).await;
    let (one, other) = (client(&url, None).await, client(&url, None).await);
    let tasks = one.capabilities().tasks.as_ref().unwrap();
    assert!(tasks.list.is_none() && tasks.cancel.is_some());
    let task = one.call_tool("slow").as_task().await.unwrap();
    go.notify_one();
    // The id alone decides.
    let mut task = other.tool_task(task.id().clone()).await.unwrap();
    task.result().await.unwrap();
    assert!(matches!(one.list_tasks().await, Err(ClientError::Unsupported(_))));
}
