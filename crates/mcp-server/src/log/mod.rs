//! Log messages to the client.

#[cfg(feature = "tracing-subscriber")]
mod forward;
#[cfg(feature = "tracing-subscriber")]
pub use forward::LogForwarder;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp_jsonrpc::{Name, Outgoing};
use mcp_lifecycle::{PeerFacts, Session};
use mcp_types::{JsonValue, LoggingLevel, LoggingMessageNotificationParams};
use serde_core::Serialize;

use crate::bucket::{Bucket, now};
use crate::context::Context;

/// The longest data of a log message, in bytes of JSON. What is longer is cut.
const LONGEST_DATA: usize = 64 * 1024;
/// Characters of data that is cut.
const SHOWN: usize = 1024;

/// How many log messages a client is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogLimit {
    pub(crate) burst: u32,
    /// The time in which one message is earned.
    pub(crate) interval: Duration,
}

impl LogLimit {
    pub(crate) const DEFAULT: Self = Self { burst: 200, interval: Duration::from_millis(20) };
}

/// What is left for a session, and how many messages it missed.
#[derive(Debug, Default)]
pub(crate) struct LogBudget(Mutex<(Bucket, u64)>);

impl LogBudget {
    /// Takes one message; answers how many were missed before it, if it may be sent.
    fn take(&self, limit: LogLimit) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (bucket, missed) = &mut *state;
        match bucket.take(now(), limit.burst, limit.interval) {
            Ok(()) => Some(std::mem::take(missed)),
            Err(_) => {
                *missed = missed.saturating_add(1);
                None
            }
        }
    }
}

impl Context {
    /// Sends a log message to the peer, if it is at or above the level that the peer has set
    /// (`info` until it does), and the server announces logging. There is no waiting: a
    /// message that finds no room is dropped.
    ///
    /// A session is sent 200 messages at once and 50 a second in the long run, unless
    /// [`Server::log_limit`](crate::Server::log_limit) says otherwise. The next message that is
    /// sent comes after one that says how many were dropped. Data of more than 64 KiB is cut.
    ///
    /// Never log secrets: the peer reads this.
    ///
    /// Specification: [Logging](https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging).
    pub fn log<T: Serialize + ?Sized>(&self, level: LoggingLevel, logger: Option<&str>, data: &T) {
        if !self.wants_log(level) {
            return;
        }
        let Some(missed) = self.budget().take(self.server().inner.log_limit) else {
            tracing::debug!("a log message was dropped: there are too many");
            return;
        };
        if missed > 0 && self.wants_log(LoggingLevel::Warning) {
            let text = format!("{missed} log messages were dropped");
            self.send_log(LoggingLevel::Warning, None, JsonValue::from(text.as_str()));
        }
        match JsonValue::from_serialize(data) {
            Ok(data) => self.send_log(level, logger, bounded(data)),
            Err(_) => tracing::debug!("a log message can't be written as JSON"),
        }
    }

    /// Whether a log message of this level would be sent, so that nothing is made for one that
    /// wouldn't.
    #[must_use]
    pub fn wants_log(&self, level: LoggingLevel) -> bool {
        let least = PeerFacts::current_log_level(self.extensions()).unwrap_or(LoggingLevel::Info);
        self.server().inner.offers.logging && level >= least
    }

    /// The session's budget, or the one that all share who have no session.
    fn budget(&self) -> Arc<LogBudget> {
        let of_session = self
            .extension::<Session>()
            .and_then(|session| session.attach(Arc::<LogBudget>::default).ok().cloned());
        of_session.unwrap_or_else(|| Arc::clone(&self.server().inner.log_budget))
    }

    fn send_log(&self, level: LoggingLevel, logger: Option<&str>, data: JsonValue) {
        let mut params = LoggingMessageNotificationParams::new(level, data);
        params.logger = logger.map(str::to_owned);
        let name = Name::from_static("notifications/message");
        let Ok(message) = Outgoing::notification(name, Some(&params)) else { return };
        if let Err(error) = self.replies().try_notify(message) {
            tracing::debug!(%error, "a log message was dropped");
        }
    }
}

fn bounded(data: JsonValue) -> JsonValue {
    let len = data.as_raw().len();
    if len <= LONGEST_DATA {
        return data;
    }
    let shown: String = data.as_raw().chars().take(SHOWN).collect();
    JsonValue::from(format!("{shown}… (cut: {len} bytes)").as_str())
}
