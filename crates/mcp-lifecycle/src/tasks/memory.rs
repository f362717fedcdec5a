use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use mcp_jsonrpc::service::v1::{BoxFuture, CancelSignal};
use mcp_types::TaskId;

use crate::v1::{NewTask, Owner, TaskChange, TaskRecord, TaskStore, TaskStoreError};

/// Keeps tasks in the memory of this process, within bounds.
///
/// | what | default | when exceeded |
/// |---|---|---|
/// | tasks of one owner, ended or not ([`with_max_of_owner`](Self::with_max_of_owner)) | 100 | no more are taken on |
/// | tasks ([`with_max`](Self::with_max)) | 10,000 | no more are taken on |
/// | bytes of what they came to ([`with_max_bytes`](Self::with_max_bytes)) | 256 MiB | a task that ends can't be kept, and fails |
///
/// Owners that can't be told apart have only the bound on all.
pub struct MemoryTaskStore {
    state: Mutex<State>,
    max: usize,
    max_of_owner: usize,
    max_bytes: usize,
}

#[derive(Default)]
struct State {
    tasks: HashMap<TaskId, Entry>,
    /// By owner and number: what lists are made of.
    order: BTreeSet<(Owner, u64, TaskId)>,
    expiry: BTreeSet<(SystemTime, TaskId)>,
    of_owner: HashMap<Owner, usize>,
    bytes: usize,
    numbers: u64,
}

struct Entry {
    record: TaskRecord,
    /// Given at the next change, or when the task goes.
    changed: Arc<CancelSignal>,
}

impl MemoryTaskStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self {
            state: Mutex::default(),
            max: 10_000,
            max_of_owner: 100,
            max_bytes: 256 * 1024 * 1024,
        }
    }

    /// Sets how many tasks there may be.
    #[must_use]
    pub const fn with_max(mut self, tasks: usize) -> Self {
        self.max = tasks;
        self
    }

    /// Sets how many tasks one owner may have.
    #[must_use]
    pub const fn with_max_of_owner(mut self, tasks: usize) -> Self {
        self.max_of_owner = tasks;
        self
    }

    /// Sets how many bytes may be kept of what tasks came to.
    #[must_use]
    pub const fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, new: NewTask) -> Result<TaskRecord, TaskStoreError> {
        let mut state = self.lock();
        if state.tasks.len() >= self.max {
            return Err(TaskStoreError::Full { what: "tasks", limit: self.max });
        }
        let of_owner = state.of_owner.get(&new.owner).copied().unwrap_or(0);
        if !new.owner.is_anyone() && of_owner >= self.max_of_owner {
            return Err(TaskStoreError::TooManyOfOwner { limit: self.max_of_owner });
        }
        if state.tasks.contains_key(&new.id) {
            return Err(TaskStoreError::failed(SameId));
        }
        state.numbers += 1;
        let record = new.into_record(state.numbers);
        let (id, owner) = (record.id.clone(), record.owner.clone());
        if let Some(expires) = record.expires() {
            state.expiry.insert((expires, id.clone()));
        }
        *state.of_owner.entry(owner.clone()).or_default() += 1;
        state.order.insert((owner, record.number, id.clone()));
        state.tasks.insert(id, Entry { record: record.clone(), changed: Arc::default() });
        Ok(record)
    }

    fn alter(
        &self,
        id: &TaskId,
        change: TaskChange,
        now: SystemTime,
    ) -> Result<TaskRecord, TaskStoreError> {
        let (record, changed) = {
            let mut state = self.lock();
            let State { tasks, bytes, .. } = &mut *state;
            let entry = tasks.get_mut(id).ok_or(TaskStoreError::Unknown)?;
            if let TaskChange::Ends { outcome, .. } = &change
                && !entry.record.has_ended()
            {
                let after = bytes.saturating_add(outcome.size());
                if after > self.max_bytes {
                    let limit = self.max_bytes;
                    return Err(TaskStoreError::Full { what: "bytes of results", limit });
                }
                *bytes = after;
            }
            change.apply(&mut entry.record, now)?;
            (entry.record.clone(), std::mem::take(&mut entry.changed))
        };
        // Outside of the lock: wakers run foreign code.
        changed.give();
        Ok(record)
    }

    fn forget(&self, id: &TaskId) {
        let gone = self.lock().forget(id);
        if let Some(gone) = gone {
            gone.changed.give();
        }
    }
}

impl State {
    fn forget(&mut self, id: &TaskId) -> Option<Entry> {
        let gone = self.tasks.remove(id)?;
        let record = &gone.record;
        if let Some(expires) = record.expires() {
            self.expiry.remove(&(expires, id.clone()));
        }
        self.order.remove(&(record.owner.clone(), record.number, id.clone()));
        if let Some(count) = self.of_owner.get_mut(&record.owner) {
            *count -= 1;
            if *count == 0 {
                self.of_owner.remove(&record.owner);
            }
        }
        let size = record.outcome.as_ref().map_or(0, |outcome| outcome.size());
        self.bytes = self.bytes.saturating_sub(size);
        Some(gone)
    }
}

impl Default for MemoryTaskStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryTaskStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("MemoryTaskStore")
            .field("tasks", &state.tasks.len())
            .field("bytes", &state.bytes)
            .finish_non_exhaustive()
    }
}

/// An [`IdSource`](crate::v1::IdSource) that repeats itself.
#[derive(Debug, thiserror::Error)]
#[error("there is a task with this id already")]
struct SameId;

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

impl TaskStore for MemoryTaskStore {
    fn create(&self, new: NewTask) -> BoxFuture<'_, Result<TaskRecord, TaskStoreError>> {
        ready(self.put(new))
    }

    fn get<'a>(
        &'a self,
        id: &'a TaskId,
    ) -> BoxFuture<'a, Result<Option<TaskRecord>, TaskStoreError>> {
        ready(Ok(self.lock().tasks.get(id).map(|entry| entry.record.clone())))
    }

    fn change<'a>(
        &'a self,
        id: &'a TaskId,
        change: TaskChange,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<TaskRecord, TaskStoreError>> {
        ready(self.alter(id, change, now))
    }

    fn changed<'a>(
        &'a self,
        id: &'a TaskId,
        version: u64,
    ) -> BoxFuture<'a, Result<Option<TaskRecord>, TaskStoreError>> {
        Box::pin(async move {
            loop {
                let changed = {
                    let state = self.lock();
                    let Some(entry) = state.tasks.get(id) else { return Ok(None) };
                    if entry.record.version != version {
                        return Ok(Some(entry.record.clone()));
                    }
                    Arc::clone(&entry.changed)
                };
                changed.given().await;
            }
        })
    }

    fn list<'a>(
        &'a self,
        owner: &'a Owner,
        after: Option<u64>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<TaskRecord>, TaskStoreError>> {
        // No task is called by the empty text, and nothing sorts before it.
        let from = match after {
            None => 0,
            Some(u64::MAX) => return ready(Ok(Vec::new())),
            Some(after) => after + 1,
        };
        let state = self.lock();
        let listed = state
            .order
            .range((owner.clone(), from, TaskId::from(""))..)
            .take_while(|(whose, ..)| whose == owner)
            .filter_map(|(_, _, id)| state.tasks.get(id))
            .take(limit)
            .map(|entry| entry.record.clone())
            .collect();
        ready(Ok(listed))
    }

    fn remove<'a>(&'a self, id: &'a TaskId) -> BoxFuture<'a, Result<(), TaskStoreError>> {
        self.forget(id);
        ready(Ok(()))
    }

    fn sweep(&self, now: SystemTime) -> BoxFuture<'_, Result<Option<SystemTime>, TaskStoreError>> {
        let mut gone = Vec::new();
        let next = {
            let mut state = self.lock();
            loop {
                match state.expiry.first() {
                    Some((expires, id)) if *expires <= now => {
                        let id = id.clone();
                        gone.extend(state.forget(&id));
                    }
                    next => break next.map(|(expires, _)| *expires),
                }
            }
        };
        for gone in gone {
            gone.changed.give();
        }
        ready(Ok(next))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mcp_jsonrpc::RawJson;
    use mcp_types::Method;

    use super::*;
    use crate::testing::{now_or_never, task_store_suite};
    use crate::v1::TaskOutcome;

    const START: SystemTime = SystemTime::UNIX_EPOCH;

    fn new(id: &str, owner: &str) -> NewTask {
        NewTask::new(id.into(), Owner::named(owner), Method::ToolsCall, START)
            .with_ttl(Some(Duration::from_secs(10)))
    }

    fn ends(bytes: usize) -> TaskChange {
        let result = RawJson::new(format!("\"{}\"", "x".repeat(bytes.saturating_sub(2)))).unwrap();
        let outcome = Arc::new(TaskOutcome::Result(result));
        TaskChange::Ends { failed: false, message: None, outcome }
    }

    // Shows: TASK-031, TASK-035, TASK-063, TASK-065, TASK-088
    #[test]
    fn it_keeps_the_contract_of_stores() {
        now_or_never(task_store_suite(&MemoryTaskStore::new()));
    }

    // Shows: TASK-090
    #[test]
    fn one_owner_can_not_take_all_the_room() {
        let store = MemoryTaskStore::new().with_max_of_owner(2).with_max(3);
        store.put(new("a", "alice")).unwrap();
        store.put(new("b", "alice")).unwrap();
        let error = store.put(new("c", "alice")).unwrap_err();
        assert!(matches!(error, TaskStoreError::TooManyOfOwner { limit: 2 }), "{error}");
        store.put(new("d", "bob")).unwrap();
        let error = store.put(new("e", "carol")).unwrap_err();
        assert!(matches!(error, TaskStoreError::Full { limit: 3, .. }), "{error}");
        store.forget(&"a".into());
        store.put(new("f", "alice")).unwrap();
    }

    #[test]
    fn results_have_a_bound_and_give_their_room_back() {
        let store = MemoryTaskStore::new().with_max_bytes(100);
        for id in ["a", "b"] {
            store.put(new(id, "alice")).unwrap();
        }
        store.alter(&"a".into(), ends(90), START).unwrap();
        let error = store.alter(&"b".into(), ends(20), START).unwrap_err();
        assert!(matches!(error, TaskStoreError::Full { limit: 100, .. }), "{error}");
        store.forget(&"a".into());
        assert_eq!(store.lock().bytes, 0);
        store.alter(&"b".into(), ends(20), START).unwrap();
        // What is refused takes no room.
        assert!(store.alter(&"b".into(), ends(20), START).is_err());
        assert_eq!(store.lock().bytes, 20);
    }

    // Shows: TASK-046, TASK-092
    #[test]
    fn what_has_expired_goes_and_leaves_nothing() {
        let store = MemoryTaskStore::new();
        store.put(new("a", "alice")).unwrap();
        store.put(new("b", "alice").with_ttl(Some(Duration::from_secs(20)))).unwrap();
        store.put(new("c", "alice").with_ttl(None)).unwrap();
        store.alter(&"a".into(), ends(50), START).unwrap();
        let after = |seconds| START + Duration::from_secs(seconds);
        assert_eq!(now_or_never(store.sweep(after(9))).unwrap(), Some(after(10)));
        assert_eq!(store.lock().tasks.len(), 3);
        assert_eq!(now_or_never(store.sweep(after(10))).unwrap(), Some(after(20)));
        assert_eq!(now_or_never(store.sweep(after(60))).unwrap(), None);
        let state = store.lock();
        assert_eq!((state.tasks.len(), state.order.len(), state.expiry.len()), (1, 1, 0));
        assert_eq!((state.bytes, state.of_owner.len()), (0, 1));
    }
}
