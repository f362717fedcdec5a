//! The examples, as a client sees them.
#![cfg(all(feature = "macros", feature = "validate", feature = "files", feature = "tasks"))]
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::tests_outside_test_module,
    reason = "examples are programs, and these are tests"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_client::{Client, ClientError};
use mcp_transport_http::client::{Config, HttpConnector};
use mcp_transport_http::server::{Endpoint, Listener};
use mcp_transport_stdio::PipeLink;
use mcp_types::{ElicitAction, ElicitResult, error_code::Meaning};
use serde_json::{Value, json};

#[path = "../examples/files.rs"]
mod files;
#[path = "../examples/notes.rs"]
mod notes;
#[path = "../examples/tasks.rs"]
mod tasks;
#[path = "../examples/weather.rs"]
mod weather;

#[tokio::test]
async fn the_weather_is_forecast() {
    let client = Client::builder("test", "1").connect(&weather::server()).await.unwrap();
    client.list_tools().await.unwrap();
    let mut steps = Vec::new();
    let call = client.call_tool("forecast").arg("city", "Bern").arg("days", 2);
    let forecast: Value =
        call.on_progress(|step| steps.push(step.progress)).parsed().await.unwrap();
    assert_eq!(forecast, json!({"city": "Bern", "highs": [18.0, 19.0]}));
    assert_eq!(steps, [1.0, 2.0]);
    let wrong = client.call_tool("forecast").arg("city", "Bern").arg("days", 8).await.unwrap();
    assert!(wrong.failed());
}

#[tokio::test]
async fn files_are_read_and_no_others() {
    let folder = std::env::temp_dir().join(format!("mcp-files-example-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("docs/sub")).unwrap();
    std::fs::write(folder.join("docs/sub/a b.txt"), "text").unwrap();
    std::fs::write(folder.join("secret"), "secret").unwrap();
    let server = files::server(&folder.join("docs")).unwrap();
    let client = Client::builder("test", "1").connect(&server).await.unwrap();
    let listed = client.list_resources().await.unwrap();
    assert_eq!(listed.len(), 1);
    let read = client.read_resource(listed.first().unwrap().uri.clone()).await.unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap()["contents"][0]["text"], "text");
    for uri in ["docs:///../secret", "docs:///%2e%2e/secret", "docs:///sub/..%2F..%2Fsecret"] {
        let error = client.read_resource(uri).await.unwrap_err();
        assert!(matches!(error.meaning(), Some(Meaning::ResourceMissing { .. })), "{uri}: {error}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn notes_are_written_and_followed() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&heard);
    let client = Client::builder("test", "1")
        .on_resource_updated(move |uri, _| {
            keep.lock().unwrap().push(uri.as_str().to_owned());
            async {}
        })
        .connect(&notes::server())
        .await
        .unwrap();
    client.subscribe("note://one").await.unwrap();
    for name in ["one", "two"] {
        client.call_tool("write").arg("name", name).arg("text", "hi").text().await.unwrap();
    }
    let read = client.read_resource("note://one").await.unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap()["contents"][0]["text"], "hi");
    client.call_tool("delete").arg("name", "one").text().await.unwrap();
    let again = client.call_tool("delete").arg("name", "one").text().await.unwrap_err();
    assert!(matches!(again, ClientError::ToolFailed { .. }), "{again}");
    assert!(client.read_resource("note://one").await.is_err());
    client.ping().await.unwrap();
    assert_eq!(*heard.lock().unwrap(), ["note://one", "note://one"]);
}

#[tokio::test]
async fn a_book_is_printed_in_a_task_when_the_price_is_agreed_to() {
    let client = Client::builder("test", "1")
        .timeout(Duration::from_secs(10))
        .on_elicitation(|question, _| async move {
            assert!(question.message.contains("2 €"), "{}", question.message);
            Ok(ElicitResult::new(ElicitAction::Accept))
        })
        .connect(&tasks::server())
        .await
        .unwrap();
    client.list_tools().await.unwrap();
    let said = client.call_tool("print").arg("pages", 20).text().await.unwrap();
    assert_eq!(said, "20 pages are printed");
    assert_eq!(client.list_tasks().await.unwrap().len(), 1);
}

/// The notes are in the server: what one peer writes, all others read.
#[tokio::test]
async fn one_value_serves_peers_in_memory_over_a_pipe_and_over_http_at_once() {
    let server = notes::server();
    let (ours, theirs) = tokio::io::duplex(4096);
    let (reader, writer) = tokio::io::split(ours);
    let piped = server.clone();
    let piped = tokio::spawn(async move { piped.serve(PipeLink::new(reader, writer)).await });
    let listener = Listener::bind(Endpoint::new(server.clone()), "127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr());
    let listening = tokio::spawn(listener.run(std::future::pending()));

    let builder = || Client::builder("test", "1").timeout(Duration::from_secs(10));
    let (reader, writer) = tokio::io::split(theirs);
    let connector = HttpConnector::new(&url, Config::new()).unwrap();
    let clients = [
        ("memory", builder().connect(&server).await.unwrap()),
        ("memory-too", builder().connect(&server).await.unwrap()),
        ("pipe", builder().connect(PipeLink::new(reader, writer)).await.unwrap()),
        ("http", builder().connect(connector.link()).await.unwrap()),
        ("http-too", builder().connect(connector.link()).await.unwrap()),
    ];
    for (name, client) in &clients {
        client.call_tool("write").arg("name", name).arg("text", name).text().await.unwrap();
    }
    for (reader, client) in &clients {
        for (name, _) in &clients {
            let read = client.read_resource(format!("note://{name}")).await.unwrap();
            let read = serde_json::to_value(&read).unwrap();
            assert_eq!(read["contents"][0]["text"], *name, "{name} as {reader} reads it");
        }
    }
    for (_, client) in clients {
        client.close().await;
    }
    // Who leaves a pipe ends that conversation, and nothing else.
    piped.await.unwrap().unwrap();
    assert!(!listening.is_finished());
    builder().connect(&server).await.unwrap().ping().await.unwrap();
    listening.abort();
}
