//! Where the events of streams are kept for a resume.

use bytes::Bytes;

use super::Step;
use crate::SessionId;

/// Keeps what was sent on streams, so that a client that lost its connection gets the
/// rest.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come
/// with a default body. The suite `event_log_suite` (feature `testing`) proves an
/// implementation.
///
/// # Contract
///
/// - The endpoint calls [`append`](Self::append) before an event's first byte is sent,
///   and sends nothing until it is done. Events of a stream come in order, one at a
///   time, numbered from 1 without holes; streams of a session run side by side.
/// - A log may drop events at any time, oldest first within a stream: it has bounds in
///   count, bytes and age. What it dropped it says ([`ReadError::Gap`]); it never skips
///   silently.
/// - [`read`](Self::read) gives events of that stream of that session, and of no other.
/// - [`finish`](Self::finish) says that a stream has no more events; what it holds stays
///   readable within the bounds. [`forget`](Self::forget) drops all of a session.
/// - An error of `append` or `finish` means that the store is down. The event is sent
///   all the same; the stream can't be resumed across it.
///
/// # Cancel safety
///
/// A dropped step may or may not have taken effect. The endpoint drops one only when
/// the session or the process ends.
pub trait EventLog: Send + Sync + 'static {
    /// Keeps event number `event` of `stream`: its data, without SSE framing.
    fn append(&self, stream: &StreamKey, event: u64, data: Bytes) -> Step<Result<(), LogError>>;

    /// Reads what follows event number `after`, up to about `max_bytes` of data but at
    /// least one event where there is one.
    fn read(
        &self,
        stream: &StreamKey,
        after: u64,
        max_bytes: usize,
    ) -> Step<Result<LogPage, ReadError>>;

    /// Marks `stream` as complete: its last event was appended.
    fn finish(&self, stream: &StreamKey) -> Step<Result<(), LogError>>;

    /// Drops everything of `session`.
    fn forget(&self, session: &SessionId) -> Step<Result<(), LogError>>;

    /// Drops what has become too old. Called now and then; cheap when there is nothing.
    fn prune(&self) {}
}

/// Names one stream of one session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct StreamKey {
    /// The session.
    pub session: SessionId,
    /// The stream's number in the session.
    pub stream: u64,
}

impl StreamKey {
    /// Makes a key.
    pub fn new(session: SessionId, stream: u64) -> Self {
        Self { session, stream }
    }
}

/// One event as it was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedEvent {
    /// Its number in the stream, from 1.
    pub event: u64,
    /// Its data.
    pub data: Bytes,
}

impl LoggedEvent {
    /// Makes an event.
    pub fn new(event: u64, data: Bytes) -> Self {
        Self { event, data }
    }
}

/// Some events of a stream, in order and without holes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LogPage {
    /// The events.
    pub events: Vec<LoggedEvent>,
    /// Whether the stream is complete and nothing follows these events.
    pub complete: bool,
}

impl LogPage {
    /// Makes a page.
    pub fn new(events: Vec<LoggedEvent>, complete: bool) -> Self {
        Self { events, complete }
    }
}

/// Why events can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The log knows no such stream, or no longer.
    #[error("no such stream in the log")]
    UnknownStream,
    /// Events right behind `after` were dropped.
    #[error("events before number {first} were dropped")]
    Gap {
        /// The oldest event that is still there, or the next one to come.
        first: u64,
    },
    /// The stream has no event with that number yet.
    #[error("the stream has not come to that event")]
    Ahead,
    /// The store is down.
    #[error("the event log can't be read")]
    Unavailable(#[source] LogError),
}

/// The store behind an event log is down.
///
/// The cause is the store's own: this is the one place where foreign errors come in.
#[derive(Debug, thiserror::Error)]
#[error("the event log's store is down")]
pub struct LogError(#[source] Box<dyn std::error::Error + Send + Sync>);

impl LogError {
    /// Wraps the store's own error.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(source.into())
    }
}
