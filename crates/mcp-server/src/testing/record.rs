use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use mcp_jsonrpc::link::v1::{Incoming, Link, LinkError, LinkFeatures};
use mcp_jsonrpc::{Message, Outgoing, RequestId};
use mcp_types::{JsonObject, JsonValue};

/// Which way a message went, as the end of the link saw it at which it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Direction {
    /// It came in.
    Received,
    /// It was sent.
    Sent,
}

impl Direction {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Sent => "sent",
        }
    }
}

/// One message of a conversation: a line of JSON, `{"received": …}` or `{"sent": …}`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Line {
    /// Which way it went.
    pub direction: Direction,
    /// The message.
    pub message: JsonValue,
}

impl Line {
    /// A message that went this way.
    #[must_use]
    pub const fn new(direction: Direction, message: JsonValue) -> Self {
        Self { direction, message }
    }

    /// The same, as the other end saw it.
    #[must_use]
    pub fn flipped(self) -> Self {
        let direction = match self.direction {
            Direction::Received => Direction::Sent,
            Direction::Sent => Direction::Received,
        };
        Self { direction, ..self }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{\"{}\":{}}}", self.direction.as_str(), self.message.as_raw())
    }
}

/// What was recorded, while it is and afterwards. Clones are the same recording.
///
/// Messages are recorded as they are: keep secrets out of what is recorded, or the recording out
/// of sight.
#[derive(Clone, Debug, Default)]
pub struct Recording(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    lines: Vec<Line>,
    bytes: usize,
    is_full: bool,
}

impl Recording {
    /// Bytes of messages that are kept. What comes later is not.
    pub const MAX_BYTES: usize = 64 * 1024 * 1024;

    /// The messages so far, in order.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).lines.clone()
    }

    /// Whether there was more than is kept.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_full
    }

    /// The messages so far, as JSON Lines.
    #[must_use]
    pub fn to_json_lines(&self) -> String {
        self.lines().iter().map(|line| format!("{line}\n")).collect()
    }

    /// Reads JSON Lines; empty lines don't count.
    ///
    /// # Errors
    ///
    /// [`ReadError`] names the first line that is none.
    pub fn read(text: &str) -> Result<Vec<Line>, ReadError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(at, line)| read(line).ok_or(ReadError { line: at + 1 })).collect()
    }

    fn keep(&self, direction: Direction, frame: &[u8]) {
        let Ok(text) = std::str::from_utf8(frame) else { return };
        let Ok(message) = JsonValue::from_json(text.trim()) else { return };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_full || kept.bytes + frame.len() > Self::MAX_BYTES {
            kept.is_full = true;
            return;
        }
        kept.bytes += frame.len();
        kept.lines.push(Line::new(direction, message));
    }
}

fn read(line: &str) -> Option<Line> {
    let members: JsonObject = serde_json::from_str(line).ok()?;
    let known = [Direction::Received, Direction::Sent];
    let mut found = known.iter().filter_map(|direction| {
        let message = members.get(direction.as_str())?;
        Some(Line::new(*direction, message.clone()))
    });
    found.next().filter(|_| members.len() == 1)
}

/// A line that is none of a recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is none of a recording")]
#[non_exhaustive]
pub struct ReadError {
    /// Which one, counted from 1.
    pub line: usize,
}

/// A link around a link, that records what passes. What is no message isn't recorded.
#[derive(Debug)]
pub struct Recorder<L> {
    inner: L,
    recording: Recording,
}

impl<L: Link> Recorder<L> {
    /// Records what passes `inner`.
    pub fn new(inner: L) -> (Self, Recording) {
        let recording = Recording::default();
        (Self { inner, recording: recording.clone() }, recording)
    }
}

impl<L: Link> Link for Recorder<L> {
    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Result<Incoming, LinkError>> {
        let incoming = std::task::ready!(self.inner.poll_recv(cx));
        match &incoming {
            Ok(Incoming::Message(message, _)) => self.received(message),
            Ok(Incoming::Batch(messages)) => {
                messages.iter().flatten().for_each(|message| self.received(message));
            }
            _ => {}
        }
        Poll::Ready(incoming)
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.inner.poll_ready(cx)
    }

    fn start_send(&mut self, message: Outgoing) -> Result<(), LinkError> {
        self.recording.keep(Direction::Sent, message.frame());
        self.inner.start_send(message)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.inner.poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.inner.poll_close(cx)
    }

    fn abandon(&mut self, id: &RequestId, notice: Option<Outgoing>) -> Result<(), LinkError> {
        if let Some(notice) = &notice {
            self.recording.keep(Direction::Sent, notice.frame());
        }
        self.inner.abandon(id, notice)
    }

    fn features(&self) -> LinkFeatures {
        self.inner.features()
    }
}

impl<L: Link> Recorder<L> {
    fn received(&self, message: &Message) {
        if let Some(message) = to_outgoing(message.clone()) {
            self.recording.keep(Direction::Received, message.frame());
        }
    }
}

/// A message that came in, as one that could be sent.
pub(super) fn to_outgoing(message: Message) -> Option<Outgoing> {
    Some(match message {
        Message::Request(request) => {
            Outgoing::request_raw(request.id, request.method, request.params.as_ref())
        }
        Message::Notification(notification) => {
            Outgoing::notification_raw(notification.method, notification.params.as_ref())
        }
        Message::Response(response) => match (response.id, response.outcome) {
            (Some(id), Ok(result)) => Outgoing::result_raw(id, result.as_bytes()),
            (id, Err(error)) => Outgoing::error(id, &error),
            // No decoder lets one through.
            (None, Ok(_)) => return None,
        },
        _ => return None,
    })
}
