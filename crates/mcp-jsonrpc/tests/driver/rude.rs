//! Links that refuse, break, and end streams.

use std::collections::VecDeque;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use expect_test::{Expect, expect};
use mcp_jsonrpc::link::v1::{Incoming, Link, LinkError, Stream};
use mcp_jsonrpc::peer::DriverConfig;
use mcp_jsonrpc::service::v1::Ask;
use mcp_jsonrpc::testing::Tasks;
use mcp_jsonrpc::{Frame, Limits, Message, Outgoing, RequestId, Response, decode};

use crate::toy::{Log, Side, call, side};

/// Brings in what it was given, and logs what goes out.
struct RudeLink {
    log: Log,
    incoming: VecDeque<Result<Incoming, LinkError>>,
    /// Longer frames are refused.
    longest: usize,
    /// Frames until the medium breaks.
    left: usize,
    /// Whether what comes in is there only once something went out.
    answers: bool,
    receiver: Option<Waker>,
    abandons: bool,
}

impl RudeLink {
    fn new(log: &Log) -> Self {
        let log = log.clone();
        Self {
            log,
            incoming: VecDeque::new(),
            longest: usize::MAX,
            left: usize::MAX,
            answers: false,
            receiver: None,
            abandons: true,
        }
    }

    fn bring(mut self, frame: &str) -> Self {
        let frame = frame.to_owned().into();
        self.incoming.push_back(Ok(match decode(&frame, &Limits::new()) {
            Ok(Frame::Single(message)) => Incoming::Message(message, Stream::Shared),
            Ok(Frame::Batch(messages)) => Incoming::Batch(messages),
            other => panic!("{other:?}"),
        }));
        self
    }
}

impl Link for RudeLink {
    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Result<Incoming, LinkError>> {
        match self.incoming.front() {
            Some(_) if self.answers => {
                self.receiver = Some(cx.waker().clone());
                Poll::Pending
            }
            Some(Ok(_)) => self.incoming.pop_front().map_or(Poll::Pending, Poll::Ready),
            Some(Err(cause)) => Poll::Ready(Err(cause.clone())),
            None => Poll::Pending,
        }
    }

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        Poll::Ready(Ok(()))
    }

    fn start_send(&mut self, message: Outgoing) -> Result<(), LinkError> {
        self.answers = false;
        self.receiver.take().into_iter().for_each(Waker::wake);
        let text = String::from_utf8_lossy(message.frame()).into_owned();
        if message.frame().len() > self.longest {
            self.log.add(format_args!("refused {text}"));
            return Err(LinkError::Refused { reason: "the message is too long" });
        }
        if self.left == 0 {
            self.log.add(format_args!("broke at {text}"));
            return Err(LinkError::failed("broken pipe"));
        }
        self.left -= 1;
        self.log.add(format_args!("sent {text}"));
        Ok(())
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.log.add("closed");
        Poll::Ready(Ok(()))
    }

    fn abandon(&mut self, id: &RequestId, notice: Option<Outgoing>) -> Result<(), LinkError> {
        self.log.add(format_args!("gave up {id}, with notice: {}", notice.is_some()));
        if self.abandons { Ok(()) } else { Err(LinkError::Refused { reason: "no" }) }
    }
}

fn check(
    expected: Expect,
    link: impl FnOnce(RudeLink) -> RudeLink,
    calls: impl FnOnce(&Side, &mut Tasks),
) {
    let mut tasks = Tasks::new();
    let log = Log::default();
    let (driver, side) = side(link(RudeLink::new(&log)), DriverConfig::new(), true);
    calls(&side, &mut tasks);
    // So that what was asked is queued before the driver starts.
    tasks.run();
    let over = log.clone();
    tasks.spawn(async move {
        let cause = driver.run().await;
        over.add(format_args!("over: {cause:?}"));
    });
    tasks.run();
    expected.assert_eq(&(log.take() + "---\n" + &side.log.take()));
}

#[test]
fn a_message_that_is_refused_costs_only_itself() {
    check(
        expect![[r#"
            refused {"jsonrpc":"2.0","id":1,"method":"this/method/has/a/name/that/is/so/very/long/that/no/frame/can/hold/it/at/all/anyhow/oh/well"}
            refused {"jsonrpc":"2.0","id":1,"result":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}
            sent {"jsonrpc":"2.0","id":2,"result":{}}
            refused [{"jsonrpc":"2.0","id":3,"result":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},{"jsonrpc":"2.0","id":4,"result":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},{"jsonrpc":"2.0","id":5,"result":{}}]
            refused {"jsonrpc":"2.0","id":"a very long id, so long that no answer fits, and longer than anybody would ever choose, and then some","result":{}}
            sent {"jsonrpc":"2.0","id":6,"result":{}}
            sent {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the message is too long"}}
            sent {"jsonrpc":"2.0","id":3,"result":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}
            refused {"jsonrpc":"2.0","id":4,"result":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}
            sent {"jsonrpc":"2.0","id":5,"result":{}}
            refused {"jsonrpc":"2.0","id":"a very long id, so long that no answer fits, and longer than anybody would ever choose, and then some","error":{"code":-32603,"message":"the message is too long"}}
            sent {"jsonrpc":"2.0","id":4,"error":{"code":-32603,"message":"the message is too long"}}
            ---
            answered 1 big:100
            answered 2 echo
            answered 3 big:50
            answered 4 big:100
            answered 5 echo
            answered "a very long id, so long that no answer fits, and longer than anybody would ever choose, and then some" echo
            answered 6 echo
            ours: the link to the peer is gone: the link does not carry this message: the message is too long
        "#]],
        |mut link| {
            link.longest = 110;
            link.bring(r#"{"jsonrpc":"2.0","id":1,"method":"big:100"}"#)
                .bring(r#"{"jsonrpc":"2.0","id":2,"method":"echo"}"#)
                .bring(
                    r#"[{"jsonrpc":"2.0","id":3,"method":"big:50"},{"jsonrpc":"2.0","id":4,"method":"big:100"},{"jsonrpc":"2.0","id":5,"method":"echo"}]"#,
                )
                // Not even the error fits.
                .bring(
                    r#"{"jsonrpc":"2.0","id":"a very long id, so long that no answer fits, and longer than anybody would ever choose, and then some","method":"echo"}"#,
                )
                .bring(r#"{"jsonrpc":"2.0","id":6,"method":"echo"}"#)
        },
        |side, tasks| {
            call(
                tasks,
                side,
                "ours",
                "this/method/has/a/name/that/is/so/very/long/that/no/frame/can/hold/it/at/all/anyhow/oh/well",
            );
        },
    );
}

#[test]
fn the_end_of_a_stream_fails_the_call_that_it_belonged_to() {
    check(
        expect![[r#"
            sent {"jsonrpc":"2.0","id":1,"method":"x"}
            sent {"jsonrpc":"2.0","id":2,"method":"y"}
            ---
            b: the link to the peer is gone: the link failed
            a: result {}
        "#]],
        |mut link| {
            let ended = |id: i64| {
                Ok(Incoming::StreamEnded { id: id.into(), cause: LinkError::failed("cut") })
            };
            link.answers = true;
            link.incoming.extend([ended(2), ended(7)]);
            link.bring(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
        },
        |side, tasks| {
            call(tasks, side, "a", "x");
            call(tasks, side, "b", "y");
        },
    );
}

/// A child process answers, and exits; what we write next breaks.
#[test]
fn what_came_in_before_the_medium_broke_still_counts() {
    check(
        expect![[r#"
            sent {"jsonrpc":"2.0","id":1,"method":"x"}
            broke at {"jsonrpc":"2.0","id":2,"method":"y"}
            over: Failed("broken pipe")
            ---
            ended: the link failed
            a: result 1
            b: the link to the peer is gone: the link failed
        "#]],
        |mut link| {
            link.answers = true;
            link.left = 1;
            let answer = Response::new(Some(1.into()), Ok(mcp_jsonrpc::RawJson::new("1").unwrap()));
            link.incoming
                .push_back(Ok(Incoming::Message(Message::Response(answer), Stream::Shared)));
            link
        },
        |side, tasks| {
            call(tasks, side, "a", "x");
            call(tasks, side, "b", "y");
        },
    );
}

/// The side that receives knows the exit status; the side that sends only a broken pipe.
#[test]
fn the_better_reason_is_told() {
    check(
        expect![[r#"
            broke at {"jsonrpc":"2.0","id":1,"method":"x"}
            over: Failed("exit status 3")
            ---
            ended: the link failed
            a: the link to the peer is gone: the link failed
        "#]],
        |mut link| {
            link.answers = true;
            link.left = 0;
            link.incoming.push_back(Err(LinkError::failed("exit status 3")));
            link
        },
        |side, tasks| call(tasks, side, "a", "x"),
    );
}

#[test]
fn a_medium_that_fails_ends_everything_at_once() {
    check(
        expect![[r#"
            over: Failed("exit status 1")
            ---
            began 1
            ended: the link failed
            dropped 1
            a: the link to the peer is gone: the link failed
        "#]],
        |mut link| {
            link = link.bring(r#"{"jsonrpc":"2.0","id":1,"method":"wait:never"}"#);
            link.incoming.push_back(Err(LinkError::failed("exit status 1")));
            link
        },
        |side, tasks| call(tasks, side, "a", "x"),
    );
}

/// Gives one request up before it is answered, and one whose end the protocol doesn't tell.
fn give_up(abandons: bool) -> String {
    let log = Log::default();
    let mut link = RudeLink::new(&log);
    link.abandons = abandons;
    let (driver, side) = side(link, DriverConfig::new(), false);
    let mut run = pin!(driver.run());
    let mut cx = Context::from_waker(Waker::noop());
    for method in ["x", "quiet"] {
        let mut call = Box::pin(side.peer.call(Ask::new(method, None)));
        assert!(call.as_mut().poll(&mut cx).is_pending());
        assert!(run.as_mut().poll(&mut cx).is_pending());
        drop(call);
        // Whether or not the link could do it, nothing else comes to harm.
        assert!(run.as_mut().poll(&mut cx).is_pending());
    }
    log.take()
}

#[test]
fn the_link_decides_how_a_request_is_given_up() {
    let told = give_up(true);
    expect![[r#"
        sent {"jsonrpc":"2.0","id":1,"method":"x"}
        gave up 1, with notice: true
        sent {"jsonrpc":"2.0","id":2,"method":"quiet"}
        gave up 2, with notice: false
    "#]]
    .assert_eq(&told);
    assert_eq!(give_up(false), told);
}

/// Takes a while to close, and refuses to be flushed meanwhile.
struct Slow {
    closing: u8,
    log: Log,
}

impl Link for Slow {
    fn poll_recv(&mut self, _: &mut Context<'_>) -> Poll<Result<Incoming, LinkError>> {
        Poll::Pending
    }

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        Poll::Ready(Ok(()))
    }

    fn start_send(&mut self, _: Outgoing) -> Result<(), LinkError> {
        Ok(())
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        Poll::Ready(if self.closing == 0 { Ok(()) } else { Err(LinkError::Closed) })
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.closing += 1;
        if self.closing < 3 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.log.add("closed to the end");
        Poll::Ready(Ok(()))
    }

    fn abandon(&mut self, _: &RequestId, _: Option<Outgoing>) -> Result<(), LinkError> {
        Ok(())
    }
}

#[test]
fn a_link_that_takes_its_time_to_close_gets_it() {
    let log = Log::default();
    let link = Slow { closing: 0, log: log.clone() };
    let (driver, side) = side(link, DriverConfig::new(), false);
    let mut tasks = Tasks::new();
    side.peer.close();
    tasks.spawn(async move {
        driver.run().await;
    });
    tasks.run_all().unwrap();
    assert_eq!(log.take(), "closed to the end\n");
}
