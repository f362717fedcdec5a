//! Streams: what goes where, who is asked, what is canceled, what is read again.

#![cfg(test)]
#![cfg(feature = "server")]

mod support;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::Outgoing;
use mcp_jsonrpc::service::v1::{Ask, TrySendError};
use mcp_transport_http::EVENTS_LOST;
use mcp_transport_http::memory::{EventLogLimits, MemoryEventLog};
use serde_json::{Value, json};
use support::{Answer, Client, Server, bounded, eventually};

fn changed() -> Outgoing {
    Outgoing::notification("notifications/tools/list_changed".into(), Some(&json!({}))).unwrap()
}

fn numbered(n: u64) -> Outgoing {
    let params = json!({"level": "info", "data": n});
    Outgoing::notification("notifications/message".into(), Some(&params)).unwrap()
}

/// Starts a call that a test steers.
async fn running(server: &Server, client: &Client, id: i64, name: &'static str) -> Answer {
    let begun = server.controls.count(&format!("{name} begun"));
    let call = tokio::spawn({
        let client = client.clone();
        async move { client.tool(id, name, json!({"steps": 10})).await }
    });
    server.controls.noted_times(&format!("{name} begun"), begun + 1).await;
    call.await.unwrap()
}

// Shows: TRANSPORT-HTTP-030, TRANSPORT-HTTP-033, TRANSPORT-HTTP-035, TRANSPORT-RESUME-001
#[tokio::test]
async fn a_get_opens_a_stream_for_what_belongs_to_no_request() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let mut listening = client.get(None).await;
        assert_eq!(listening.status, 200);
        assert!(listening.is_stream());
        assert_eq!(listening.header("x-accel-buffering"), Some("no"));
        let prime = listening.event().await.unwrap();
        assert!(prime.data.is_empty() && prime.id.is_some());
        server.controls.outlet().try_notify(changed()).unwrap();
        let (message, id) = listening.message().await.unwrap();
        assert_eq!(message["method"], "notifications/tools/list_changed");
        assert!(id.is_some());
        // What belongs to a request stays with it.
        let call = client.tool(1, "count", json!({"steps": 1})).await.messages().await;
        assert_eq!(call.len(), 2);
        server.controls.outlet().try_notify(numbered(7)).unwrap();
        let (message, _) = listening.message().await.unwrap();
        assert_eq!(message["params"]["data"], 7);
    })
    .await;
}

// Shows: TRANSPORT-HTTP-032, FC-054
#[tokio::test]
async fn listening_can_be_off_and_resuming_stays() {
    bounded(async {
        let server = Server::with(|config| config.listen = false).await;
        let client = server.connect().await;
        let refused = client.get(None).await;
        assert_eq!(refused.status, 405);
        assert!(refused.header("allow").unwrap().contains("POST"));
        let mut call = client.tool(1, "count", json!({"steps": 2})).await;
        let (_, id) = call.message().await.unwrap();
        assert_eq!(client.get(id.as_deref()).await.messages().await.len(), 2);
        let lost = client.get(Some("nope")).await;
        assert_eq!(lost.status, 200);
        let error = &lost.messages().await[0]["error"];
        assert_eq!(
            (&error["code"], &error["data"]["lost"]),
            (&json!(EVENTS_LOST), &json!("stream"))
        );
    })
    .await;
}

// Shows: TRANSPORT-HTTP-039, TRANSPORT-HTTP-040, TRANSPORT-HTTP-041, FC-061
#[tokio::test]
async fn each_message_goes_on_exactly_one_stream_the_newest() {
    bounded(async {
        // All streams are looked at all the time.
        let server =
            Server::with(|config| config.times.keep_alive = Duration::from_millis(1)).await;
        let client = server.connect().await;
        let outlet = server.controls.outlet();
        let mut old = client.get(None).await;
        let mut new = client.get(None).await;
        assert!(old.event().await.is_some() && new.event().await.is_some());
        for n in 0..20 {
            outlet.try_notify(numbered(n)).unwrap();
            let next = tokio::time::timeout(Duration::from_secs(5), new.message()).await;
            assert_eq!(next.unwrap().unwrap().0["params"]["data"], n);
        }
        // With the newest gone, the other one gets the rest.
        drop(new);
        eventually("one stream is left", || server.endpoint.streams() == 1).await;
        outlet.try_notify(numbered(20)).unwrap();
        assert_eq!(old.message().await.unwrap().0["params"]["data"], 20);
    })
    .await;
}

// Shows: FC-061
#[tokio::test]
async fn too_many_streams_of_a_session_end_the_oldest() {
    bounded(async {
        let server = Server::with(|config| config.limits.session_streams = 2).await;
        let client = server.connect().await;
        let mut first = client.get(None).await;
        assert!(first.event().await.is_some());
        let second = client.get(None).await;
        let third = client.get(None).await;
        assert_eq!((second.status, third.status), (200, 200));
        assert!(first.event().await.is_none());
        eventually("two are left", || server.endpoint.streams() == 2).await;
    })
    .await;
}

#[tokio::test]
async fn there_is_a_limit_to_streams_in_all() {
    bounded(async {
        let server = Server::with(|config| config.limits.streams = 1).await;
        let client = server.connect().await;
        let other = server.connect().await;
        let first = client.get(None).await;
        let refused = other.get(None).await;
        assert_eq!((first.status, refused.status), (200, 503));
        assert!(refused.header("retry-after").is_some());
        drop(first);
        eventually("none is left", || server.endpoint.streams() == 0).await;
        assert_eq!(other.get(None).await.status, 200);
    })
    .await;
}

// Shows: TRANSPORT-HTTP-038
#[tokio::test]
async fn what_nobody_listens_to_waits_up_to_a_bound() {
    bounded(async {
        let server = Server::with(|config| config.limits.queued = 3).await;
        let client = server.connect().await;
        let outlet = server.controls.outlet();
        for n in 0..3 {
            outlet.try_notify(numbered(n)).unwrap();
        }
        assert_eq!(outlet.try_notify(numbered(3)), Err(TrySendError::Full));
        let mut listening = client.get(None).await;
        for n in 0..3 {
            assert_eq!(listening.message().await.unwrap().0["params"]["data"], n);
        }
        client.delete().await;
        assert_eq!(outlet.try_notify(numbered(4)), Err(TrySendError::Closed));
        assert!(outlet.is_closed());
    })
    .await;
}

// Shows: FC-025, FC-026, TRANSPORT-HTTP-007, TRANSPORT-HTTP-023
#[tokio::test]
async fn a_nested_request_goes_on_the_stream_of_its_call() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let mut calls = Vec::new();
        for id in 1..=10 {
            let mut call = client.tool(id, "ask", json!({})).await;
            assert!(call.is_stream());
            let (asked, _) = call.message().await.unwrap();
            assert_eq!(asked["method"], "sampling/createMessage");
            calls.push((id, asked["id"].clone(), call));
        }
        let ids: HashSet<_> = calls.iter().map(|(_, id, _)| id.to_string()).collect();
        assert_eq!(ids.len(), 10, "each has an id of its own");
        calls.reverse();
        for (id, asked, call) in calls {
            let answer = json!({"jsonrpc": "2.0", "id": asked, "result": {"n": id}});
            let accepted = client.post(&answer).await;
            assert_eq!(accepted.status, 202);
            assert_eq!(accepted.text().await, "");
            let messages = call.messages().await;
            assert_eq!(messages.len(), 1);
            assert_eq!(messages[0]["id"], id);
            assert_eq!(messages[0]["result"]["answer"]["n"], id);
        }
    })
    .await;
}

#[tokio::test]
async fn an_error_and_a_broken_response_end_the_wait_too() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let mut call = client.tool(1, "ask", json!({})).await;
        let id = call.message().await.unwrap().0["id"].clone();
        let refused = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": "no"}});
        assert_eq!(client.post(&refused).await.status, 202);
        assert_eq!(call.messages().await[0]["result"], json!({"error": -1}));

        let mut call = client.tool(2, "ask", json!({})).await;
        let id = call.message().await.unwrap().0["id"].clone();
        let broken = json!({"jsonrpc": "2.0", "id": id, "result": {}, "error": {}});
        assert_eq!(client.post(&broken).await.status, 400);
        let failed = call.messages().await;
        assert_eq!(failed[0]["result"]["failed"], "the response can't be read");
    })
    .await;
}

#[tokio::test]
async fn a_request_of_ours_that_is_given_up_is_canceled_at_the_client() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let mut call = client.tool(1, "give_up", json!({})).await;
        let (asked, _) = call.message().await.unwrap();
        server.controls.open("give up");
        let messages = call.messages().await;
        assert_eq!(messages[0]["method"], "notifications/cancelled");
        assert_eq!(messages[0]["params"]["requestId"], asked["id"]);
        assert_eq!(messages[1]["result"], json!({"gave_up": true}));
        // The response may have crossed.
        let late = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {}});
        assert_eq!(client.post(&late).await.status, 202);
    })
    .await;
}

// Shows: FC-026
#[tokio::test]
async fn without_a_stream_to_ask_on_the_asker_is_told_in_time() {
    bounded(async {
        let server = Server::with(|config| config.times.listener = Duration::from_millis(50)).await;
        let _client = server.connect().await;
        let outlet = server.controls.outlet();
        let failed = outlet.ask(Ask::new("roots/list", None)).await.unwrap_err();
        assert_eq!(failed.to_string(), "the peer can't be asked here");

        let server = Server::start().await;
        let client = server.connect().await;
        let outlet = server.controls.outlet();
        let asking = tokio::spawn({
            let outlet = outlet.clone();
            async move { outlet.ask(Ask::new("roots/list", None)).await }
        });
        let mut listening = client.get(None).await;
        let (asked, _) = listening.message().await.unwrap();
        assert_eq!(asked["method"], "roots/list");
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}});
        assert_eq!(client.post(&answer).await.status, 202);
        assert!(asking.await.unwrap().unwrap().outcome.is_ok());
    })
    .await;
}

// Shows: FC-031, TRANSPORT-HTTP-028
#[tokio::test]
async fn a_canceled_call_ends_without_a_response() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let cancel = |id: i64| client.notify("notifications/cancelled", json!({"requestId": id}));
        // Before its answer has begun.
        let call = tokio::spawn({
            let client = client.clone();
            async move { client.tool(1, "careful", json!({})).await }
        });
        server.controls.noted("careful begun").await;
        assert_eq!(cancel(1).await.status, 202);
        let answer = call.await.unwrap();
        assert_eq!(answer.status, 200);
        assert!(answer.messages().await.is_empty());
        server.controls.noted("careful noticed").await;

        // And after.
        server.controls.open("step");
        let mut call = running(&server, &client, 2, "steps").await;
        assert!(call.message().await.is_some());
        assert_eq!(cancel(2).await.status, 202);
        assert!(call.messages().await.is_empty());
        server.controls.noted("steps dropped").await;
        eventually("nothing runs", || server.endpoint.exchanges() == 0).await;

        // Unknown ones, late ones, and senseless ones.
        for params in [json!({"requestId": 2}), json!({"requestId": "x"}), json!({})] {
            assert_eq!(client.notify("notifications/cancelled", params).await.status, 202);
        }
    })
    .await;
}

// Shows: FC-068, TRANSPORT-HTTP-013
#[tokio::test]
async fn silence_is_filled_with_comments() {
    bounded(async {
        let server =
            Server::with(|config| config.times.keep_alive = Duration::from_millis(30)).await;
        let client = server.connect().await;
        // A call that says nothing for long becomes a stream, so that no proxy cuts it.
        let mut call = running(&server, &client, 1, "wait").await;
        assert!(call.is_stream());
        let first = call.piece().await.unwrap();
        assert!(first.starts_with(b"id: ") && first.ends_with(b"\ndata:\n\n"), "{first:?}");
        for _ in 0..3 {
            assert_eq!(call.piece().await.unwrap(), ":\n\n");
        }
        server.controls.open("answer");
        assert_eq!(call.messages().await[0]["result"], json!({"waited": true}));

        let mut listening = client.get(None).await;
        assert!(listening.event().await.is_some());
        for _ in 0..3 {
            assert_eq!(listening.piece().await.unwrap(), ":\n\n");
        }
    })
    .await;
}

// Shows: FC-057, TRANSPORT-HTTP-016
#[tokio::test]
async fn older_clients_get_ids_and_no_priming_event() {
    bounded(async {
        let server = Server::start().await;
        for version in ["2025-06-18", "2025-03-26", "2024-11-05"] {
            let mut client = server.client();
            client.initialize(version).await;
            let mut call = client.tool(1, "count", json!({"steps": 1})).await;
            let first = call.event().await.unwrap();
            assert!(!first.data.is_empty(), "{version}");
            let id = String::from_utf8(first.id.unwrap().to_vec()).unwrap();
            let rest = client.get(Some(&id)).await.messages().await;
            assert_eq!(rest.len(), 1, "{version}");
        }
    })
    .await;
}

// Shows: TRANSPORT-HTTP-017, TRANSPORT-HTTP-019, TRANSPORT-HTTP-037, FC-060
#[tokio::test]
async fn a_handler_can_let_go_of_its_connection() {
    bounded(async {
        let server = Server::with(|config| config.times.retry = Duration::from_millis(1234)).await;
        let client = server.connect().await;
        for name in ["suspend", "close_connection"] {
            let mut call = running(&server, &client, 1, name).await;
            let mut seen = 0;
            while let Some(event) = call.event().await {
                seen += usize::from(!event.data.is_empty());
            }
            assert_eq!(seen, usize::from(name == "suspend"));
            assert_eq!(call.retry(), Some(Duration::from_millis(1234)));
            let cursor = call.last_event_id().unwrap();
            let resumed = tokio::spawn({
                let client = client.clone();
                async move { client.get(Some(&cursor)).await.messages().await }
            });
            server.controls.open("answer");
            let messages = resumed.await.unwrap();
            assert_eq!(messages.len(), 1);
            let expected = match name {
                "suspend" => json!({"resumed": true}),
                _ => json!({"possible": true}),
            };
            assert_eq!(messages[0]["result"], expected);
        }
        // A client that could not come back keeps its connection.
        let mut old = server.client();
        old.initialize("2025-06-18").await;
        server.controls.open("answer");
        let call = old.tool(1, "close_connection", json!({})).await;
        assert_eq!(call.json().await["result"], json!({"possible": false}));
    })
    .await;
}

// Shows: TRANSPORT-HTTP-027, TRANSPORT-HTTP-042, TRANSPORT-RESUME-005, TRANSPORT-RESUME-007
#[tokio::test]
async fn a_call_goes_on_without_its_connection_and_its_answer_is_there_later() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        server.controls.open("step");
        let mut call = running(&server, &client, 1, "steps").await;
        let (first, id) = call.message().await.unwrap();
        assert_eq!(first["params"]["progress"], 1);
        drop(call);
        for _ in 0..4 {
            server.controls.open("step");
        }
        // Live again, in the middle.
        let mut resumed = client.get(id.as_deref()).await;
        for n in 2..=5 {
            let (message, _) = resumed.message().await.unwrap();
            assert_eq!(message["params"]["progress"], n);
        }
        drop(resumed);
        for _ in 0..5 {
            server.controls.open("step");
        }
        server.controls.open("answer");
        server.controls.noted("steps done").await;
        eventually("it is over", || server.endpoint.exchanges() == 0).await;
        let messages = client.get(id.as_deref()).await.messages().await;
        let progress: Vec<_> =
            messages.iter().filter_map(|m| m["params"]["progress"].as_u64()).collect();
        assert_eq!(progress, [2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!(messages.last().unwrap()["result"], json!({"stepped": true}));
        assert_eq!(server.controls.count("steps begun"), 1);
    })
    .await;
}

// Shows: TRANSPORT-HTTP-027
#[tokio::test]
async fn a_call_whose_answer_had_not_begun_goes_on_too() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "wait"}})
        .to_string();
        let headers = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let raw = client.send("POST", &headers, body.as_bytes()).await;
        server.controls.noted("wait begun").await;
        drop(raw);
        // It can still be canceled, and until then its id is taken.
        assert_eq!(client.request(1, "ping", json!({})).await.status, 400);
        server.controls.open("answer");
        server.controls.noted("wait done").await;
        assert_eq!(server.controls.count("wait dropped"), 0);
        eventually("it is over", || server.endpoint.exchanges() == 0).await;
        assert_eq!(client.request(1, "ping", json!({})).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn a_call_without_a_connection_ends_at_its_limit() {
    bounded(async {
        let server = Server::with(|config| config.times.detached = Duration::from_millis(50)).await;
        let client = server.connect().await;
        server.controls.open("step");
        let mut call = running(&server, &client, 1, "steps").await;
        let (_, id) = call.message().await.unwrap();
        drop(call);
        server.controls.noted("steps dropped").await;
        eventually("it is over", || server.endpoint.exchanges() == 0).await;
        // Its stream is complete, without a response.
        assert!(client.get(id.as_deref()).await.messages().await.is_empty());
    })
    .await;
}

// Shows: FC-061, TRANSPORT-RESUME-004
#[tokio::test]
async fn a_resume_takes_over_from_a_connection_that_is_only_half_dead() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        server.controls.open("step");
        let mut old = running(&server, &client, 1, "steps").await;
        let (_, id) = old.message().await.unwrap();
        let mut new = client.get(id.as_deref()).await;
        server.controls.open("step");
        assert_eq!(new.message().await.unwrap().0["params"]["progress"], 2);
        assert!(old.message().await.is_none(), "the old connection ends");
        for _ in 0..8 {
            server.controls.open("step");
        }
        server.controls.open("answer");
        assert_eq!(new.messages().await.len(), 9);

        // The same for a stream of the session.
        let outlet = server.controls.outlet();
        let mut old = client.get(None).await;
        outlet.try_notify(numbered(1)).unwrap();
        let (_, id) = old.message().await.unwrap();
        let mut new = client.get(id.as_deref()).await;
        outlet.try_notify(numbered(2)).unwrap();
        assert_eq!(new.message().await.unwrap().0["params"]["data"], 2);
        assert!(old.message().await.is_none());
    })
    .await;
}

// Shows: TRANSPORT-RESUME-002, TRANSPORT-RESUME-003, TRANSPORT-RESUME-006, TRANSPORT-RESUME-008
#[tokio::test]
async fn a_resume_gives_the_rest_of_its_stream_and_of_no_other() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let mut ids = HashSet::new();
        let mut streams = Vec::new();
        for call in 0..5u64 {
            let mut answer = client.tool(call as i64, "count", json!({"steps": call})).await;
            if !answer.is_stream() {
                continue;
            }
            let mut seen = Vec::new();
            while let Some(event) = answer.event().await {
                let id = String::from_utf8(event.id.unwrap().to_vec()).unwrap();
                assert!(ids.insert(id.clone()), "{id} came twice");
                seen.push((id, event.data));
            }
            streams.push(seen);
        }
        // From every event of every stream, in any order.
        for stream in streams.iter().rev() {
            for (at, (id, _)) in stream.iter().enumerate() {
                let mut answer = client.get(Some(id)).await;
                for (id, data) in &stream[at + 1..] {
                    let event = answer.event().await.unwrap();
                    assert_eq!(event.id.unwrap(), id.as_bytes());
                    assert_eq!(event.data, data);
                }
                assert!(answer.event().await.is_none());
            }
        }
    })
    .await;
}

// Shows: FC-062
#[tokio::test]
async fn events_that_are_gone_are_said_to_be_gone() {
    bounded(async {
        let limits = {
            let mut limits = EventLogLimits::default();
            limits.session_events = 4;
            limits
        };
        let server =
            Server::build(|builder| builder.event_log(Arc::new(MemoryEventLog::new(limits)))).await;
        let client = server.connect().await;
        let other = server.connect().await;
        let is_lost = |message: &Value| {
            assert_eq!(message["error"]["code"], EVENTS_LOST, "{message}");
            assert!(message.get("id").is_none());
        };
        let mut theirs = other.tool(1, "count", json!({"steps": 1})).await;
        let (_, theirs) = theirs.message().await.unwrap();
        let garbage = "x".repeat(10_000);
        for id in ["nope", "00000000-1-1", &garbage, theirs.as_deref().unwrap()] {
            let mut answer = client.get(Some(id)).await;
            assert_eq!(answer.status, 200);
            is_lost(&answer.message().await.unwrap().0);
            // A new stream of the session, which works like any other.
            server.controls.outlet();
        }

        // Ten messages and the response, of which the log keeps the last four.
        let mut answer = client.tool(1, "count", json!({"steps": 10})).await;
        let prime = answer.event().await.unwrap().id.unwrap();
        let prime = String::from_utf8(prime.to_vec()).unwrap();
        let all = answer.messages().await;
        assert_eq!(all.len(), 11);
        let resumed = client.get(Some(&prime)).await.messages().await;
        is_lost(&resumed[0]);
        assert_eq!(resumed[1..], all[7..]);

        // A stream of which nothing is left.
        client.tool(2, "count", json!({"steps": 10})).await.messages().await;
        let mut gone = client.get(Some(&prime)).await;
        is_lost(&gone.message().await.unwrap().0);

        // An empty value is no value.
        let mut fresh = client.get(Some("")).await;
        assert!(fresh.event().await.unwrap().data.is_empty());
    })
    .await;
}

// Shows: TRANSPORT-HTTP-029, TRANSPORT-RESUME-001
#[tokio::test]
async fn without_a_log_there_are_no_ids() {
    bounded(async {
        let server = Server::build(|builder| builder.without_event_log()).await;
        let client = server.connect().await;
        let mut call = client.tool(1, "count", json!({"steps": 1})).await;
        let first = call.event().await.unwrap();
        assert!(!first.data.is_empty() && first.id.is_none());
        let mut listening = client.get(None).await;
        server.controls.outlet().try_notify(changed()).unwrap();
        assert_eq!(listening.message().await.unwrap().1, None);
        // Its call goes on all the same.
        let mut call = {
            server.controls.open("step");
            running(&server, &client, 2, "steps").await
        };
        assert!(call.message().await.is_some());
        drop(call);
        for _ in 0..9 {
            server.controls.open("step");
        }
        server.controls.open("answer");
        server.controls.noted("steps done").await;
    })
    .await;
}

// Shows: TRANSPORT-RESUME-005
#[tokio::test]
async fn a_stream_of_the_session_goes_on_where_it_was() {
    bounded(async {
        let server = Server::start().await;
        let client = server.connect().await;
        let outlet = server.controls.outlet();
        let mut listening = client.get(None).await;
        let prime = listening.event().await.unwrap().id.unwrap();
        let prime = String::from_utf8(prime.to_vec()).unwrap();
        drop(listening);
        eventually("it is closed", || server.endpoint.streams() == 0).await;

        // Nothing was missed: what comes next waits for it.
        outlet.try_notify(numbered(1)).unwrap();
        let mut resumed = client.get(Some(&prime)).await;
        let (message, first) = resumed.message().await.unwrap();
        assert_eq!(message["params"]["data"], 1);
        outlet.try_notify(numbered(2)).unwrap();
        let (_, second) = resumed.message().await.unwrap();
        drop(resumed);
        eventually("it is closed", || server.endpoint.streams() == 0).await;

        // From an earlier point, then live.
        let mut again = client.get(first.as_deref()).await;
        let (message, id) = again.message().await.unwrap();
        assert_eq!((message["params"]["data"].as_u64(), &id), (Some(2), &second));
        outlet.try_notify(numbered(3)).unwrap();
        assert_eq!(again.message().await.unwrap().0["params"]["data"], 3);
    })
    .await;
}
