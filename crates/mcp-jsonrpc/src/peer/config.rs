use std::fmt;
use std::sync::Arc;

use crate::service::v1::BoxFuture;

/// What one [`Driver`](super::Driver) may hold.
#[derive(Clone)]
#[non_exhaustive]
pub struct DriverConfig {
    /// Exchanges of the peer that are open at once; 256 by default. A request beyond them is
    /// answered by [`Protocol::overloaded`](super::Protocol::overloaded), a notification beyond
    /// them is dropped.
    pub max_exchanges: usize,
    /// Requests of ours that wait for a response; 1024 by default. One more fails with
    /// [`AskError::TooMany`](crate::service::v1::AskError::TooMany).
    pub max_pending: usize,
    /// Messages that wait to be sent; 256 by default. Who sends more of our own waits, and what
    /// comes in is not begun before there is room for its answer.
    ///
    /// Receiving goes on, so that two peers that both send can't block each other: responses to
    /// us never wait for anything. It stops only when four times as many answers wait to be sent.
    /// That is more than a peer of this kind has requests open (see
    /// [`max_pending`](Self::max_pending)), so whoever gets there writes and doesn't read.
    pub max_queued: usize,
    /// Bytes that wait to be sent; 4 MiB by default, with the same answer when it is exceeded.
    /// It is exceeded by one message of ours at most, and by the answers of exchanges that were
    /// begun before.
    pub max_queued_bytes: usize,
    /// Bounds what is left to do after the peer has closed its side: when this future is ready,
    /// open exchanges are dropped, and what the peer hasn't taken by then. `None`, the default,
    /// waits for all of it.
    pub drain: Option<Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>>,
}

impl DriverConfig {
    /// The defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            max_exchanges: 256,
            max_pending: 1024,
            max_queued: 256,
            max_queued_bytes: 4 * 1024 * 1024,
            drain: None,
        }
    }

    /// Sets [`max_exchanges`](Self::max_exchanges).
    #[must_use]
    pub const fn with_max_exchanges(mut self, exchanges: usize) -> Self {
        self.max_exchanges = exchanges;
        self
    }

    /// Sets [`max_pending`](Self::max_pending).
    #[must_use]
    pub const fn with_max_pending(mut self, requests: usize) -> Self {
        self.max_pending = requests;
        self
    }

    /// Sets [`max_queued`](Self::max_queued). Less than 1 counts as 1.
    #[must_use]
    pub const fn with_max_queued(mut self, messages: usize) -> Self {
        self.max_queued = messages;
        self
    }

    /// Sets [`max_queued_bytes`](Self::max_queued_bytes).
    #[must_use]
    pub const fn with_max_queued_bytes(mut self, bytes: usize) -> Self {
        self.max_queued_bytes = bytes;
        self
    }

    /// Sets [`drain`](Self::drain).
    #[must_use]
    pub fn with_drain(
        mut self,
        limit: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        self.drain = Some(Arc::new(limit));
        self
    }
}

impl Default for DriverConfig {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for DriverConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DriverConfig")
            .field("max_exchanges", &self.max_exchanges)
            .field("max_pending", &self.max_pending)
            .field("max_queued", &self.max_queued)
            .field("max_queued_bytes", &self.max_queued_bytes)
            .finish_non_exhaustive()
    }
}
