//! Requests and notifications of the peer.

use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

use expect_test::{Expect, expect};
use mcp_jsonrpc::Outgoing;
use mcp_jsonrpc::peer::DriverConfig;
use mcp_jsonrpc::service::v1::{Ask, TrySendError};
use mcp_jsonrpc::testing::{Script, Tasks, block_on};

use crate::toy::{Side, play, shown};

fn check(expected: Expect, script: impl FnOnce(&Side) -> Script) {
    check_with(DriverConfig::new(), false, expected, |side, _| script(side));
}

fn check_with(
    config: DriverConfig,
    batches: bool,
    expected: Expect,
    script: impl FnOnce(&Side, &mut Tasks) -> Script,
) {
    expected.assert_eq(&play(config, batches, script));
}

fn request(id: &str, method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#)
}

fn note(method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#)
}

fn cancel(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"cancel","params":{{"id":{id}}}}}"#)
}

fn result(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

fn error(id: &str, code: i64, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#)
}

// Shows: BASE-009, BASE-021, BASE-023, BASE-025, FC-011, FC-015
#[test]
fn requests_are_answered_and_notifications_are_not() {
    check(
        expect![[r#"
        began 1
        began "1"
        notified of some/notification
        answered "007" echo
        answered 2 unknown
        answered 4 bad-result
        answered 5 silence by silence
        dropped "1"
        answered "1" wait:b
        dropped 1
        answered 1 wait:a
        ended: the link is closed
        over: the link is closed
    "#]],
        |side| {
            let gates = side.gates.clone();
            Script::new()
                .send(request("1", "wait:a"))
                .send(request("\"1\"", "wait:b"))
                .send(note("some/notification"))
                .send(note("drop"))
                .send(request("\"007\"", "echo"))
                .expect_bytes(r#"{"jsonrpc":"2.0","id":"007","result":{}}"#)
                .send(request("2", "unknown"))
                .expect(&error("2", -32601, "method not found: unknown"))
                .send(request("3", "refuse"))
                .expect(&error("3", -1, "refused"))
                .send(request("4", "bad-result"))
                .expect(&error("4", -32603, "the result can't be written as JSON"))
                .send(request("5", "silence"))
                .run(move || {
                    gates.open("b");
                    gates.open("a");
                })
                .expect(&result("\"1\"", "\"b\""))
                .expect(&result("1", "\"a\""))
                .close()
                .expect_end()
        },
    );
}

// Shows: FC-001, FC-002, FC-012, BASE-013, BASE-019, BASE-020, BASE-025
#[test]
fn what_is_no_message_costs_only_itself() {
    check(
        expect![[r#"
        malformed: the frame is not JSON at byte 1
        malformed: `id` is neither a text nor an integer
        malformed: `params` is not an object
        malformed: `params` is not an object
        malformed: a result names its request by an `id`
        answered 8 echo
        ended: the link is closed
        over: the link is closed
    "#]],
        |_| {
            Script::new()
            .send("not json")
            .expect(r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"the frame is not JSON at byte 1"}}"#)
            .send(r#"{"jsonrpc":"2.0","id":null,"method":"echo"}"#)
            .expect(r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"`id` is neither a text nor an integer"}}"#)
            .send(r#"{"jsonrpc":"2.0","id":7,"method":"echo","params":[]}"#)
            .expect(&error("7", -32600, "`params` is not an object"))
            .send(r#"{"jsonrpc":"2.0","method":"some/notification","params":[]}"#)
            .send(r#"{"jsonrpc":"2.0","result":{}}"#)
            .send(request("8", "echo"))
            .expect(&result("8", "{}"))
        },
    );
}

#[test]
fn a_canceled_request_learns_of_it_and_is_never_answered() {
    check(
        expect![[r#"
        began 2
        heard that 1 is canceled
        Err(SendError)
        canceled 1
        dropped 2
        canceled 2
        answered 2 echo
        answered 3 echo
        ended: the link is closed
        over: the link is closed
    "#]],
        |side| {
            let gates = side.gates.clone();
            Script::new()
                .send(request("1", "polite"))
                .send(request("2", "wait:a"))
                .send(cancel("1"))
                .send(cancel("2"))
                // It may have crossed the answer, or name nothing.
                .send(cancel("2"))
                .send(cancel("\"2\""))
                .send(note("cancel"))
                // The id is free again.
                .send(request("2", "echo"))
                .expect(&result("2", "{}"))
                .run(move || gates.open("a"))
                .send(request("3", "echo"))
                .expect(&result("3", "{}"))
                .close()
                .expect_end()
        },
    );
}

#[test]
fn an_id_that_is_in_flight_is_not_taken_twice() {
    check(
        expect![[r#"
        began 1
        dropped 1
        answered 1 wait:a
        answered 1 echo
        ended: the link is closed
        over: the link is closed
    "#]],
        |side| {
            let gates = side.gates.clone();
            Script::new()
                .send(request("1", "wait:a"))
                .send(request("1", "echo"))
                .expect(&error("1", -32600, "a request with this id is being served"))
                .run(move || gates.open("a"))
                .expect(&result("1", "\"a\""))
                .send(request("1", "echo"))
                .expect(&result("1", "{}"))
        },
    );
}

// Shows: BASE-023
#[test]
fn a_service_that_panics_costs_one_exchange() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    check(
        expect![[r#"
        panicked in panic
        answered 1 panic
        notified of panic
        panicked in panic
        panicked in panic-late:a
        answered 2 panic-late:a
        canceled 3
        answered 4 echo
        ended: the link is closed
        over: the link is closed
    "#]],
        |side| {
            let gates = side.gates.clone();
            Script::new()
                .send(request("1", "panic"))
                .expect(&error("1", -32603, "internal error"))
                .send(note("panic"))
                // A panic when it is dropped: in the end, and by a cancellation.
                .send(request("2", "panic-late:a"))
                .send(request("3", "panic-late:b"))
                .run(move || gates.open("a"))
                .expect(&error("2", -32603, "internal error"))
                .send(cancel("3"))
                .send(request("4", "echo"))
                .expect(&result("4", "{}"))
                .close()
                .expect_end()
        },
    );
    std::panic::set_hook(hook);
}

#[test]
fn an_answer_that_is_none_is_not_passed_off_as_one() {
    check(
        expect![[r#"
        answered 1 other-id
        answered 2 no-response
        ended: the link is closed
        over: the link is closed
    "#]],
        |_| {
            Script::new()
                .send(request("1", "other-id"))
                .expect(&error("1", -32603, "no response was made"))
                .send(request("2", "no-response"))
                .expect(&error("2", -32603, "no response was made"))
        },
    );
}

#[test]
fn what_an_exchange_sends_comes_before_its_answer_and_nothing_after() {
    check(
        expect![[r#"
        answered 1 notes:3
        answered 2 keep
        Err(SendError)
        the exchange is over
        answered 3 echo
        ended: the link is closed
        over: the link is closed
    "#]],
        |side| {
            let (kept, log) = (std::sync::Arc::clone(&side.kept), side.log.clone());
            Script::new()
                .send(request("1", "notes:3"))
                .expect(&note("note:0"))
                .expect(&note("note:1"))
                .expect(&note("note:2"))
                .expect(&result("1", "\"3\""))
                .send(request("2", "keep"))
                .expect(&result("2", "\"\""))
                .run(move || {
                    // A task that outlives the exchange.
                    let replies = kept.lock().unwrap_or_else(PoisonError::into_inner).remove(0);
                    let late = || Outgoing::notification_raw("late".into(), None);
                    assert_eq!(replies.try_notify(late()), Err(TrySendError::Closed));
                    log.add(format_args!("{:?}", block_on(replies.notify(late()))));
                    log.add(shown(&block_on(replies.ask(Ask::new("late", None)))));
                })
                .send(request("3", "echo"))
                .expect(&result("3", "{}"))
        },
    );
}

/// A task that a handler has left behind waits for an answer that the exchange wanted.
#[test]
fn what_an_exchange_has_asked_ends_with_it() {
    check_with(
        DriverConfig::new(),
        false,
        expect![[r#"
        answered 2 echo
        answered 1 keep-wait:end
        the exchange is over
        unknown response Some(1)
        ended: the link is closed
        over: the link is closed
    "#]],
        |side, tasks| {
            let (kept, log) = (std::sync::Arc::clone(&side.kept), side.log.clone());
            let (gates, go, end) = (side.gates.clone(), side.gates.clone(), side.gates.clone());
            tasks.spawn(async move {
                gates.pass("go").await;
                let replies = kept.lock().unwrap_or_else(PoisonError::into_inner).remove(0);
                log.add(shown(&replies.ask(Ask::new("question", None)).await));
            });
            Script::new()
                .send(request("1", "keep-wait:end"))
                .send(request("2", "echo"))
                .expect(&result("2", "{}"))
                .run(move || go.open("go"))
                .expect(&request("1", "question"))
                .run(move || end.open("end"))
                .expect(&result("1", "\"end\""))
                .expect(r#"{"jsonrpc":"2.0","method":"cancel","params":{"id":1,"reason":null}}"#)
                .send(result("1", "\"late\""))
        },
    );
}

// Shows: FC-025
#[test]
fn nested_questions_are_answered_while_everything_else_goes_on() {
    check_with(
        DriverConfig::new().with_max_exchanges(3),
        false,
        expect![[r#"
            dropped n
            answered "1" ask:question
            answered "0" ask:question
            answered "2" ask:question
            ended: the link is closed
            over: the link is closed
        "#]],
        |_, _| {
            let script = (0..3).fold(Script::new(), |script, at| {
                script.send(request(&format!("\"{at}\""), "ask:question"))
            });
            let script = (0..3).fold(script, |script, at| {
                script.expect(&request(&(at + 1).to_string(), "question"))
            });
            // Full; answers to our questions don't wait behind that.
            let script = script
                .send(request("9", "echo"))
                .expect(&error("9", -32603, "too many requests at once"))
                .send(note("n"));
            [2, 1, 3].into_iter().fold(script, |script, id| {
                script
                    .send(result(&id.to_string(), "true"))
                    .expect(&result(&format!("\"{}\"", id - 1), r#""Ok(Ok(true))""#))
            })
        },
    );
}

#[test]
fn an_exchange_that_never_rests_leaves_others_their_turn() {
    let (link, mut far) = mcp_jsonrpc::link::memory_pair(8);
    let (driver, _side) = crate::toy::side(link, DriverConfig::new(), false);
    let spin = Outgoing::request_raw(1.into(), "spin".into(), None);
    block_on(mcp_jsonrpc::link::v1::LinkExt::send(&mut far, spin)).unwrap();
    let mut run = std::pin::pin!(driver.run());
    let mut cx = Context::from_waker(Waker::noop());
    // If it took over, this poll would never come back.
    assert!(run.as_mut().poll(&mut cx).is_pending());
    let cancel = mcp_jsonrpc::RawJson::new(r#"{"id":1}"#).unwrap();
    let cancel = Outgoing::notification_raw("cancel".into(), Some(&cancel));
    block_on(mcp_jsonrpc::link::v1::LinkExt::send(&mut far, cancel)).unwrap();
    assert!(run.as_mut().poll(&mut cx).is_pending());
}

/// More often than a poll of the driver has patience for.
#[test]
fn an_exchange_that_wakes_itself_is_polled_again() {
    check(
        expect![[r#"
        answered 2 yield:1
        answered 1 yield:1000
        ended: the link is closed
        over: the link is closed
    "#]],
        |_| {
            Script::new()
                .send(request("1", "yield:1000"))
                .send(request("2", "yield:1"))
                .expect(&result("2", "\"1\""))
                .expect(&result("1", "\"1000\""))
        },
    );
}

#[test]
fn a_peer_that_has_closed_its_side_gets_what_it_asked_for() {
    check(
        expect![[r#"
        began 1
        answered 2 notes:1
        ended: the link is closed
        dropped 1
        answered 1 wait:a
        over: the link is closed
    "#]],
        |side| {
            let gates = side.gates.clone();
            Script::new()
                .send(request("1", "wait:a"))
                .send(request("2", "notes:1"))
                .close()
                .expect(&note("note:0"))
                .expect(&result("2", "\"1\""))
                .run(move || gates.open("a"))
                .expect(&result("1", "\"a\""))
                .expect_end()
        },
    );
}

#[test]
fn what_is_open_when_the_time_is_up_is_dropped() {
    let limit = crate::toy::Gates::default();
    let config = {
        let limit = limit.clone();
        DriverConfig::new().with_drain(move || {
            let limit = limit.clone();
            Box::pin(async move { limit.pass("time").await })
        })
    };
    check_with(
        config,
        true,
        expect![[r#"
        began 1
        began 2
        answered 3 echo
        ended: the link is closed
        dropped 1
        dropped 2
        over: the link is closed
    "#]],
        |_, _| {
            Script::new()
                .send(request("1", "wait:a"))
                // Of a batch, what was answered is sent.
                .send(format!("[{},{}]", request("2", "wait:a"), request("3", "echo")))
                .close()
                .run(move || limit.open("time"))
                .expect(&format!("[{}]", result("3", "{}")))
                .expect_end()
        },
    );
}

/// The peer closes its side, and doesn't read what it gets.
#[test]
fn the_time_limit_holds_for_what_nobody_takes() {
    let (link, far) = mcp_jsonrpc::link::memory_pair(1);
    let limit = crate::toy::Gates::default();
    let config = {
        let limit = limit.clone();
        DriverConfig::new().with_drain(move || {
            let limit = limit.clone();
            Box::pin(async move { limit.pass("time").await })
        })
    };
    let (driver, side) = crate::toy::side(link, config, false);
    let mut tasks = Tasks::new();
    let log = side.log.clone();
    tasks.spawn(async move { log.add(driver.run().await) });
    tasks.spawn(async move {
        let mut far = far;
        for id in 0..5 {
            let request = Outgoing::request_raw(id.into(), "echo".into(), None);
            mcp_jsonrpc::link::v1::LinkExt::send(&mut far, request).await.unwrap();
        }
        mcp_jsonrpc::link::v1::LinkExt::close(&mut far).await.unwrap();
        std::future::pending::<()>().await;
    });
    tasks.run();
    assert_eq!(tasks.open(), 2);
    limit.open("time");
    tasks.run();
    assert_eq!(tasks.open(), 1);
    assert!(side.log.take().ends_with("ended: the link is closed\nthe link is closed\n"));
}

// Shows: FC-017, BASE-028
#[test]
fn a_batch_is_answered_by_one_array_once_all_of_it_is_done() {
    check_with(
        DriverConfig::new(),
        true,
        expect![[r#"
        began 1
        notified of some/notification
        malformed: a message is an object
        answered 2 echo
        malformed: `params` is not an object
        malformed: a response has a `result` or an `error`, not both
        began 3
        answered 5 silence by silence
        answered 9 echo
        ours: result {"for":"us"}
        dropped 3
        canceled 3
        dropped 1
        answered 1 wait:a
        notified of n
        unknown response Some(7)
        answered 5 silence by silence
        answered 9 echo
        malformed: a batch is not empty
        ended: the link is closed
        over: the link is closed
    "#]],
        |side, tasks| {
            crate::toy::call(tasks, side, "ours", "x");
            let gates = side.gates.clone();
            let members = [
                request("1", "wait:a"),
                note("some/notification"),
                "1".into(),
                request("2", "echo"),
                result("1", "{\"for\":\"us\"}"),
                r#"{"jsonrpc":"2.0","method":"n","params":1}"#.into(),
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#.into(),
                request("3", "wait:never"),
                request("4", "refuse"),
                request("5", "silence"),
                request("1", "echo"),
            ];
            Script::new()
            .expect(&request("1", "x"))
            .send(format!("[{}]", members.join(",")))
            .send(request("9", "echo"))
            .expect(&result("9", "{}"))
            .run(move || gates.open("a"))
            // One member is never answered, so all of it waits for its end.
            .send(cancel("3"))
            .expect(&format!(
                "[{}]",
                [
                    r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"a message is an object"}}"#.into(),
                    result("2", "{}"),
                    error("4", -1, "refused"),
                    error("1", -32600, "a request with this id is being served"),
                    result("1", "\"a\""),
                ]
                .join(",")
            ))
            // Nothing in these wants an answer.
            .send(format!("[{},{}]", note("n"), result("7", "1")))
            .send(format!("[{}]", request("5", "silence")))
            .send(request("9", "echo"))
            .expect(&result("9", "{}"))
            .send("[]")
            .expect(r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"a batch is not empty"}}"#)
            .close()
            .expect_end()
        },
    );
}

// Shows: FC-017, BASE-028
#[test]
fn where_there_are_no_batches_nothing_of_one_is_run() {
    check_with(
        DriverConfig::new(),
        false,
        expect![[r#"
        malformed: this revision has no batches
        malformed: this revision has no batches
        malformed: this revision has no batches
        answered 9 echo
        ours: the response can't be read: this revision has no batches
        ended: the link is closed
        over: the link is closed
    "#]],
        |side, tasks| {
            crate::toy::call(tasks, side, "ours", "x");
            let refusal = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"this revision has no batches"}}"#;
            Script::new()
                .expect(&request("1", "x"))
                .send(format!("[{},{}]", request("1", "echo"), note("n")))
                .expect(refusal)
                .send(format!("[{}]", note("n")))
                .expect(refusal)
                // Nobody answers responses; but who waits for one learns that it can't be read.
                .send(format!("[{}]", result("1", "1")))
                .send(request("9", "echo"))
                .expect(&result("9", "{}"))
        },
    );
}

/// Ready at once, however often it is asked.
#[test]
fn a_poll_of_nothing_is_nothing() {
    let (link, _far) = mcp_jsonrpc::link::memory_pair(8);
    let (driver, _side) = crate::toy::side(link, DriverConfig::new(), false);
    let mut run = std::pin::pin!(driver.run());
    for _ in 0..10 {
        assert_eq!(run.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending);
    }
}
