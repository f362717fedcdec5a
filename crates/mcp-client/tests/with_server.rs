//! The client and the server of this project, in one process.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests are tests, too"
)]

use std::sync::Arc;

use mcp_client::Client;
use mcp_jsonrpc::link::memory_pair;
use mcp_server::tool::{Args, Json};
use mcp_server::{Context, Server, ToolError};
use mcp_types::{ElicitAction, ElicitRequestFormParams, ElicitResult, OrderedMap, RequestedSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
struct Sum {
    sum: i64,
}

fn server() -> Server {
    Server::new("calculator", "1.0")
        .tool("add", |Args(add): Args<Add>| async move {
            let sum = add.a.checked_add(add.b).ok_or(ToolError::new("too large"))?;
            Ok::<_, ToolError>(Json(Sum { sum }))
        })
        .tool("count", |cx: Context| async move {
            for step in 1..=3 {
                cx.progress().report(f64::from(step), Some(3.0)).await;
            }
            "done"
        })
}

async fn connect(server: Server) -> Client {
    let (there, here) = memory_pair(64);
    tokio::spawn(async move { server.serve(there).await });
    Client::builder("test", "1.0").connect(here).await.unwrap()
}

#[tokio::test]
async fn a_call_goes_all_the_way() {
    let client = connect(server()).await;
    assert_eq!(client.server().name, "calculator");
    assert_eq!(client.list_tools().await.unwrap().len(), 2);
    let sum: Sum = client.call_tool("add").arg("a", 1).arg("b", 2).parsed().await.unwrap();
    assert_eq!(sum, Sum { sum: 3 });
    let error = client.call_tool("add").arg("a", i64::MAX).arg("b", 1).text().await.unwrap_err();
    assert_eq!(error.to_string(), "the tool `add` failed: too large");
    // Arguments that don't fit are told to the model.
    assert!(client.call_tool("add").arg("a", "x").await.unwrap().failed());
    assert!(client.call_tool("nope").await.is_err());
    client.ping().await.unwrap();
    let mut seen = Vec::new();
    client.call_tool("count").on_progress(|step| seen.push(step.progress)).await.unwrap();
    assert_eq!(seen, [1.0, 2.0, 3.0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_run_side_by_side() {
    let client = connect(server()).await;
    let calls: Vec<_> = (0..200)
        .map(|n| {
            let client = client.clone();
            tokio::spawn(async move {
                let call = client.call_tool("add").arg("a", n).arg("b", n);
                call.parsed::<Sum>().await.unwrap().sum
            })
        })
        .collect();
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap(), 2 * i64::try_from(n).unwrap());
    }
}

// Shows: FC-025
#[tokio::test]
async fn a_tool_may_ask_and_the_answer_may_call() {
    #[derive(Deserialize, JsonSchema)]
    struct Nothing {}
    let server =
        server().tool("greet", |Args(Nothing {}): Args<Nothing>, cx: Context| async move {
            let schema: RequestedSchema = serde_json::from_str(
                r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#,
            )?;
            let answer = cx.elicit(ElicitRequestFormParams::new("which?", schema)).await?;
            Ok::<_, ToolError>(format!("{:?}", answer.content.unwrap_or_default()))
        });
    let (there, here) = memory_pair(64);
    tokio::spawn(async move { server.serve(there).await });
    let builder = Client::builder("test", "1.0").on_elicitation(|_, cx| async move {
        let call = cx.client().call_tool("add").arg("a", 20).arg("b", 1);
        let sum: Sum = call.parsed().await?;
        let mut result = ElicitResult::new(ElicitAction::Accept);
        result.content = Some(OrderedMap::from([("n", sum.sum.into())]));
        Ok(result)
    });
    let client = Arc::new(builder.connect(here).await.unwrap());
    let calls: Vec<_> = (0..10).map(|_| tokio::spawn(client.call_tool("greet").text())).collect();
    for call in calls {
        assert!(call.await.unwrap().unwrap().contains("21"));
    }
}
