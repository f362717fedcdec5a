#![expect(clippy::panic, reason = "a suite panics when a contract is broken")]

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::suite::NamedTest;
use super::tasks::Tasks;
use crate::link::v1::{DynIntoLink, IntoLink, Link, LinkExt};

/// How long a wake-up by another thread is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Every test that an [`IntoLink`] has to pass, each on fresh ones from `make`. What comes with
/// them is kept as long as their test: the other end of a link, if it has to be there.
///
/// The futures are polled on the thread that runs the test, as in
/// [`link_suite`](super::link_suite).
///
/// # Examples
///
/// ```
/// use mcp_jsonrpc::link::memory_pair;
/// use mcp_jsonrpc::testing::into_link_suite;
///
/// for test in into_link_suite(|| memory_pair(4)) {
///     test.run();
/// }
/// ```
#[must_use]
pub fn into_link_suite<T, K>(make: impl Fn() -> (T, K) + Clone + Send + 'static) -> Vec<NamedTest>
where
    T: IntoLink + 'static,
    K: Send + 'static,
{
    let make = move || {
        let (maker, kept) = make();
        (Box::new(maker), kept)
    };
    vec![
        NamedTest::new("what is opened is an open link", {
            let make = make.clone();
            move || {
                let (maker, _kept) = make();
                is_open(run((*maker).into_link()));
            }
        }),
        NamedTest::new("its object-safe twin opens one, too", {
            let make = make.clone();
            move || {
                let (maker, _kept) = make();
                let twin: Box<dyn DynIntoLink> = maker;
                is_open(run(twin.into_link()));
            }
        }),
        NamedTest::new("an opening that is dropped leaves nothing behind", move || {
            let (maker, _kept) = make();
            drop((*maker).into_link());
            {
                let (maker, _kept) = make();
                let mut opening = pin!((*maker).into_link());
                let _ = opening.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            }
            let (maker, _kept) = make();
            is_open(run((*maker).into_link()));
        }),
    ]
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let outcome = Tasks::new().with_patience(PATIENCE).run_until(future);
    outcome.unwrap_or_else(|stalled| panic!("{stalled}"))
}

/// Nothing was received yet, and it can be closed.
fn is_open<L: Link>(opened: Result<L, crate::link::v1::LinkError>) {
    let mut link = opened.unwrap_or_else(|error| panic!("no link: {error:?}"));
    let mut cx = Context::from_waker(Waker::noop());
    if let Poll::Ready(Err(end)) = link.poll_recv(&mut cx) {
        panic!("the link has ended before it began: {end:?}");
    }
    if let Err(error) = run(link.close()) {
        panic!("the link can't be closed: {error:?}");
    }
}
