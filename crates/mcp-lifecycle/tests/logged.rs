//! What is logged.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::disallowed_types,
    reason = "a test may fail, and its tools may share"
)]

mod common;

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::notification;
use mcp_jsonrpc::peer::{Arrival, Event as PeerEvent, Protocol};
use mcp_jsonrpc::{ErrorObject, Extensions};
use mcp_lifecycle::testing::ManualClock;
use mcp_lifecycle::{
    ClientHandle, ClientProfile, ClientSession, KeepAlive, KeepAliveConfig, Profile, ProgressTable,
    ServerSession,
};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0 += &format!("{field}={value:?} ");
    }
}

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("{} ", event.metadata().level()));
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn logged(what: impl FnOnce()) -> String {
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), what);
    let lines = lines.0.lock().unwrap();
    lines.join("\n")
}

fn client() -> ClientSession {
    let handle = ClientHandle::new(ClientProfile::new(common::implementation("c")));
    ClientSession::new(handle, None, Extensions::new())
}

// Shows: CANCEL-013
#[test]
fn the_reason_of_a_cancellation() {
    let long = "z".repeat(100_000);
    let log = logged(|| {
        let params = format!(r#"{{"requestId":7,"reason":"the user left {long}"}}"#);
        let cancel = notification("notifications/cancelled", &params);
        client().notification(&cancel, Arrival::default());
        client().abandon(&8.into(), &"tools/call".into(), Some("too slow"));
    });
    assert!(log.contains("the user left") && log.contains("id=7"), "{log}");
    assert!(log.contains("too slow") && log.contains("id=8"), "{log}");
    assert!(log.len() < 1000, "what a peer writes is cut");
}

// Shows: PING-012
#[test]
fn a_ping_without_an_answer() {
    let second = Duration::from_secs(1);
    let start = ManualClock::new().instant();
    let log = logged(|| {
        let mut keep_alive = KeepAlive::start(start, KeepAliveConfig::every(second));
        keep_alive.handle(start + second);
        keep_alive.handle(start + 20 * second);
    });
    assert!(log.contains("WARN") && log.contains("ping without an answer"), "{log}");
}

// Shows: FC-028
#[test]
fn progress_that_nobody_asked_for() {
    let log = logged(|| {
        ProgressTable::new().take(&"tool-call-4".into(), 0.0);
    });
    assert!(log.contains("DEBUG") && log.contains("tool-call-4"), "{log}");
}

// Shows: FC-002, FC-013, FC-014
#[test]
fn an_error_that_belongs_to_no_request() {
    let error = ErrorObject::new(-32700, format!("Parse error {}", "z".repeat(100_000)));
    let event = PeerEvent::PeerError { error: &error };
    let heard = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&heard);
    let mut listening = client().with_on_error(move |error| sink.lock().unwrap().push(error.code));
    let profile = Arc::new(Profile::default());
    let mut server = ServerSession::new(profile, None, None, Extensions::new());
    for machine in [&mut listening as &mut dyn Protocol, &mut server] {
        let log = logged(|| machine.observe(&event));
        assert!(log.contains("WARN") && log.contains("code=-32700"), "{log}");
        assert!(log.contains("Parse error") && log.len() < 1000, "{log}");
    }
    assert_eq!(*heard.lock().unwrap(), [-32700]);
}

#[test]
fn a_handler_that_panicked() {
    let method = "tools/call".into();
    let log = logged(|| client().observe(&PeerEvent::Panicked { method: &method }));
    assert!(log.contains("ERROR") && log.contains("tools/call"), "{log}");
}
