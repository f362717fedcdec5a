use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcp_jsonrpc::service::v1::BoxFuture;
use mcp_jsonrpc::{ErrorObject, RawJson};
use mcp_types::{Method, Task, TaskId, TaskStatus, Timestamp};

/// Keeps tasks: where they stand and, once they have ended, what they came to.
///
/// The tasks themselves run in the process that took them on; this is what others get to see of
/// them, possibly from other processes.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come with a
/// default body. It is object-safe.
///
/// # Contract
///
/// - What [`create`](Self::create) and [`change`](Self::change) have answered is kept: the next
///   call sees it, whoever makes it.
/// - A change is made only if it is legal from where the task stands *at that moment*
///   ([`TaskChange::apply`] decides); `completed`, `failed` and `cancelled` never change again.
///   Of several that race, one wins and the others get [`TaskStoreError::Ended`].
/// - [`changed`](Self::changed) wakes for every change, also for one that was made before it was
///   polled, and when the task goes.
/// - Tasks that have expired may go at any time, and do with [`sweep`](Self::sweep); others stay.
/// - [`list`](Self::list) gives the tasks of one owner and no others, oldest first.
/// - Dropping a future leaves the store as it was, or as it is after the call.
///
/// The contract is proved by `testing::task_store_suite`.
pub trait TaskStore: Send + Sync + 'static {
    /// Keeps a new task, which begins as `working`.
    ///
    /// # Errors
    ///
    /// When there is no room for it, or one with this id.
    fn create(&self, new: NewTask) -> BoxFuture<'_, Result<TaskRecord, TaskStoreError>>;

    /// The task, if it is there. Who may see it is for the caller to decide.
    ///
    /// # Errors
    ///
    /// When the store can't say.
    fn get<'a>(
        &'a self,
        id: &'a TaskId,
    ) -> BoxFuture<'a, Result<Option<TaskRecord>, TaskStoreError>>;

    /// Changes where a task stands, `now`.
    ///
    /// # Errors
    ///
    /// When there is no such task, when it has ended already, or when there is no room for what
    /// it came to.
    fn change<'a>(
        &'a self,
        id: &'a TaskId,
        change: TaskChange,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<TaskRecord, TaskStoreError>>;

    /// Waits until the task is another than it was in `version`; `None` once it is gone.
    ///
    /// # Errors
    ///
    /// When the store can't say.
    fn changed<'a>(
        &'a self,
        id: &'a TaskId,
        version: u64,
    ) -> BoxFuture<'a, Result<Option<TaskRecord>, TaskStoreError>>;

    /// At most `limit` tasks of `owner`, oldest first, behind the one whose
    /// [`number`](TaskRecord::number) is `after`.
    ///
    /// # Errors
    ///
    /// When the store can't say.
    fn list<'a>(
        &'a self,
        owner: &'a Owner,
        after: Option<u64>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<TaskRecord>, TaskStoreError>>;

    /// Forgets a task. One that is not there is forgotten already.
    ///
    /// # Errors
    ///
    /// When the store can't.
    fn remove<'a>(&'a self, id: &'a TaskId) -> BoxFuture<'a, Result<(), TaskStoreError>>;

    /// Forgets what has expired by `now`; says when the next one will.
    ///
    /// # Errors
    ///
    /// When the store can't.
    fn sweep(&self, now: SystemTime) -> BoxFuture<'_, Result<Option<SystemTime>, TaskStoreError>>;
}

/// Whose a task is: an opaque name for one requestor, or [`anyone`](Self::anyone) where
/// requestors can't be told apart.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner(Option<Arc<str>>);

impl Owner {
    /// The requestor whom `name` stands for, and nobody else.
    pub fn named(name: impl Into<Arc<str>>) -> Self {
        Self(Some(name.into()))
    }

    /// Nobody in particular: whoever knows a task's id may have it.
    #[must_use]
    pub const fn anyone() -> Self {
        Self(None)
    }

    /// Whether it is nobody in particular.
    #[must_use]
    pub const fn is_anyone(&self) -> bool {
        self.0.is_none()
    }

    /// The name. It may hold a secret: keep it out of logs.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

/// Prints who it is where a guard has said so, and no names of sessions, which are secrets.
impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_deref() {
            None => f.write_str("Owner(anyone)"),
            Some(name) if name.starts_with("requestor:") => write!(f, "Owner({name:?})"),
            Some(_) => f.write_str("Owner(<redacted>)"),
        }
    }
}

/// A task that is to be kept.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NewTask {
    /// Its id.
    pub id: TaskId,
    /// Whose it is.
    pub owner: Owner,
    /// What it runs.
    pub method: Method,
    /// When it was made.
    pub created: SystemTime,
    /// For how long it is kept from then on; for good when `None`.
    pub ttl: Option<Duration>,
    /// How long to wait between two looks at it.
    pub poll_interval: Duration,
}

impl NewTask {
    /// A task of `owner` that runs `method` from now, `created`, on.
    #[must_use]
    pub const fn new(id: TaskId, owner: Owner, method: Method, created: SystemTime) -> Self {
        Self { id, owner, method, created, ttl: None, poll_interval: Duration::from_secs(1) }
    }

    /// Sets for how long it is kept.
    #[must_use]
    pub const fn with_ttl(mut self, ttl: Option<Duration>) -> Self {
        self.ttl = ttl;
        self
    }

    /// Sets how long to wait between two looks at it.
    #[must_use]
    pub const fn with_poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = interval;
        self
    }

    /// The record of it, as it begins.
    #[must_use]
    pub fn into_record(self, number: u64) -> TaskRecord {
        let Self { id, owner, method, created, ttl, poll_interval } = self;
        TaskRecord {
            id,
            owner,
            method,
            status: TaskStatus::Working,
            message: None,
            created,
            updated: created,
            ttl,
            poll_interval,
            version: 0,
            number,
            outcome: None,
        }
    }
}

/// A task, as a store keeps it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskRecord {
    /// Its id.
    pub id: TaskId,
    /// Whose it is.
    pub owner: Owner,
    /// What it runs.
    pub method: Method,
    /// Where it stands.
    pub status: TaskStatus,
    /// What there is to say about that, for people.
    pub message: Option<Arc<str>>,
    /// When it was made.
    pub created: SystemTime,
    /// When it last changed.
    pub updated: SystemTime,
    /// For how long it is kept from its making on; for good when `None`.
    pub ttl: Option<Duration>,
    /// How long to wait between two looks at it.
    pub poll_interval: Duration,
    /// Grows with every change.
    pub version: u64,
    /// Its place in lists: unique in the store, and growing from task to task.
    pub number: u64,
    /// What it came to, once it was completed or has failed.
    pub outcome: Option<Arc<TaskOutcome>>,
}

/// What a request came to that ran as a task: exactly what it would have been answered.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a response has these two forms")]
pub enum TaskOutcome {
    /// A result.
    Result(RawJson),
    /// An error.
    Error(ErrorObject),
}

impl TaskOutcome {
    /// Bytes that it takes, about.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Result(result) => result.as_bytes().len(),
            Self::Error(error) => {
                error.message.len() + error.data.as_ref().map_or(0, |data| data.get().len())
            }
        }
    }
}

impl TaskRecord {
    /// Whether it has ended, one way or another.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        ended(self.status)
    }

    /// Until when it is kept.
    #[must_use]
    pub fn expires(&self) -> Option<SystemTime> {
        self.created.checked_add(self.ttl?)
    }

    /// Whether its time has passed.
    #[must_use]
    pub fn has_expired(&self, now: SystemTime) -> bool {
        self.expires().is_some_and(|expires| expires <= now)
    }

    /// The task as peers see it.
    #[must_use]
    pub fn to_task(&self) -> Task {
        let mut task = Task::new(
            self.id.clone(),
            self.status,
            Timestamp::from(self.created),
            Timestamp::from(self.updated),
            self.ttl.map(millis),
        );
        task.poll_interval = Some(millis(self.poll_interval));
        task.status_message = self.message.as_deref().map(str::to_owned);
        task
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

const fn ended(status: TaskStatus) -> bool {
    matches!(status, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled)
}

/// What happens to a task.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TaskChange {
    /// It waits for its requestor.
    NeedsInput,
    /// It goes on.
    Works,
    /// It says how far it is; its status stays.
    Says(Arc<str>),
    /// It has ended.
    Ends {
        /// Whether it has failed.
        failed: bool,
        /// What there is to say about that.
        message: Option<Arc<str>>,
        /// What it came to.
        outcome: Arc<TaskOutcome>,
    },
    /// It was canceled.
    IsCancelled,
}

impl TaskChange {
    /// Makes the change, if it is legal: the rules of the
    /// [task lifecycle](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-status-lifecycle).
    /// To where the task stands already is no change, and no error.
    ///
    /// # Errors
    ///
    /// [`TaskStoreError::Ended`] when the task has ended.
    pub fn apply(self, record: &mut TaskRecord, now: SystemTime) -> Result<(), TaskStoreError> {
        if record.has_ended() {
            return Err(TaskStoreError::Ended { status: record.status });
        }
        match self {
            Self::NeedsInput => record.status = TaskStatus::InputRequired,
            Self::Works => record.status = TaskStatus::Working,
            Self::Says(message) => record.message = Some(message),
            Self::Ends { failed, message, outcome } => {
                record.status = if failed { TaskStatus::Failed } else { TaskStatus::Completed };
                // What was said on the way no longer holds.
                record.message = message;
                record.outcome = Some(outcome);
            }
            Self::IsCancelled => record.status = TaskStatus::Cancelled,
        }
        // A wall clock may go back.
        record.updated = record.updated.max(now);
        record.version += 1;
        Ok(())
    }
}

/// A store can't do what was asked of it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskStoreError {
    /// There is no such task (any more).
    #[error("there is no such task")]
    Unknown,
    /// The task has ended, and doesn't change any more.
    #[error("the task has ended: it is {status}")]
    Ended {
        /// How.
        status: TaskStatus,
    },
    /// The owner has as many tasks as one may have.
    #[error("more than {limit} tasks of one requestor")]
    TooManyOfOwner {
        /// The limit that was in force.
        limit: usize,
    },
    /// The store holds as much as it may.
    #[error("the store of tasks holds as much as it may: {limit} {what}")]
    Full {
        /// What there is too much of.
        what: &'static str,
        /// The limit that was in force.
        limit: usize,
    },
    /// Whatever else went wrong.
    #[error("the store of tasks has failed")]
    Failed {
        /// What.
        source: Arc<dyn Error + Send + Sync>,
    },
}

impl TaskStoreError {
    /// [`Failed`](Self::Failed), with its cause.
    pub fn failed(source: impl Error + Send + Sync + 'static) -> Self {
        Self::Failed { source: Arc::new(source) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> TaskRecord {
        let owner = Owner::named("somebody");
        let now = SystemTime::UNIX_EPOCH;
        NewTask::new("t".into(), owner, Method::ToolsCall, now).into_record(1)
    }

    fn ends(failed: bool) -> TaskChange {
        let outcome = Arc::new(TaskOutcome::Result(RawJson::new("{}").unwrap()));
        TaskChange::Ends { failed, message: None, outcome }
    }

    // Shows: TASK-032, TASK-033, TASK-034, TASK-035
    #[test]
    fn every_way_from_state_to_state_is_legal_or_refused_as_the_specification_has_it() {
        let changes = || {
            [
                (TaskChange::NeedsInput, TaskStatus::InputRequired),
                (TaskChange::Works, TaskStatus::Working),
                (ends(false), TaskStatus::Completed),
                (ends(true), TaskStatus::Failed),
                (TaskChange::IsCancelled, TaskStatus::Cancelled),
            ]
        };
        for (first, between) in changes() {
            for (second, after) in changes() {
                let mut task = record();
                assert_eq!(task.status, TaskStatus::Working);
                first.clone().apply(&mut task, SystemTime::UNIX_EPOCH).unwrap();
                assert_eq!(task.status, between);
                let version = task.version;
                let outcome = second.apply(&mut task, SystemTime::UNIX_EPOCH);
                if ended(between) {
                    assert!(matches!(outcome, Err(TaskStoreError::Ended { .. })));
                    assert_eq!((task.status, task.version), (between, version));
                } else {
                    outcome.unwrap();
                    assert_eq!((task.status, task.version), (after, version + 1));
                }
            }
        }
    }

    // Shows: TASK-045, TASK-047, FC-049
    #[test]
    fn a_task_without_end_says_so_by_null() {
        let task = serde_json::to_value(record().to_task()).unwrap();
        assert_eq!(task["ttl"], serde_json::Value::Null);
        assert!(task.as_object().unwrap().contains_key("ttl"));
        assert_eq!(task["pollInterval"], 1000);
        let mut kept = record();
        kept.ttl = Some(Duration::from_secs(60));
        assert_eq!(serde_json::to_value(kept.to_task()).unwrap()["ttl"], 60_000);
        assert!(!kept.has_expired(kept.created + Duration::from_millis(59_999)));
        assert!(kept.has_expired(kept.created + Duration::from_secs(60)));
    }

    // Shows: TASK-097
    #[test]
    fn a_requestor_is_printed_and_a_session_is_not() {
        assert_eq!(format!("{:?}", Owner::named("session:1")), "Owner(<redacted>)");
        assert_eq!(format!("{:?}", Owner::named("requestor:al")), "Owner(\"requestor:al\")");
        assert_eq!(format!("{:?}", Owner::anyone()), "Owner(anyone)");
    }
}
