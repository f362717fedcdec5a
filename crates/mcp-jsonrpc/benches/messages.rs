//! What one message costs: read, written, and both.
#![expect(clippy::print_stdout, reason = "that is what it is for")]
//!
//! Without arguments, prints nanoseconds for each case. With `CASE ROUNDS`, runs one case that
//! often and prints nothing, so that instructions can be counted from outside: those of a long
//! run minus those of a short one, divided by the difference in rounds.

use std::hint::black_box;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use bytes::Bytes;
use mcp_jsonrpc::link::memory_pair;
use mcp_jsonrpc::link::v1::Link;
use mcp_jsonrpc::peer::{
    Arrival, Driver, DriverConfig, NotificationVerdict, Protocol, RequestVerdict,
};
use mcp_jsonrpc::service::v1::{Inbound, Replies, Reply, Service};
use mcp_jsonrpc::{
    Extensions, Frame, Limits, Message, Notification, Outgoing, Request, decode, to_vec, write_json,
};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What an echo tool answers with.
struct Echo<'a> {
    text: &'a str,
}

struct Content<'a>(&'a str);

impl Serialize for Echo<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("CallToolResult", 2)?;
        fields.serialize_field("content", &[Content(self.text)])?;
        fields.serialize_field("isError", &false)?;
        fields.end()
    }
}

impl Serialize for Content<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("TextContent", 2)?;
        fields.serialize_field("type", "text")?;
        fields.serialize_field("text", self.0)?;
        fields.end()
    }
}

fn call(text: &str) -> Vec<u8> {
    let text = String::from_utf8(to_vec(text).unwrap_or_default()).unwrap_or_default();
    format!(
        r#"{{"jsonrpc":"2.0","id":12345,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":{text}}},"_meta":{{"progressToken":12345}}}}}}"#
    )
    .into_bytes()
}

fn response(text: &str) -> Vec<u8> {
    Outgoing::result(12345.into(), &Echo { text })
        .map(|out| out.frame().to_vec())
        .unwrap_or_default()
}

fn text(pattern: &str, len: usize) -> String {
    pattern.chars().cycle().take(len).collect()
}

const PLAIN: &str = "the quick brown fox jumps over the lazy dog ";
const LINES: &str = "a line of some sixty characters, as program text is, \"quoted\"\n";
const BEYOND: &str = "eine Zeile mit Umlauten, größer als ASCII: äöü ";

/// A case that is ready to run, and the length of what it reads.
type Case = (usize, Box<dyn FnMut()>);

const MIB: usize = 1 << 20;

type Make = fn() -> Case;

/// Each case, made when it is wanted.
const CASES: &[(&str, Make)] = &[
    ("nothing", || (0, Box::new(|| ()))),
    ("decode-call", || read(call("hello, world, 0123456789"))),
    ("decode-call-by-serde", || by_serde(call("hello, world, 0123456789"))),
    ("decode-response", || read(response("hello, world"))),
    ("decode-progress", || read(PROGRESS.to_vec())),
    ("decode-ping", || read(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_vec())),
    ("decode-text-id", || read(TEXT_ID.to_vec())),
    ("decode-1m-plain", || read(call(&text(PLAIN, MIB)))),
    ("decode-1m-lines", || read(call(&text(LINES, MIB)))),
    ("decode-1m-beyond", || read(call(&text(BEYOND, MIB)))),
    ("encode-echo", || write("hello, world".to_owned())),
    ("encode-1m-plain", || write(text(PLAIN, MIB))),
    ("encode-1m-lines", || write(text(LINES, MIB))),
    ("encode-1m-beyond", || write(text(BEYOND, MIB))),
    ("json", || ours("hello, world".to_owned())),
    ("json-by-serde", || reference("hello, world".to_owned())),
    ("json-1m-lines", || ours(text(LINES, MIB))),
    ("json-1m-lines-by-serde", || reference(text(LINES, MIB))),
    ("echo", echo),
    ("drive-echo", || drive(call("hello, world"))),
    ("drive-echo-late", || drive(call("late"))),
    ("drive-ping", || drive(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_vec())),
];

const PROGRESS: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":12345,"progress":50,"total":100}}"#;
const TEXT_ID: &[u8] =
    br#"{"jsonrpc":"2.0","id":"2b1c9d2e-6f0a-4f7b-9d3e-0a1b2c3d4e5f","method":"ping"}"#;

fn read(frame: Vec<u8>) -> Case {
    let limits = Limits::new();
    let len = frame.len();
    // As a transport has it: a part of a buffer that is shared already.
    let mut buffer = Bytes::from(frame);
    let frame = buffer.split_to(len);
    (len, Box::new(move || drop(black_box(decode(black_box(&frame), &limits)))))
}

/// The least that `serde_json` can be asked for: the same members, borrowed, and nothing checked
/// that it doesn't check.
fn by_serde(frame: Vec<u8>) -> Case {
    (
        frame.len(),
        Box::new(move || {
            drop(black_box(serde_json::from_slice::<Envelope<'_>>(black_box(&frame))))
        }),
    )
}

#[derive(Default)]
struct Envelope<'a> {
    version: Option<&'a str>,
    id: Option<i64>,
    method: Option<&'a str>,
    params: Option<&'a RawValue>,
}

impl<'de> Deserialize<'de> for Envelope<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Envelope<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an envelope")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope<'de>, A::Error> {
                let mut envelope = Envelope::default();
                while let Some(key) = map.next_key::<&str>()? {
                    match key {
                        "jsonrpc" => envelope.version = map.next_value()?,
                        "id" => envelope.id = map.next_value()?,
                        "method" => envelope.method = map.next_value()?,
                        "params" => envelope.params = map.next_value()?,
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                black_box((envelope.version, envelope.method));
                Ok(envelope)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

fn write(text: String) -> Case {
    let run = move || {
        let out = Outgoing::result(12345.into(), &Echo { text: black_box(&text) });
        drop(black_box(out));
    };
    (0, Box::new(run))
}

fn ours(text: String) -> Case {
    let run = move || {
        let mut out = Vec::with_capacity(128);
        let written = write_json(&mut out, &Echo { text: black_box(&text) });
        drop(black_box((out, written)));
    };
    (0, Box::new(run))
}

fn reference(text: String) -> Case {
    (0, Box::new(move || drop(black_box(serde_json::to_vec(&Echo { text: black_box(&text) })))))
}

fn echo() -> Case {
    let limits = Limits::new();
    let frame = call("hello, world");
    let run = move || {
        let frame = Bytes::copy_from_slice(&frame);
        if let Ok(Frame::Single(Message::Request(request))) = decode(&frame, &limits) {
            drop(black_box(Outgoing::result(request.id, &Echo { text: "hello, world" })));
        }
    };
    (0, Box::new(run))
}

/// Answers at once, or at the second poll.
struct EchoService;

impl Service for EchoService {
    async fn call(&self, inbound: Inbound, _: Replies) -> Reply {
        let Some(id) = inbound.id() else { return Reply::Silent };
        if inbound.params().is_some_and(|params| params.as_bytes().len() < 80) {
            let mut polled = false;
            std::future::poll_fn(|cx| {
                if std::mem::replace(&mut polled, true) {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        }
        Reply::result(id, &Echo { text: "hello, world" })
    }
}

struct Open;

impl Protocol for Open {
    fn request(&mut self, _: &Request, _: Arrival) -> RequestVerdict {
        RequestVerdict::Serve(Extensions::new())
    }

    fn notification(&mut self, _: &Notification, _: Arrival) -> NotificationVerdict {
        NotificationVerdict::Drop
    }
}

/// A request through a driver, from frame to frame, over a link in memory.
fn drive(frame: Vec<u8>) -> Case {
    let (link, mut far) = memory_pair(16);
    let (driver, _) = Driver::new(link, EchoService, DriverConfig::new(), |_| Open);
    let mut run = Box::pin(driver.run());
    let len = frame.len();
    let Ok(Frame::Single(Message::Request(request))) = decode(&frame.into(), &Limits::new()) else {
        return (0, Box::new(|| ()));
    };
    let request = Outgoing::request_raw(request.id, request.method, request.params.as_ref());
    let step = move || {
        let mut cx = Context::from_waker(Waker::noop());
        drop(far.start_send(request.clone()));
        drop(black_box(run.as_mut().poll(&mut cx)));
        // The answer is read, which costs as much as `decode-response`.
        drop(black_box(far.poll_recv(&mut cx)));
    };
    (len, Box::new(step))
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [case, rounds] = &args[..] {
        let rounds: u32 = rounds.parse().unwrap_or(1);
        for (_, make) in CASES.iter().filter(|(name, _)| name == case) {
            let (_, mut run) = make();
            (0..rounds).for_each(|_| run());
        }
        return;
    }
    for (name, make) in CASES {
        let (len, mut run) = make();
        // As many rounds as take a while, the best of a few tries.
        let mut rounds = 1u32;
        let mut best = f64::INFINITY;
        loop {
            let start = Instant::now();
            (0..rounds).for_each(|_| run());
            let took = start.elapsed().as_secs_f64();
            best = best.min(took / f64::from(rounds));
            if took > 0.1 {
                break;
            }
            rounds *= 2;
        }
        println!("{name:24} {:12.1} ns  {len:8} bytes", best * 1e9);
    }
}
