//! One request of ours, and everything that may cross: all orders of it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use mcp_jsonrpc::link::v1::{Incoming, Link, LinkError};
use mcp_jsonrpc::link::{MemoryLink, memory_pair};
use mcp_jsonrpc::peer::{DriverConfig, PendingCall};
use mcp_jsonrpc::service::v1::{Ask, AskError};
use mcp_jsonrpc::{Message, Outgoing, Response};

use crate::toy::{Side, side};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    /// The call is polled.
    Poll,
    /// The driver is polled.
    Drive,
    /// The peer reads all it can, and answers the request; or answers too early.
    Answer,
    /// The call is dropped.
    Drop,
    /// The call is abandoned.
    Abandon,
    /// The peer closes its side.
    End,
    /// We close.
    Close,
    /// The driver is dropped.
    Kill,
}

const OPS: [Op; 8] =
    [Op::Poll, Op::Drive, Op::Answer, Op::Drop, Op::Abandon, Op::End, Op::Close, Op::Kill];

struct Flag(AtomicBool);

impl Flag {
    fn new() -> (Arc<Self>, Waker) {
        let flag = Arc::new(Self(AtomicBool::new(false)));
        (Arc::clone(&flag), flag.into())
    }

    fn take(&self) -> bool {
        self.0.swap(false, Ordering::AcqRel)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

type Outcome = Result<Response, AskError>;

struct World {
    side: Side,
    driver: Option<Pin<Box<dyn Future<Output = LinkError>>>>,
    driver_woken: Arc<Flag>,
    driver_waker: Waker,
    call: Option<PendingCall>,
    call_woken: Arc<Flag>,
    call_waker: Waker,
    /// The call has answered `Pending`, and was not polled since.
    waits: bool,
    outcome: Option<Outcome>,
    far: MemoryLink,
    /// What the peer got.
    requests: usize,
    notices: usize,
    /// The peer answered a request that it had got.
    answered: bool,
    ended: bool,
}

impl World {
    fn new() -> Self {
        let (link, far) = memory_pair(16);
        let (driver, side) = side(link, DriverConfig::new(), false);
        let call = Some(side.peer.call(Ask::new("x", None)));
        let (driver_woken, driver_waker) = Flag::new();
        let (call_woken, call_waker) = Flag::new();
        Self {
            side,
            // Not polled yet: as good as woken.
            driver: Some(Box::pin(driver.run())),
            driver_woken,
            driver_waker,
            call,
            call_woken,
            call_waker,
            waits: false,
            outcome: None,
            far,
            requests: 0,
            notices: 0,
            answered: false,
            ended: false,
        }
    }

    fn read(&mut self) {
        while let Poll::Ready(Ok(incoming)) =
            self.far.poll_recv(&mut Context::from_waker(Waker::noop()))
        {
            match incoming {
                Incoming::Message(Message::Request(request), _) => {
                    assert_eq!(request.id, 1.into());
                    self.requests += 1;
                }
                Incoming::Message(Message::Notification(_), _) => {
                    assert_eq!(self.requests, 1, "given up before it was sent");
                    self.notices += 1;
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn poll_call(&mut self) {
        let Some(call) = &mut self.call else { return };
        let woken = self.call_woken.take();
        match Pin::new(call).poll(&mut Context::from_waker(&self.call_waker)) {
            Poll::Pending => self.waits = true,
            Poll::Ready(outcome) => {
                assert!(woken || !self.waits, "the call was not woken");
                self.call = None;
                self.outcome = Some(outcome);
            }
        }
    }

    fn drive(&mut self) {
        let Some(driver) = &mut self.driver else { return };
        self.driver_woken.take();
        if driver.as_mut().poll(&mut Context::from_waker(&self.driver_waker)).is_ready() {
            self.driver = None;
        }
    }

    fn apply(&mut self, op: Op) {
        match op {
            Op::Poll => self.poll_call(),
            Op::Drive => self.drive(),
            Op::Answer => {
                self.read();
                self.answered |= self.requests > 0 && !self.ended;
                let _ = self.far.start_send(Outgoing::result_raw(1.into(), b"1"));
            }
            Op::Drop => self.call = None,
            Op::Abandon => {
                if let Some(call) = self.call.take() {
                    call.abandon("enough");
                }
            }
            Op::End => {
                self.ended = true;
                let _ = self.far.poll_close(&mut Context::from_waker(Waker::noop()));
            }
            Op::Close => self.side.peer.close(),
            Op::Kill => self.driver = None,
        }
    }

    /// Lets everything come to rest, and looks at what is left.
    fn settle(mut self) {
        self.drive();
        for _ in 0..10 {
            if self.driver_woken.take() {
                self.drive();
            }
            if self.call_woken.take() {
                // Put back, as `poll_call` looks at it.
                self.call_woken.0.store(true, Ordering::Release);
                self.poll_call();
            }
        }
        self.read();
        // Nobody was woken, so nobody has anything to do.
        let (requests, notices) = (self.requests, self.notices);
        let was_driven = self.driver.is_some();
        self.drive();
        self.read();
        assert_eq!((self.requests, self.notices), (requests, notices), "the driver was not woken");
        assert_eq!(self.driver.is_some(), was_driven, "the driver was not woken for the end");
        if self.waits {
            self.poll_call();
        }

        let over = self.driver.is_none() || self.ended;
        match &self.outcome {
            Some(Ok(response)) => {
                assert!(self.answered, "an answer from nobody");
                assert_eq!(response.id, Some(1.into()));
                assert_eq!(self.notices, 0, "given up, and answered");
            }
            Some(Err(AskError::Link(LinkError::Closed))) => {}
            Some(Err(other)) => panic!("{other}"),
            None if self.call.is_some() && self.waits => {
                assert!(!self.answered, "the answer got lost");
                assert!(!over, "the call waits for nobody");
            }
            None => {}
        }
        assert!(self.requests <= 1 && self.notices <= 1);
        let pending = usize::from(self.call.is_some() && self.waits);
        assert_eq!(self.side.peer.pending(), pending);
        drop(self.call);
        assert_eq!(self.side.peer.pending(), 0);
    }
}

fn run(ops: &[Op]) {
    let mut world = World::new();
    for op in ops {
        world.apply(*op);
    }
    world.settle();
}

#[test]
fn every_order_of_what_may_happen_to_a_request_ends_well() {
    const LEN: u32 = 5;
    let count = OPS.len().pow(LEN);
    let hook = std::panic::take_hook();
    for number in 0..count {
        let mut rest = number;
        let ops: Vec<Op> = (0..LEN)
            .map(|_| {
                let op = OPS[rest % OPS.len()];
                rest /= OPS.len();
                op
            })
            .collect();
        let failed = ops.clone();
        std::panic::set_hook(Box::new(move |info| eprintln!("{failed:?}: {info}")));
        run(&ops);
    }
    std::panic::set_hook(hook);
}
