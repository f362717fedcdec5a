use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::v1::{
    BoxFuture, CredentialKey, CredentialStore, Generation, LockPurpose, Saved, StoreError,
    StoreLock, Stored,
};
use crate::{Record, Resource};

/// How many logins are kept; the one that was used least recently makes room.
const MAX_RECORDS: usize = 1000;

/// Keeps logins for as long as the process lives. Cheap to clone.
#[derive(Clone, Default)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    records: Mutex<HashMap<CredentialKey, Stored>>,
    locks: Mutex<Locks>,
}

type Locks = HashMap<(CredentialKey, LockPurpose), Arc<tokio::sync::Mutex<()>>>;

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn write(
        &self,
        key: &CredentialKey,
        record: Option<&Record>,
        replaces: Option<Generation>,
    ) -> Saved {
        let mut records = self.shared.records.lock().unwrap_or_else(PoisonError::into_inner);
        let stored = records.get(key).map(|stored| stored.generation);
        if stored != replaces {
            return Saved::Superseded;
        }
        let generation = replaces.map_or_else(Generation::first, Generation::next);
        match record {
            Some(record) => {
                if stored.is_none() && records.len() >= MAX_RECORDS {
                    let oldest = records.iter().min_by_key(|(_, stored)| stored.record.last_used);
                    if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                        records.remove(&oldest);
                    }
                }
                records.insert(key.clone(), Stored::new(record.clone(), generation));
            }
            None => {
                records.remove(key);
            }
        }
        Saved::Done(generation)
    }
}

impl CredentialStore for MemoryStore {
    fn load<'a>(
        &'a self,
        key: &'a CredentialKey,
    ) -> BoxFuture<'a, Result<Option<Stored>, StoreError>> {
        let records = self.shared.records.lock().unwrap_or_else(PoisonError::into_inner);
        Box::pin(std::future::ready(Ok(records.get(key).cloned())))
    }

    fn save<'a>(
        &'a self,
        key: &'a CredentialKey,
        record: &'a Record,
        replaces: Option<Generation>,
    ) -> BoxFuture<'a, Result<Saved, StoreError>> {
        Box::pin(std::future::ready(Ok(self.write(key, Some(record), replaces))))
    }

    fn remove<'a>(
        &'a self,
        key: &'a CredentialKey,
        replaces: Generation,
    ) -> BoxFuture<'a, Result<Saved, StoreError>> {
        Box::pin(std::future::ready(Ok(self.write(key, None, Some(replaces)))))
    }

    fn keys<'a>(
        &'a self,
        endpoint: &'a Resource,
    ) -> BoxFuture<'a, Result<Vec<CredentialKey>, StoreError>> {
        let records = self.shared.records.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = records.keys().filter(|key| key.endpoint == *endpoint).cloned().collect();
        Box::pin(std::future::ready(Ok(keys)))
    }

    fn lock<'a>(
        &'a self,
        key: &'a CredentialKey,
        purpose: LockPurpose,
        wait: Duration,
    ) -> BoxFuture<'a, Result<Option<StoreLock>, StoreError>> {
        let lock = {
            let mut locks = self.shared.locks.lock().unwrap_or_else(PoisonError::into_inner);
            // Nobody holds or waits for a lock that only the table knows.
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            Arc::clone(locks.entry((key.clone(), purpose)).or_default())
        };
        Box::pin(async move {
            let locked = tokio::time::timeout(wait, lock.lock_owned()).await;
            Ok(locked.ok().map(StoreLock::new))
        })
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryStore")
    }
}
