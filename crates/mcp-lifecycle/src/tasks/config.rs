use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::MemoryTaskStore;
use crate::v1::TaskStore;

/// How tasks are taken on and kept.
///
/// | what | default |
/// |---|---|
/// | for how long a task is kept from its making on, when its requestor doesn't say | 15 minutes |
/// | for how long at most, whatever its requestor says | 1 hour |
/// | how long requestors are asked to wait between two looks at it | 1 second |
/// | tasks on a page of a list | 100 |
/// | where tasks are kept, and how many | [`MemoryTaskStore`] |
///
/// A task that still runs when its time is over is canceled, and gone.
#[derive(Clone)]
#[non_exhaustive]
pub struct TaskConfig {
    /// For how long a task is kept when its requestor doesn't say.
    pub ttl: Duration,
    /// For how long a task is kept at most.
    pub max_ttl: Duration,
    /// How long to wait between two looks at a task.
    pub poll_interval: Duration,
    /// Tasks on a page of a list.
    pub page_size: usize,
    /// Whether requestors can list their tasks.
    pub list: bool,
    /// Whether requestors are told of changes. They are not to rely on it.
    pub notify: bool,
    /// Where tasks are kept.
    pub store: Arc<dyn TaskStore>,
}

impl TaskConfig {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self {
            ttl: Duration::from_secs(15 * 60),
            max_ttl: Duration::from_secs(60 * 60),
            poll_interval: Duration::from_secs(1),
            page_size: 100,
            list: true,
            notify: true,
            store: Arc::new(MemoryTaskStore::new()),
        }
    }

    /// Sets for how long a task is kept when its requestor doesn't say.
    #[must_use]
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Sets for how long a task is kept at most.
    #[must_use]
    pub fn with_max_ttl(mut self, ttl: Duration) -> Self {
        self.max_ttl = ttl;
        self
    }

    /// Sets how long requestors are asked to wait between two looks at a task.
    #[must_use]
    pub fn with_poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = interval;
        self
    }

    /// Sets how many tasks are on a page of a list: one at least.
    #[must_use]
    pub fn with_page_size(mut self, tasks: usize) -> Self {
        self.page_size = tasks.max(1);
        self
    }

    /// Sets whether requestors can list their tasks. Those that can't be told apart never can.
    #[must_use]
    pub fn with_list(mut self, list: bool) -> Self {
        self.list = list;
        self
    }

    /// Sets whether requestors are told of changes.
    #[must_use]
    pub fn with_notify(mut self, notify: bool) -> Self {
        self.notify = notify;
        self
    }

    /// Sets where tasks are kept.
    #[must_use]
    pub fn with_store(mut self, store: impl TaskStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// What a task is given when `wanted` was asked for.
    pub(super) fn ttl_for(&self, wanted: Option<u64>) -> Duration {
        wanted.map_or(self.ttl, Duration::from_millis).min(self.max_ttl)
    }
}

impl Default for TaskConfig {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for TaskConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskConfig")
            .field("ttl", &self.ttl)
            .field("max_ttl", &self.max_ttl)
            .field("poll_interval", &self.poll_interval)
            .finish_non_exhaustive()
    }
}
