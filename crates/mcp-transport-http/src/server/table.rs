//! All sessions of an endpoint, and their expiry from one shared queue.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;

use tokio::task::AbortHandle;

use super::core::Core;
use super::session::Session;
use crate::SessionId;

/// How often the event log is pruned, and the longest sleep of the sweeper.
const SWEEP: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(super) struct Table {
    sessions: RwLock<HashMap<SessionId, Arc<Session>>>,
    queue: Mutex<Queue>,
}

/// Who is looked at next. An entry says when its session was last seen as the entry was
/// made: a session that has been seen since goes back into the queue when its turn comes.
/// So a request touches one atomic, and the queue is not written to.
#[derive(Default)]
struct Queue {
    order: BTreeMap<(u64, u64), Arc<Session>>,
    next: u64,
    sweeper: Option<AbortHandle>,
    closed: bool,
}

impl Table {
    pub(super) fn get(&self, id: &SessionId) -> Option<Arc<Session>> {
        self.sessions.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    pub(super) fn len(&self) -> usize {
        self.sessions.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether one more session may be opened, at the price of one that is idle if need be.
    pub(super) fn has_room(&self, core: &Core) -> bool {
        self.len() < core.config.limits.sessions || self.reclaim(core)
    }

    /// Adds a session; `false` when there are too many, or one with this id.
    ///
    /// At the limit the session that was idle longest ends, if it was for long enough.
    pub(super) fn insert(&self, core: &Arc<Core>, session: &Arc<Session>) -> bool {
        if !self.has_room(core) {
            return false;
        }
        let mut queue = self.queue();
        if queue.closed {
            return false;
        }
        {
            let mut sessions = self.sessions.write().unwrap_or_else(PoisonError::into_inner);
            // Looked at again under the lock, so that the limit holds whoever else is here.
            if core.config.limits.sessions <= sessions.len() || sessions.contains_key(&session.id) {
                return false;
            }
            sessions.insert(session.id.clone(), Arc::clone(session));
        }
        queue.push(core.now(), Arc::clone(session));
        if queue.sweeper.is_none()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            queue.sweeper = Some(runtime.spawn(sweep(Arc::downgrade(core))).abort_handle());
        }
        true
    }

    /// Ends a session. Its entry in the queue goes when its turn comes.
    pub(super) fn remove(&self, id: &SessionId) -> bool {
        let session = self.sessions.write().unwrap_or_else(PoisonError::into_inner).remove(id);
        let found = session.is_some();
        if let Some(session) = session {
            let mut queue = self.queue();
            let key = queue.key_of(&session);
            if let Some(key) = key {
                queue.order.remove(&key);
            }
            drop(queue);
            session.close();
        }
        found
    }

    /// Ends the session that was idle longest, if it was for long enough.
    fn reclaim(&self, core: &Core) -> bool {
        let grace = millis(core.config.times.reclaim);
        self.take_idle(core, grace).is_some_and(|session| self.remove(&session.id))
    }

    /// The first in the queue that has been idle for `limit`; who has not goes to the back.
    fn take_idle(&self, core: &Core, limit: u64) -> Option<Arc<Session>> {
        let now = core.now();
        let mut queue = self.queue();
        // Each entry is looked at once in one go.
        for _ in 0..queue.order.len() {
            let (key, session) = queue.order.first_key_value()?;
            let key = *key;
            if now.saturating_sub(key.0) < limit {
                return None;
            }
            let session = Arc::clone(session);
            match session.idle_since() {
                Some(since) if limit <= now.saturating_sub(since) => return Some(session),
                since => {
                    queue.order.remove(&key);
                    queue.push(since.unwrap_or(now).max(key.0 + 1), session);
                }
            }
        }
        None
    }

    /// Ends whoever has been idle for too long; answers how long until somebody may be.
    fn expire(&self, core: &Core) -> Option<Duration> {
        let idle = millis(core.config.times.idle);
        while let Some(session) = self.take_idle(core, idle) {
            tracing::debug!("a session was idle for too long");
            self.remove(&session.id);
        }
        let mut queue = self.queue();
        let next = queue.order.first_key_value().map(|(key, _)| key.0);
        if next.is_none() {
            queue.sweeper = None;
        }
        let left = next?.saturating_add(idle).saturating_sub(core.now());
        Some(Duration::from_millis(left.max(1)))
    }

    /// Ends all sessions, and takes no more.
    pub(super) fn close(&self) {
        let mut queue = self.queue();
        queue.closed = true;
        queue.order.clear();
        let sweeper = queue.sweeper.take();
        drop(queue);
        if let Some(sweeper) = sweeper {
            sweeper.abort();
        }
        let sessions =
            std::mem::take(&mut *self.sessions.write().unwrap_or_else(PoisonError::into_inner));
        sessions.values().for_each(|session| session.close());
    }

    /// All sessions, for a walk over their streams.
    pub(super) fn all(&self) -> Vec<Arc<Session>> {
        let sessions = self.sessions.read().unwrap_or_else(PoisonError::into_inner);
        sessions.values().cloned().collect()
    }
}

impl Queue {
    fn push(&mut self, seen: u64, session: Arc<Session>) {
        let key = (seen, self.next);
        self.next += 1;
        session.set_queued(key);
        self.order.insert(key, session);
    }

    fn key_of(&self, session: &Session) -> Option<(u64, u64)> {
        let key = session.queued();
        self.order.get(&key).filter(|found| found.id == session.id).map(|_| key)
    }
}

/// The one task that ends idle sessions. It runs while there are any.
async fn sweep(core: Weak<Core>) {
    let mut pause = Duration::ZERO;
    loop {
        tokio::time::sleep(pause.min(SWEEP)).await;
        let Some(core) = core.upgrade() else { return };
        if let Some(log) = &core.log {
            log.prune();
        }
        match core.table.expire(&core) {
            Some(next) => pause = next,
            None => return,
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
