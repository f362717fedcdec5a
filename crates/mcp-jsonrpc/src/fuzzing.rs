//! The bodies of fuzz targets: ordinary functions, which a test feeds on stable.
//!
//! Each takes any bytes, and panics when something does not hold.
#![expect(clippy::panic, reason = "how a fuzz body says that something does not hold")]

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use crate::link::memory_pair;
use crate::peer::{Arrival, Driver, DriverConfig, NotificationVerdict, Protocol, RequestVerdict};
use crate::service::v1::{Ask, Call, Inbound, Replies, Reply, Service};
use crate::{
    Extensions, Fault, FaultKind, Frame, Limits, Message, Notification, Outgoing, RawJson, Request,
    RequestId, code, decode, to_vec,
};

/// A frame is a message, or says what is wrong with it, exactly as far as it is JSON.
pub fn frame(bytes: &[u8]) {
    let frame = Bytes::copy_from_slice(bytes);
    let deep = Limits::new().with_depth(127);
    let read = decode(&frame, &deep);
    let json = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
        && std::str::from_utf8(bytes).is_ok();
    match &read {
        Ok(Frame::Single(message)) => written_reads_back(message),
        Ok(Frame::Batch(members)) => {
            assert!(!members.is_empty());
            for member in members {
                match member {
                    Ok(message) => written_reads_back(message),
                    Err(fault) => sensible(fault),
                }
            }
        }
        Err(fault) => sensible(fault),
    }
    let no_json = read.is_err_and(|fault| fault.kind.code() == code::PARSE_ERROR);
    assert_eq!(no_json, !json, "read differently by serde_json: {frame:?}");

    // In the middle of a buffer it is the same frame.
    let mut buffer = b"{\"id\":".to_vec();
    buffer.extend_from_slice(bytes);
    buffer.extend_from_slice(b"\"}]");
    let part = Bytes::from(buffer).slice(6..6 + bytes.len());
    assert_eq!(decode(&part, &deep), decode(&frame, &deep));

    // Limits only ever turn messages into faults of their own kind.
    let narrow = Limits::new().with_frame_bytes(bytes.len() / 2).with_depth(2).with_batch(1);
    match decode(&frame, &narrow) {
        Ok(read) => assert_eq!(Ok(read), decode(&frame, &deep)),
        Err(fault) => sensible(&fault),
    }
}

fn written_reads_back(message: &Message) {
    let written = match message.clone() {
        Message::Request(request) => {
            Outgoing::request_raw(request.id, request.method, request.params.as_ref())
        }
        Message::Notification(notification) => {
            Outgoing::notification_raw(notification.method, notification.params.as_ref())
        }
        Message::Response(response) => match (response.id, response.outcome) {
            (Some(id), Ok(result)) => Outgoing::result_raw(id, result.as_bytes()),
            (None, Ok(_)) => panic!("a result without an id"),
            (id, Err(error)) => Outgoing::error(id, &error),
        },
    };
    let read = decode(written.frame(), &Limits::new().with_depth(127));
    assert_eq!(read, Ok(Frame::Single(message.clone())));
}

fn sensible(fault: &Fault) {
    let error = fault.to_error();
    assert!(error.message.len() < 100 && !error.message.contains(char::is_control));
    assert!(!(fault.response && fault.notification));
    assert!(fault.id.is_none() || !fault.notification);
    if error.code == code::PARSE_ERROR && !fault.response {
        assert_eq!(fault.id, None);
    }
    if matches!(fault.kind, FaultKind::Id | FaultKind::NoId) {
        assert_eq!(fault.id, None);
    }
}

/// An id is what `serde_json` reads, and is written as it was read.
pub fn id(bytes: &[u8]) {
    let read = RequestId::from_json(bytes);
    let parsed = serde_json::from_slice::<RequestId>(bytes);
    assert_eq!(read.clone().ok(), parsed.ok());
    let Ok(id) = read else { return };
    let mut text = Vec::new();
    id.write(&mut text);
    assert_eq!(RequestId::from_json(&text), Ok(id.clone()));
    assert_eq!(serde_json::to_vec(&id).ok(), Some(text));
    if let Ok(number) = std::str::from_utf8(bytes).unwrap_or_default().trim().parse::<i64>()
        && !bytes.starts_with(b"+")
    {
        assert_eq!(id, number.into());
    }
}

/// What our serializer writes is what `serde_json` writes.
pub fn text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    assert_eq!(to_vec(&text).ok(), serde_json::to_vec(&text).ok());
    if let Ok(value) = serde_json::from_slice::<serde_json::Value>(bytes) {
        assert_eq!(to_vec(&value).ok(), serde_json::to_vec(&value).ok());
    }
}

/// Whatever a peer sends, line by line, a driver answers each request once and goes on.
pub fn driver(bytes: &[u8]) {
    let (link, far) = memory_pair(1024);
    let config = DriverConfig::new().with_max_queued(4).with_max_exchanges(4);
    let (driver, peer) = Driver::new(link, Echo, config, |_| Open);
    let mut cx = Context::from_waker(Waker::noop());
    let mut call = pin!(peer.call(Ask::new("x", None)));
    assert!(call.as_mut().poll(&mut cx).is_pending());
    let mut run = pin!(driver.run());
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').take(500).collect();
    for line in &lines {
        assert!(far.send_frame(Bytes::copy_from_slice(line)).is_ok());
        assert!(run.as_mut().poll(&mut cx).is_pending(), "a frame ended everything");
    }
    let mut far = far;
    let mut answers = 0;
    let mut over = false;
    let closed = crate::link::v1::Link::poll_close(&mut far, &mut cx);
    assert!(closed.is_ready());
    while !over {
        over = run.as_mut().poll(&mut cx).is_ready();
        while let Poll::Ready(Some(frame)) = far.poll_frame(&mut cx) {
            assert!(decode(&frame, &Limits::new()).is_ok(), "we sent {frame:?}");
            answers += 1;
        }
    }
    // At most one for each line, and the request and its end.
    assert!(answers <= lines.len() + 2);
    assert!(call.poll(&mut cx).is_ready());
    assert_eq!(peer.pending(), 0);
}

/// Lets everything through; batches, too.
struct Open;

impl Protocol for Open {
    fn request(&mut self, _: &Request, _: Arrival) -> RequestVerdict {
        RequestVerdict::Serve(Extensions::new())
    }

    fn notification(&mut self, notification: &Notification, _: Arrival) -> NotificationVerdict {
        let id = notification.params.as_ref().and_then(|params| params.parse::<RequestId>().ok());
        match id {
            Some(id) => NotificationVerdict::Cancel { id },
            None => NotificationVerdict::Serve(Extensions::new()),
        }
    }

    fn batches(&self) -> bool {
        true
    }
}

/// Answers at once, or when it is polled again.
struct Echo;

impl Service for Echo {
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        let Call::Request(request) = inbound.call else { return Reply::Silent };
        let _ = replies.try_notify(Outgoing::notification_raw(request.method.clone(), None));
        if request.method.as_str().len() % 2 == 1 {
            let mut polled = false;
            std::future::poll_fn(|cx| {
                cx.waker().wake_by_ref();
                if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
        let result = request.params.as_ref().map_or(&b"null"[..], RawJson::as_bytes);
        Reply::Response(Outgoing::result_raw(request.id, result))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    /// Bytes near to frames, so that more than the first byte of them is looked at.
    fn near_frames() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop::sample::select(vec![
            &b"{"[..],
            b"}",
            b"[",
            b"]",
            b",",
            b":",
            b" ",
            b"\n",
            b"\"",
            b"\\",
            b"\"a\"",
            b"null",
            b"1",
            b"-0.5e3",
            b"true",
            b"\"\\ud83d\"",
            b"\"\\ud83d\\ude00\"",
            b"\xff",
            "é".as_bytes(),
            b"\"jsonrpc\":\"2.0\",",
            b"{\"jsonrpc\":\"2.0\",",
            b"\"id\":1",
            b"\"id\":\"a\",",
            b"\"id\":null,",
            b"\"id\":1.0,",
            b"\"method\":\"m\"",
            b",\"method\":\"mm\"",
            b",\"params\":{}",
            b",\"params\":{\"a\":[1]}",
            b",\"params\":null",
            b",\"params\":1",
            b",\"result\":{}",
            b",\"error\":{\"code\":1,\"message\":\"m\"}",
            b",\"error\":1",
            b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\"}",
            b"{\"jsonrpc\":\"2.0\",\"method\":\"n\"}",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
            b"[[[[[[[[",
            b"]]]]]]]]",
        ]);
        prop_oneof![
            4 => prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat()),
            1 => prop::collection::vec(any::<u8>(), 0..40),
        ]
    }

    fn near_ids() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            "-?[0-9]{1,40}(\\.[0-9]{0,3})?([eE][+-]?[0-9]{1,2})?".prop_map(String::into_bytes),
            "-?[0-9]{1,3}(\\.0{0,3})?".prop_map(String::into_bytes),
            "\"[a-z\\\\\"u0-9é]{0,8}\"".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..6),
        ]
    }

    // Shows: BASE-003, BASE-019, BASE-027
    proptest! {
        #[test]
        fn frames(bytes in near_frames()) {
            super::frame(&bytes);
        }

        #[test]
        fn ids(bytes in near_ids()) {
            super::id(&bytes);
        }

        #[test]
        fn texts(bytes in near_frames()) {
            super::text(&bytes);
        }

        #[test]
        fn drivers(bytes in near_frames()) {
            super::driver(&bytes);
        }
    }
}
