use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_jsonrpc::service::v1::{Inbound, Layer, Replies, Reply, Service};
use mcp_server::layer::{ConcurrencyLimit, PanicGuard, RateLimit, ResponseLimit, Spans, Timeout};
use mcp_server::{Context, Server, ToolError};
use mcp_types::{CreateMessageRequestParams, SamplingMessage};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::wire::Wire;

/// Writes down what passes.
#[derive(Clone)]
struct Witness(&'static str, Arc<Mutex<Vec<String>>>);

struct Witnessed<S>(S, Witness);

impl<S: Service> Layer<S> for Witness {
    type Service = Witnessed<S>;

    fn layer(&self, inner: S) -> Witnessed<S> {
        Witnessed(inner, self.clone())
    }
}

impl<S: Service> Service for Witnessed<S> {
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        let Witness(name, seen) = &self.1;
        seen.lock().unwrap().push(format!("{name} {}", inbound.method()));
        let reply = self.0.call(inbound, replies).await;
        seen.lock().unwrap().push(format!("{name} done"));
        reply
    }
}

#[tokio::test]
async fn layers_stand_in_the_order_in_which_they_were_added_and_see_everything() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let server = Server::new("s", "1")
        .layer(Witness("a", Arc::clone(&seen)))
        .tool("t", || async {})
        .layer(Witness("b", Arc::clone(&seen)))
        // What is added after a layer is behind it, too.
        .tool("u", || async { "u" });
    let mut wire = Wire::open(&server).await;
    assert_eq!(wire.tool("u", json!({})).await["result"]["content"][0]["text"], "u");
    let seen = seen.lock().unwrap();
    let expected: Vec<String> = ["initialize", "notifications/initialized", "tools/call"]
        .iter()
        .flat_map(|method| [format!("a {method}"), format!("b {method}")])
        .collect();
    let begun: Vec<_> = seen.iter().filter(|line| !line.ends_with("done")).cloned().collect();
    assert_eq!(begun, expected);
    assert_eq!(seen[seen.len() - 2..], ["b done", "a done"]);
}

#[tokio::test]
async fn a_server_that_has_served_can_be_built_on() {
    let call = |server: Server| async move {
        let ping = mcp_jsonrpc::Request::new(1, "tools/call", {
            mcp_jsonrpc::RawJson::from_serialize(&json!({"name": "t"})).ok()
        });
        let inbound = Inbound::new(mcp_jsonrpc::service::v1::Call::Request(ping));
        let Reply::Response(answer) = server.call(inbound, Replies::nowhere()).await else {
            panic!("a request is answered");
        };
        (server, String::from_utf8(answer.body().to_vec()).unwrap())
    };
    let server = Server::new("s", "1").layer(PanicGuard::new()).dynamic_tools();
    let (server, answer) = call(server).await;
    assert!(answer.contains("unknown tool"), "{answer}");
    let (_, answer) = call(server.tool("t", || async { "there" })).await;
    assert!(answer.contains("there"), "{answer}");
}

#[tokio::test]
async fn layers_do_not_keep_a_server_alive() {
    struct Gone(Arc<AtomicUsize>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let gone = Arc::new(AtomicUsize::new(0));
    let server = Server::new("s", "1").layer(PanicGuard::new()).state(Gone(Arc::clone(&gone)));
    let mut wire = Wire::open(&server).await;
    wire.call("ping", json!({})).await;
    drop(server);
    drop(wire);
    // The conversation's task has been aborted; it goes when the runtime gets to it.
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    assert_eq!(gone.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_dropped_with_what_it_has_asked() {
    let server = Server::new("s", "1")
        .layer(Timeout::new(Duration::from_secs(2)))
        .tool("ask", |cx: Context| async move {
            let params = CreateMessageRequestParams::new(vec![SamplingMessage::user("x")], 1_u64);
            Ok::<_, ToolError>(cx.sample(params).await?.model)
        })
        .tool("quick", || async {
            tokio::time::sleep(Duration::from_millis(1900)).await;
            "quick"
        });
    let mut wire = Wire::open_as(&server, "2025-11-25", json!({"sampling": {}})).await;
    let id = wire.send("tools/call", json!({"name": "ask"})).await;
    let asked = wire.next().await;
    let answer = wire.response(id).await;
    assert_eq!(answer["error"]["code"], -32603);
    assert!(answer["error"]["message"].as_str().unwrap().contains("2000 ms"));
    let withdrawn = match wire.notes.pop() {
        Some(note) => note,
        None => wire.next().await,
    };
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], asked["id"]);
    assert_eq!(wire.tool("quick", json!({})).await["result"]["content"][0]["text"], "quick");
}

// Shows: TOOLS-048
#[tokio::test]
async fn no_more_calls_run_at_once_than_are_allowed() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let gate = Arc::new(Semaphore::new(0));
    let shared = (Arc::clone(&running), Arc::clone(&most), Arc::clone(&gate));
    let server =
        Server::new("s", "1").layer(ConcurrencyLimit::new(2).waiting(3)).tool("work", move || {
            let (running, most, gate) = shared.clone();
            async move {
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                let _permit = gate.acquire().await;
                running.fetch_sub(1, Ordering::SeqCst);
            }
        });
    let (mut one, mut other) = (Wire::open(&server).await, Wire::open(&server).await);
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(one.send("tools/call", json!({"name": "work"})).await);
        ids.push(other.send("tools/call", json!({"name": "work"})).await);
    }
    // Pings and lists never wait; and what came before them has been seen.
    for wire in [&mut one, &mut other] {
        wire.call("ping", json!({})).await;
        wire.call("tools/list", json!({})).await;
    }
    assert_eq!(running.load(Ordering::SeqCst), 2);
    let refused = |wire: &Wire| {
        let codes = wire.notes.iter().map(|note| note["error"]["code"].as_i64());
        codes.filter(|code| *code == Some(-32603)).count()
    };
    let counts = [refused(&one), refused(&other)];
    assert_eq!(counts[0] + counts[1], 1, "two run, and three wait");
    gate.add_permits(10);
    for (wire, refused) in [(&mut one, counts[0]), (&mut other, counts[1])] {
        for _ in refused..3 {
            let answer = wire.next().await;
            assert!(ids.contains(&answer["id"].as_i64().unwrap()), "{answer}");
            assert!(answer.get("result").is_some(), "{answer}");
        }
    }
    assert_eq!(most.load(Ordering::SeqCst), 2);
}

// Shows: COMPLETION-014, COMPLETION-020
#[tokio::test(start_paused = true)]
async fn a_burst_is_allowed_and_then_a_rate_for_each_session() {
    let server = Server::new("s", "1")
        .layer(RateLimit::new(2, Duration::from_secs(1)))
        .layer(RateLimit::new(100, Duration::from_secs(1)).methods(["ping"]).burst(1))
        .tool("t", || async { "t" });
    let (mut one, mut other) = (Wire::open(&server).await, Wire::open(&server).await);
    for wire in [&mut one, &mut other] {
        for _ in 0..2 {
            assert!(wire.tool("t", json!({})).await.get("result").is_some());
        }
        let refused = wire.tool("t", json!({})).await;
        assert_eq!(refused["error"]["code"], -32603);
        assert_eq!(refused["error"]["data"]["retryAfterMs"], 500);
        // Lists pass, and pings have a limit of their own.
        assert!(wire.call("tools/list", json!({})).await.get("result").is_some());
        assert!(wire.call("ping", json!({})).await.get("result").is_some());
        assert!(wire.call("ping", json!({})).await.get("error").is_some());
    }
    tokio::time::advance(Duration::from_millis(500)).await;
    assert!(one.tool("t", json!({})).await.get("result").is_some());
    assert!(one.tool("t", json!({})).await.get("error").is_some());
}

#[tokio::test(start_paused = true)]
async fn a_rate_can_be_for_whatever_a_request_comes_with() {
    struct User(&'static str);
    let limit = RateLimit::new(1, Duration::from_secs(60))
        .by(|inbound| inbound.extensions.get::<User>().map(|user| user.0.to_owned()));
    let server = Server::new("s", "1").layer(limit).tool("t", || async {});
    let open = async |user: Option<&'static str>| {
        let options = mcp_server::ServeOptions::new();
        let options = match user {
            Some(user) => options.know(User(user)),
            None => options,
        };
        Wire::open_with(&server, "2025-11-25", json!({}), options, 64).await
    };
    for (user, passes) in
        [(Some("a"), true), (Some("a"), false), (Some("b"), true), (None, true), (None, true)]
    {
        let answer = open(user).await.tool("t", json!({})).await;
        assert_eq!(answer.get("result").is_some(), passes, "{user:?}");
    }
}

// Shows: TOOLS-049
#[tokio::test]
async fn a_result_that_is_too_large_is_not_sent() {
    let server = Server::new("s", "1")
        .layer(ResponseLimit::new(1000))
        .tool("large", || async { "x".repeat(1000) })
        .tool("small", || async { "x".repeat(900) });
    let mut wire = Wire::open(&server).await;
    assert_eq!(wire.tool("large", json!({})).await["error"]["code"], -32603);
    assert!(wire.tool("small", json!({})).await.get("result").is_some());
}

#[tokio::test]
async fn a_layer_that_panics_costs_its_own_message() {
    struct Bomb;
    struct Armed<S>(S);
    impl<S: Service> Layer<S> for Bomb {
        type Service = Armed<S>;
        fn layer(&self, inner: S) -> Armed<S> {
            Armed(inner)
        }
    }
    impl<S: Service> Service for Armed<S> {
        async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
            assert!(inbound.method() != "tools/list", "boom");
            self.0.call(inbound, replies).await
        }
    }
    let server = Server::new("s", "1").layer(PanicGuard::new()).layer(Bomb).tool("t", || async {});
    let mut wire = Wire::open(&server).await;
    let answer = wire.call("tools/list", json!({})).await;
    assert_eq!(answer["error"]["code"], -32603);
    assert!(!answer.to_string().contains("boom"));
    assert!(wire.tool("t", json!({})).await.get("result").is_some());
}

#[tokio::test]
async fn the_trace_of_a_request_goes_on_to_what_its_handler_asks() {
    let ask = |cx: Context| async move {
        let params = CreateMessageRequestParams::new(vec![SamplingMessage::user("x")], 1_u64);
        Ok::<_, ToolError>(cx.sample(params).await?.model)
    };
    let traced = Spans::new().on_start(|_, incoming| {
        let mut ours = incoming.clone();
        ours.traceparent = Some("00-ours-01".into());
        (!incoming.is_empty()).then_some(ours)
    });
    let trace = json!({"traceparent": "00-theirs-01", "baggage": "k=v"});
    for (server, expected) in [
        (Server::new("s", "1"), json!("00-theirs-01")),
        (Server::new("s", "1").layer(traced), json!("00-ours-01")),
    ] {
        let server = server.tool("ask", ask);
        let mut wire = Wire::open_as(&server, "2025-11-25", json!({"sampling": {}})).await;
        let id = wire.send("tools/call", json!({"name": "ask", "_meta": trace})).await;
        let asked = wire.next().await;
        assert_eq!(asked["params"]["_meta"]["traceparent"], expected);
        assert_eq!(asked["params"]["_meta"]["baggage"], "k=v");
        let content = json!({"type": "text", "text": "x"});
        let answer = json!({"role": "assistant", "content": content, "model": "m"});
        wire.answer(&asked["id"], answer.clone()).await;
        wire.response(id).await;
        let id = wire.send("tools/call", json!({"name": "ask"})).await;
        let asked = wire.next().await;
        assert_eq!(asked["params"].get("_meta"), None);
        wire.answer(&asked["id"], answer).await;
        wire.response(id).await;
    }
}
