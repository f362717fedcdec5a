//! A protocol and a service to drive, and a log of what happens.

use std::collections::HashMap;
use std::fmt::Display;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use mcp_jsonrpc::link::v1::Link;
use mcp_jsonrpc::peer::{
    Arrival, Driver, DriverConfig, Event, NotificationVerdict, Peer, Protocol, RequestVerdict,
};
use mcp_jsonrpc::service::v1::{Ask, Inbound, Replies, Reply, Service};
use mcp_jsonrpc::testing::{Script, Tasks};
use mcp_jsonrpc::{
    ErrorObject, Extensions, Fault, Name, Notification, Outgoing, RawJson, Request, RequestId,
};

/// What happened, one line each.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<String>>);

impl Log {
    fn lock(&self) -> MutexGuard<'_, String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, line: impl Display) {
        *self.lock() += &format!("{line}\n");
    }

    /// Everything so far; starts anew.
    pub(crate) fn take(&self) -> String {
        std::mem::take(&mut self.lock())
    }
}

/// Gates that services wait at, by name.
#[derive(Clone, Default)]
pub(crate) struct Gates(Arc<Mutex<HashMap<String, Gate>>>);

#[derive(Default)]
struct Gate {
    open: bool,
    waiting: Vec<Waker>,
}

impl Gates {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Gate>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn open(&self, name: &str) {
        let waiting = {
            let mut gates = self.lock();
            let gate = gates.entry(name.to_owned()).or_default();
            gate.open = true;
            std::mem::take(&mut gate.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    pub(crate) async fn pass(&self, name: &str) {
        poll_fn(|cx| {
            let mut gates = self.lock();
            let gate = gates.entry(name.to_owned()).or_default();
            if gate.open {
                return Poll::Ready(());
            }
            gate.waiting.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Serves everything but `refuse`; `cancel` cancels.
pub(crate) struct Toy {
    pub(crate) log: Log,
    pub(crate) batches: bool,
}

impl Protocol for Toy {
    fn request(&mut self, request: &Request, _: Arrival) -> RequestVerdict {
        if request.method == "refuse" {
            return RequestVerdict::Refuse(ErrorObject::new(-1, "refused"));
        }
        RequestVerdict::Serve(Extensions::new())
    }

    fn notification(&mut self, notification: &Notification, _: Arrival) -> NotificationVerdict {
        match notification.method.as_str() {
            "drop" => NotificationVerdict::Drop,
            "cancel" => {
                let params = notification.params.as_ref().map(|params| params.parse());
                match params {
                    Some(Ok(CanceledParams { id })) => NotificationVerdict::Cancel { id },
                    _ => NotificationVerdict::Drop,
                }
            }
            _ => NotificationVerdict::Serve(Extensions::new()),
        }
    }

    fn answered(&mut self, id: &RequestId, method: &Name, reply: &Reply) {
        let how = match reply {
            Reply::Response(_) => "",
            Reply::Silent => " by silence",
            _ => " somehow",
        };
        self.log.add(format_args!("answered {id} {method}{how}"));
    }

    fn malformed(&mut self, fault: &Fault) -> Option<Outgoing> {
        self.log.add(format_args!("malformed: {fault}"));
        Some(Outgoing::error(fault.id.clone(), &fault.to_error()))
    }

    fn batches(&self) -> bool {
        self.batches
    }

    fn abandon(&mut self, id: &RequestId, method: &Name, reason: Option<&str>) -> Option<Outgoing> {
        if *method == "quiet" {
            return None;
        }
        let id = id.as_i64().unwrap_or_default();
        let reason = reason.map_or("null".into(), |reason| format!("{reason:?}"));
        let params = RawJson::new(format!(r#"{{"id":{id},"reason":{reason}}}"#)).ok();
        Some(Outgoing::notification_raw("cancel".into(), params.as_ref()))
    }

    fn observe(&mut self, event: &Event<'_>) {
        match event {
            Event::UnknownResponse { id } => self.log.add(format_args!("unknown response {id:?}")),
            Event::PeerError { error } => self.log.add(format_args!("the peer says: {error}")),
            Event::NotificationDropped { method } => self.log.add(format_args!("dropped {method}")),
            Event::Canceled { id } => self.log.add(format_args!("canceled {id}")),
            Event::Panicked { method } => self.log.add(format_args!("panicked in {method}")),
            Event::Ended { cause } => self.log.add(format_args!("ended: {cause}")),
            _ => self.log.add("something new"),
        }
    }
}

/// `{"id":…}`
struct CanceledParams {
    id: RequestId,
}

impl<'de> serde::Deserialize<'de> for CanceledParams {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let mut members = HashMap::<String, serde_json::Value>::deserialize(deserializer)?;
        let id = members.remove("id").ok_or_else(|| D::Error::missing_field("id"))?;
        Ok(Self { id: serde_json::from_value(id).map_err(D::Error::custom)? })
    }
}

/// Does what the name of the method says, up to a colon.
#[derive(Clone, Default)]
pub(crate) struct ToyService {
    pub(crate) log: Log,
    pub(crate) gates: Gates,
    /// Replies of exchanges that left them behind.
    pub(crate) kept: Arc<Mutex<Vec<Replies>>>,
}

/// Tells when it is dropped.
struct Tell(Log, String);

impl Drop for Tell {
    fn drop(&mut self) {
        self.0.add(format_args!("dropped {}", self.1));
    }
}

struct PanicInDrop;

impl Drop for PanicInDrop {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("in drop");
        }
    }
}

impl Service for ToyService {
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        let method = inbound.method().as_str().to_owned();
        let (what, argument) = method.split_once(':').unwrap_or((&method, ""));
        let note = |name: &str| Outgoing::notification_raw(name.into(), None);
        let Some(id) = inbound.id() else {
            self.log.add(format_args!("notified of {method}"));
            match what {
                "wait" => self.gates.pass(argument).await,
                "panic" => panic!("a panic on purpose"),
                _ => {}
            }
            return Reply::Silent;
        };
        match what {
            "echo" => {
                let params = inbound.params().map_or(&b"{}"[..], RawJson::as_bytes);
                return Reply::Response(Outgoing::result_raw(id.clone(), params));
            }
            "wait" => {
                self.log.add(format_args!("began {id}"));
                let _tell = Tell(self.log.clone(), id.to_string());
                self.gates.pass(argument).await;
            }
            "spin" => {
                poll_fn(|cx| {
                    cx.waker().wake_by_ref();
                    if replies.is_cancelled() { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
            }
            "yield" => {
                let mut left = argument.parse().unwrap_or(0);
                poll_fn(|cx| {
                    if left == 0 {
                        return Poll::Ready(());
                    }
                    left -= 1;
                    cx.waker().wake_by_ref();
                    Poll::Pending
                })
                .await;
            }
            "polite" => {
                replies.cancelled().await;
                self.log.add(format_args!("heard that {id} is canceled"));
                self.log.add(format_args!("{:?}", replies.notify(note("late")).await));
            }
            "notes" => {
                for at in 0..argument.parse().unwrap_or(0) {
                    let _ = replies.notify(note(&format!("note:{at}"))).await;
                }
            }
            "ask" => {
                let asked = replies.ask(Ask::new(argument, None)).await;
                let outcome = asked.map(|response| response.outcome);
                return Reply::result(id, &format!("{outcome:?}"));
            }
            "keep" => {
                self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(replies);
            }
            "keep-wait" => {
                let kept = replies.clone();
                self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
                self.gates.pass(argument).await;
            }
            "panic" => panic!("a panic on purpose"),
            "panic-late" => {
                let _bomb = PanicInDrop;
                self.gates.pass(argument).await;
            }
            "other-id" => return Reply::result(&RequestId::from("other"), &1),
            "no-response" => return Reply::Response(note("x")),
            "silence" => return Reply::Silent,
            "bad-result" => {
                let bad = HashMap::from([([1], 1)]);
                return Reply::result(id, &bad);
            }
            "big" => {
                let bytes = argument.parse().unwrap_or(0);
                return Reply::result(id, &"x".repeat(bytes));
            }
            _ => return Reply::error(id, &ErrorObject::method_not_found(what)),
        }
        Reply::result(id, &argument)
    }
}

/// A driver with everything that belongs to it.
pub(crate) struct Side {
    pub(crate) log: Log,
    pub(crate) gates: Gates,
    pub(crate) kept: Arc<Mutex<Vec<Replies>>>,
    pub(crate) peer: Peer,
}

pub(crate) fn side<L: Link>(
    link: L,
    config: DriverConfig,
    batches: bool,
) -> (Driver<L, Toy, ToyService>, Side) {
    let log = Log::default();
    let service = ToyService { log: log.clone(), ..ToyService::default() };
    let (gates, kept) = (service.gates.clone(), Arc::clone(&service.kept));
    let toy = Toy { log: log.clone(), batches };
    let (driver, peer) = Driver::new(link, service, config, |_| toy);
    (driver, Side { log, gates, kept, peer })
}

/// Runs a driver against a script to the end of both; answers with the log.
pub(crate) fn play(
    config: DriverConfig,
    batches: bool,
    script: impl FnOnce(&Side, &mut Tasks) -> Script,
) -> String {
    let mut tasks = Tasks::new();
    // The side is made before its script, which may speak of it.
    let (link, theirs) = mcp_jsonrpc::link::memory_pair(1024);
    let (driver, side) = side(link, config, batches);
    let log = side.log.clone();
    let player = script(&side, &mut tasks).play_on(theirs);
    let end = log.clone();
    tasks.spawn(async move {
        let cause = driver.run().await;
        end.add(format_args!("over: {cause}"));
    });
    let played = log.clone();
    tasks.spawn(async move {
        if let Err(error) = player.await {
            played.add(error);
        }
    });
    drop(side);
    tasks.run();
    if tasks.open() > 0 {
        log.add(format_args!("{} tasks wait", tasks.open()));
    }
    log.take()
}

/// The name of an outcome, short enough for a log.
pub(crate) fn shown(
    outcome: &Result<mcp_jsonrpc::Response, mcp_jsonrpc::service::v1::AskError>,
) -> String {
    match outcome {
        Ok(response) => match &response.outcome {
            Ok(result) => format!("result {result}"),
            Err(error) => format!("error {error}"),
        },
        Err(error) => {
            let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
            format!("{error}{}", cause.unwrap_or_default())
        }
    }
}

/// Spawns a call, and logs how it ends.
pub(crate) fn call(tasks: &mut Tasks, side: &Side, name: &'static str, method: &str) {
    let (log, call) = (side.log.clone(), side.peer.call(Ask::new(method, None)));
    tasks.spawn(async move {
        let outcome = call.await;
        log.add(format_args!("{name}: {}", shown(&outcome)));
    });
}
