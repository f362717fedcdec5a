//! Every bound, reached.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use expect_test::expect;
use mcp_jsonrpc::link::v1::{Incoming, LinkExt};
use mcp_jsonrpc::link::{MemoryLink, memory_pair};
use mcp_jsonrpc::peer::{DriverConfig, PendingCall};
use mcp_jsonrpc::service::v1::{Ask, AskError, Outlet, TrySendError};
use mcp_jsonrpc::testing::{Faults, Faulty, Tasks, block_on};
use mcp_jsonrpc::{Message, Outgoing, RawJson, RequestId};

use crate::toy::{call, shown, side};

fn note(method: &str) -> Outgoing {
    Outgoing::notification_raw(method.into(), None)
}

/// What a peer that now reads gets, in short.
fn read_all(tasks: &mut Tasks, far: &mut MemoryLink) -> Vec<String> {
    let mut all = Vec::new();
    loop {
        tasks.run();
        let polled =
            Pin::new(&mut Box::pin(far.recv())).poll(&mut Context::from_waker(Waker::noop()));
        match polled {
            Poll::Ready(Ok(Incoming::Message(message, _))) => all.push(match message {
                Message::Request(request) => format!("{} {}", request.id, request.method),
                Message::Notification(notification) => notification.method.to_string(),
                Message::Response(response) => format!(
                    "{} {}",
                    response.id.map_or("?".into(), |id| id.to_string()),
                    if response.outcome.is_ok() { "ok" } else { "error" }
                ),
                _ => "something new".into(),
            }),
            Poll::Ready(other) => all.push(format!("{other:?}")),
            Poll::Pending => return all,
        }
    }
}

#[test]
fn who_finds_the_queue_full_waits_or_is_told_and_goes_on_in_turn() {
    let (link, mut far) = memory_pair(1);
    let (driver, side) = side(link, DriverConfig::new().with_max_queued(3), false);
    let mut tasks = Tasks::new();
    tasks.spawn(async move { drop(driver.run().await) });
    for at in 0..4 {
        assert_eq!(side.peer.try_notify(note(&format!("n{at}"))), Ok(()));
        tasks.run();
    }
    assert_eq!(side.peer.try_notify(note("too many")), Err(TrySendError::Full));
    // Of all kinds, in turn.
    for (at, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
        if at % 2 == 0 {
            call(&mut tasks, &side, name, name);
        } else {
            let peer = side.peer.clone();
            tasks.spawn(async move { peer.notify(note(name)).await.unwrap() });
        }
    }
    // Somebody who gives up while waiting takes nobody's turn.
    let mut gone = Box::pin(side.peer.notify(note("gone")));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(gone.as_mut().poll(&mut cx).is_pending());
    drop(gone);
    tasks.run();
    expect![[r#"
        n0
        n1
        n2
        n3
        1 a
        b
        2 c
        d"#]]
    .assert_eq(&read_all(&mut tasks, &mut far).join("\n"));
}

/// Who was woken for room and goes away hands it to the next one.
#[test]
fn room_is_handed_on() {
    for waits in [false, true] {
        let (link, mut far) = memory_pair(1);
        let (driver, side) = side(link, DriverConfig::new().with_max_queued(1), false);
        let mut tasks = Tasks::new();
        tasks.spawn(async move { drop(driver.run().await) });
        for name in ["0", "1"] {
            assert_eq!(side.peer.try_notify(note(name)), Ok(()));
            tasks.run();
        }
        let mut cx = Context::from_waker(Waker::noop());
        // A notification and a call, both of which are never polled again.
        let mut note_gone = Box::pin(side.peer.notify(note("gone")));
        let mut call_gone = side.peer.call(Ask::new("gone", None));
        if waits {
            assert!(Pin::new(&mut call_gone).poll(&mut cx).is_pending());
        } else {
            assert!(note_gone.as_mut().poll(&mut cx).is_pending());
        }
        let peer = side.peer.clone();
        tasks.spawn(async move { peer.notify(note("next")).await.unwrap() });
        tasks.run();
        // One place for two.
        assert_eq!(read_all(&mut tasks, &mut far), ["0", "1"]);
        drop((note_gone, call_gone));
        assert_eq!(read_all(&mut tasks, &mut far), ["next"]);
    }
}

#[test]
fn the_queue_is_bounded_in_bytes_too() {
    let (link, _far) = memory_pair(1);
    let config = DriverConfig::new().with_max_queued_bytes(1000);
    let (_driver, side) = side(link, config, false);
    let long = RawJson::new(format!("{{\"a\":\"{}\"}}", "x".repeat(600))).unwrap();
    let long = || Outgoing::notification_raw("n".into(), Some(&long));
    assert_eq!(side.peer.try_notify(long()), Ok(()));
    assert_eq!(side.peer.try_notify(long()), Ok(()));
    assert_eq!(side.peer.try_notify(note("n")), Err(TrySendError::Full));
}

#[test]
fn a_message_larger_than_the_whole_queue_is_sent_all_the_same() {
    let (link, mut far) = memory_pair(1);
    let config = DriverConfig::new().with_max_queued_bytes(0).with_max_queued(0);
    let (driver, side) = side(link, config, false);
    let mut tasks = Tasks::new();
    tasks.spawn(async move { drop(driver.run().await) });
    for at in 0..5 {
        let peer = side.peer.clone();
        tasks.spawn(async move { peer.notify(note(&at.to_string())).await.unwrap() });
    }
    assert_eq!(read_all(&mut tasks, &mut far), ["0", "1", "2", "3", "4"]);
}

#[test]
fn more_requests_than_may_wait_fail_at_once() {
    let (link, mut far) = memory_pair(10);
    let (driver, side) = side(link, DriverConfig::new().with_max_pending(2), false);
    let mut tasks = Tasks::new();
    tasks.spawn(async move { drop(driver.run().await) });
    for name in ["a", "b", "c"] {
        call(&mut tasks, &side, name, name);
    }
    tasks.run();
    assert_eq!(side.log.take(), "c: more than 2 requests are waiting for a response\n");
    block_on(far.send(Outgoing::result_raw(1.into(), b"1"))).unwrap();
    tasks.run();
    call(&mut tasks, &side, "d", "d");
    tasks.run();
    assert_eq!(side.log.take(), "a: result 1\n");
    assert_eq!(side.peer.pending(), 2);
}

/// The peer sends and doesn't read. What it asks for is not begun, but what it answers counts.
#[test]
fn what_can_not_be_answered_now_is_begun_later_and_in_order() {
    let (link, mut far) = memory_pair(1);
    let config = DriverConfig::new().with_max_queued(2).with_max_exchanges(4);
    let (driver, side) = side(link, config, false);
    let mut tasks = Tasks::new();
    tasks.spawn(async move { drop(driver.run().await) });
    call(&mut tasks, &side, "ours", "x");
    let send = |tasks: &mut Tasks, far: &mut MemoryLink, message| {
        tasks.run_until(far.send(message)).unwrap().unwrap();
        tasks.run();
    };
    let request = |id: i64, method: &str| Outgoing::request_raw(id.into(), method.into(), None);
    for id in 10..13 {
        send(&mut tasks, &mut far, request(id, "echo"));
    }
    expect![[r#"
        answered 10 echo
        answered 11 echo
    "#]]
    .assert_eq(&side.log.take());
    // The queue is full: these wait, with a notification between them, in order.
    send(&mut tasks, &mut far, request(20, "wait:a"));
    send(&mut tasks, &mut far, note("between"));
    send(&mut tasks, &mut far, request(21, "wait:a"));
    // As many as may wait; the next ones are refused.
    send(&mut tasks, &mut far, request(22, "echo"));
    send(&mut tasks, &mut far, note("one too many"));
    // A request that waits can be canceled; it is never begun.
    let cancel = RawJson::new(r#"{"id":21}"#).unwrap();
    send(&mut tasks, &mut far, Outgoing::notification_raw("cancel".into(), Some(&cancel)));
    send(&mut tasks, &mut far, request(20, "echo"));
    // Responses don't wait behind any of that.
    send(&mut tasks, &mut far, Outgoing::result_raw(1.into(), b"1"));
    expect![[r#"
        dropped one too many
        canceled 21
        ours: result 1
    "#]]
    .assert_eq(&side.log.take());
    let read = read_all(&mut tasks, &mut far);
    expect![[r#"
        1 x
        10 ok
        11 ok
        22 error
        20 error
        12 ok"#]]
    .assert_eq(&read.join("\n"));
    expect![[r#"
        answered 12 echo
        began 20
        notified of between
    "#]]
    .assert_eq(&side.log.take());
    side.gates.open("a");
    assert_eq!(read_all(&mut tasks, &mut far), ["20 ok"]);
}

/// However much it sends, a peer that never reads makes us hold so much and no more.
#[test]
fn a_peer_that_never_reads_is_not_read_for_ever() {
    let (link, mut far) = memory_pair(1);
    let (driver, side) = side(link, DriverConfig::new().with_max_queued(4), false);
    let mut tasks = Tasks::new();
    tasks.spawn(async move { drop(driver.run().await) });
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    tasks.spawn(async move {
        for id in 0..1_000_000i64 {
            far.send(Outgoing::request_raw(id.into(), "big:1000".into(), None)).await.unwrap();
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    tasks.run();
    assert_eq!(tasks.open(), 2);
    // 4 answers, 256 that wait, and small refusals of the rest.
    let sent = sent.load(Ordering::Relaxed);
    assert!((1024..2048).contains(&sent), "{sent}");
    drop(side);
}

/// Both ask for a lot at once over the narrowest of links, and both answer late.
// Shows: FC-025
#[test]
fn two_peers_that_flood_each_other_both_get_everything() {
    const CALLS: usize = 400;
    for (config, method) in [
        (DriverConfig::new(), "big:3000"),
        (DriverConfig::new().with_max_queued(8), "big:1"),
        (DriverConfig::new().with_max_queued_bytes(10_000), "big:20000"),
        // All of them answer at once, when everything is full.
        (DriverConfig::new().with_max_queued(4).with_max_exchanges(CALLS), "wait:all"),
        (DriverConfig::new().with_max_queued(4), "ask:echo"),
    ] {
        let (a, b) = memory_pair(1);
        let mut tasks = Tasks::new();
        let mut gates = Vec::new();
        let done = Arc::new(AtomicUsize::new(0));
        let mut peers = Vec::new();
        for link in [a, b] {
            let (driver, side) = side(link, config.clone(), false);
            tasks.spawn(async move { drop(driver.run().await) });
            for _ in 0..CALLS {
                let (call, done) = (side.peer.call(Ask::new(method, None)), Arc::clone(&done));
                tasks.spawn(async move {
                    let outcome = call.await.map(|response| response.outcome);
                    assert!(matches!(outcome, Ok(Ok(_))), "{outcome:?}");
                    done.fetch_add(1, Ordering::Relaxed);
                });
            }
            gates.push(side.gates);
            peers.push(side.peer);
        }
        tasks.run();
        gates.iter().for_each(|gates| gates.open("all"));
        tasks.run();
        assert_eq!(done.load(Ordering::Relaxed), 2 * CALLS, "{method}");
        peers[0].close();
        assert_eq!(tasks.run_all(), Ok(()));
    }
}

/// A waker is foreign code. This one looks at what woke it, and the message at its grave.
#[test]
fn wakers_and_messages_may_come_back_while_they_are_woken_and_dropped() {
    struct Nosy(mcp_jsonrpc::peer::Peer);
    impl Wake for Nosy {
        fn wake(self: Arc<Self>) {
            self.0.close();
            assert!(self.0.pending() < 10);
        }
    }
    impl Drop for Nosy {
        fn drop(&mut self) {
            let _ = self.0.try_notify(Outgoing::notification_raw("late".into(), None));
        }
    }
    let (told, done) = mpsc::channel();
    // In a thread of its own: what it would do wrong is wait for itself.
    std::thread::spawn(move || {
        let (link, mut far) = memory_pair(4);
        let (driver, side) = side(link, DriverConfig::new().with_max_queued(2), false);
        let nosy = || Waker::from(Arc::new(Nosy(side.peer.clone())));
        let mut run = Box::pin(driver.run());
        let mut calls: Vec<PendingCall> =
            (0..4).map(|_| side.peer.call(Ask::new("x", None))).collect();
        for call in &mut calls {
            assert!(Pin::new(call).poll(&mut Context::from_waker(&nosy())).is_pending());
        }
        let mut closed = Box::pin(side.peer.closed());
        for _ in 0..2 {
            assert!(closed.as_mut().poll(&mut Context::from_waker(&nosy())).is_pending());
        }
        let mut message = note("x");
        message.notes.insert(Nosy(side.peer.clone()));
        let _ = side.peer.try_notify(message);
        block_on(far.send(Outgoing::result_raw(1.into(), b"1"))).unwrap();
        for _ in 0..2 {
            if run.as_mut().poll(&mut Context::from_waker(&nosy())).is_ready() {
                break;
            }
        }
        drop(calls);
        drop(run);
        told.send(()).unwrap();
    });
    assert_eq!(done.recv_timeout(Duration::from_secs(20)), Ok(()));
}

/// Calls come and go from other threads while the queue is always full.
#[test]
fn no_wake_up_is_lost_between_threads() {
    const THREADS: usize = 3;
    const CALLS: usize = 300;
    let (a, b) = memory_pair(1);
    let config = DriverConfig::new().with_max_queued(1);
    let (driver, ours) = side(a, config.clone(), false);
    let (other, _theirs) = side(b, config, false);
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let peer = ours.peer.clone();
            std::thread::spawn(move || {
                for at in 0..CALLS {
                    let params = RawJson::new(format!("{{\"n\":{at}}}")).unwrap();
                    let ask = Ask::new("echo", Some(params.clone()));
                    if (at + thread) % 5 == 0 {
                        // One who gives up at any time.
                        let mut call = Box::pin(peer.call(ask));
                        let _ = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                        continue;
                    }
                    let outcome = block_on(peer.call(ask)).unwrap().outcome;
                    assert_eq!(outcome, Ok(params));
                }
            })
        })
        .collect();
    let other = std::thread::spawn(move || block_on(other.run()));
    let driver = std::thread::spawn(move || block_on(driver.run()));
    for thread in threads {
        thread.join().unwrap();
    }
    ours.peer.close();
    driver.join().unwrap();
    other.join().unwrap();
    assert_eq!(ours.peer.pending(), 0);
}

/// A call that starts while the driver goes away must not wait for ever.
#[test]
fn a_call_that_crosses_the_end_ends_too() {
    for round in 0..200 {
        let (link, _far) = memory_pair(1);
        let (driver, side) = side(link, DriverConfig::new(), false);
        let peer = side.peer.clone();
        let go = Arc::new(AtomicBool::new(false));
        let ready = Arc::clone(&go);
        let caller = std::thread::spawn(move || {
            ready.store(true, Ordering::Release);
            for _ in 0..1000 {
                match block_on(peer.call(Ask::new("x", None))) {
                    Err(AskError::Link(_)) => return,
                    other => assert!(matches!(other, Err(AskError::TooMany { .. })), "{other:?}"),
                }
            }
        });
        while !go.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        (0..round).for_each(|_| std::hint::spin_loop());
        drop(driver);
        caller.join().unwrap();
        assert!(side.peer.is_closed());
    }
}

/// Whatever the link does to messages, no call gets the answer of another.
#[test]
fn no_fault_of_a_link_mixes_answers_up() {
    for seed in 0..30 {
        let faults =
            Faults::new(seed).with_lost(10).with_doubled(20).with_reordered(40).with_delayed(30);
        let (a, b) = memory_pair(3);
        let mut tasks = Tasks::new();
        let (driver, ours) = side(Faulty::new(a, faults), DriverConfig::new(), false);
        let (other, theirs) = side(Faulty::new(b, faults), DriverConfig::new(), false);
        tasks.spawn(async move { drop(driver.run().await) });
        tasks.spawn(async move { drop(other.run().await) });
        let answered = Arc::new(Mutex::new(BTreeSet::new()));
        for at in 0..40usize {
            let params = RawJson::new(format!("{{\"n\":{at}}}")).unwrap();
            let call = ours.peer.call(Ask::new("echo", Some(params.clone())));
            let answered = Arc::clone(&answered);
            tasks.spawn(async move {
                let outcome = call.await;
                if let Ok(response) = &outcome {
                    assert_eq!(response.outcome, Ok(params), "{}", shown(&outcome));
                    answered.lock().unwrap_or_else(PoisonError::into_inner).insert(at);
                }
            });
        }
        tasks.run();
        let answered = answered.lock().unwrap_or_else(PoisonError::into_inner).len();
        assert!((15..40).contains(&answered), "{answered}");
        // What got no answer ends with the link.
        ours.peer.close();
        assert_eq!(tasks.run_all(), Ok(()));
        assert_eq!(ours.peer.pending(), 0);
        drop(theirs);
    }
}

// Shows: BASE-008
#[test]
fn an_id_is_never_used_twice() {
    let (link, mut far) = memory_pair(4);
    let (driver, side) = side(link, DriverConfig::new(), false);
    let mut tasks = Tasks::new();
    tasks.spawn(async move { drop(driver.run().await) });
    let mut seen = BTreeSet::<RequestId>::new();
    let mut cx = Context::from_waker(Waker::noop());
    for at in 0..500 {
        let mut call = Box::pin(side.peer.call(Ask::new("quiet", None)));
        assert!(call.as_mut().poll(&mut cx).is_pending());
        // Some are given up before they are sent, some after, some are answered.
        if at % 3 > 0 {
            let Ok(Ok(Incoming::Message(message, _))) = tasks.run_until(far.recv()) else {
                panic!("no request")
            };
            let id = message.id().unwrap().clone();
            assert!(seen.insert(id.clone()), "{id} twice");
            if at % 3 == 2 {
                tasks.run_until(far.send(Outgoing::result_raw(id, b"1"))).unwrap().unwrap();
                assert!(tasks.run_until(call).unwrap().is_ok());
            }
        }
    }
    assert_eq!(side.peer.pending(), 0);
    assert!(seen.len() > 300);
}
