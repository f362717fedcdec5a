//! A session store in memory: for several endpoints in one process, and for tests.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::SessionId;
use crate::v1::{SessionRecord, SessionStore, Step, StoreError};

/// Keeps sessions in memory, up to a number and for a time.
///
/// An endpoint needs none: it keeps its own sessions. This is for several endpoints that
/// share theirs.
#[derive(Debug)]
pub struct MemorySessionStore {
    limit: usize,
    idle: Duration,
    sessions: Mutex<HashMap<SessionId, (SessionRecord, Instant)>>,
}

impl MemorySessionStore {
    /// Takes up to `limit` sessions, and forgets those that were idle for `idle`.
    pub fn new(limit: usize, idle: Duration) -> Self {
        Self { limit, idle, sessions: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, (SessionRecord, Instant)>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_fresh(&self, used: Instant) -> bool {
        used.elapsed() < self.idle
    }
}

impl Default for MemorySessionStore {
    /// 10,000 sessions, 30 minutes.
    fn default() -> Self {
        Self::new(10_000, Duration::from_secs(30 * 60))
    }
}

impl SessionStore for MemorySessionStore {
    fn create(&self, record: SessionRecord) -> Step<Result<(), StoreError>> {
        let mut sessions = self.lock();
        if self.limit <= sessions.len() {
            sessions.retain(|_, (_, used)| self.is_fresh(*used));
        }
        let taken = sessions.get(&record.id).is_some_and(|(_, used)| self.is_fresh(*used));
        Step::now(if taken {
            Err(StoreError::Taken)
        } else if self.limit <= sessions.len() {
            Err(StoreError::Full)
        } else {
            sessions.insert(record.id.clone(), (record, Instant::now()));
            Ok(())
        })
    }

    fn load(&self, id: &SessionId) -> Step<Result<Option<SessionRecord>, StoreError>> {
        let sessions = self.lock();
        let found = sessions.get(id).filter(|(_, used)| self.is_fresh(*used));
        Step::now(Ok(found.map(|(record, _)| record.clone())))
    }

    fn touch(&self, id: &SessionId) -> Step<Result<(), StoreError>> {
        if let Some((_, used)) = self.lock().get_mut(id).filter(|(_, used)| self.is_fresh(*used)) {
            *used = Instant::now();
        }
        Step::now(Ok(()))
    }

    fn remove(&self, id: &SessionId) -> Step<Result<bool, StoreError>> {
        let gone = self.lock().remove(id);
        Step::now(Ok(gone.is_some_and(|(_, used)| self.is_fresh(used))))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[tokio::test]
    async fn the_contract_is_kept() {
        for case in crate::testing::session_store_suite(MemorySessionStore::default) {
            case.run().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn there_are_bounds_in_number_and_time() {
        let store = MemorySessionStore::new(2, Duration::from_secs(60));
        let record = |id: &str| SessionRecord::new(id.parse().unwrap(), 1, None, Bytes::new());
        store.create(record("a")).await.unwrap();
        store.create(record("b")).await.unwrap();
        assert!(matches!(store.create(record("c")).await, Err(StoreError::Full)));
        tokio::time::advance(Duration::from_secs(40)).await;
        store.touch(&record("a").id).await.unwrap();
        tokio::time::advance(Duration::from_secs(40)).await;
        assert!(store.load(&record("a").id).await.unwrap().is_some());
        assert!(store.load(&record("b").id).await.unwrap().is_none());
        store.create(record("c")).await.unwrap();
        assert!(!store.remove(&record("b").id).await.unwrap());
    }
}
