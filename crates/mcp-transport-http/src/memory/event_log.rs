//! An event log in memory, bounded in count, bytes and age.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use crate::SessionId;
use crate::v1::{EventLog, LogError, LogPage, LoggedEvent, ReadError, Step, StreamKey};

/// What a [`MemoryEventLog`] keeps at most. When a bound is reached, the oldest events
/// go first: of the session for its own bounds, of all for the bound on all.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EventLogLimits {
    /// Events of one session, 1,024 by default.
    pub session_events: usize,
    /// Bytes of data of one session, 4 MiB by default.
    pub session_bytes: usize,
    /// Bytes of data in all, 256 MiB by default.
    pub total_bytes: usize,
    /// How long an event is kept, 5 minutes by default.
    pub age: Duration,
}

impl Default for EventLogLimits {
    fn default() -> Self {
        Self {
            session_events: 1024,
            session_bytes: 4 << 20,
            total_bytes: 256 << 20,
            age: Duration::from_secs(5 * 60),
        }
    }
}

/// Keeps events in memory.
///
/// An event larger than a bound is not kept, and neither is what came before it.
#[derive(Debug)]
pub struct MemoryEventLog {
    limits: EventLogLimits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    sessions: HashMap<SessionId, Session>,
    /// The serial of each session's oldest entry, and when that came.
    ///
    /// Invariant: one entry for each session with entries, none for the others.
    oldest: BTreeMap<u64, (SessionId, Instant)>,
    next_serial: u64,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Session {
    /// Oldest first, all streams.
    entries: VecDeque<Entry>,
    /// By number, which is ours: nobody chooses keys that lie badly.
    streams: BTreeMap<u64, Stream>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    /// Grows over all sessions.
    serial: u64,
    at: Instant,
    stream: u64,
    event: u64,
    data: Bytes,
}

/// Invariant: the entries of the stream are `dropped + 1 ..= last`, without holes.
#[derive(Debug, Default)]
struct Stream {
    last: u64,
    dropped: u64,
    complete: bool,
}

impl MemoryEventLog {
    /// Makes an empty log.
    pub fn new(limits: EventLogLimits) -> Self {
        Self { limits, state: Mutex::new(State::default()) }
    }

    /// Bytes of data in the log.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryEventLog {
    fn default() -> Self {
        Self::new(EventLogLimits::default())
    }
}

impl EventLog for MemoryEventLog {
    fn append(&self, key: &StreamKey, event: u64, data: Bytes) -> Step<Result<(), LogError>> {
        let now = Instant::now();
        let mut state = self.lock();
        if state.push(key, event, data, now, &self.limits) {
            state.trim_session(&key.session, &self.limits);
        }
        state.trim_all(&self.limits, now);
        Step::now(Ok(()))
    }

    fn read(
        &self,
        key: &StreamKey,
        after: u64,
        max_bytes: usize,
    ) -> Step<Result<LogPage, ReadError>> {
        let mut state = self.lock();
        state.trim_all(&self.limits, Instant::now());
        Step::now(state.read(key, after, max_bytes))
    }

    fn finish(&self, key: &StreamKey) -> Step<Result<(), LogError>> {
        let mut state = self.lock();
        if let Some(session) = state.sessions.get_mut(&key.session) {
            if let Some(stream) = session.streams.get_mut(&key.stream) {
                stream.complete = true;
                if stream.is_gone() {
                    session.streams.remove(&key.stream);
                }
            }
            if session.is_empty() {
                state.sessions.remove(&key.session);
            }
        }
        Step::now(Ok(()))
    }

    fn forget(&self, session: &SessionId) -> Step<Result<(), LogError>> {
        let mut state = self.lock();
        if let Some(gone) = state.sessions.remove(session) {
            state.bytes -= gone.bytes;
            if let Some(first) = gone.entries.front() {
                state.oldest.remove(&first.serial);
            }
        }
        Step::now(Ok(()))
    }

    fn prune(&self) {
        self.lock().trim_all(&self.limits, Instant::now());
    }
}

impl State {
    /// Answers whether the session holds more than it may.
    fn push(
        &mut self,
        key: &StreamKey,
        event: u64,
        data: Bytes,
        at: Instant,
        limits: &EventLogLimits,
    ) -> bool {
        let serial = self.next_serial;
        self.next_serial += 1;
        // One look for what is there already, which it nearly always is.
        let session = match self.sessions.get_mut(&key.session) {
            Some(session) => session,
            None => self.sessions.entry(key.session.clone()).or_default(),
        };
        let stream = session.streams.entry(key.stream).or_default();
        if stream.last == 0 {
            // A stream may begin late, after the log lost it or was put in.
            stream.dropped = event.saturating_sub(1);
        }
        stream.last = event;
        if session.entries.is_empty() {
            self.oldest.insert(serial, (key.session.clone(), at));
        }
        session.bytes += data.len();
        self.bytes += data.len();
        session.entries.push_back(Entry { serial, at, stream: key.stream, event, data });
        session.exceeds(limits)
    }

    fn trim_session(&mut self, id: &SessionId, limits: &EventLogLimits) {
        while self.sessions.get(id).is_some_and(|session| session.exceeds(limits)) {
            self.drop_first(id);
        }
    }

    fn trim_all(&mut self, limits: &EventLogLimits, now: Instant) {
        while let Some((id, at)) = self.oldest.values().next() {
            let old = limits.age <= now.duration_since(*at);
            if !old && self.bytes <= limits.total_bytes {
                return;
            }
            let id = id.clone();
            self.drop_first(&id);
        }
    }

    /// Drops the oldest entry of a session, and what it leaves empty.
    fn drop_first(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let Some(entry) = session.entries.pop_front() else { return };
        self.oldest.remove(&entry.serial);
        session.bytes -= entry.data.len();
        self.bytes -= entry.data.len();
        if let Some(stream) = session.streams.get_mut(&entry.stream) {
            stream.dropped = entry.event;
            if stream.is_gone() {
                session.streams.remove(&entry.stream);
            }
        }
        if let Some(first) = session.entries.front() {
            self.oldest.insert(first.serial, (id.clone(), first.at));
        } else if session.is_empty() {
            self.sessions.remove(id);
        }
    }

    fn read(&self, key: &StreamKey, after: u64, max_bytes: usize) -> Result<LogPage, ReadError> {
        let session = self.sessions.get(&key.session).ok_or(ReadError::UnknownStream)?;
        let stream = session.streams.get(&key.stream).ok_or(ReadError::UnknownStream)?;
        if after < stream.dropped {
            return Err(ReadError::Gap { first: stream.dropped + 1 });
        }
        if stream.last < after {
            return Err(ReadError::Ahead);
        }
        let mut bytes = 0usize;
        let mut events = Vec::new();
        for entry in &session.entries {
            if entry.stream != key.stream || entry.event <= after {
                continue;
            }
            bytes = bytes.saturating_add(entry.data.len());
            if max_bytes < bytes && !events.is_empty() {
                break;
            }
            events.push(LoggedEvent::new(entry.event, entry.data.clone()));
        }
        let reached = events.last().map_or(after, |event| event.event);
        Ok(LogPage::new(events, stream.complete && reached == stream.last))
    }
}

impl Session {
    fn exceeds(&self, limits: &EventLogLimits) -> bool {
        limits.session_bytes < self.bytes || limits.session_events < self.entries.len()
    }

    fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.streams.is_empty()
    }
}

impl Stream {
    /// Whether nothing is left to read, now or later.
    fn is_gone(&self) -> bool {
        self.complete && self.dropped == self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: TRANSPORT-RESUME-006
    #[tokio::test]
    async fn the_contract_is_kept() {
        for case in crate::testing::event_log_suite(MemoryEventLog::default) {
            case.run().await;
        }
        let small = || {
            MemoryEventLog::new(EventLogLimits { session_events: 20, ..EventLogLimits::default() })
        };
        for case in crate::testing::event_log_suite(small) {
            case.run().await;
        }
    }

    fn key(session: &str, stream: u64) -> StreamKey {
        StreamKey::new(session.parse().unwrap(), stream)
    }

    async fn append(log: &MemoryEventLog, key: &StreamKey, event: u64, len: usize) {
        log.append(key, event, Bytes::from(vec![b'x'; len])).await.unwrap();
    }

    async fn read(log: &MemoryEventLog, key: &StreamKey, after: u64) -> String {
        match log.read(key, after, usize::MAX).await {
            Ok(page) => {
                let events: Vec<_> = page.events.iter().map(|event| event.event).collect();
                format!("{events:?}{}", if page.complete { "." } else { "" })
            }
            Err(ReadError::Gap { first }) => format!("gap before {first}"),
            Err(error) => error.to_string(),
        }
    }

    fn limits() -> EventLogLimits {
        EventLogLimits {
            session_events: 4,
            session_bytes: 100,
            total_bytes: 150,
            age: Duration::from_secs(60),
        }
    }

    #[tokio::test]
    async fn a_session_keeps_its_newest_events() {
        let log = MemoryEventLog::new(limits());
        let (a, b) = (key("s", 1), key("s", 2));
        for event in 1..=3 {
            append(&log, &a, event, 1).await;
            append(&log, &b, event, 1).await;
        }
        assert_eq!(read(&log, &a, 0).await, "gap before 2");
        assert_eq!(read(&log, &a, 1).await, "[2, 3]");
        append(&log, &b, 4, 99).await;
        assert_eq!(read(&log, &a, 2).await, "gap before 4");
        assert_eq!(read(&log, &b, 2).await, "[3, 4]");
        assert_eq!(log.bytes(), 100);
    }

    #[tokio::test]
    async fn an_event_over_the_bound_leaves_a_gap() {
        let log = MemoryEventLog::new(limits());
        let a = key("s", 1);
        append(&log, &a, 1, 1).await;
        append(&log, &a, 2, 101).await;
        assert_eq!(read(&log, &a, 0).await, "gap before 3");
        assert_eq!(read(&log, &a, 2).await, "[]");
        append(&log, &a, 3, 1).await;
        assert_eq!(read(&log, &a, 2).await, "[3]");
        assert_eq!(log.bytes(), 1);
    }

    #[tokio::test]
    async fn the_oldest_session_pays_for_the_bound_on_all() {
        let log = MemoryEventLog::new(limits());
        append(&log, &key("old", 1), 1, 80).await;
        append(&log, &key("new", 1), 1, 60).await;
        append(&log, &key("new", 1), 2, 30).await;
        assert_eq!(read(&log, &key("old", 1), 0).await, "gap before 2");
        assert_eq!(read(&log, &key("new", 1), 0).await, "[1, 2]");
        assert_eq!(log.bytes(), 90);
    }

    #[tokio::test(start_paused = true)]
    async fn events_grow_old() {
        let log = MemoryEventLog::new(limits());
        let a = key("s", 1);
        append(&log, &a, 1, 1).await;
        tokio::time::advance(Duration::from_secs(30)).await;
        append(&log, &a, 2, 1).await;
        tokio::time::advance(Duration::from_secs(30)).await;
        assert_eq!(read(&log, &a, 0).await, "gap before 2");
        log.finish(&a).await.unwrap();
        tokio::time::advance(Duration::from_secs(30)).await;
        log.prune();
        assert_eq!(read(&log, &a, 1).await, "no such stream in the log");
        let state = log.lock();
        assert!(state.sessions.is_empty() && state.oldest.is_empty() && state.bytes == 0);
    }

    #[tokio::test]
    async fn nothing_stays_of_a_forgotten_session() {
        let log = MemoryEventLog::new(limits());
        for stream in 0..3 {
            append(&log, &key("s", stream), 1, 10).await;
        }
        append(&log, &key("t", 1), 1, 10).await;
        log.forget(&key("s", 1).session).await.unwrap();
        assert_eq!(read(&log, &key("s", 1), 0).await, "no such stream in the log");
        assert_eq!(read(&log, &key("t", 1), 0).await, "[1]");
        let state = log.lock();
        assert!(state.sessions.len() == 1 && state.oldest.len() == 1 && state.bytes == 10);
    }
}
