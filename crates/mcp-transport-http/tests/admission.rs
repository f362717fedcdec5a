//! What a guard's admission means for streams and for the members of a batch.

#![cfg(test)]
#![cfg(feature = "server")]

mod support;

use std::time::Duration;

use hyper::StatusCode;
use hyper::header::AUTHORIZATION;
use hyper::http::request::Parts;
use mcp_jsonrpc::ErrorObject;
use mcp_transport_http::v1::{Admission, Guard, Operation, Principal, Refusal, Step};
use serde_json::json;
use support::{Client, Server, bounded};

/// Takes `Authorization: NAME MILLIS`: who it is, and for how long its streams stay open.
struct ForAWhile;

impl Guard for ForAWhile {
    fn admit(&self, head: &Parts) -> Step<Result<Admission, Refusal>> {
        let told = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some((name, millis)) = told.and_then(|told| told.split_once(' ')) else {
            let error = ErrorObject::invalid_request("who are you?");
            return Step::now(Err(Refusal::new(StatusCode::UNAUTHORIZED, error)));
        };
        let time = Duration::from_millis(millis.parse().unwrap());
        let admission = Admission::of(Principal::new("https://as.example", name));
        Step::now(Ok(admission.with_streams_for(time)))
    }

    fn permit(&self, _: &Admission, operation: &Operation) -> Step<Result<(), Refusal>> {
        if operation.name.as_deref() == Some("forbidden") {
            let error = ErrorObject::invalid_request("not you");
            return Step::now(Err(Refusal::new(StatusCode::FORBIDDEN, error)));
        }
        Step::now(Ok(()))
    }
}

const SHORT: &str = "alice 100";
const LONG: &str = "alice 600000";

async fn server() -> Server {
    Server::build(|builder| builder.guard(ForAWhile)).await
}

fn with(mut client: Client, credential: &str) -> Client {
    client.headers = vec![("Authorization".to_owned(), credential.to_owned())];
    client
}

async fn connect(server: &Server, version: &str) -> Client {
    let mut client = with(server.client(), LONG);
    client.initialize(version).await;
    client
}

#[tokio::test]
async fn a_call_outlives_the_admission_of_its_request_on_another_stream() {
    bounded(async {
        let server = server().await;
        let client = connect(&server, "2025-11-25").await;
        server.controls.open("step");
        let mut call = with(client.clone(), SHORT).tool(1, "steps", json!({"steps": 2})).await;
        let (first, _) = call.message().await.unwrap();
        assert_eq!(first["params"]["progress"], 1);
        // It ends by itself, and says when and where to come back.
        while let Some(event) = call.event().await {
            assert!(event.data.is_empty());
        }
        assert!(call.retry().is_some());
        let cursor = call.last_event_id().unwrap();
        let resumed = tokio::spawn(async move { client.get(Some(&cursor)).await.messages().await });
        server.controls.open("step");
        server.controls.open("answer");
        let messages = resumed.await.unwrap();
        assert_eq!(messages.len(), 2);
        assert_eq!(messages[0]["params"]["progress"], 2);
        assert_eq!(messages[1]["result"], json!({"stepped": true}));
    })
    .await;
}

#[tokio::test]
async fn a_call_of_a_client_that_could_not_come_back_keeps_its_stream() {
    bounded(async {
        let server = server().await;
        let client = with(connect(&server, "2025-06-18").await, "alice 1");
        server.controls.open("step");
        let mut call = client.tool(1, "steps", json!({"steps": 1})).await;
        call.message().await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        server.controls.open("answer");
        let (answer, _) = call.message().await.unwrap();
        assert_eq!(answer["result"], json!({"stepped": true}));
    })
    .await;
}

#[tokio::test]
async fn a_stream_of_the_session_ends_with_its_admission() {
    bounded(async {
        let server = server().await;
        for version in ["2025-11-25", "2025-06-18"] {
            let client = connect(&server, version).await;
            let mut stream = with(client.clone(), SHORT).get(None).await;
            while stream.piece().await.is_some() {}
            assert_eq!(server.endpoint.sessions(), 1);
            assert_eq!(client.request(1, "ping", json!({})).await.status, 200);
            assert_eq!(client.delete().await.status, 204);
        }
    })
    .await;
}

// Shows: RS-SP-5
#[tokio::test]
async fn a_batch_is_judged_as_a_whole_before_any_of_it_runs() {
    bounded(async {
        let server = server().await;
        let client = connect(&server, "2025-03-26").await;
        let call = |id: u64, name: &str| {
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name}})
        };
        let answer = client.post(&json!([call(1, "count"), call(2, "forbidden")])).await;
        assert_eq!(answer.status, 403);
        assert!(answer.json().await.get("id").is_none());
        assert_eq!(server.controls.count("count begun"), 0);
        assert_eq!(client.post(&json!([call(3, "count")])).await.status, 200);
    })
    .await;
}

// Shows: RS-CR-4
#[tokio::test]
async fn members_of_a_batch_are_in_the_name_of_who_sent_it() {
    bounded(async {
        let server = server().await;
        let client = connect(&server, "2025-03-26").await;
        let call = |id: u64| {
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "who"}})
        };
        let answers = client.post(&json!([call(1), call(2)])).await.json().await;
        for answer in answers.as_array().unwrap() {
            let expected = json!({"subject": "alice", "sees_credential": false});
            assert_eq!(answer["result"], expected);
        }
        assert_eq!(answers.as_array().unwrap().len(), 2);
    })
    .await;
}
