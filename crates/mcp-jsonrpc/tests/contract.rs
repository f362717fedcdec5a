//! The contract suites, run for what is in this crate, and for twins that break them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use mcp_jsonrpc::link::v1::{DynIntoLink, Incoming, IntoLink, Link, LinkError};
use mcp_jsonrpc::link::{MemoryLink, memory_pair};
use mcp_jsonrpc::service::v1::{Call, Inbound, Replies, Reply, Service, SharedService};
use mcp_jsonrpc::testing::{
    Faults, Faulty, NamedTest, into_link_suite, link_suite_within, service_suite,
};
use mcp_jsonrpc::{ErrorObject, Name, Notification, Outgoing, RawJson, Request, RequestId};

/// The names of the tests that fail.
fn failures(suite: Vec<NamedTest>) -> Vec<&'static str> {
    suite
        .into_iter()
        .filter_map(|test| {
            let name = test.name;
            catch_unwind(AssertUnwindSafe(|| test.run())).is_err().then_some(name)
        })
        .collect()
}

// Shows: BASE-030, BASE-031, BASE-032
#[test]
fn the_link_in_memory_keeps_the_contract() {
    for capacity in [0, 1, 2, 7, 100] {
        let suite = link_suite_within(Duration::ZERO, move || memory_pair(capacity));
        assert_eq!(failures(suite), Vec::<&str>::new(), "with a capacity of {capacity}");
    }
}

#[test]
fn a_boxed_link_keeps_it_too() {
    let make = || {
        let (a, b) = memory_pair(3);
        (Box::new(a) as Box<dyn Link>, Faulty::new(b, Faults::new(0)))
    };
    for test in link_suite_within(Duration::ZERO, make) {
        test.run();
    }
}

#[test]
fn a_link_that_only_delays_keeps_it() {
    let faulty = |link| Faulty::new(link, Faults::new(3).with_delayed(40));
    let make = move || {
        let (a, b) = memory_pair(3);
        (faulty(a), faulty(b))
    };
    for test in link_suite_within(Duration::ZERO, make) {
        test.run();
    }
}

#[test]
fn the_suite_finds_each_fault() {
    for faults in [
        Faults::new(1).with_lost(5),
        Faults::new(1).with_doubled(5),
        Faults::new(1).with_reordered(50),
    ] {
        let make = move || {
            let (a, b) = memory_pair(3);
            (a, Faulty::new(b, faults))
        };
        assert!(
            failures(link_suite_within(Duration::ZERO, make))
                .contains(&"messages arrive in order, each once")
        );
    }
}

/// Breaks one line of the contract.
struct Twin {
    inner: MemoryLink,
    fault: TwinFault,
    ended: u32,
    polls: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum TwinFault {
    /// Takes as much as it is given.
    NoBound,
    /// Doesn't receive while it can't send.
    Entangled,
    /// Says it is closed only once.
    EndsOnce,
    /// Stops receiving once it has closed.
    ClosesBoth,
    /// Ends at a frame that it can't read.
    Brittle,
    /// Forgets a message when it says that there is none yet.
    Loses,
    /// Says nothing of what is given up.
    Mute,
}

impl Link for Twin {
    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Result<Incoming, LinkError>> {
        if self.fault == TwinFault::Entangled
            && let Poll::Pending = self.inner.poll_ready(cx)
        {
            return Poll::Pending;
        }
        if self.fault == TwinFault::ClosesBoth && self.ended > 0 {
            return Poll::Ready(Err(LinkError::Closed));
        }
        if self.fault == TwinFault::EndsOnce && self.ended > 0 {
            return Poll::Ready(Err(LinkError::failed("the second time")));
        }
        self.polls += 1;
        let polled = self.inner.poll_recv(cx);
        match &polled {
            Poll::Ready(Err(_)) if self.fault == TwinFault::EndsOnce => self.ended += 1,
            Poll::Ready(Ok(Incoming::Malformed(_))) if self.fault == TwinFault::Brittle => {
                return Poll::Ready(Err(LinkError::failed("what was that")));
            }
            Poll::Ready(Ok(_)) if self.fault == TwinFault::Loses && self.polls % 7 == 6 => {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            _ => {}
        }
        polled
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        match self.fault {
            TwinFault::NoBound => Poll::Ready(Ok(())),
            _ => self.inner.poll_ready(cx),
        }
    }

    fn start_send(&mut self, message: Outgoing) -> Result<(), LinkError> {
        self.inner.start_send(message)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.inner.poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        if self.fault == TwinFault::ClosesBoth {
            self.ended += 1;
        }
        self.inner.poll_close(cx)
    }

    fn abandon(&mut self, _: &RequestId, notice: Option<Outgoing>) -> Result<(), LinkError> {
        match notice {
            Some(notice) if self.fault != TwinFault::Mute => self.inner.start_send(notice),
            _ => Ok(()),
        }
    }
}

#[test]
fn the_suite_finds_each_broken_twin() {
    for (fault, test) in [
        (TwinFault::NoBound, "receiving goes on while sending can't"),
        (TwinFault::Entangled, "receiving goes on while sending can't"),
        (TwinFault::EndsOnce, "the end comes after everything, and is the same from then on"),
        (TwinFault::ClosesBoth, "an end that has closed still receives"),
        (TwinFault::Brittle, "a frame that is no message costs only itself"),
        (TwinFault::Loses, "messages arrive in order, each once"),
        (TwinFault::Mute, "a request can be given up"),
    ] {
        let make = move || {
            let (a, b) = memory_pair(3);
            let twin = |inner| Twin { inner, fault, ended: 0, polls: 0 };
            (twin(a), twin(b))
        };
        let failing = failures(
            link_suite_within(Duration::ZERO, make)
                .into_iter()
                .filter(|t| t.name == test)
                .collect(),
        );
        assert_eq!(failing, [test]);
    }
}

#[test]
fn every_link_is_taken_as_it_is_and_so_is_a_box_of_what_makes_one() {
    assert_eq!(failures(into_link_suite(|| memory_pair(1))), Vec::<&str>::new());
    let boxed = || {
        let (a, b) = memory_pair(1);
        (Box::new(a) as Box<dyn DynIntoLink>, b)
    };
    assert_eq!(failures(into_link_suite(boxed)), Vec::<&str>::new());
}

/// Opens a link that has ended.
struct Late;

impl IntoLink for Late {
    type Link = MemoryLink;

    async fn into_link(self) -> Result<MemoryLink, LinkError> {
        Ok(memory_pair(1).0)
    }
}

/// Needs a place that there is once, and doesn't give it back when it is dropped.
struct Greedy(Arc<AtomicBool>, MemoryLink);

impl IntoLink for Greedy {
    type Link = MemoryLink;

    async fn into_link(self) -> Result<MemoryLink, LinkError> {
        if self.0.swap(true, Ordering::Relaxed) {
            return Err(LinkError::failed("taken"));
        }
        yield_once().await;
        self.0.store(false, Ordering::Relaxed);
        Ok(self.1)
    }
}

#[test]
fn the_suite_finds_what_makes_no_good_links() {
    let late = failures(into_link_suite(|| (Late, ())));
    assert_eq!(late.len(), 3, "{late:?}");
    let place = Arc::new(AtomicBool::new(false));
    let greedy = failures(into_link_suite(move || {
        let (a, b) = memory_pair(1);
        (Greedy(Arc::clone(&place), a), b)
    }));
    assert_eq!(greedy, ["an opening that is dropped leaves nothing behind"]);
}

/// Knows one method, and works for a while on it.
struct Honest;

impl Service for Honest {
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        let Some(id) = inbound.id().cloned() else { return Reply::Silent };
        if *inbound.method() != "work" {
            return Reply::error(&id, &ErrorObject::method_not_found(inbound.method().as_str()));
        }
        for _ in 0..3 {
            let note = Outgoing::notification_raw(Name::from_static("progress"), None);
            let _ = replies.notify(note).await;
            yield_once().await;
        }
        Reply::result(&id, &1)
    }
}

async fn yield_once() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn calls() -> Vec<Inbound> {
    let params = RawJson::new(r#"{"a":1}"#).ok();
    vec![
        Inbound::new(Call::Request(Request::new(0, "work", params.clone()))),
        Inbound::new(Call::Request(Request::new(0, "unknown", None))),
        Inbound::new(Call::Notification(Notification::new("notifications/x", params))),
    ]
}

// Shows: BASE-009, BASE-025
#[test]
fn an_honest_service_passes() {
    for test in service_suite(|| Honest, calls) {
        test.run();
    }
    for test in service_suite(|| SharedService::new(Arc::new(Honest)), calls) {
        test.run();
    }
}

/// Breaks one rule.
#[derive(Clone, Copy)]
enum Rude {
    /// Answers under an id of its own.
    OwnId,
    /// Doesn't answer what it doesn't know.
    Silent,
    /// Answers notifications.
    Chatty,
    /// Keeps its replies.
    Holds,
}

impl Service for Rude {
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        let answer = |id: &RequestId| Reply::result(id, &1);
        match (self, inbound.id()) {
            (Self::OwnId, Some(_)) => answer(&1.into()),
            (Self::Chatty, None) => answer(&1.into()),
            (Self::Silent, _) => Reply::Silent,
            (Self::Holds, id) => {
                std::mem::forget(replies);
                id.map_or(Reply::Silent, answer)
            }
            (_, Some(id)) => answer(id),
            (_, None) => Reply::Silent,
        }
    }
}

#[test]
fn rude_services_fail() {
    for (rude, test) in [
        (Rude::OwnId, "a request is answered once, under its own id"),
        (Rude::Silent, "a request is answered once, under its own id"),
        (Rude::Chatty, "a notification is answered by silence"),
        (Rude::Holds, "a call that is dropped leaves nothing"),
    ] {
        assert!(failures(service_suite(move || rude, calls)).contains(&test), "{test}");
    }
}
