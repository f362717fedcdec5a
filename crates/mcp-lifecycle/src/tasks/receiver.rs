use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Instant, SystemTime};

use mcp_jsonrpc::service::v1::{BoxFuture, PeerOutlet, Replies};
use mcp_jsonrpc::{ErrorObject, Extensions, Name, Outgoing, Request};
use mcp_types::{
    CancelTaskRequestParams, Cursor, GetTaskPayloadRequestParams, GetTaskRequestParams,
    ListTasksResult, Method, PaginatedRequestParams, Task, TaskId, TaskStatus,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::config::TaskConfig;
use super::live::Live;
use super::owner_of;
use super::race::{First, race};
use super::related::relate_result;
use super::running::{self, RunningTask, TaskEnd};
use super::sink::TaskSink;
use crate::Session;
use crate::v1::{
    Clock, IdSource, NewTask, Owner, TaskChange, TaskOutcome, TaskRecord, TaskStoreError,
};

/// Runs a future on its own, until it is done.
pub type Spawn = Arc<dyn Fn(BoxFuture<'static, ()>) + Send + Sync>;

/// A request that is to run as a task.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TaskOrder<'a> {
    /// What is requested.
    pub method: Method,
    /// For how long the requestor wants the task to be kept, in milliseconds.
    pub ttl: Option<u64>,
    /// What is known about the request: whose it is, and how its requestor is reached.
    pub extensions: &'a Extensions,
    /// The request's exchange.
    pub replies: &'a Replies,
}

impl<'a> TaskOrder<'a> {
    /// An order to run a request for `method`.
    #[must_use]
    pub const fn new(
        method: Method,
        ttl: Option<u64>,
        extensions: &'a Extensions,
        replies: &'a Replies,
    ) -> Self {
        Self { method, ttl, extensions, replies }
    }
}

/// Takes requests on as tasks, and answers for them. Clones are the same.
///
/// Dropping the last one lets tasks that run go on to their end.
#[derive(Clone)]
pub struct Tasks(Arc<Inner>);

pub(super) struct Inner {
    pub(super) config: TaskConfig,
    pub(super) clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    spawn: Spawn,
    /// The same moment by both clocks.
    began: (Instant, SystemTime),
    live: Mutex<HashMap<TaskId, Arc<Live>>>,
    /// Whether somebody waits for the next task to expire.
    sweeping: AtomicBool,
}

impl Tasks {
    /// Takes tasks on as `config` says. `spawn` has to run what it is given to its end, without
    /// waiting for it; `wall` is what the calendar says now.
    #[must_use]
    pub fn new(
        config: TaskConfig,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
        spawn: Spawn,
        wall: SystemTime,
    ) -> Self {
        let began = (clock.now(), wall);
        let (live, sweeping) = (Mutex::default(), AtomicBool::new(false));
        Self(Arc::new(Inner { config, clock, ids, spawn, began, live, sweeping }))
    }

    /// What was set.
    #[must_use]
    pub fn config(&self) -> &TaskConfig {
        &self.0.config
    }

    /// Whether the requestor of an exchange can list its tasks: it can't where requestors can't
    /// be told apart.
    #[must_use]
    pub fn can_list(&self, extensions: &Extensions) -> bool {
        self.0.config.list && !owner_of(extensions).is_anyone()
    }

    /// How many tasks run in this process.
    #[must_use]
    pub fn running(&self) -> usize {
        self.0.lock().len()
    }

    /// Takes a request on. `work` is given the way to the requestor, which outlives the
    /// request's exchange, and what can be said about the task meanwhile.
    ///
    /// # Errors
    ///
    /// The answer to the request: `-32603` when no task can be taken on.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave a task that nobody knows of, until its time is over.
    pub async fn start<W>(&self, order: TaskOrder<'_>, work: W) -> Result<Task, ErrorObject>
    where
        W: FnOnce(Replies, RunningTask) -> BoxFuture<'static, TaskEnd> + Send,
    {
        let inner = &self.0;
        let TaskOrder { method, ttl, extensions, replies } = order;
        let id = inner.ids.id().map_err(|error| {
            tracing::error!(%error, "a task can't be named");
            ErrorObject::internal("no task can be taken on")
        })?;
        let owner = owner_of(extensions);
        let new = NewTask::new(TaskId::from(id), owner, method, inner.wall())
            .with_ttl(Some(inner.config.ttl_for(ttl)))
            .with_poll_interval(inner.config.poll_interval);
        let record = inner.config.store.create(new).await.map_err(refused)?;
        tracing::info!(
            task = record.number,
            %method,
            owner = ?record.owner,
            "a request runs as a task"
        );
        let outlet = extensions.get::<PeerOutlet>().cloned();
        // A session without a name is a pipe, at whose other end everything arrives.
        let direct = Session::of(extensions).is_none_or(|session| session.id().is_none());
        let live = Live::new(record.id.clone(), outlet, direct, replies.can_ask());
        let live = Arc::new(live);
        inner.lock().insert(record.id.clone(), Arc::clone(&live));
        let replies = Replies::new(Arc::new(TaskSink(Arc::clone(&live))));
        let task = RunningTask { inner: Arc::clone(inner), live: Arc::clone(&live) };
        let work = work(replies, task);
        let answer = record.to_task();
        (inner.spawn)(Box::pin(running::run(Arc::clone(inner), live, record, work)));
        inner.sweep_later();
        Ok(answer)
    }

    /// Answers `tasks/get`, `tasks/result`, `tasks/list` or `tasks/cancel`; `None` for other
    /// methods.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends a `tasks/result` that waits, and nothing else.
    pub async fn answer(
        &self,
        method: Method,
        request: &Request,
        extensions: &Extensions,
        replies: &Replies,
    ) -> Option<Result<Outgoing, ErrorObject>> {
        let owner = owner_of(extensions);
        Some(match method {
            Method::TasksGet => self.get(request, &owner).await,
            Method::TasksResult => self.result(request, &owner, replies).await,
            Method::TasksList => self.list(request, &owner).await,
            Method::TasksCancel => self.cancel(request, &owner).await,
            _ => return None,
        })
    }

    async fn get(&self, request: &Request, owner: &Owner) -> Result<Outgoing, ErrorObject> {
        let params: GetTaskRequestParams = params(request)?;
        let record = self.0.find(owner, &params.task_id).await?;
        write(request, &record.to_task())
    }

    async fn result(
        &self,
        request: &Request,
        owner: &Owner,
        replies: &Replies,
    ) -> Result<Outgoing, ErrorObject> {
        let params: GetTaskPayloadRequestParams = params(request)?;
        let id = params.task_id;
        let mut record = self.0.find(owner, &id).await?;
        let live = self.0.lock().get(&id).cloned();
        let road = live.map(|live| live.add_road(replies.clone()));
        while !record.has_ended() {
            record = self.0.wait(&record).await?;
        }
        drop(road);
        tracing::debug!(task = record.number, owner = ?record.owner, "what a task came to is fetched");
        match record.outcome.as_deref() {
            Some(TaskOutcome::Result(result)) => {
                let related = relate_result(result, &id).map_err(|error| {
                    tracing::error!(%error, "what a task came to is no result");
                    ErrorObject::internal("the result can't be written as JSON")
                })?;
                Ok(Outgoing::result_raw(request.id.clone(), related.as_bytes()))
            }
            Some(TaskOutcome::Error(error)) => Err(error.clone()),
            None if record.status == TaskStatus::Cancelled => Err(cancelled()),
            None => Err(ErrorObject::internal("what the task came to was lost")),
        }
    }

    async fn list(&self, request: &Request, owner: &Owner) -> Result<Outgoing, ErrorObject> {
        let inner = &self.0;
        if !inner.config.list || owner.is_anyone() {
            return Err(ErrorObject::method_not_found(request.method.as_str()));
        }
        let cursor = match &request.params {
            None => None,
            Some(_) => params::<PaginatedRequestParams>(request)?.cursor,
        };
        let after = match &cursor {
            None => None,
            Some(cursor) => Some(from_cursor(cursor).ok_or_else(|| {
                ErrorObject::invalid_params("the cursor was not issued by this side")
            })?),
        };
        let size = inner.config.page_size;
        // One more than is shown: it says whether there are more.
        let found = inner.config.store.list(owner, after, size.saturating_add(1)).await;
        let found = found.map_err(broken)?;
        let more = found.len() > size;
        let now = inner.wall();
        let last = found.get(size.saturating_sub(1)).filter(|_| more).map(|task| task.number);
        let shown = found.iter().take(size).filter(|task| !task.has_expired(now));
        let mut result = ListTasksResult::new(shown.map(TaskRecord::to_task).collect::<Vec<_>>());
        result.next_cursor = last.map(to_cursor);
        write(request, &result)
    }

    async fn cancel(&self, request: &Request, owner: &Owner) -> Result<Outgoing, ErrorObject> {
        let params: CancelTaskRequestParams = params(request)?;
        let inner = &self.0;
        let record = inner.find(owner, &params.task_id).await?;
        let changed =
            inner.config.store.change(&record.id, TaskChange::IsCancelled, inner.wall()).await;
        let record = match changed {
            Ok(record) => record,
            Err(TaskStoreError::Ended { status }) => {
                let message = format!("the task can't be cancelled: it is {status}");
                return Err(ErrorObject::invalid_params(message));
            }
            Err(error) => return Err(broken(error)),
        };
        tracing::info!(task = record.number, owner = ?record.owner, "a task is cancelled");
        let live = inner.lock().get(&record.id).cloned();
        if let Some(live) = live {
            inner.notify(&live, &record);
            live.stop.give();
        }
        write(request, &record.to_task())
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, Arc<Live>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn forget_live(&self, id: &TaskId) {
        let gone = self.lock().remove(id);
        drop(gone);
    }

    /// Now, as the calendar has it. It never goes back.
    fn wall(&self) -> SystemTime {
        let (instant, wall) = self.began;
        wall + self.clock.now().saturating_duration_since(instant)
    }

    /// The same moment by the other clock.
    pub(super) fn instant_of(&self, moment: SystemTime) -> Option<Instant> {
        let (instant, wall) = self.began;
        match moment.duration_since(wall) {
            Ok(later) => instant.checked_add(later),
            Err(_) => Some(instant),
        }
    }

    /// The task, for its owner; for everybody else there is none, and it can't be told whether
    /// there is one for somebody.
    async fn find(&self, owner: &Owner, id: &TaskId) -> Result<TaskRecord, ErrorObject> {
        let record = self.config.store.get(id).await.map_err(broken)?;
        let now = self.wall();
        record.filter(|record| record.owner == *owner && !record.has_expired(now)).ok_or_else(
            || {
                tracing::debug!(?owner, "somebody asks for a task that is not there for them");
                unknown()
            },
        )
    }

    /// Waits until a task has changed.
    async fn wait(&self, record: &TaskRecord) -> Result<TaskRecord, ErrorObject> {
        let expired = async {
            match record.expires().and_then(|at| self.instant_of(at)) {
                Some(at) => self.clock.sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        match race(self.config.store.changed(&record.id, record.version), expired).await {
            First::A(changed) => changed.map_err(broken)?.ok_or_else(unknown),
            First::B(()) => Err(unknown()),
        }
    }

    /// Changes where a task stands, and tells its requestor.
    pub(super) async fn change(
        &self,
        live: &Live,
        change: TaskChange,
    ) -> Result<TaskRecord, TaskStoreError> {
        let record = self.config.store.change(&live.id, change, self.wall()).await?;
        self.notify(live, &record);
        Ok(record)
    }

    fn notify(&self, live: &Live, record: &TaskRecord) {
        if !self.config.notify {
            return;
        }
        let Some(outlet) = &live.outlet else { return };
        let name = Name::from_static(Method::NotificationsTasksStatus.as_str());
        // The parameters are the members of a task.
        let Ok(notification) = Outgoing::notification(name, Some(&record.to_task())) else {
            return;
        };
        if let Err(error) = outlet.try_notify(notification) {
            tracing::debug!(%error, task = record.number, "a requestor does not hear of a task");
        }
    }

    /// Sees to it that what expires is forgotten, by one future for all tasks, which ends when
    /// there are none.
    fn sweep_later(self: &Arc<Self>) {
        if !self.sweeping.swap(true, Ordering::AcqRel) {
            (self.spawn)(Box::pin(sweep(Arc::downgrade(self))));
        }
    }
}

/// How long a task may be there after its time at most, where an earlier one was expected.
const SWEEP: std::time::Duration = std::time::Duration::from_secs(30);

async fn sweep(tasks: Weak<Inner>) {
    loop {
        let Some(inner) = tasks.upgrade() else { return };
        let next = match inner.config.store.sweep(inner.wall()).await {
            Ok(next) => next,
            Err(error) => {
                tracing::warn!(%error, "tasks that have expired can't be forgotten");
                Some(inner.wall() + SWEEP)
            }
        };
        let Some(next) = next else {
            inner.sweeping.store(false, Ordering::Release);
            // One may have come between the look and the flag.
            match inner.config.store.sweep(inner.wall()).await {
                Ok(None) => return,
                _ if inner.sweeping.swap(true, Ordering::AcqRel) => return,
                _ => continue,
            }
        };
        let now = inner.clock.now();
        let next = inner.instant_of(next).unwrap_or(now + SWEEP);
        let sleep = inner.clock.sleep_until(next.min(now + SWEEP));
        drop(inner);
        sleep.await;
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks")
            .field("config", &self.0.config)
            .field("running", &self.running())
            .finish_non_exhaustive()
    }
}

fn params<T: DeserializeOwned>(request: &Request) -> Result<T, ErrorObject> {
    let read = match &request.params {
        Some(params) => params.parse(),
        None => serde_json::from_str("{}"),
    };
    read.map_err(|error| {
        let method = &request.method;
        ErrorObject::invalid_params(format!("the params of {method} are not valid: {error}"))
    })
}

fn write<T: Serialize>(request: &Request, result: &T) -> Result<Outgoing, ErrorObject> {
    Outgoing::result(request.id.clone(), result).map_err(|error| {
        tracing::error!(%error, "a result can't be written as JSON");
        ErrorObject::internal("the result can't be written as JSON")
    })
}

fn unknown() -> ErrorObject {
    ErrorObject::invalid_params("there is no such task, or its time is over")
}

fn cancelled() -> ErrorObject {
    ErrorObject::internal("the task was cancelled")
}

fn refused(error: TaskStoreError) -> ErrorObject {
    tracing::warn!(%error, "no task can be taken on");
    match error {
        TaskStoreError::TooManyOfOwner { .. } | TaskStoreError::Full { .. } => {
            ErrorObject::internal(format!("no task can be taken on: {error}"))
        }
        _ => ErrorObject::internal("no task can be taken on"),
    }
}

fn broken(error: TaskStoreError) -> ErrorObject {
    if let TaskStoreError::Unknown = error {
        return unknown();
    }
    tracing::error!(%error, "the store of tasks has failed");
    ErrorObject::internal("the store of tasks has failed")
}

/// Opaque to the other side.
fn to_cursor(number: u64) -> Cursor {
    Cursor::from(format!("t{number:x}"))
}

fn from_cursor(cursor: &Cursor) -> Option<u64> {
    let number = u64::from_str_radix(cursor.as_str().strip_prefix('t')?, 16).ok()?;
    // One way to write it.
    (to_cursor(number) == *cursor).then_some(number)
}
