//! Requests of ours.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};

use expect_test::{Expect, expect};
use mcp_jsonrpc::Outgoing;
use mcp_jsonrpc::link::memory_pair;
use mcp_jsonrpc::link::v1::{Incoming, LinkError, LinkExt};
use mcp_jsonrpc::peer::DriverConfig;
use mcp_jsonrpc::service::v1::{Ask, Outlet, TrySendError};
use mcp_jsonrpc::testing::{Script, Tasks, block_on};

use crate::toy::{Side, call, play, shown, side};

fn check(expected: Expect, script: impl FnOnce(&Side, &mut Tasks) -> Script) {
    expected.assert_eq(&play(DriverConfig::new(), false, script));
}

fn request(id: i64, method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#)
}

fn result(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

// Shows: BASE-008, BASE-009
#[test]
fn each_call_gets_its_own_response_whatever_comes_first() {
    check(
        expect![[r#"
        ended: the link is closed
        over: the link is closed
        c: result 3
        a: error no (-5)
        b: result 2
    "#]],
        |side, tasks| {
            call(tasks, side, "a", "x");
            call(tasks, side, "b", "y");
            call(tasks, side, "c", "z");
            Script::new()
                .expect(&request(1, "x"))
                .expect(&request(2, "y"))
                .expect(&request(3, "z"))
                .send(result("3", "3"))
                .send(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-5,"message":"no"}}"#)
                .send(result("2.0", "2"))
        },
    );
}

// Shows: FC-002, FC-013, FC-014, BASE-014
#[test]
fn late_unknown_and_doubled_responses_are_told_and_settle_nothing() {
    check(
        expect![[r#"
        unknown response Some("1")
        unknown response Some(0)
        unknown response Some(2)
        unknown response Some(12345678901234567890)
        the peer says: Parse error (-32700)
        the peer says: Method not found (-32601)
        unknown response Some(1)
        ended: the link is closed
        over: the link is closed
        a: result 1
    "#]],
        |side, tasks| {
            call(tasks, side, "a", "x");
            Script::new()
            .expect(&request(1, "x"))
            .send(result("\"1\"", "0"))
            .send(result("0", "0"))
            .send(result("2", "0"))
            .send(result("12345678901234567890", "0"))
            .send(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#)
            .send(r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found","data":null}}"#)
            .send(result("1", "1"))
            .send(result("1", "2"))
        },
    );
}

// Shows: BASE-012, BASE-015, BASE-016, FC-003
#[test]
fn a_response_that_can_not_be_read_ends_its_call() {
    check(
        expect![[r#"
        malformed: a response has a `result` or an `error`, not both
        malformed: `error` has an integer `code` and a text `message`
        malformed: the frame is not JSON at byte 38
        malformed: the frame is not UTF-8 at byte 34
        malformed: `jsonrpc` is not "2.0"
        malformed: this revision has no batches
        answered 9 echo
        a: the response can't be read: a response has a `result` or an `error`, not both
        b: the response can't be read: `error` has an integer `code` and a text `message`
        c: the response can't be read: the frame is not JSON at byte 38
        d: the response can't be read: the frame is not UTF-8 at byte 34
        e: the response can't be read: `jsonrpc` is not "2.0"
        f: the response can't be read: this revision has no batches
        ended: the link is closed
        over: the link is closed
    "#]],
        |side, tasks| {
            for (at, name) in ["a", "b", "c", "d", "e", "f"].into_iter().enumerate() {
                call(tasks, side, name, &format!("m{at}"));
            }
            (0..6)
                .fold(Script::new(), |script, at| {
                    script.expect(&request(at + 1, &format!("m{at}")))
                })
                .send(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#)
                .send(r#"{"jsonrpc":"2.0","id":2,"error":{"code":"x","message":""}}"#)
                .send(r#"{"jsonrpc":"2.0","id":3,"result":{"x":NaN}}"#)
                .send(&b"{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":\"\x97\"}"[..])
                .send(r#"{"id":5,"result":1}"#)
                .send(r#"[{"jsonrpc":"2.0","id":6,"result":1}]"#)
                // Nobody answers responses.
                .send(r#"{"jsonrpc":"2.0","id":9,"method":"echo"}"#)
                .expect(&result("9", "{}"))
        },
    );
}

#[test]
fn who_gives_up_tells_the_peer_in_the_words_of_the_protocol() {
    check(
        expect![[r#"
        answered 0 echo
        0 pending
        next is Some(5)
        unknown response Some(1)
        unknown response Some(2)
        ended: the link is closed
        over: the link is closed
    "#]],
        |side, _| {
            let mut cx = Context::from_waker(Waker::noop());
            let mut calls: Vec<_> = ["dropped", "quiet", "explained", "answered"]
                .map(|method| side.peer.call(Ask::new(method, None)))
                .into();
            for call in &mut calls {
                assert!(Pin::new(call).poll(&mut cx).is_pending());
            }
            let ids: Vec<_> = calls.iter().map(|call| call.id().map(|id| id.to_string())).collect();
            assert_eq!(ids, ["1", "2", "3", "4"].map(|id| Some(id.to_owned())));
            let (peer, log) = (side.peer.clone(), side.log.clone());
            let (log2, peer2) = (log.clone(), peer.clone());
            let mut calls = calls.into_iter();
            let (dropped, quiet, explained) = (calls.next(), calls.next(), calls.next());
            Script::new()
                .expect(&request(1, "dropped"))
                .expect(&request(2, "quiet"))
                .expect(&request(3, "explained"))
                .expect(&request(4, "answered"))
                .send(result("4", "4"))
                // Answered only once everything before it has been received.
                .send(r#"{"jsonrpc":"2.0","id":0,"method":"echo"}"#)
                .expect(&result("0", "{}"))
                .run(move || {
                    drop(dropped);
                    drop(quiet);
                    explained.into_iter().for_each(|call| call.abandon("too slow"));
                    // Answered, but never looked at: nobody needs to be told.
                    calls.for_each(drop);
                    log.add(format_args!("{} pending", peer.pending()));
                })
                .expect(r#"{"jsonrpc":"2.0","method":"cancel","params":{"id":1,"reason":null}}"#)
                .expect(
                    r#"{"jsonrpc":"2.0","method":"cancel","params":{"id":3,"reason":"too slow"}}"#,
                )
                .send(result("1", "\"late\""))
                .send(result("2", "2"))
                .run(move || {
                    // An id is never used again.
                    let mut call = peer2.call(Ask::new("next", None));
                    assert!(
                        Pin::new(&mut call)
                            .poll(&mut Context::from_waker(Waker::noop()))
                            .is_pending()
                    );
                    log2.add(format_args!("next is {:?}", call.id()));
                    call.abandon("");
                })
        },
    );
}

#[test]
fn a_request_that_was_not_sent_is_not_taken_back_either() {
    let (link, mut far) = memory_pair(8);
    let (driver, side) = side(link, DriverConfig::new(), false);
    let mut cx = Context::from_waker(Waker::noop());
    let mut call = side.peer.call(Ask::new("x", None));
    assert!(Pin::new(&mut call).poll(&mut cx).is_pending());
    let mut kept = side.peer.call(Ask::new("y", None));
    assert!(Pin::new(&mut kept).poll(&mut cx).is_pending());
    assert_eq!(side.peer.pending(), 2);
    drop(call);
    assert_eq!(side.peer.pending(), 1);
    let mut tasks = Tasks::new();
    tasks.spawn(async move { drop(driver.run().await) });
    let first = tasks.run_until(far.recv()).unwrap().unwrap();
    let Incoming::Message(message, _) = first else { panic!("{first:?}") };
    assert_eq!(message.id(), Some(&2.into()));
    tasks.run();
    // Never polled at all: nothing happens.
    drop(side.peer.call(Ask::new("z", None)));
    drop(kept);
    let second = tasks.run_until(far.recv()).unwrap().unwrap();
    let Incoming::Message(message, _) = second else { panic!("{second:?}") };
    assert_eq!(message.method().map(|method| method.as_str().to_owned()), Some("cancel".into()));
}

/// A response may come between two polls of the call, and another may have been polled last.
#[test]
fn the_waker_of_the_last_poll_is_the_one_that_is_woken() {
    struct Flag(AtomicBool);
    impl std::task::Wake for Flag {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Release);
        }
    }
    let (link, mut far) = memory_pair(8);
    let (driver, side) = side(link, DriverConfig::new(), false);
    let flags = [0; 2].map(|_| Arc::new(Flag(AtomicBool::new(false))));
    let mut call = side.peer.call(Ask::new("x", None));
    for flag in &flags {
        let waker = Waker::from(Arc::clone(flag));
        assert!(Pin::new(&mut call).poll(&mut Context::from_waker(&waker)).is_pending());
    }
    let mut tasks = Tasks::new();
    tasks.spawn(async move { drop(driver.run().await) });
    tasks.run_until(far.send(Outgoing::result_raw(1.into(), b"1"))).unwrap().unwrap();
    tasks.run();
    assert_eq!(flags.map(|flag| flag.0.load(Ordering::Acquire)), [false, true]);
    assert_eq!(shown(&block_on(&mut call)), "result 1");
    // It is over, and says so rather than hang.
    assert_eq!(shown(&block_on(call)), "the exchange is over");
}

#[test]
fn closing_sends_what_is_queued_and_then_fails_what_waits() {
    check(
        expect![[r#"
        the link to the peer is gone: the link is closed
        ended: the link is closed
        over: the link is closed
        a: result 1
        closed: the link is closed
    "#]],
        |side, tasks| {
            call(tasks, side, "a", "x");
            let (peer, log) = (side.peer.clone(), side.log.clone());
            let watcher = (side.peer.clone(), side.log.clone());
            tasks.spawn(async move {
                let cause = watcher.0.closed().await;
                watcher.1.add(format_args!("closed: {cause}"));
            });
            Script::new()
                .send(r#"{"jsonrpc":"2.0","id":"p","method":"wait:never"}"#)
                .expect(&request(1, "x"))
                .run(move || {
                    let note = || Outgoing::notification_raw("bye".into(), None);
                    assert_eq!(peer.try_notify(note()), Ok(()));
                    peer.close();
                    assert_eq!(peer.try_notify(note()), Err(TrySendError::Closed));
                    assert!(block_on(peer.notify(note())).is_err());
                    log.add(shown(&block_on(peer.call(Ask::new("y", None)))));
                })
                // Nothing that comes now is served; but who was about to answer is heard.
                .send(r#"{"jsonrpc":"2.0","id":"q","method":"echo"}"#)
                .send("nonsense")
                .send(result("1", "1"))
                .expect(r#"{"jsonrpc":"2.0","method":"bye"}"#)
                .expect_end()
        },
    );
}

#[test]
fn a_driver_that_is_dropped_fails_everything_that_waits() {
    let (link, _far) = memory_pair(1);
    let (driver, side) = side(link, DriverConfig::new().with_max_queued(2), false);
    let mut tasks = Tasks::new();
    call(&mut tasks, &side, "a", "x");
    call(&mut tasks, &side, "b", "x");
    call(&mut tasks, &side, "waits for room", "x");
    let (peer, log) = (side.peer.clone(), side.log.clone());
    tasks.spawn(async move {
        let sent = peer.notify(Outgoing::notification_raw("n".into(), None)).await;
        log.add(format_args!("{sent:?}"));
        log.add(format_args!("closed: {}", peer.closed().await));
    });
    tasks.run();
    assert_eq!(side.log.take(), "");
    drop(driver);
    tasks.run_all().unwrap();
    expect![[r#"
        waits for room: the link to the peer is gone: the link is closed
        Err(SendError)
        closed: the link is closed
        a: the link to the peer is gone: the link is closed
        b: the link to the peer is gone: the link is closed
    "#]]
    .assert_eq(&side.log.take());
    assert!(side.peer.is_closed());
    assert_eq!(side.peer.pending(), 0);
    assert_eq!(
        shown(&block_on(side.peer.call(Ask::new("x", None)))),
        "the link to the peer is gone: the link is closed"
    );
    assert_eq!(block_on(side.peer.closed()), LinkError::Closed);
}

#[test]
fn the_end_of_the_peer_fails_calls_at_once_and_from_then_on() {
    check(
        expect![[r#"
        began "p"
        ended: the link is closed
        answered "q" ask:back
        a: the link to the peer is gone: the link is closed
        the link to the peer is gone: the link is closed
        dropped "p"
        answered "p" wait:a
        over: the link is closed
    "#]],
        |side, tasks| {
            call(tasks, side, "a", "x");
            let (peer, log, gates) = (side.peer.clone(), side.log.clone(), side.gates.clone());
            Script::new()
                .expect(&request(1, "x"))
                // It still works on something, and then asks back, which can't be answered.
                .send(r#"{"jsonrpc":"2.0","id":"p","method":"wait:a"}"#)
                .send(r#"{"jsonrpc":"2.0","id":"q","method":"ask:back"}"#)
                .expect(&request(2, "back"))
                .close()
                .expect(&result("\"q\"", r#""Err(Link(Closed))""#))
                .run(move || {
                    log.add(shown(&block_on(peer.call(Ask::new("y", None)))));
                    assert_eq!(
                        peer.try_notify(Outgoing::notification_raw("n".into(), None)),
                        Ok(())
                    );
                    gates.open("a");
                })
                .expect(r#"{"jsonrpc":"2.0","method":"n"}"#)
                .expect(&result("\"p\"", "\"a\""))
                .expect_end()
        },
    );
}
