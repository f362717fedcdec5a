//! What all requests of an endpoint share.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use mcp_jsonrpc::service::v1::{BoxFuture, Inbound, Replies, Reply};
use mcp_lifecycle::Profile;
use mcp_lifecycle::v1::{IdSource, McpService, NoRandomness};
use tokio::time::Instant;

use super::config::Config;
use super::guard::BrowserGuard;
use super::legacy::{Conversations, LegacyConfig};
use super::rules::Strangers;
use super::table::Table;
use crate::SessionId;
use crate::v1::{EventLog, Guard, SessionStore, Step};

pub(super) struct Core {
    pub(super) config: Config,
    pub(super) browser: BrowserGuard,
    pub(super) cors: bool,
    pub(super) legacy: Option<LegacyConfig>,
    pub(super) guard: Option<Arc<dyn Guard>>,
    pub(super) log: Option<Arc<dyn EventLog>>,
    pub(super) store: Option<Arc<dyn SessionStore>>,
    pub(super) ids: Arc<dyn IdSource>,
    pub(super) service: Arc<dyn Caller>,
    pub(super) strangers: Strangers,
    pub(super) table: Table,
    /// Those over HTTP+SSE.
    pub(super) conversations: Conversations,
    started: Instant,
    serial: AtomicU64,
    exchanges: AtomicUsize,
    streams: AtomicUsize,
    closed: AtomicBool,
}

/// A service whose type is forgotten, at the cost of the one box that an exchange needs.
pub(super) trait Caller: Send + Sync {
    fn call(&self, inbound: Inbound, replies: Replies) -> BoxFuture<'static, Reply>;
    fn profile(&self) -> Arc<Profile>;
}

impl<S: McpService> Caller for Arc<S> {
    fn call(&self, inbound: Inbound, replies: Replies) -> BoxFuture<'static, Reply> {
        let service = Self::clone(self);
        Box::pin(async move { S::call(&service, inbound, replies).await })
    }

    fn profile(&self) -> Arc<Profile> {
        S::profile(self)
    }
}

/// What an endpoint is made of.
pub(super) struct Parts {
    pub(super) config: Config,
    pub(super) browser: BrowserGuard,
    pub(super) cors: bool,
    pub(super) legacy: Option<LegacyConfig>,
    pub(super) guard: Option<Arc<dyn Guard>>,
    pub(super) log: Option<Arc<dyn EventLog>>,
    pub(super) store: Option<Arc<dyn SessionStore>>,
    pub(super) ids: Arc<dyn IdSource>,
    pub(super) service: Arc<dyn Caller>,
}

impl Core {
    pub(super) fn new(parts: Parts) -> Arc<Self> {
        Arc::new(Self {
            config: parts.config,
            browser: parts.browser,
            cors: parts.cors,
            legacy: parts.legacy,
            conversations: Conversations::default(),
            guard: parts.guard,
            log: parts.log,
            store: parts.store,
            ids: parts.ids,
            service: parts.service,
            strangers: Strangers::default(),
            table: Table::default(),
            started: Instant::now(),
            serial: AtomicU64::new(1),
            exchanges: AtomicUsize::new(0),
            streams: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
        })
    }

    /// Milliseconds since the endpoint was made.
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// An id for a new session, and a tag for its event ids; `None` when the source of
    /// randomness fails.
    pub(super) fn new_session_id(&self) -> Option<(SessionId, u32)> {
        let mut tag = [0; 4];
        self.ids.fill(&mut tag).ok()?;
        // A source of somebody else's may make ids that no header can hold.
        let id = self.ids.id().ok()?.parse().ok()?;
        Some((id, u32::from_le_bytes(tag)))
    }

    /// A number that was not given out before.
    pub(super) fn serial(&self) -> u64 {
        self.serial.fetch_add(1, Ordering::Relaxed)
    }

    /// Sees to it that `step` is done, without waiting for it.
    pub(super) fn settle<T: Send + 'static, E>(&self, step: Step<Result<T, E>>)
    where
        Result<T, E>: Unpin,
        E: std::error::Error + Send + 'static,
    {
        let later = match step.try_now() {
            Ok(result) => return trace(&result),
            Err(step) => step,
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { trace(&later.await) });
        }
    }

    /// Leave to run one more exchange; `None` when there are too many.
    pub(super) fn permit_exchange(self: &Arc<Self>) -> Option<Permit> {
        Permit::new(self, |core| &core.exchanges, self.config.limits.exchanges)
    }

    /// Leave to open one more GET stream; `None` when there are too many.
    pub(super) fn permit_stream(self: &Arc<Self>) -> Option<Permit> {
        Permit::new(self, |core| &core.streams, self.config.limits.streams)
    }

    /// How many exchanges and GET streams there are.
    pub(super) fn load(&self) -> (usize, usize) {
        (self.exchanges.load(Ordering::Relaxed), self.streams.load(Ordering::Relaxed))
    }

    /// Ends everything; requests are refused from here on.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.table.close();
        self.conversations.close();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }
}

fn trace<T, E: std::error::Error + 'static>(result: &Result<T, E>) {
    if let Err(error) = result {
        tracing::warn!(error = error as &dyn std::error::Error, "a store is down");
    }
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (exchanges, streams) = self.load();
        f.debug_struct("Core")
            .field("config", &self.config)
            .field("sessions", &self.table.len())
            .field("exchanges", &exchanges)
            .field("streams", &streams)
            .finish_non_exhaustive()
    }
}

/// Ids from the operating system's source of randomness.
#[derive(Debug)]
pub(super) struct OsIds;

impl IdSource for OsIds {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        getrandom::fill(bytes).map_err(NoRandomness::new)
    }
}

/// Leave to use one of a limited number; given back on drop.
pub(super) struct Permit {
    core: Arc<Core>,
    counter: fn(&Core) -> &AtomicUsize,
}

impl Permit {
    fn new(core: &Arc<Core>, counter: fn(&Core) -> &AtomicUsize, limit: usize) -> Option<Self> {
        if limit <= counter(core).fetch_add(1, Ordering::Relaxed) {
            counter(core).fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Self { core: Arc::clone(core), counter })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        (self.counter)(&self.core).fetch_sub(1, Ordering::Relaxed);
    }
}
