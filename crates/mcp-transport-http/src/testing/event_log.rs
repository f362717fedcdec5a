//! The contract of an event log.

use std::sync::Arc;

use bytes::Bytes;

use super::Case;
use crate::SessionId;
use crate::v1::{EventLog, ReadError, StreamKey};

/// Every test that an [`EventLog`] has to pass, each on a fresh log from `make`.
///
/// The log has to have room for a few small events; what it does beyond its bounds is
/// tested as far as the contract says: it drops the oldest, and says so.
///
/// # Examples
///
/// ```
/// use mcp_transport_http::memory::MemoryEventLog;
/// use mcp_transport_http::testing::event_log_suite;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// for case in event_log_suite(MemoryEventLog::default) {
///     case.run().await;
/// }
/// # }
/// ```
pub fn event_log_suite<L: EventLog>(
    make: impl Fn() -> L + Clone + Send + Sync + 'static,
) -> Vec<Case> {
    let log = move || {
        let make = make.clone();
        move || Arc::new(make()) as Arc<dyn EventLog>
    };
    macro_rules! cases {
        ($($test:ident)*) => {
            vec![$({
                let log = log();
                Case::new(stringify!($test), move || $test(log()))
            }),*]
        };
    }
    cases![
        what_is_appended_is_read
        reading_starts_strictly_behind_an_event
        a_stream_yields_only_its_own_events
        a_session_yields_only_its_own_events
        a_finished_stream_is_complete_at_its_end
        a_stream_that_is_not_finished_is_not_complete
        what_was_never_appended_is_unknown
        events_that_have_not_come_are_ahead
        pages_are_bounded_and_never_empty_before_the_end
        nothing_is_left_of_a_forgotten_session
        a_finished_stream_without_events_is_no_error
        what_is_dropped_is_said_to_be_dropped
    ]
}

type Log = Arc<dyn EventLog>;

fn key(session: &str, stream: u64) -> StreamKey {
    StreamKey::new(id(session), stream)
}

#[expect(clippy::expect_used, reason = "the ids below are valid")]
fn id(session: &str) -> SessionId {
    session.parse().expect("a session id")
}

fn data(event: u64) -> Bytes {
    Bytes::from(format!("{{\"event\":{event}}}"))
}

#[expect(clippy::expect_used, reason = "a suite fails by panicking")]
async fn append(log: &Log, key: &StreamKey, events: std::ops::RangeInclusive<u64>) {
    for event in events {
        log.append(key, event, data(event)).await.expect("the event is kept");
    }
}

/// What is read behind `after`: the numbers, with a full stop at the end of the stream, or
/// what went wrong. The data are checked on the way.
async fn read(log: &Log, key: &StreamKey, after: u64) -> String {
    match log.read(key, after, usize::MAX).await {
        Ok(page) => {
            let mut text = String::new();
            for found in page.events {
                assert_eq!(found.data, data(found.event));
                text += &format!("{} ", found.event);
            }
            text + if page.complete { "." } else { "" }
        }
        Err(ReadError::UnknownStream) => "unknown".to_owned(),
        Err(ReadError::Gap { first }) => format!("gap before {first}"),
        Err(ReadError::Ahead) => "ahead".to_owned(),
        Err(error) => error.to_string(),
    }
}

async fn what_is_appended_is_read(log: Log) {
    append(&log, &key("a", 1), 1..=3).await;
    assert_eq!(read(&log, &key("a", 1), 0).await, "1 2 3 ");
}

async fn reading_starts_strictly_behind_an_event(log: Log) {
    append(&log, &key("a", 1), 1..=3).await;
    assert_eq!(read(&log, &key("a", 1), 1).await, "2 3 ");
    assert_eq!(read(&log, &key("a", 1), 3).await, "");
}

async fn a_stream_yields_only_its_own_events(log: Log) {
    for event in 1..=3 {
        append(&log, &key("a", 1), event..=event).await;
        append(&log, &key("a", 2), event..=event).await;
    }
    assert_eq!(read(&log, &key("a", 1), 1).await, "2 3 ");
    assert_eq!(read(&log, &key("a", 2), 0).await, "1 2 3 ");
}

async fn a_session_yields_only_its_own_events(log: Log) {
    append(&log, &key("a", 1), 1..=2).await;
    append(&log, &key("b", 1), 1..=3).await;
    assert_eq!(read(&log, &key("a", 1), 0).await, "1 2 ");
    assert_eq!(read(&log, &key("b", 1), 0).await, "1 2 3 ");
    assert_eq!(read(&log, &key("c", 1), 0).await, "unknown");
}

async fn a_finished_stream_is_complete_at_its_end(log: Log) {
    append(&log, &key("a", 1), 1..=2).await;
    let _ = log.finish(&key("a", 1)).await;
    assert_eq!(read(&log, &key("a", 1), 0).await, "1 2 .");
    assert_eq!(read(&log, &key("a", 1), 2).await, ".");
}

async fn a_stream_that_is_not_finished_is_not_complete(log: Log) {
    append(&log, &key("a", 1), 1..=1).await;
    let _ = log.finish(&key("a", 2)).await;
    assert_eq!(read(&log, &key("a", 1), 1).await, "");
    append(&log, &key("a", 1), 2..=2).await;
    assert_eq!(read(&log, &key("a", 1), 1).await, "2 ");
}

async fn what_was_never_appended_is_unknown(log: Log) {
    assert_eq!(read(&log, &key("a", 1), 0).await, "unknown");
    append(&log, &key("a", 1), 1..=1).await;
    assert_eq!(read(&log, &key("a", 2), 0).await, "unknown");
}

async fn events_that_have_not_come_are_ahead(log: Log) {
    append(&log, &key("a", 1), 1..=2).await;
    assert_eq!(read(&log, &key("a", 1), 3).await, "ahead");
}

async fn pages_are_bounded_and_never_empty_before_the_end(log: Log) {
    append(&log, &key("a", 1), 1..=5).await;
    let _ = log.finish(&key("a", 1)).await;
    let len = data(1).len();
    for (max, first) in [(0, 1), (len, 1), (2 * len, 2), (2 * len + 1, 2)] {
        let mut after = 0;
        let mut pages = Vec::new();
        loop {
            let Ok(page) = log.read(&key("a", 1), after, max).await else {
                unreachable!("the stream is there")
            };
            assert!(!page.events.is_empty() || page.complete);
            pages.push(page.events.len());
            after = page.events.last().map_or(after, |event| event.event);
            if page.complete {
                break;
            }
        }
        assert_eq!(pages.first(), Some(&first));
        assert_eq!(pages.iter().sum::<usize>(), 5);
    }
}

async fn nothing_is_left_of_a_forgotten_session(log: Log) {
    append(&log, &key("a", 1), 1..=2).await;
    append(&log, &key("a", 2), 1..=1).await;
    append(&log, &key("b", 1), 1..=1).await;
    let _ = log.forget(&id("a")).await;
    assert_eq!(read(&log, &key("a", 1), 0).await, "unknown");
    assert_eq!(read(&log, &key("a", 2), 0).await, "unknown");
    assert_eq!(read(&log, &key("b", 1), 0).await, "1 ");
}

async fn a_finished_stream_without_events_is_no_error(log: Log) {
    assert!(log.finish(&key("a", 1)).await.is_ok());
    assert!(log.forget(&id("a")).await.is_ok());
    log.prune();
}

/// Whatever the bounds are: what can be read is either everything behind an event, or a
/// gap that says where to go on.
async fn what_is_dropped_is_said_to_be_dropped(log: Log) {
    let count = 2_000;
    append(&log, &key("a", 1), 1..=count).await;
    let mut after = 0;
    let mut gaps = 0;
    while after < count {
        match log.read(&key("a", 1), after, usize::MAX).await {
            Ok(page) => {
                assert!(!page.events.is_empty(), "event {} is gone without a word", after + 1);
                for found in page.events {
                    assert_eq!(found.event, after + 1, "an event was skipped");
                    after = found.event;
                }
            }
            Err(ReadError::Gap { first }) => {
                assert!(after + 1 < first && first <= count + 1, "{first}");
                gaps += 1;
                after = first - 1;
            }
            Err(error) => unreachable!("{error}"),
        }
    }
    assert!(gaps <= 1, "what is dropped is the oldest");
}
