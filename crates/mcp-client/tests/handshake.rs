//! How conversations begin and end.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests are tests, too"
)]

mod common;

use std::error::Error as _;
use std::time::Duration;

use common::{Heard, Server, builder, connect, connect_to, everything, settle};
use mcp_client::{Client, ConnectError};
use mcp_jsonrpc::ErrorObject;
use mcp_jsonrpc::link::MemoryLink;
use mcp_jsonrpc::link::v1::{IntoLink, LinkError};
use mcp_lifecycle::HandshakeError;
use mcp_lifecycle::testing::ManualClock;
use mcp_types::Revision;
use serde_json::json;

// Shows: LIFE-012
#[tokio::test]
async fn a_client_says_who_it_is_and_hears_who_the_server_is() {
    let (link, mut server) = Server::pair();
    let builder = Client::builder("test", "1.0").title("Test").description("A test");
    let (client, hello) =
        tokio::join!(builder.connect(link), server.greet("2025-11-25", everything()));
    assert_eq!(
        hello,
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {
                "name": "test", "title": "Test", "version": "1.0", "description": "A test",
            },
        })
    );
    let client = client.unwrap();
    assert_eq!(client.server().name, "scripted");
    assert_eq!(client.revision(), Revision::V2025_11_25);
    assert_eq!(client.instructions(), Some("be nice"));
    assert!(client.capabilities().has("resources.subscribe"));
}

#[tokio::test]
async fn every_older_revision_is_spoken() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let (client, _server) = connect_to(builder(), revision, everything()).await;
        assert_eq!(client.revision().as_str(), revision);
    }
}

// Shows: FC-022, LIFE-018
#[tokio::test]
async fn a_revision_that_nobody_speaks_ends_it_before_it_begins() {
    for version in [r#""1999-01-01""#, "20251125", "null", ""] {
        let (link, mut server) = Server::pair();
        let script = async {
            let (id, _) = server.asked("initialize").await;
            let member = match version {
                "" => String::new(),
                version => format!(r#""protocolVersion":{version},"#),
            };
            let result = format!(
                r#"{{{member}"capabilities":{{}},"serverInfo":{{"name":"a","version":"1"}}}}"#
            );
            server.answer_raw(id, &result).await;
            // The link is closed, and nothing else was said.
            assert!(matches!(server.hear().await, Heard::Closed));
        };
        let (client, ()) = tokio::join!(builder().connect(link), script);
        let error = client.unwrap_err();
        let text = error.source().unwrap().to_string();
        assert!(text.contains("2025-11-25"), "what we speak is named: {text}");
        match version {
            r#""1999-01-01""# => {
                assert!(text.contains("1999-01-01"), "{text}");
                let ConnectError::Handshake(error) = error else { panic!("{error:?}") };
                assert!(matches!(error, HandshakeError::UnsupportedRevision { .. }));
            }
            _ => {
                assert!(matches!(error, ConnectError::Handshake(HandshakeError::Malformed { .. })))
            }
        }
    }
}

#[tokio::test]
async fn a_server_that_refuses_says_what_it_speaks() {
    let (link, mut server) = Server::pair();
    let script = async {
        let (id, _) = server.asked("initialize").await;
        let error = ErrorObject::invalid_params("Unsupported protocol version")
            .with_data_from(&json!({"supported": ["2024-11-05", "1.0"], "requested": "x"}));
        server.refuse(id, error).await;
        assert!(matches!(server.hear().await, Heard::Closed));
    };
    let (client, ()) = tokio::join!(builder().connect(link), script);
    let Err(ConnectError::Handshake(error)) = client else { panic!("{client:?}") };
    assert_eq!(error.common(Default::default()), Some(Revision::V2024_11_05));
}

// Shows: FC-032, CANCEL-003
#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_given_up_and_not_told() {
    let (link, mut server) = Server::pair();
    let builder = builder().connect_timeout(Duration::from_secs(3));
    let start = tokio::time::Instant::now();
    let script = async {
        server.asked("initialize").await;
        assert!(matches!(server.hear().await, Heard::Closed));
    };
    let (client, ()) = tokio::join!(builder.connect(link), script);
    assert!(matches!(client, Err(ConnectError::TimedOut { limit }) if limit.as_secs() == 3));
    assert_eq!(start.elapsed().as_secs(), 3);
}

#[tokio::test]
async fn a_server_that_leaves_during_the_handshake_is_an_error_at_once() {
    let (link, server) = Server::pair();
    drop(server);
    let client = builder().connect(link).await;
    assert!(matches!(client, Err(ConnectError::Link(LinkError::Closed))), "{client:?}");
}

#[tokio::test]
async fn dropping_the_handshake_closes_the_link() {
    let (link, mut server) = Server::pair();
    let connecting = tokio::spawn(builder().connect(link));
    server.asked("initialize").await;
    connecting.abort();
    assert!(matches!(server.hear().await, Heard::Closed));
}

// Shows: FC-027, PING-001
#[tokio::test]
async fn a_ping_is_answered_in_every_phase() {
    let (link, mut server) = Server::pair();
    let script = async {
        let (id, _) = server.asked("initialize").await;
        server.ask(7, "ping", json!({})).await;
        assert_eq!(server.answered(7).await, Ok(json!({})));
        let result = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "serverInfo": {"name": "a", "version": "1"},
        });
        server.answer(id, result).await;
        server.told("notifications/initialized").await;
        server.ask(8, "ping", json!({"_meta": {"x": 1}})).await;
        assert_eq!(server.answered(8).await, Ok(json!({})));
    };
    let (client, ()) = tokio::join!(builder().connect(link), script);
    client.unwrap();
}

#[tokio::test]
async fn the_last_handle_ends_the_conversation() {
    let (client, mut server) = connect(builder()).await;
    let other = client.clone();
    drop(client);
    settle().await;
    assert!(server.is_quiet());
    assert!(!other.is_closed());
    drop(other);
    assert!(matches!(server.hear().await, Heard::Closed));
}

#[tokio::test]
async fn closing_fails_what_waits_and_what_comes() {
    let (client, mut server) = connect(builder()).await;
    let waiting = tokio::spawn(client.ping().into_future());
    server.asked("ping").await;
    let how = client.close().await;
    assert!(how.is_closed());
    assert!(matches!(waiting.await.unwrap(), Err(mcp_client::ClientError::Link(_))));
    assert!(matches!(client.ping().await, Err(mcp_client::ClientError::Link(_))));
    assert!(client.is_closed());
    assert!(matches!(server.hear().await, Heard::Closed));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_reads_nothing_can_not_keep_it_open() {
    let (link, mut server) = Server::pair();
    let builder = builder().close_timeout(Duration::from_secs(2));
    let (client, _) = tokio::join!(builder.connect(link), server.greet("2025-11-25", json!({})));
    let client = client.unwrap();
    // More than the link holds.
    let waiting: Vec<_> = (0..40).map(|_| tokio::spawn(client.ping().into_future())).collect();
    settle().await;
    let start = tokio::time::Instant::now();
    client.close().await;
    assert_eq!(start.elapsed().as_secs(), 2);
    for call in waiting {
        assert!(call.await.unwrap().is_err());
    }
}

#[tokio::test]
async fn a_server_that_leaves_fails_everything_at_once() {
    let (client, mut server) = connect(builder()).await;
    let waiting = tokio::spawn(client.call_tool("a").into_future());
    server.asked("tools/call").await;
    drop(server);
    let error = waiting.await.unwrap().unwrap_err();
    assert!(error.is_retryable() && matches!(error, mcp_client::ClientError::Link(_)));
    assert!(client.closed().await.is_closed());
}

#[tokio::test]
async fn without_a_runtime_of_ours_the_caller_polls() {
    let (link, mut server) = Server::pair();
    let (connecting, driving) = builder().connect_with(link, ManualClock::new());
    let talk = async {
        let client = connecting.await.unwrap();
        client.ping().await.unwrap();
        drop(client);
    };
    let script = async {
        server.greet("2025-11-25", json!({})).await;
        let (id, _) = server.asked("ping").await;
        server.answer(id, json!({"x": 1})).await;
        assert!(matches!(server.hear().await, Heard::Closed));
    };
    let (cause, (), ()) = tokio::join!(driving, talk, script);
    assert!(cause.is_closed());
}

#[tokio::test]
async fn a_server_of_this_process_is_taken_in_place_of_a_link() {
    let server = mcp_server::Server::new("clock", "1").tool("now", || async { "noon" });
    for client in [builder().connect(&server).await, builder().connect(server.clone()).await] {
        assert_eq!(client.unwrap().call_tool("now").text().await.unwrap(), "noon");
    }
}

/// Opens no link: it fails, or takes for ever.
struct Nowhere {
    fails: bool,
}

impl IntoLink for Nowhere {
    type Link = MemoryLink;

    async fn into_link(self) -> Result<MemoryLink, LinkError> {
        if self.fails {
            return Err(LinkError::failed("no such program"));
        }
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_link_that_is_not_opened_is_an_error_of_its_own_and_waited_for_to_a_limit() {
    let client = builder().connect(Nowhere { fails: true }).await;
    let Err(ConnectError::Open(LinkError::Failed(cause))) = client else { panic!("{client:?}") };
    assert_eq!(cause.to_string(), "no such program");
    let limit = Duration::from_secs(3);
    let start = tokio::time::Instant::now();
    let client = builder().connect_timeout(limit).connect(Nowhere { fails: false }).await;
    assert!(matches!(client, Err(ConnectError::TimedOut { limit: given }) if given == limit));
    assert_eq!(start.elapsed(), limit);
}

#[test]
fn without_tokio_connecting_says_so() {
    let (link, _server) = Server::pair();
    let mut connecting = Box::pin(builder().connect(link));
    let std::task::Poll::Ready(client) = common::poll_once(&mut connecting) else {
        panic!("it waits for nothing");
    };
    assert!(matches!(client, Err(ConnectError::NoRuntime)));
}
