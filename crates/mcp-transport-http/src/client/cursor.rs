use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use hyper::header::HeaderValue;
use tokio::time::Instant;

use super::{HttpError, Reconnect};
use crate::sse::{Decoder, Event};

/// Event ids that are remembered of one stream.
const SEEN: usize = 1024;
/// A wait that a server may ask for again and again, though nothing comes of it.
const POLITE: Duration = Duration::from_millis(100);
/// A connection that lived for so long was worth it.
const WORTH: Duration = Duration::from_secs(5);

/// How far one stream was read, over all its connections.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    /// What `Last-Event-ID` says.
    last: Option<HeaderValue>,
    retry: Option<Duration>,
    /// Digests of ids.
    seen: VecDeque<u64>,
    /// This is not the first connection: what comes may have come before.
    resumed: bool,
    /// Connections in a row that brought nothing, or did not come about.
    barren: u32,
    connected: Option<Instant>,
    /// The id of the event before, on this connection.
    in_force: Option<u64>,
}

impl Cursor {
    /// Where the stream may be taken up again.
    pub(super) const fn last(&self) -> Option<&HeaderValue> {
        self.last.as_ref()
    }

    pub(super) const fn barren(&self) -> u32 {
        self.barren
    }

    /// A connection carries the stream.
    pub(super) fn connected(&mut self) {
        self.connected = Some(Instant::now());
        self.in_force = None;
    }

    /// The connection is over.
    pub(super) fn disconnected(&mut self) {
        self.resumed = true;
        match self.connected.take() {
            Some(since) if since.elapsed() < WORTH => {}
            Some(_) => self.barren = 0,
            None => {}
        }
    }

    /// A reconnect is about to be tried.
    pub(super) fn tries(&mut self) {
        self.barren = self.barren.saturating_add(1);
    }

    /// The stream can't be taken up where it was: what comes next is new.
    pub(super) fn restart(&mut self) {
        self.last = None;
        self.resumed = false;
        self.seen.clear();
    }

    /// Notes an event; answers whether it is new.
    pub(super) fn note(&mut self, event: &Event) -> bool {
        let id = event.id.as_deref().map(digest);
        // An event without an id of its own has the one of the event before.
        let own = id.filter(|_| id != self.in_force);
        self.in_force = id;
        if let Some(own) = own {
            if self.resumed && self.seen.contains(&own) {
                return false;
            }
            if self.seen.len() == SEEN {
                self.seen.pop_front();
            }
            self.seen.push_back(own);
        }
        self.barren = 0;
        true
    }

    /// Takes over where the stream stands, after all of a chunk was read.
    pub(super) fn advance(&mut self, decoder: &Decoder) {
        if decoder.retry().is_some() {
            self.retry = decoder.retry();
        }
        match decoder.last_event_id() {
            // An id that no header can carry can't be resumed from.
            Some(id) if self.last.as_ref().is_none_or(|last| last.as_bytes() != &**id) => {
                self.last = HeaderValue::from_bytes(id).ok();
            }
            Some(_) => {}
            // It was there, and has been taken back.
            None if self.in_force.is_some() => self.last = None,
            None => {}
        }
    }

    /// How long to wait for the next connection, after `error` if the last try failed.
    pub(super) fn wait(
        &self,
        policy: &Reconnect,
        error: Option<&HttpError>,
        chance: f64,
    ) -> Duration {
        let asked = self.retry.map(|retry| {
            if policy.longest_retry < retry {
                tracing::warn!(?retry, limit = ?policy.longest_retry, "the server asks for too long a wait");
            }
            retry.min(policy.longest_retry)
        });
        match (asked, error) {
            (Some(asked), None) if self.barren == 0 || POLITE <= asked => asked,
            (asked, error) => {
                let later = error.and_then(HttpError::retry_after).unwrap_or_default();
                backoff(policy, self.barren, chance)
                    .max(asked.unwrap_or_default())
                    .max(later.min(policy.longest_retry))
            }
        }
    }
}

/// The wait after `failures` in a row, cut short by up to half, as `chance` says.
pub(super) fn backoff(policy: &Reconnect, failures: u32, chance: f64) -> Duration {
    let factor = 1u32.checked_shl(failures.min(31)).unwrap_or(u32::MAX);
    let wait = policy.first.saturating_mul(factor).min(policy.longest);
    wait.mul_f64(1.0 - chance.clamp(0.0, 1.0) / 2.0)
}

fn digest(id: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use hyper::StatusCode;

    use super::super::error::Excerpt;
    use super::*;

    fn read(cursor: &mut Cursor, text: &str) -> Vec<bool> {
        let mut decoder = Decoder::new(1000);
        let mut chunk = Bytes::copy_from_slice(text.as_bytes());
        let mut new = Vec::new();
        cursor.connected();
        while let Some(event) = decoder.feed(&mut chunk).unwrap() {
            new.push(cursor.note(&event));
        }
        cursor.advance(&decoder);
        cursor.disconnected();
        new
    }

    fn refused(retry_after: Option<u64>) -> HttpError {
        HttpError::Status {
            status: StatusCode::SERVICE_UNAVAILABLE,
            error: None,
            excerpt: Excerpt::default(),
            retry_after: retry_after.map(Duration::from_secs),
        }
    }

    #[test]
    fn what_is_replayed_is_known_by_its_id() {
        let mut cursor = Cursor::default();
        let first = "id: a\ndata: 1\n\nid: b\ndata: 2\n\ndata: without\n\n";
        assert_eq!(read(&mut cursor, first), [true; 3]);
        assert_eq!(cursor.last().unwrap(), "b");
        let replayed = "id: b\ndata: 2\n\nid: c\ndata: 3\n\ndata: 4\n\n";
        assert_eq!(read(&mut cursor, replayed), [false, true, true]);
        assert_eq!(cursor.last().unwrap(), "c");
        // A connection without ids leaves the cursor where it is.
        assert!(read(&mut cursor, ": nothing\n\n").is_empty());
        assert_eq!(cursor.last().unwrap(), "c");
    }

    #[test]
    fn an_id_that_was_taken_back_is_not_resumed_from() {
        let mut cursor = Cursor::default();
        assert_eq!(read(&mut cursor, "id: a\ndata: 1\n\nid:\ndata: 2\n\n"), [true, true]);
        // Nothing to resume from is safer than a wrong place.
        assert_eq!(cursor.last(), None);
    }

    // Shows: FC-060, TRANSPORT-HTTP-020
    #[test]
    fn the_server_says_how_long_to_wait() {
        let policy = Reconnect::new();
        for (text, wait) in [("0", 0), ("500", 500), ("3000", 3000), ("999999999", 300_000)] {
            let mut cursor = Cursor::default();
            read(&mut cursor, &format!("retry: {text}\nid: 1\ndata:\n\n"));
            assert_eq!(cursor.wait(&policy, None, 0.3), Duration::from_millis(wait));
        }
        // Once and again, as long as it is polite.
        let mut cursor = Cursor::default();
        read(&mut cursor, "retry: 500\nid: 1\ndata:\n\n");
        cursor.tries();
        read(&mut cursor, "");
        assert_eq!(cursor.wait(&policy, None, 0.0), Duration::from_millis(500));
        // A failure may make it longer, never shorter.
        assert_eq!(cursor.wait(&policy, Some(&refused(None)), 0.0), Duration::from_secs(1));
        assert_eq!(cursor.wait(&policy, Some(&refused(Some(7))), 0.0), Duration::from_secs(7));
    }

    #[test]
    fn a_wait_of_nothing_that_brings_nothing_gets_longer() {
        let policy = Reconnect::new();
        let mut cursor = Cursor::default();
        read(&mut cursor, "retry: 0\nid: 1\ndata:\n\n");
        let mut waits = Vec::new();
        for _ in 0..4 {
            waits.push(cursor.wait(&policy, None, 0.0).as_millis());
            cursor.tries();
            read(&mut cursor, ": empty\n\n");
        }
        assert_eq!(waits, [0, 1000, 2000, 4000]);
        read(&mut cursor, "id: 2\ndata: x\n\n");
        assert_eq!(cursor.wait(&policy, None, 0.0), Duration::ZERO);
    }

    #[test]
    fn waits_double_up_to_a_cap_and_are_cut_short_at_random() {
        let policy = Reconnect::new();
        let waits = [0, 1, 2, 5, 6, 40, u32::MAX].map(|n| backoff(&policy, n, 0.0).as_millis());
        assert_eq!(waits, [500, 1000, 2000, 16_000, 30_000, 30_000, 30_000]);
        assert_eq!(backoff(&policy, 0, 1.0), Duration::from_millis(250));
    }
}
