#![expect(clippy::panic, reason = "a suite panics when a contract is broken")]

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::suite::NamedTest;
use super::tasks::Tasks;
use crate::link::v1::{Incoming, Link, LinkError, LinkExt};
use crate::{Message, Name, Outgoing, RawJson, RequestId};

type AnyLink = Box<dyn Link>;

/// Every test that a [`Link`] has to pass, each on fresh pairs from `make`, whose ends are
/// connected with each other.
///
/// The ends are polled on the thread that runs the test. A link that needs a runtime gets one
/// if the harness has entered it, and if it runs on other threads.
///
/// # Examples
///
/// ```
/// use mcp_jsonrpc::link::memory_pair;
/// use mcp_jsonrpc::testing::link_suite;
///
/// for test in link_suite(|| memory_pair(4)) {
///     test.run();
/// }
/// ```
#[must_use]
pub fn link_suite<A: Link, B: Link>(
    make: impl Fn() -> (A, B) + Clone + Send + 'static,
) -> Vec<NamedTest> {
    link_suite_within(Duration::from_secs(10), make)
}

/// [`link_suite`], for a link that wakes whoever waits within `patience`: a pair that needs no
/// other thread has time enough with none at all.
#[must_use]
pub fn link_suite_within<A: Link, B: Link>(
    patience: Duration,
    make: impl Fn() -> (A, B) + Clone + Send + 'static,
) -> Vec<NamedTest> {
    let test = |name, test: fn(Pair)| {
        let make = make.clone();
        NamedTest::new(name, move || {
            let (a, b) = make();
            test(Pair { a: Box::new(a), b: Box::new(b), patience });
            // What holds for one end holds for the other.
            let (a, b) = make();
            test(Pair { a: Box::new(b), b: Box::new(a), patience });
        })
    };
    vec![
        test("messages arrive in order, each once", in_order),
        test("every kind of message arrives as what it is", every_kind),
        test("a long message arrives whole", long_message),
        test("what was taken arrives after a flush", flushed),
        test("the latest waker is the one that is woken", latest_waker),
        test("a receiver that is dropped loses nothing", receiver_dropped),
        test("a sender that is dropped before there was room sends nothing", sender_dropped),
        test("receiving goes on while sending can't", receives_while_blocked),
        test("two ends that both send don't block each other", both_send),
        test("the end comes after everything, and is the same from then on", end_comes_last),
        test("an end that has closed still receives", half_closed),
        test("closing twice is closing once", closed_twice),
        test("a dropped end is the end", dropped),
        test("who waits learns that the other end is gone", dropped_while_waiting),
        test("a frame that is no message costs only itself", broken_frame),
        test("a request can be given up", given_up),
        test("a batch arrives as one", batch),
    ]
}

/// Two ends that are connected.
struct Pair {
    a: AnyLink,
    b: AnyLink,
    patience: Duration,
}

impl Pair {
    fn split(self) -> (AnyLink, AnyLink, Tasks) {
        (self.a, self.b, Tasks::new().with_patience(self.patience))
    }
}

fn run<T>(tasks: &mut Tasks, main: impl Future<Output = T>) -> T {
    tasks.run_until(main).unwrap_or_else(|stalled| panic!("{stalled}"))
}

/// A notification that carries a number, and some bytes.
fn numbered(number: usize, bytes: usize) -> Outgoing {
    let params = format!(r#"{{"number":{number},"padding":"{}"}}"#, "x".repeat(bytes));
    let params = RawJson::new(params).unwrap_or_else(|error| panic!("{error}"));
    Outgoing::notification_raw(Name::from_static("test/numbered"), Some(&params))
}

fn number(incoming: Result<Incoming, LinkError>) -> usize {
    #[derive(Debug)]
    struct Number(usize);
    impl<'de> serde::Deserialize<'de> for Number {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let value = <serde_json::Value as serde::Deserialize>::deserialize(deserializer)?;
            let number = value.get("number").and_then(serde_json::Value::as_u64);
            number
                .and_then(|number| usize::try_from(number).ok())
                .map(Self)
                .ok_or_else(|| serde::de::Error::custom("no number"))
        }
    }
    match incoming {
        Ok(Incoming::Message(Message::Notification(notification), _)) => {
            let params = notification.params.unwrap_or_else(|| panic!("no params"));
            params.parse::<Number>().unwrap_or_else(|error| panic!("{error}")).0
        }
        other => panic!("no notification: {other:?}"),
    }
}

fn in_order(pair: Pair) {
    let (mut a, mut b, mut tasks) = pair.split();
    const COUNT: usize = 300;
    tasks.spawn(async move {
        for at in 0..COUNT {
            // Of all lengths, so that they are cut anywhere.
            assert_eq!(a.send(numbered(at, at * 7 % 1000)).await, Ok(()));
        }
        assert_eq!(a.close().await, Ok(()));
    });
    let received = run(&mut tasks, async {
        for at in 0..COUNT {
            assert_eq!(number(b.recv().await), at);
        }
        b.recv().await
    });
    assert_eq!(received, Err(LinkError::Closed));
}

fn every_kind(pair: Pair) {
    let (mut a, mut b, mut tasks) = pair.split();
    let params =
        RawJson::new(r#"{"é\n":[1.0,1e2,"\u2028\r\n"]}"#).unwrap_or_else(|e| panic!("{e}"));
    let error = crate::ErrorObject::new(-32042, "é\n").with_data_from(&[1]);
    let id = RequestId::from("1");
    let messages = [
        Outgoing::request_raw(1.into(), "a/b".into(), Some(&params)),
        Outgoing::request_raw(id.clone(), "a/b".into(), None),
        Outgoing::notification_raw("a/b".into(), Some(&params)),
        Outgoing::notification_raw("a/b".into(), None),
        Outgoing::result_raw(1.into(), params.as_bytes()),
        Outgoing::error(Some(id), &error),
        Outgoing::error(None, &error),
    ];
    run(&mut tasks, async {
        for message in messages {
            let frame = message.frame().clone();
            let expected = crate::decode(&frame, &crate::Limits::new());
            assert_eq!(a.send(message).await, Ok(()));
            let received = match b.recv().await {
                Ok(Incoming::Message(message, _)) => message,
                other => panic!("no message: {other:?}"),
            };
            assert_eq!(Ok(crate::Frame::Single(received)), expected);
        }
    });
}

fn long_message(pair: Pair) {
    let (mut a, mut b, mut tasks) = pair.split();
    tasks.spawn(async move {
        assert_eq!(a.send(numbered(7, 1 << 20)).await, Ok(()));
        assert_eq!(a.send(numbered(8, 0)).await, Ok(()));
        assert_eq!(a.close().await, Ok(()));
    });
    let received = run(&mut tasks, async { (number(b.recv().await), number(b.recv().await)) });
    assert_eq!(received, (7, 8));
}

/// Hands over as many messages as there is room for now, up to a limit. They are numbered from
/// `first`; answers with how many there were.
fn fill(link: &mut AnyLink, first: usize, limit: usize, bytes: usize) -> usize {
    let mut cx = Context::from_waker(Waker::noop());
    let mut count = 0;
    while count < limit {
        match link.poll_ready(&mut cx) {
            Poll::Ready(ready) => assert_eq!(ready, Ok(())),
            Poll::Pending => break,
        }
        assert_eq!(link.start_send(numbered(first + count, bytes)), Ok(()));
        count += 1;
    }
    count
}

fn flushed(pair: Pair) {
    let (mut a, mut b, mut tasks) = pair.split();
    let count = fill(&mut a, 0, 3, 10);
    assert!(count > 0, "no room for a message on a fresh link");
    run(&mut tasks, async {
        assert_eq!(poll_fn(|cx| a.poll_flush(cx)).await, Ok(()));
        assert_eq!(poll_fn(|cx| a.poll_flush(cx)).await, Ok(()));
        for at in 0..count {
            assert_eq!(number(b.recv().await), at);
        }
    });
}

fn latest_waker(pair: Pair) {
    let (mut a, mut b, mut tasks) = pair.split();
    const COUNT: usize = 50;
    tasks.spawn(async move {
        for at in 0..COUNT {
            // An earlier call has left a waker that does nothing.
            poll_fn(|cx| {
                let _ = a.poll_ready(&mut Context::from_waker(Waker::noop()));
                a.poll_ready(cx)
            })
            .await
            .unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(a.start_send(numbered(at, 5000)), Ok(()));
            let flushed = poll_fn(|cx| {
                let _ = a.poll_flush(&mut Context::from_waker(Waker::noop()));
                a.poll_flush(cx)
            });
            assert_eq!(flushed.await, Ok(()));
        }
        assert_eq!(a.close().await, Ok(()));
    });
    run(&mut tasks, async {
        for at in 0..COUNT {
            let received =
                poll_fn(|cx| match b.poll_recv(&mut Context::from_waker(Waker::noop())) {
                    Poll::Pending => b.poll_recv(cx),
                    ready => ready,
                });
            assert_eq!(number(received.await), at);
        }
    });
}

fn receiver_dropped(pair: Pair) {
    let (mut a, mut b, mut tasks) = pair.split();
    const COUNT: usize = 50;
    tasks.spawn(async move {
        for at in 0..COUNT {
            assert_eq!(a.send(numbered(at, 3000)).await, Ok(()));
        }
        assert_eq!(a.close().await, Ok(()));
    });
    run(&mut tasks, async {
        for at in 0..COUNT {
            // A new future for each poll.
            let received = poll_fn(|cx| pin!(b.recv()).poll(cx)).await;
            assert_eq!(number(received), at);
        }
    });
}

/// As much as must be more than a link may hold: a queue without a bound is none.
const TOO_MUCH: usize = 10_000;

/// Fills the link until it takes nothing more; flushes in between, as some room comes from that.
fn block(link: &mut AnyLink) -> usize {
    let mut cx = Context::from_waker(Waker::noop());
    let mut count = 0;
    loop {
        let more = fill(link, count, TOO_MUCH, 5000);
        count += more;
        assert!(count < TOO_MUCH, "the link has no bound");
        if more == 0 {
            return count;
        }
        if let Poll::Ready(flushed) = link.poll_flush(&mut cx) {
            assert_eq!(flushed, Ok(()));
        }
    }
}

fn sender_dropped(pair: Pair) {
    let (mut a, mut b, mut tasks) = pair.split();
    let count = block(&mut a);
    {
        let mut cx = Context::from_waker(Waker::noop());
        let send = pin!(a.send(numbered(TOO_MUCH, 0)));
        assert!(send.poll(&mut cx).is_pending());
    }
    tasks.spawn(async move { assert_eq!(a.close().await, Ok(())) });
    let received = run(&mut tasks, async {
        for at in 0..count {
            assert_eq!(number(b.recv().await), at);
        }
        b.recv().await
    });
    assert_eq!(received, Err(LinkError::Closed));
}

fn receives_while_blocked(pair: Pair) {
    let (mut a, mut b, mut tasks) = pair.split();
    let count = block(&mut a);
    run(&mut tasks, async {
        for at in 0..10 {
            assert_eq!(b.send(numbered(at, 100)).await, Ok(()));
            assert_eq!(number(a.recv().await), at);
        }
    });
    // And what was blocked goes on.
    tasks.spawn(async move { assert_eq!(a.close().await, Ok(())) });
    run(&mut tasks, async {
        for at in 0..count {
            assert_eq!(number(b.recv().await), at);
        }
    });
}

/// Sends `count` messages while it receives as many.
async fn exchange(mut link: AnyLink, count: usize, bytes: usize) -> AnyLink {
    let (mut sent, mut received) = (0, 0);
    poll_fn(|cx| {
        loop {
            let mut progress = false;
            while received < count
                && let Poll::Ready(incoming) = link.poll_recv(cx)
            {
                assert_eq!(number(incoming), received);
                received += 1;
                progress = true;
            }
            if sent < count
                && let Poll::Ready(ready) = link.poll_ready(cx)
            {
                assert_eq!(ready, Ok(()));
                assert_eq!(link.start_send(numbered(sent, bytes)), Ok(()));
                sent += 1;
                progress = true;
            }
            if !progress {
                break;
            }
        }
        match link.poll_flush(cx) {
            Poll::Ready(flushed) => assert_eq!(flushed, Ok(())),
            Poll::Pending => return Poll::Pending,
        }
        if sent == count && received == count { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    link
}

fn both_send(pair: Pair) {
    let (a, b, mut tasks) = pair.split();
    const COUNT: usize = 40;
    const BYTES: usize = 60_000;
    let done = Arc::new(Mutex::new(None));
    let other = Arc::clone(&done);
    tasks.spawn(async move {
        let link = exchange(a, COUNT, BYTES).await;
        // Kept: to drop it would be the end for the other one.
        *other.lock().unwrap_or_else(PoisonError::into_inner) = Some(link);
    });
    let _b = run(&mut tasks, exchange(b, COUNT, BYTES));
    assert_eq!(tasks.run_all(), Ok(()));
}

fn end_comes_last(pair: Pair) {
    let (mut a, mut b, mut tasks) = pair.split();
    tasks.spawn(async move {
        for at in 0..20 {
            assert_eq!(a.send(numbered(at, 1000)).await, Ok(()));
        }
        assert_eq!(a.close().await, Ok(()));
        drop(a);
    });
    run(&mut tasks, async {
        for at in 0..20 {
            assert_eq!(number(b.recv().await), at);
        }
        for _ in 0..3 {
            assert_eq!(b.recv().await, Err(LinkError::Closed));
        }
    });
}

fn half_closed(pair: Pair) {
    let (mut a, mut b, mut tasks) = pair.split();
    run(&mut tasks, async {
        assert_eq!(a.close().await, Ok(()));
        assert_eq!(b.recv().await, Err(LinkError::Closed));
        for at in 0..10 {
            assert_eq!(b.send(numbered(at, 100)).await, Ok(()));
            assert_eq!(number(a.recv().await), at);
        }
        assert_eq!(b.close().await, Ok(()));
        assert_eq!(a.recv().await, Err(LinkError::Closed));
    });
}

fn closed_twice(pair: Pair) {
    let (mut a, mut b, mut tasks) = pair.split();
    run(&mut tasks, async {
        assert_eq!(a.send(numbered(0, 0)).await, Ok(()));
        assert_eq!(a.close().await, Ok(()));
        assert_eq!(a.close().await, Ok(()));
        assert_eq!(number(b.recv().await), 0);
        assert_eq!(b.recv().await, Err(LinkError::Closed));
    });
}

fn dropped(pair: Pair) {
    let (a, mut b, mut tasks) = pair.split();
    drop(a);
    run(&mut tasks, async {
        let end = b.recv().await;
        assert!(end.is_err(), "{end:?} from nobody");
        assert_eq!(b.recv().await, end);
        // Some media take a while to say so.
        for at in 0..TOO_MUCH {
            if b.send(numbered(at, 5000)).await.is_err() {
                return;
            }
        }
        panic!("sending to nobody goes on");
    });
}

fn dropped_while_waiting(pair: Pair) {
    let (a, mut b, mut tasks) = pair.split();
    block(&mut b);
    // In a task of its own, so that the others wait when it happens.
    tasks.spawn(async move {
        yield_now().await;
        drop(a);
    });
    run(&mut tasks, async {
        let mut waited = false;
        poll_fn(|cx| {
            // Receiving first: whoever only looks for room may never meet the end.
            let received = b.poll_recv(cx).is_ready();
            let ready = b.poll_ready(cx);
            if !waited {
                waited = true;
                assert!(!received && ready.is_pending());
                return Poll::Pending;
            }
            match ready {
                Poll::Ready(Err(_)) => Poll::Ready(()),
                _ if received => Poll::Ready(()),
                _ => Poll::Pending,
            }
        })
        .await;
    });
}

/// Lets the others go first.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn broken_frame(pair: Pair) {
    let (mut a, mut b, mut tasks) = pair.split();
    tasks.spawn(async move {
        // It gets a result as it is, and that is none.
        assert_eq!(a.send(Outgoing::result_raw(1.into(), b"nope")).await, Ok(()));
        assert_eq!(a.send(numbered(2, 0)).await, Ok(()));
        assert_eq!(a.close().await, Ok(()));
    });
    run(&mut tasks, async {
        let first = b.recv().await;
        assert!(matches!(first, Ok(Incoming::Malformed(_))), "{first:?}");
        assert_eq!(number(b.recv().await), 2);
    });
}

fn given_up(pair: Pair) {
    let (mut a, mut b, mut tasks) = pair.split();
    run(&mut tasks, async {
        let request = Outgoing::request_raw(1.into(), "test/slow".into(), None);
        assert_eq!(a.send(request).await, Ok(()));
        let received = b.recv().await;
        assert!(matches!(received, Ok(Incoming::Message(Message::Request(_), _))), "{received:?}");
        for notice in [Some(numbered(1, 0)), None] {
            let told = notice.is_some() && !a.features().abandon_by_close;
            assert_eq!(poll_fn(|cx| a.poll_ready(cx)).await, Ok(()));
            assert_eq!(a.abandon(&1.into(), notice), Ok(()));
            assert_eq!(poll_fn(|cx| a.poll_flush(cx)).await, Ok(()));
            if told {
                assert_eq!(number(b.recv().await), 1);
            }
        }
        assert_eq!(a.send(numbered(2, 0)).await, Ok(()));
        assert_eq!(number(b.recv().await), 2);
    });
}

fn batch(pair: Pair) {
    let (mut a, mut b, mut tasks) = pair.split();
    if a.features().stream_per_request || b.features().stream_per_request {
        return;
    }
    run(&mut tasks, async {
        let responses = [1, 2].map(|id| Outgoing::result_raw(id.into(), b"{}"));
        assert_eq!(a.send(Outgoing::batch(&responses)).await, Ok(()));
        match b.recv().await {
            Ok(Incoming::Batch(members)) => assert_eq!(members.len(), 2),
            other => panic!("no batch: {other:?}"),
        }
    });
}
