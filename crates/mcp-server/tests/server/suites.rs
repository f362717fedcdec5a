use std::sync::Arc;
use std::task::Poll;

use mcp_jsonrpc::Extensions;
use mcp_jsonrpc::service::v1::{Call, Inbound};
use mcp_jsonrpc::testing::into_link_suite;
use mcp_jsonrpc::{Notification, RawJson, Request};
use mcp_lifecycle::{Caller, PeerFacts, Session};
use mcp_server::layer::{ConcurrencyLimit, PanicGuard, ResponseLimit, Spans};
use mcp_server::prompt::PromptRequest;
use mcp_server::{Context, Server};
use mcp_types::Revision;
use serde_json::{Value, json};

fn plain() -> Server {
    Server::new("s", "1")
        .logging()
        .subscriptions()
        .tool("t", |cx: Context| async move {
            cx.progress().report(1.0, None).await;
            "t"
        })
        .tool("slow", || {
            let mut polls = 0;
            std::future::poll_fn(move |cx| {
                polls += 1;
                cx.waker().wake_by_ref();
                if polls < 3 { Poll::Pending } else { Poll::Ready("slow") }
            })
        })
        .resource("a:b", "r", "r")
        .prompt("p", |_: PromptRequest| async { "p" })
}

fn layered() -> Server {
    plain()
        .layer(Spans::new())
        .layer(PanicGuard::new())
        .layer(ConcurrencyLimit::new(3))
        .layer(ResponseLimit::new(1 << 20))
}

#[test]
fn a_server_is_taken_in_place_of_a_link() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let _entered = runtime.enter();
    for test in into_link_suite(|| (plain(), ())) {
        test.run();
    }
}

fn calls() -> Vec<Inbound> {
    let caller = Arc::new(Caller::new(Revision::V2025_11_25, Default::default()));
    let mut known = Extensions::new();
    known.insert(PeerFacts::new(Arc::clone(&caller)));
    known.insert_arc(Arc::new(Session::new(None, caller)));
    let request = |method: &str, params: Value| {
        let params = RawJson::from_serialize(&params).unwrap();
        Call::Request(Request::new(0, method.to_owned(), Some(params)))
    };
    let calls = [
        Call::Request(Request::new(0, "ping", None)),
        Call::Request(Request::new(0, "tools/call", None)),
        Call::Request(Request::new(0, "none/such", None)),
        request("initialize", json!({})),
        request("tools/list", json!({})),
        request("tools/list", json!({"cursor": 7})),
        request("tools/call", json!({"name": "t", "_meta": {"progressToken": 1}})),
        request("tools/call", json!({"name": "slow"})),
        request("tools/call", json!({"name": "none"})),
        request("resources/read", json!({"uri": "a:b"})),
        request("resources/subscribe", json!({"uri": "a:b"})),
        request("prompts/get", json!({"name": "p"})),
        request("completion/complete", json!({})),
        request("logging/setLevel", json!({"level": "debug"})),
        Call::Notification(Notification::new("notifications/initialized", None)),
        Call::Notification(Notification::new("notifications/roots/list_changed", None)),
        Call::Notification(Notification::new("notifications/none", None)),
    ];
    calls.into_iter().map(|call| Inbound::new(call).with_extensions(known.clone())).collect()
}

#[test]
fn a_server_keeps_the_contract_of_services() {
    for test in mcp_jsonrpc::testing::service_suite(plain, calls) {
        test.run();
    }
}

#[test]
fn a_server_behind_layers_keeps_the_contract_of_services() {
    for test in mcp_jsonrpc::testing::service_suite(layered, calls) {
        test.run();
    }
}

// Shows: BASE-033
#[tokio::test]
async fn a_server_keeps_the_contract_of_mcp_services() {
    for server in [plain(), layered(), Server::new("bare", "1")] {
        mcp_lifecycle::testing::service_suite(&server).await;
    }
}
