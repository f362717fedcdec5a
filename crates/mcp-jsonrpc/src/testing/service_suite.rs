#![expect(clippy::panic, reason = "a suite panics when a contract is broken")]

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use super::suite::NamedTest;
use super::tasks::Tasks;
use crate::service::v1::{
    Ask, AskError, BoxFuture, Call, CancelSignal, DynService, Inbound, Replies, Reply, ReplySink,
    SendError, Service, TrySendError,
};
use crate::{Extensions, Notification, Outgoing, Request, RequestId, Response};

/// What can be said about any [`Service`], whatever it serves; each test on a fresh one from
/// `make`.
///
/// `calls` are requests and notifications that it may get, with what the layers below would put
/// into their extensions. There should be some that it knows, some that it doesn't, and some
/// whose parameters are wrong. The ids of requests are of no account.
///
/// # Examples
///
/// ```
/// use mcp_jsonrpc::service::v1::{Call, Inbound, Replies, Reply, Service};
/// use mcp_jsonrpc::testing::service_suite;
/// use mcp_jsonrpc::{ErrorObject, Notification, Request};
///
/// struct Nothing;
///
/// impl Service for Nothing {
///     async fn call(&self, inbound: Inbound, _: Replies) -> Reply {
///         match inbound.id() {
///             Some(id) => Reply::error(id, &ErrorObject::method_not_found(inbound.method().as_str())),
///             None => Reply::Silent,
///         }
///     }
/// }
///
/// let calls = || {
///     vec![
///         Inbound::new(Call::Request(Request::new(0, "ping", None))),
///         Inbound::new(Call::Notification(Notification::new("notifications/x", None))),
///     ]
/// };
/// for test in service_suite(|| Nothing, calls) {
///     test.run();
/// }
/// ```
#[must_use]
pub fn service_suite<S: Service>(
    make: impl Fn() -> S + Clone + Send + 'static,
    calls: impl Fn() -> Vec<Inbound> + Clone + Send + 'static,
) -> Vec<NamedTest> {
    let test = |name, test: fn(&Arc<dyn DynService>, Vec<Inbound>)| {
        let (make, calls) = (make.clone(), calls.clone());
        NamedTest::new(name, move || {
            let service: Arc<dyn DynService> = Arc::new(make());
            test(&service, calls());
        })
    };
    vec![
        test("a request is answered once, under its own id", answered),
        test("a notification is answered by silence", silent),
        test("calls run side by side", side_by_side),
        test("what is sent comes before the answer", sent_before),
        test("a call that is dropped leaves nothing", dropped),
        test("a call that is canceled leaves nothing", canceled),
    ]
}

/// Keeps what is sent, and asks nobody.
#[derive(Default)]
struct Kept {
    sent: Mutex<Vec<Outgoing>>,
    over: AtomicBool,
    /// How many tried to send when it was over.
    late: AtomicUsize,
    canceled: CancelSignal,
}

impl Kept {
    fn end(&self) {
        self.over.store(true, Ordering::Release);
    }
}

impl ReplySink for Kept {
    fn poll_notify(
        &self,
        _: &mut Context<'_>,
        notification: &mut Option<Outgoing>,
    ) -> Poll<Result<(), SendError>> {
        Poll::Ready(match notification.take() {
            Some(notification) => self.try_notify(notification).map_err(|_| SendError),
            None => Ok(()),
        })
    }

    fn try_notify(&self, notification: Outgoing) -> Result<(), TrySendError> {
        assert!(!notification.is_response(), "a response went through the replies");
        if self.over.load(Ordering::Acquire) {
            self.late.fetch_add(1, Ordering::AcqRel);
            return Err(TrySendError::Closed);
        }
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(notification);
        Ok(())
    }

    fn ask(&self, _: Ask) -> BoxFuture<'_, Result<Response, AskError>> {
        Box::pin(std::future::ready(Err(AskError::Unavailable)))
    }

    fn can_ask(&self) -> bool {
        false
    }

    fn cancel_signal(&self) -> Option<&CancelSignal> {
        Some(&self.canceled)
    }

    fn poll_cancelled(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.canceled.poll_given(cx)
    }

    fn is_cancelled(&self) -> bool {
        self.canceled.is_given()
    }
}

fn run<T>(main: impl Future<Output = T>) -> T {
    let mut tasks = Tasks::new().with_patience(Duration::from_secs(10));
    tasks.run_until(main).unwrap_or_else(|stalled| panic!("{stalled}"))
}

/// The same call, as a request under `id` or a notification.
fn shaped(inbound: &Inbound, id: Option<&RequestId>) -> Inbound {
    let (method, params) = (inbound.method().clone(), inbound.params().cloned());
    let call = match id {
        Some(id) => Call::Request(Request::new(id.clone(), method, params)),
        None => Call::Notification(Notification::new(method, params)),
    };
    Inbound::new(call).with_extensions(Extensions::clone(&inbound.extensions))
}

fn requests(calls: &[Inbound]) -> impl Iterator<Item = &Inbound> {
    calls.iter().filter(|inbound| inbound.id().is_some())
}

fn check_answer(reply: Reply, id: &RequestId) {
    match reply {
        Reply::Response(response) => {
            assert!(response.is_response(), "{response:?} is no response");
            assert_eq!(response.id(), Some(id));
        }
        Reply::Silent => panic!("a request was answered by silence"),
    }
}

fn answered(service: &Arc<dyn DynService>, calls: Vec<Inbound>) {
    for inbound in requests(&calls) {
        // Of both kinds, as a number and as a text that look alike.
        for id in [RequestId::from(7), "7".into(), "".into(), i128::from(u64::MAX).into()] {
            let replies = Replies::new(Arc::new(Kept::default()));
            check_answer(run(service.call_dyn(shaped(inbound, Some(&id)), replies)), &id);
            // With nobody to talk to on the way, too.
            let inbound = shaped(inbound, Some(&id));
            check_answer(run(service.call_dyn(inbound, Replies::nowhere())), &id);
        }
    }
}

fn silent(service: &Arc<dyn DynService>, calls: Vec<Inbound>) {
    for inbound in calls {
        // Whether it knows the method, or would rather have had a request.
        let kept = Arc::new(Kept::default());
        let reply =
            run(service.call_dyn(shaped(&inbound, None), Replies::new(Arc::clone(&kept) as _)));
        assert!(matches!(reply, Reply::Silent), "{reply:?} to {}", inbound.method());
    }
}

fn side_by_side(service: &Arc<dyn DynService>, calls: Vec<Inbound>) {
    let mut tasks = Tasks::new().with_patience(Duration::from_secs(10));
    let answers = Arc::new(AtomicUsize::new(0));
    let mut expected = 0;
    for round in 0..10 {
        for (at, inbound) in requests(&calls).enumerate() {
            expected += 1;
            let id = RequestId::from(format!("{round}-{at}"));
            let (service, inbound) = (Arc::clone(service), shaped(inbound, Some(&id)));
            let answers = Arc::clone(&answers);
            tasks.spawn(async move {
                let replies = Replies::new(Arc::new(Kept::default()));
                check_answer(service.call_dyn(inbound, replies).await, &id);
                answers.fetch_add(1, Ordering::AcqRel);
            });
        }
        // Some begin while others are under way.
        if round % 3 == 0 {
            let _ = tasks.run_until(std::future::ready(()));
        }
    }
    assert_eq!(tasks.run_all(), Ok(()));
    assert_eq!(answers.load(Ordering::Acquire), expected);
}

fn sent_before(service: &Arc<dyn DynService>, calls: Vec<Inbound>) {
    for inbound in requests(&calls) {
        let kept = Arc::new(Kept::default());
        let replies = Replies::new(Arc::clone(&kept) as _);
        let id = RequestId::from(1);
        check_answer(run(service.call_dyn(shaped(inbound, Some(&id)), replies)), &id);
        kept.end();
        assert_eq!(kept.late.load(Ordering::Acquire), 0);
    }
}

/// Polls a call so many times, woken or not, and then gives it the signal if `cancel`, as a
/// driver does; drops it in any case. Answers whether it was over by itself.
fn cut(service: &Arc<dyn DynService>, inbound: &Inbound, polls: usize, cancel: bool) -> bool {
    let kept = Arc::new(Kept::default());
    let mut finished = false;
    {
        let replies = Replies::new(Arc::clone(&kept) as _);
        let mut call = pin!(service.call_dyn(shaped(inbound, Some(&1.into())), replies));
        run(std::future::poll_fn(|cx| {
            for _ in 0..polls {
                finished = call.as_mut().poll(cx).is_ready();
                if finished {
                    return Poll::Ready(());
                }
            }
            if cancel {
                kept.end();
                kept.canceled.give();
                let _ = call.as_mut().poll(cx);
            }
            Poll::Ready(())
        }));
    }
    assert_eq!(Arc::strong_count(&kept), 1, "something holds on to {}", inbound.method());
    finished
}

fn cut_anywhere(service: &Arc<dyn DynService>, calls: &[Inbound], cancel: bool) {
    for inbound in requests(calls) {
        // More polls than it takes, or enough of them.
        let _ = (0..20).any(|polls| cut(service, inbound, polls, cancel));
        // And the service goes on.
        let id = RequestId::from(2);
        let replies = Replies::new(Arc::new(Kept::default()));
        check_answer(run(service.call_dyn(shaped(inbound, Some(&id)), replies)), &id);
    }
}

fn dropped(service: &Arc<dyn DynService>, calls: Vec<Inbound>) {
    cut_anywhere(service, &calls, false);
}

fn canceled(service: &Arc<dyn DynService>, calls: Vec<Inbound>) {
    cut_anywhere(service, &calls, true);
}
