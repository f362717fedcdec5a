//! A link over pairs of byte streams.

#![cfg(test)]

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mcp_jsonrpc::link::v1::{Incoming, Link, LinkError, LinkExt, Stream};
use mcp_jsonrpc::{Fault, Limits, Name, Outgoing, RawJson};
use mcp_transport_stdio::{OnNoise, PipeConfig, PipeLink};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, duplex};

const LONG: Duration = Duration::from_secs(60);

async fn within<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, what).await.expect("it takes too long")
}

/// A link that reads `input` and writes nowhere.
fn reading(input: &[u8], config: PipeConfig) -> impl Link {
    PipeLink::with_config(io::Cursor::new(input.to_vec()), tokio::io::sink(), config)
}

/// Everything that comes in, up to the end.
async fn received(mut link: impl Link) -> Vec<Incoming> {
    let mut all = Vec::new();
    loop {
        match link.recv().await {
            Ok(incoming) => all.push(incoming),
            Err(cause) => {
                assert!(cause.is_closed(), "{cause:?}");
                assert_eq!(link.recv().await, Err(cause), "an end stays the same");
                return all;
            }
        }
    }
}

fn ids(all: &[Incoming]) -> Vec<String> {
    let id = |one: &Incoming| match one {
        Incoming::Message(message, Stream::Shared) => {
            message.id().map_or("-".into(), ToString::to_string)
        }
        Incoming::Batch(messages) => format!("batch of {}", messages.len()),
        Incoming::Malformed(fault) => {
            let kind = format!("{:?}", fault.kind);
            kind.split(' ').next().unwrap_or_default().to_owned()
        }
        other => panic!("{other:?}"),
    };
    all.iter().map(id).collect()
}

/// The faults among them.
fn faults(all: &[Incoming]) -> impl Iterator<Item = &Fault> {
    all.iter().filter_map(|one| match one {
        Incoming::Malformed(fault) => Some(fault),
        _ => None,
    })
}

fn ping(id: i64) -> Outgoing {
    Outgoing::request_raw(id.into(), Name::from_static("ping"), None)
}

/// A notification of about so many bytes.
fn note(bytes: usize) -> Outgoing {
    let params = RawJson::new(format!(r#"{{"a":"{}"}}"#, "x".repeat(bytes))).unwrap();
    Outgoing::notification_raw(Name::from_static("n"), Some(&params))
}

// Shows: TRANSPORT-STDIO-003, TRANSPORT-STDIO-004, FC-001
#[tokio::test]
async fn lines_become_messages_and_a_bad_one_costs_only_itself() {
    let input = b"not json\n\
        {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n\
        \n\
        {\n\
        {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}";
    let all = received(reading(input, PipeConfig::new())).await;
    assert_eq!(ids(&all), ["NotJson", "1", "Truncated", "2"]);
    // Shows: FC-002
    assert!(faults(&all).all(|fault| fault.id.is_none()));
}

// Shows: TRANSPORT-STDIO-006
#[tokio::test]
async fn an_array_is_a_batch_for_somebody_else_to_judge() {
    let input = br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#;
    let mut link = reading(input, PipeConfig::new());
    assert!(matches!(link.recv().await, Ok(Incoming::Batch(messages)) if messages.len() == 1));
}

// Shows: FC-004
#[tokio::test]
async fn a_line_over_the_limit_is_skipped_and_still_belongs_to_its_request() {
    let limits = Limits::new().with_frame_bytes(1000);
    let long = format!(
        r#"{{"method":"x","params":{{"a":"{}"}},"jsonrpc":"2.0","id":"late"}}"#,
        "x".repeat(100_000)
    );
    let input = format!("{long}\n{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}}\n");
    for noise in [OnNoise::Report, OnNoise::Skip] {
        let config = PipeConfig::new().with_limits(limits).with_noise(noise);
        let all = received(reading(input.as_bytes(), config)).await;
        assert_eq!(ids(&all), ["TooLong", "2"]);
        assert_eq!(faults(&all).next().unwrap().id, Some("late".into()));
    }
}

// Shows: FC-002, FC-005
#[tokio::test]
async fn only_what_nobody_can_be_waiting_for_is_skipped_as_noise() {
    let input = b"hello\n\
        {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"?\"}}\n\
        {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}\n\
        {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"x\",\"params\":[]}\n\
        {\"a\":1}\n\
        {\"jsonrpc\":\"2.0\",\"result\":{}}\n\
        [1]\n\
        [2,{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"id\":3}]\n";
    let noise = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&noise);
    let config = PipeConfig::new().with_noise(OnNoise::Skip);
    let link = PipeLink::with_config(io::Cursor::new(input.to_vec()), tokio::io::sink(), config)
        .on_noise(Arc::new(move |line| sink.lock().unwrap().push(line.to_owned())));
    let all = received(link).await;
    assert_eq!(ids(&all), ["-", "ResultAndError", "Params", "NoId", "batch of 2"]);
    assert_eq!(*noise.lock().unwrap(), ["hello", r#"{"a":1}"#, "[1]"]);
}

#[tokio::test]
async fn endless_noise_lets_others_run() {
    struct Endless;
    impl AsyncRead for Endless {
        fn poll_read(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buf: &mut tokio::io::ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            buf.put_slice(&b"noise\n"[..6.min(buf.remaining())]);
            Poll::Ready(Ok(()))
        }
    }
    let config = PipeConfig::new().with_noise(OnNoise::Skip);
    let mut link = PipeLink::with_config(Endless, tokio::io::sink(), config);
    let mut cx = Context::from_waker(Waker::noop());
    assert!(link.poll_recv(&mut cx).is_pending());
    assert!(link.skipped() > 0);
}

/// A writer that takes `room` bytes a call, and keeps a record.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Record>>);

#[derive(Default)]
struct Record {
    bytes: Vec<u8>,
    writes: usize,
    /// Bytes that are taken until somebody makes more room.
    room: usize,
    broken: bool,
    shut: bool,
    waker: Option<Waker>,
}

impl Recorder {
    fn with_room(room: usize) -> Self {
        Self(Arc::new(Mutex::new(Record { room, ..Record::default() })))
    }

    fn more_room(&self, room: usize) {
        let mut record = self.0.lock().unwrap();
        record.room += room;
        if let Some(waker) = record.waker.take() {
            waker.wake();
        }
    }

    fn writes(&self) -> usize {
        self.0.lock().unwrap().writes
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().bytes.clone()).unwrap()
    }
}

impl AsyncWrite for Recorder {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut record = self.0.lock().unwrap();
        record.writes += 1;
        if record.broken {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let mut taken = 0;
        for buf in bufs {
            let part = &buf[..buf.len().min(record.room)];
            record.room -= part.len();
            record.bytes.extend_from_slice(part);
            taken += part.len();
        }
        if taken == 0 {
            record.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(taken))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.lock().unwrap().shut = true;
        Poll::Ready(Ok(()))
    }
}

/// A link that writes to `recorder` and reads nothing.
fn writing(recorder: &Recorder, config: PipeConfig) -> impl Link {
    PipeLink::with_config(tokio::io::empty(), recorder.clone(), config)
}

#[tokio::test]
async fn what_is_ready_together_is_written_together() {
    let recorder = Recorder::with_room(usize::MAX);
    let mut link = writing(&recorder, PipeConfig::new());
    for id in 0..100 {
        poll_fn(|cx| link.poll_ready(cx)).await.unwrap();
        link.start_send(ping(id)).unwrap();
    }
    assert_eq!(recorder.writes(), 0);
    poll_fn(|cx| link.poll_flush(cx)).await.unwrap();
    assert_eq!(recorder.writes(), 1);
    assert_eq!(recorder.text().lines().count(), 100);
}

#[tokio::test]
async fn large_and_small_messages_keep_their_order_in_one_write() {
    let recorder = Recorder::with_room(usize::MAX);
    let mut link = writing(&recorder, PipeConfig::new().with_high_water(usize::MAX));
    let mut expected = String::new();
    for bytes in [1, 100_000, 2, 3, 50_000, 9_000, 4] {
        let message = note(bytes);
        expected += std::str::from_utf8(message.frame()).unwrap();
        expected += "\n";
        link.start_send(message).unwrap();
    }
    poll_fn(|cx| link.poll_flush(cx)).await.unwrap();
    assert_eq!(recorder.writes(), 1);
    assert_eq!(recorder.text(), expected);
}

#[tokio::test]
async fn writes_that_are_cut_anywhere_lose_nothing() {
    for step in [1, 7, 4096, 10_000] {
        let recorder = Recorder::default();
        let mut link = writing(&recorder, PipeConfig::new());
        let mut expected = String::new();
        let mut cx = Context::from_waker(Waker::noop());
        for bytes in [10, 9_000, 20, 30, 20_000] {
            let message = note(bytes);
            expected += std::str::from_utf8(message.frame()).unwrap();
            expected += "\n";
            link.start_send(message).unwrap();
            recorder.more_room(step);
            let _ = link.poll_flush(&mut cx);
        }
        while link.poll_flush(&mut cx).is_pending() {
            recorder.more_room(step);
        }
        assert_eq!(recorder.text(), expected);
    }
}

// Shows: TRANSPORT-STDIO-005, FC-006
#[tokio::test]
async fn a_message_is_one_line_even_if_its_parts_are_not() {
    let pretty = "{\r\n  \"a\": [\n1,\n\t2\n],\n  \"b\": \"c\\nd\u{2028}e\"\n}";
    let huge = format!("{{\n\"a\": \"{}\"\n}}", "x".repeat(100_000));
    let recorder = Recorder::with_room(usize::MAX);
    let mut link = writing(&recorder, PipeConfig::new());
    for result in [pretty, huge.as_str()] {
        link.send(Outgoing::result_raw(1.into(), result.as_bytes())).await.unwrap();
    }
    let text = recorder.text();
    let lines: Vec<_> = text.split_terminator('\n').collect();
    assert_eq!(lines.len(), 2, "{text:?}");
    assert!(text.ends_with('\n') && !text.contains('\r'));
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(value(lines[0])["result"], value(pretty));
    assert_eq!(value(lines[1])["result"], value(&huge));
}

#[tokio::test]
async fn a_message_over_the_limit_is_refused_and_the_next_one_sent() {
    let recorder = Recorder::with_room(usize::MAX);
    let mut link = writing(&recorder, PipeConfig::new().with_outgoing_bytes(1000));
    let refused = link.send(note(1000)).await.unwrap_err();
    assert!(matches!(refused, LinkError::Refused { .. }), "{refused:?}");
    link.send(ping(1)).await.unwrap();
    assert_eq!(recorder.text().lines().count(), 1);
}

#[tokio::test]
async fn a_full_link_is_ready_again_once_bytes_have_left_it() {
    let recorder = Recorder::default();
    let mut link = writing(&recorder, PipeConfig::new().with_high_water(1000));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(link.poll_ready(&mut cx).is_ready());
    link.start_send(note(2000)).unwrap();
    assert!(link.poll_ready(&mut cx).is_pending());
    recorder.more_room(100);
    assert!(link.poll_ready(&mut cx).is_pending());
    recorder.more_room(1500);
    assert!(link.poll_ready(&mut cx).is_ready());
}

#[tokio::test]
async fn closing_flushes_first_and_is_the_last_thing_sent() {
    let recorder = Recorder::default();
    let mut link = writing(&recorder, PipeConfig::new());
    link.start_send(ping(1)).unwrap();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(link.poll_close(&mut cx).is_pending());
    assert!(!recorder.0.lock().unwrap().shut);
    recorder.more_room(1000);
    assert_eq!(link.poll_close(&mut cx), Poll::Ready(Ok(())));
    assert!(recorder.0.lock().unwrap().shut);
    assert_eq!(link.send(ping(2)).await, Err(LinkError::Closed));
    assert_eq!(link.poll_close(&mut cx), Poll::Ready(Ok(())), "it is closed already");
    assert_eq!(recorder.text().lines().count(), 1);
}

// Shows: FC-008
#[tokio::test]
async fn a_peer_that_does_not_read_any_more_has_closed_the_link() {
    let recorder = Recorder::default();
    recorder.0.lock().unwrap().broken = true;
    let mut link = writing(&recorder, PipeConfig::new());
    assert_eq!(link.send(ping(1)).await, Err(LinkError::Closed));
    assert_eq!(link.send(ping(2)).await, Err(LinkError::Closed));
    assert_eq!(recorder.writes(), 1, "a broken pipe isn't tried again");
}

#[tokio::test]
async fn a_stream_that_breaks_says_how() {
    let reader = breaking(io::ErrorKind::ConnectionReset);
    let mut link = PipeLink::new(reader, tokio::io::sink());
    let cause = link.recv().await.unwrap_err();
    let LinkError::Failed(source) = &cause else { panic!("{cause:?}") };
    assert_eq!(source.to_string(), "the peer's messages can't be read");
    assert_eq!(link.recv().await, Err(cause.clone()));
}

fn breaking(kind: io::ErrorKind) -> impl AsyncRead + Unpin + Send + 'static {
    struct Breaks(io::ErrorKind);
    impl AsyncRead for Breaks {
        fn poll_read(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            _: &mut tokio::io::ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Poll::Ready(Err(self.0.into()))
        }
    }
    Breaks(kind)
}

#[tokio::test]
async fn two_peers_that_both_send_more_than_the_pipes_hold_do_not_block_each_other() {
    const MESSAGES: usize = 8;
    let (left, right) = duplex(1024);
    /// Sends what it can, receives what it can, from one task, as a driver does.
    async fn talk(stream: tokio::io::DuplexStream) -> usize {
        let (reader, writer) = tokio::io::split(stream);
        let mut link = PipeLink::new(reader, writer);
        let (mut sent, mut received) = (0, 0);
        poll_fn(|cx| {
            while sent < MESSAGES && link.poll_ready(cx)?.is_ready() {
                link.start_send(note(1 << 20))?;
                sent += 1;
            }
            let flushed = link.poll_flush(cx)?;
            while received < MESSAGES
                && let Poll::Ready(incoming) = link.poll_recv(cx)?
            {
                assert!(matches!(incoming, Incoming::Message(..)));
                received += 1;
            }
            if received == MESSAGES && sent == MESSAGES && flushed.is_ready() {
                return Poll::Ready(Ok::<_, LinkError>(received));
            }
            Poll::Pending
        })
        .await
        .unwrap()
    }
    let both = within(async { tokio::join!(talk(left), talk(right)) }).await;
    assert_eq!(both, (MESSAGES, MESSAGES));
}

#[tokio::test]
async fn a_peer_that_writes_a_byte_at_a_time_is_understood() {
    let (mut peer, stream) = duplex(64);
    let mut link = PipeLink::new(stream, tokio::io::sink());
    let writing = tokio::spawn(async move {
        for byte in br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"# {
            peer.write_all(&[*byte]).await.unwrap();
            tokio::task::yield_now().await;
        }
        peer.write_all(b"\n").await.unwrap();
        peer
    });
    assert!(matches!(within(link.recv()).await, Ok(Incoming::Message(..))));
    drop(writing.await.unwrap());
    assert_eq!(within(link.recv()).await, Err(LinkError::Closed));
}

#[tokio::test]
async fn after_the_peer_has_closed_its_side_it_still_hears() {
    let (mut peer, stream) = duplex(1024);
    let (reader, writer) = tokio::io::split(stream);
    let mut link = PipeLink::new(reader, writer);
    peer.shutdown().await.unwrap();
    assert_eq!(within(link.recv()).await, Err(LinkError::Closed));
    within(link.send(ping(1))).await.unwrap();
    within(link.close()).await.unwrap();
    let mut text = String::new();
    within(peer.read_to_string(&mut text)).await.unwrap();
    assert_eq!(text.lines().count(), 1);
}
