//! The client and our own server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_jsonrpc::Outgoing;
use mcp_jsonrpc::link::v1::{Incoming, LinkExt};
use mcp_jsonrpc::service::v1::Ask;
use mcp_transport_http::client::{HttpError, HttpLink};
use mcp_transport_http::memory::{EventLogLimits, MemoryEventLog};
use mcp_transport_http::server::{Config, Endpoint, Listener};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::host::{
    Came, ask, came, connect, meanwhile, notification, outcome_of, quick, request, result_of, why,
    within,
};
use crate::support::{Server, TestService};

fn url(addr: SocketAddr) -> String {
    format!("http://{addr}/mcp")
}

fn tool(id: i64, name: &str, arguments: &Value) -> Outgoing {
    request(id, "tools/call", &json!({"name": name, "arguments": arguments}))
}

async fn with_log() -> Server {
    let mut config = Config::new();
    config.times.retry = Duration::ZERO;
    let log = Arc::new(MemoryEventLog::new(EventLogLimits::default()));
    Server::build(move |builder| builder.config(config).event_log(log)).await
}

#[tokio::test]
async fn a_whole_conversation() {
    let server = with_log().await;
    let mut link = connect(&url(server.addr), quick()).await;
    ask(&mut link, request(1, "ping", &json!({}))).await.unwrap();
    assert_eq!(
        ask(&mut link, tool(2, "echo", &json!({"text": "ä"}))).await.unwrap(),
        json!({"text": "ä"})
    );
    link.send(tool(3, "count", &json!({"steps": 5}))).await.unwrap();
    let (outcome, before) = outcome_of(&mut link, 3).await;
    assert_eq!(outcome.unwrap(), Came::Result(3.into(), json!({"counted": 5})));
    assert_eq!(before.len(), 5);

    // The server asks within a call, ten times at once.
    for id in 10..20 {
        link.send(tool(id, "ask", &json!({}))).await.unwrap();
    }
    let mut done = 0;
    while done < 10 {
        match came(&within(link.recv()).await.unwrap()) {
            Came::Request(id, method) => {
                assert_eq!(method, "sampling/createMessage");
                link.send(Outgoing::result(id, &json!({"role": "assistant"})).unwrap())
                    .await
                    .unwrap();
            }
            Came::Result(_, result) => {
                assert_eq!(result, json!({"answer": {"role": "assistant"}}));
                done += 1;
            }
            other => panic!("{other:?}"),
        }
    }

    // The server asks of its own accord.
    let outlet = server.controls.outlet();
    let asking = tokio::spawn(async move { outlet.ask(Ask::new("roots/list", None)).await });
    let Came::Request(id, method) = came(&within(link.recv()).await.unwrap()) else { panic!() };
    assert_eq!(method, "roots/list");
    link.send(Outgoing::result(id, &json!({"roots": []})).unwrap()).await.unwrap();
    let mut kept = Vec::new();
    let answer = meanwhile(&mut link, &mut kept, asking).await.unwrap().unwrap();
    assert_eq!(answer.outcome.unwrap().as_str(), r#"{"roots":[]}"#);

    // A call is given up, and the server hears of it.
    link.send(tool(30, "careful", &json!({}))).await.unwrap();
    meanwhile(&mut link, &mut kept, server.controls.noted("careful begun")).await;
    let notice = Outgoing::notification(
        "notifications/cancelled".into(),
        Some(&json!({"requestId": 30, "reason": "enough"})),
    );
    link.abandon_now(30, notice.unwrap());
    meanwhile(&mut link, &mut kept, server.controls.noted("careful noticed")).await;
    assert_eq!(kept, []);
    within(link.close()).await.unwrap();
}

trait Abandon {
    fn abandon_now(&mut self, id: i64, notice: Outgoing);
}

impl Abandon for HttpLink {
    fn abandon_now(&mut self, id: i64, notice: Outgoing) {
        mcp_jsonrpc::link::v1::Link::abandon(self, &id.into(), Some(notice)).unwrap();
    }
}

/// Passes bytes on, and cuts the connection of a call after so many bytes of its answer.
struct Relay {
    addr: SocketAddr,
    after: Arc<AtomicUsize>,
    passed: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Relay {
    async fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let after = Arc::new(AtomicUsize::new(usize::MAX));
        let passed = Arc::new(AtomicUsize::new(0));
        let (limit, count) = (Arc::clone(&after), Arc::clone(&passed));
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (near, _) = listener.accept().await.unwrap();
                connections.spawn(relay(near, to, Arc::clone(&limit), Arc::clone(&count)));
            }
        });
        Self { addr, after, passed, task }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn relay(
    mut near: TcpStream,
    to: SocketAddr,
    after: Arc<AtomicUsize>,
    passed: Arc<AtomicUsize>,
) {
    let mut far = TcpStream::connect(to).await.unwrap();
    near.set_nodelay(true).unwrap();
    far.set_nodelay(true).unwrap();
    // Bytes of the answer to a call that may still pass.
    let mut left: Option<usize> = None;
    let (mut up, mut down) = (vec![0; 16 << 10], vec![0; 16 << 10]);
    loop {
        tokio::select! {
            read = near.read(&mut up) => {
                let Ok(read @ 1..) = read else { return };
                let bytes = &up[..read];
                if bytes.windows(10).any(|window| window == b"tools/call") {
                    left = Some(after.load(Ordering::SeqCst));
                    passed.store(0, Ordering::SeqCst);
                }
                if far.write_all(bytes).await.is_err() {
                    return;
                }
                // Nothing of the answer passes, but the server has it.
                if left == Some(0) {
                    let _ = far.readable().await;
                    return;
                }
            }
            read = far.read(&mut down) => {
                let Ok(read @ 1..) = read else { return };
                let pass = left.map_or(read, |left| left.min(read));
                if near.write_all(&down[..pass]).await.is_err() {
                    return;
                }
                if let Some(left) = &mut left {
                    *left -= pass;
                    passed.fetch_add(pass, Ordering::SeqCst);
                    if *left == 0 {
                        return;
                    }
                }
            }
        }
    }
}

// Shows: TRANSPORT-HTTP-018, TRANSPORT-HTTP-026, TRANSPORT-RESUME-007
#[tokio::test]
async fn a_call_survives_a_cut_after_any_byte_of_our_servers_answer() {
    let server = with_log().await;
    let relay = Relay::start(server.addr).await;
    let mut link = connect(&url(relay.addr), quick()).await;
    let whole: Vec<Came> = (1..=3)
        .map(|n| {
            let params = json!({"progressToken": "t", "progress": n});
            Came::Notification("notifications/progress".to_owned(), params)
        })
        .collect();
    let count = tool(1, "count", &json!({"steps": 3}));
    link.send(count.clone()).await.unwrap();
    let (outcome, before) = outcome_of(&mut link, 1).await;
    assert!(outcome.is_ok());
    assert_eq!(before, whole);
    let length = relay.passed.load(Ordering::SeqCst);
    assert!(length > 500, "{length}");
    let (mut survived, mut told) = (0, 0);
    for cut in 0..length {
        relay.after.store(cut, Ordering::SeqCst);
        link.send(count.clone()).await.unwrap();
        let (outcome, before) = outcome_of(&mut link, 1).await;
        match outcome {
            Ok(came) => {
                assert_eq!(came, Came::Result(1.into(), json!({"counted": 3})), "cut at {cut}");
                assert_eq!(before, whole, "cut at {cut}");
                survived += 1;
            }
            Err(cause) => {
                // Only before the priming event is there nothing to resume from.
                let error = why(&cause);
                assert!(
                    matches!(error, HttpError::Broken(_) | HttpError::NoResponse(_)),
                    "cut at {cut}: {error:?}"
                );
                assert_eq!((&*before, survived), (&[][..], 0), "cut at {cut}");
                told += 1;
            }
        }
    }
    assert_eq!(survived + told, length);
    assert!(survived > told, "{survived} of {length}");
    relay.after.store(usize::MAX, Ordering::SeqCst);
    ask(&mut link, request(2, "ping", &json!({}))).await.unwrap();
}

// Shows: TRANSPORT-HTTP-018
#[tokio::test]
async fn a_call_whose_connection_our_server_lets_go_is_polled_for() {
    let server = with_log().await;
    let mut link = connect(&url(server.addr), quick()).await;
    link.send(tool(1, "suspend", &json!({}))).await.unwrap();
    let note = came(&within(link.recv()).await.unwrap());
    assert!(matches!(note, Came::Notification(..)), "{note:?}");
    server.controls.open("answer");
    assert_eq!(result_of(&mut link, 1).await.unwrap(), json!({"resumed": true}));
}

#[tokio::test]
async fn a_server_that_starts_anew_under_a_client_is_gone_on_with() {
    let server = with_log().await;
    let addr = server.addr;
    let mut config = quick();
    config.reconnect.attempts = 1000;
    let mut link = connect(&url(addr), config).await;
    ask(&mut link, request(1, "ping", &json!({}))).await.unwrap();
    link.send(tool(2, "linger", &json!({}))).await.unwrap();
    let note = came(&within(link.recv()).await.unwrap());
    assert!(matches!(note, Came::Notification(..)), "{note:?}");
    drop(server);

    let controls = Arc::default();
    let endpoint = Endpoint::builder(TestService { controls }).build();
    let listener = loop {
        // The old listener is closed by its task.
        match Listener::bind(endpoint.clone(), addr).await {
            Ok(listener) => break listener,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let again = tokio::spawn(listener.run(std::future::pending()));
    link.send(request(3, "tools/list", &json!({}))).await.unwrap();
    let (mut listed, mut lost) = (false, false);
    while !(listed && lost) {
        match within(link.recv()).await.unwrap() {
            Incoming::StreamEnded { id, cause } => {
                assert_eq!(id, 2.into());
                // The call ran in a session that is no more.
                assert!(
                    matches!(why(&cause), HttpError::SessionLost { unread: false, .. }),
                    "{cause:?}"
                );
                lost = true;
            }
            incoming => match came(&incoming) {
                Came::Result(id, _) if id == 3.into() => listed = true,
                other => panic!("{other:?}"),
            },
        }
    }
    ask(&mut link, tool(4, "echo", &json!({}))).await.unwrap();
    within(link.close()).await.unwrap();
    again.abort();
}

#[tokio::test]
async fn events_that_our_server_has_lost_fail_the_call_and_not_the_session() {
    let mut config = Config::new();
    config.times.retry = Duration::from_millis(50);
    let mut limits = EventLogLimits::default();
    limits.session_events = 4;
    let log = Arc::new(MemoryEventLog::new(limits));
    let server = Server::build(move |builder| builder.config(config).event_log(log)).await;
    let relay = Relay::start(server.addr).await;
    // Some bytes behind the head: a part of the stream.
    let mut link = connect(&url(relay.addr), quick()).await;
    relay.after.store(330, Ordering::SeqCst);
    link.send(tool(1, "count", &json!({"steps": 20}))).await.unwrap();
    let (outcome, before) = outcome_of(&mut link, 1).await;
    let gap = before.iter().any(|came| matches!(came, Came::Error(None, ..)));
    // Whatever was lost is said to be, and what is there comes.
    assert!(gap, "{before:?}");
    match outcome {
        Ok(came) => assert_eq!(came, Came::Result(1.into(), json!({"counted": 20}))),
        Err(cause) => assert!(matches!(why(&cause), HttpError::EventsLost), "{cause:?}"),
    }
    ask(&mut link, request(2, "ping", &json!({}))).await.unwrap();
}

#[tokio::test]
async fn a_server_without_sessions_is_spoken_to() {
    let server =
        Server::with(|config| config.sessions = mcp_transport_http::server::Sessions::Off).await;
    let mut link = connect(&url(server.addr), quick()).await;
    ask(&mut link, tool(1, "echo", &json!({}))).await.unwrap();
    link.send(notification("notifications/roots/list_changed")).await.unwrap();
    within(link.close()).await.unwrap();
}

#[tokio::test]
async fn every_revision_is_spoken_with_our_server() {
    for version in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let server = with_log().await;
        let mut link = crate::host::link_to(&url(server.addr), quick());
        let params = json!({
            "protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "host", "version": "1"},
        });
        let result = ask(&mut link, request(0, "initialize", &params)).await.unwrap();
        assert_eq!(result["protocolVersion"], version);
        link.send(notification("notifications/initialized")).await.unwrap();
        link.send(tool(1, "count", &json!({"steps": 2}))).await.unwrap();
        let (outcome, before) = outcome_of(&mut link, 1).await;
        assert!(outcome.is_ok());
        assert_eq!(before.len(), 2);
        within(link.close()).await.unwrap();
    }
}
