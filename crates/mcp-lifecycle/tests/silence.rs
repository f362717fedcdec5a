//! A server that says nothing, and a client that has had enough.

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

use std::pin::Pin;
use std::time::Duration;

use common::implementation;
use common::script::{Script, until_idle};
use mcp_jsonrpc::link::v1::LinkError;
use mcp_jsonrpc::peer::{Driver, DriverConfig, Peer};
use mcp_jsonrpc::service::v1::{Ask, AskError};
use mcp_jsonrpc::{Extensions, RawJson};
use mcp_lifecycle::testing::{BareServer, ManualClock};
use mcp_lifecycle::{
    ClientHandle, ClientPhase, ClientProfile, ClientSession, Deadline, Profile, TimedOut, Timeouts,
};

const SECOND: Duration = Duration::from_secs(1);

struct Client {
    script: Script,
    handle: ClientHandle,
    peer: Peer,
    driver: Pin<Box<dyn Future<Output = LinkError>>>,
}

fn client() -> Client {
    let handle = ClientHandle::new(ClientProfile::new(implementation("c")));
    let script = Script::default();
    let service = BareServer::new(Profile::default());
    let machine = handle.clone();
    let (driver, peer) = Driver::new(script.clone(), service, DriverConfig::new(), |outlet| {
        ClientSession::new(machine, Some(outlet), Extensions::new())
    });
    Client { script, handle, peer, driver: Box::pin(driver.run()) }
}

impl Client {
    fn work(&mut self) -> Option<LinkError> {
        until_idle(self.driver.as_mut())
    }

    fn hello(&self) -> Ask {
        let params = RawJson::from_serialize(&self.handle.hello().unwrap()).unwrap();
        Ask::new("initialize", Some(params))
    }
}

// Shows: LIFE-002, LIFE-040, CANCEL-003, FC-032
#[test]
fn a_silent_server_is_left_without_a_word() {
    let clock = ManualClock::new();
    let mut client = client();
    let mut call = Box::pin(client.peer.call(client.hello()));
    let deadline = Deadline::start(clock.instant(), Timeouts::new().with_idle(5 * SECOND));
    assert!(until_idle(call.as_mut()).is_none());
    client.work();
    let sent = client.script.take();
    assert!(sent.len() == 1 && sent[0].contains(r#""method":"initialize""#), "{sent:?}");

    clock.advance(5 * SECOND);
    assert_eq!(deadline.expired(clock.instant()), Some(TimedOut::Idle { limit: 5 * SECOND }));
    drop(call);
    client.handle.close();
    client.peer.close();
    assert!(client.work().is_some(), "the link is closed");
    assert_eq!(client.script.take(), Vec::<String>::new());
    assert_eq!(client.handle.phase(), ClientPhase::Closed);
}

// Shows: LIFE-033, LIFE-034, CANCEL-002, CANCEL-018, PROGRESS-010
#[test]
fn a_call_that_takes_too_long_is_canceled_and_its_answer_ignored() {
    let clock = ManualClock::new();
    let mut client = client();
    let mut hello = Box::pin(client.peer.call(client.hello()));
    assert!(until_idle(hello.as_mut()).is_none());
    client.work();
    let id = hello.id().unwrap();
    client.script.send(format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
    ));
    client.work();
    let response = until_idle(hello.as_mut()).unwrap().unwrap();
    client.handle.conclude(&response).unwrap();
    client.script.take();

    // Asked for progress, and got none.
    let params = r#"{"name":"t","_meta":{"progressToken":1}}"#;
    let ask = Ask::new("tools/call", Some(common::raw(params)));
    let mut call = Box::pin(client.peer.call(ask));
    let deadline = Deadline::start(clock.instant(), Timeouts::new());
    assert!(until_idle(call.as_mut()).is_none());
    client.work();
    client.script.take();
    let id = call.id().unwrap();
    clock.advance(Timeouts::IDLE);
    let limit = deadline.expired(clock.instant()).unwrap().limit();
    (*Pin::into_inner(call)).abandon(format!("no answer within {} s", limit.as_secs()));
    client.work();
    assert_eq!(
        client.script.take(),
        [format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"reason":"no answer within 60 s","requestId":{id}}}}}"#
        )]
    );
    client.script.send(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#));
    client.work();
    assert_eq!((client.peer.pending(), client.script.take()), (0, Vec::new()));
    assert_eq!(client.handle.phase(), ClientPhase::Operating);
}

// Shows: LIFE-038
#[test]
fn what_waits_fails_when_the_server_is_gone() {
    let mut client = client();
    let mut call = Box::pin(client.peer.call(client.hello()));
    assert!(until_idle(call.as_mut()).is_none());
    client.work();
    client.script.end();
    assert!(client.work().is_some());
    let error = until_idle(call.as_mut()).unwrap().unwrap_err();
    assert!(matches!(error, AskError::Link(_)), "{error}");
    assert_eq!(client.handle.phase(), ClientPhase::Closed);
}
