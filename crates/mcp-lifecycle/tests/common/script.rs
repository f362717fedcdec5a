//! A server whose input and output are lines.

use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use mcp_jsonrpc::link::v1::{Incoming, Link, LinkError, Stream};
use mcp_jsonrpc::peer::{Driver, DriverConfig, Peer};
use mcp_jsonrpc::service::v1::{Inbound, Replies, Reply, Service};
use mcp_jsonrpc::{ErrorObject, Extensions, Frame, Limits, Outgoing, decode};
use mcp_lifecycle::v1::McpService;
use mcp_lifecycle::{PeerFacts, Profile, ServerSession};
use mcp_types::{InitializeResult, Method};

/// Lines in both directions.
#[derive(Clone, Default)]
pub(crate) struct Script(Arc<Mutex<Lines>>);

#[derive(Default)]
struct Lines {
    incoming: VecDeque<String>,
    outgoing: Vec<String>,
    ended: bool,
    reader: Option<Waker>,
}

impl Script {
    /// The peer sends a line.
    pub(crate) fn send(&self, line: impl Into<String>) {
        let mut lines = self.0.lock().unwrap();
        lines.incoming.push_back(line.into());
        lines.reader.take().into_iter().for_each(Waker::wake);
    }

    /// The peer sends nothing more.
    pub(crate) fn end(&self) {
        let mut lines = self.0.lock().unwrap();
        lines.ended = true;
        lines.reader.take().into_iter().for_each(Waker::wake);
    }

    /// What the peer was sent since the last time.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().outgoing)
    }
}

impl Link for Script {
    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Result<Incoming, LinkError>> {
        let mut lines = self.0.lock().unwrap();
        let Some(line) = lines.incoming.pop_front() else {
            if lines.ended {
                return Poll::Ready(Err(LinkError::Closed));
            }
            lines.reader = Some(cx.waker().clone());
            return Poll::Pending;
        };
        Poll::Ready(Ok(match decode(&line.into_bytes().into(), &Limits::new()) {
            Ok(Frame::Single(message)) => Incoming::Message(message, Stream::Shared),
            Ok(Frame::Batch(messages)) => Incoming::Batch(messages),
            Ok(_) => unreachable!("there are no other frames"),
            Err(fault) => Incoming::Malformed(fault),
        }))
    }

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        Poll::Ready(Ok(()))
    }

    fn start_send(&mut self, message: Outgoing) -> Result<(), LinkError> {
        let line = String::from_utf8(message.into_frame().to_vec()).unwrap();
        self.0.lock().unwrap().outgoing.push(line);
        Ok(())
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        Poll::Ready(Ok(()))
    }
}

/// Does as little as a server can; `tools/call` waits for ever.
pub(crate) struct Least {
    pub(crate) profile: Arc<Profile>,
    /// How `initialize` is answered, if not well.
    pub(crate) fails: AtomicBool,
    /// What came, and what became of it.
    pub(crate) log: Arc<Mutex<Vec<String>>>,
}

impl Least {
    pub(crate) fn new(profile: Profile) -> Self {
        Self { profile: Arc::new(profile), fails: false.into(), log: Arc::default() }
    }
}

impl McpService for Least {
    fn profile(&self) -> Arc<Profile> {
        Arc::clone(&self.profile)
    }
}

struct OnDrop(Arc<Mutex<Vec<String>>>, String);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(format!("dropped {}", self.1));
    }
}

impl Service for Least {
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        self.log.lock().unwrap().push(inbound.method().to_string());
        let Some(id) = inbound.id() else { return Reply::Silent };
        match Method::from_name(inbound.method().as_str()) {
            Some(Method::Initialize) if self.fails.swap(false, Ordering::Relaxed) => {
                Reply::error(id, &ErrorObject::internal("not today"))
            }
            Some(Method::Initialize) => {
                let facts = PeerFacts::of(&inbound.extensions).expect("facts from initialize on");
                let result = InitializeResult::new(
                    facts.caller.revision.as_str(),
                    self.profile.capabilities.clone(),
                    super::implementation("least"),
                );
                Reply::result(id, &result)
            }
            Some(Method::ToolsCall) => {
                let _on_drop = OnDrop(Arc::clone(&self.log), format!("request {id}"));
                replies.cancelled().await;
                self.log.lock().unwrap().push(format!("canceled {id}"));
                // Canceled, and answers all the same: nobody must hear it.
                let late = Outgoing::notification_raw("notifications/message".into(), None);
                assert!(replies.try_notify(late).is_err());
                Reply::result(id, &serde_json::json!({"late": true}))
            }
            _ => Reply::Response(Outgoing::result_raw(id.clone(), b"{}")),
        }
    }
}

/// A server at work, one poll at a time.
pub(crate) struct Running {
    pub(crate) script: Script,
    pub(crate) peer: Peer,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
    driver: Pin<Box<dyn Future<Output = LinkError>>>,
}

impl Running {
    pub(crate) fn start(service: Least) -> Self {
        let (script, log) = (Script::default(), Arc::clone(&service.log));
        let profile = service.profile();
        let (driver, peer) = Driver::new(script.clone(), service, DriverConfig::new(), |outlet| {
            ServerSession::new(profile, Some(outlet), None, Extensions::new())
        });
        Self { script, peer, log, driver: Box::pin(driver.run()) }
    }

    /// Sends lines, lets the server work, and gives back what it sent.
    pub(crate) fn exchange<S: Into<String>>(
        &mut self,
        lines: impl IntoIterator<Item = S>,
    ) -> Vec<String> {
        lines.into_iter().for_each(|line| self.script.send(line));
        self.work();
        self.script.take()
    }

    /// Lets the server work until it waits; answers whether it has ended.
    pub(crate) fn work(&mut self) -> bool {
        until_idle(self.driver.as_mut()).is_some()
    }

    pub(crate) fn logged(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// Polls until the future is ready, or waits for something from outside.
pub(crate) fn until_idle<F: Future + ?Sized>(mut future: Pin<&mut F>) -> Option<F::Output> {
    let woken = Arc::new(Woken(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&woken));
    while woken.0.swap(false, Ordering::AcqRel) {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
    }
    None
}

/// [`until_idle`], for a future that has to be ready then.
pub(crate) fn now<F: Future>(future: F) -> F::Output {
    until_idle(pin!(future)).expect("the future waits for something")
}
