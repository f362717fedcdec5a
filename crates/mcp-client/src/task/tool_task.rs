use std::fmt;
use std::time::{Duration, Instant};

use mcp_lifecycle::{TimedOut, Timeouts};
use mcp_types::{
    CallToolResult, CancelTaskRequestParams, CreateTaskResult, GetTaskPayloadRequestParams,
    GetTaskRequestParams, Meta, Method, Task, TaskId, TaskStatus, ToolName,
};

use super::Watch;
use crate::call::{Call, parse};
use crate::list::Promise;
use crate::{Client, ClientError};

/// A call of a tool that runs as a task on the server's side.
///
/// ```
/// # use std::time::Duration;
/// # async fn example(client: mcp_client::Client) -> Result<(), mcp_client::ClientError> {
/// let mut task = client
///     .call_tool("report")
///     .arg("year", 2025)
///     .on_progress(|step| println!("{:?}", step.message))
///     .as_task()
///     .ttl(Duration::from_secs(600))
///     .await?;
/// println!("{} is {}", task.id(), task.task().status);
/// let result = task.result().await?;
/// # Ok(()) }
/// ```
///
/// Dropping it leaves the task as it is: [`Client::tool_task`] takes it up again by its id, also
/// over another connection if the server knows the client again. To end it, [`cancel`] it.
///
/// Specification: [tasks](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks).
///
/// [`cancel`]: Self::cancel
pub struct ToolTask<'p> {
    client: Client,
    tool: Option<ToolName>,
    promise: Option<Promise>,
    task: Task,
    immediate: Option<String>,
    watch: Watch<'p>,
    timeouts: Timeouts,
}

/// How long to wait between two looks when the server doesn't say.
const POLL: Duration = Duration::from_secs(1);
/// Between two looks at least, whatever the server says.
const POLL_LEAST: Duration = Duration::from_millis(10);
/// Between two looks at most, whatever the server says.
const POLL_MOST: Duration = Duration::from_secs(60 * 60);

impl<'p> ToolTask<'p> {
    pub(super) fn new(
        client: Client,
        tool: Option<ToolName>,
        promise: Option<Promise>,
        made: CreateTaskResult,
        watch: Watch<'p>,
    ) -> Self {
        let CreateTaskResult { task, meta, .. } = made;
        let immediate = meta.and_then(|meta| meta.get(Meta::MODEL_IMMEDIATE_RESPONSE)?.ok());
        let timeouts = client.timeouts();
        Self { client, tool, promise, task, immediate, watch, timeouts }
    }

    pub(super) fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        // What is asked about a task makes no progress of its own.
        self.timeouts.reset = self.client.timeouts().reset;
        self
    }

    pub(super) const fn client(&self) -> &Client {
        &self.client
    }

    /// The task's id.
    #[must_use]
    pub const fn id(&self) -> &TaskId {
        &self.task.task_id
    }

    /// The task, as the server has last described it.
    #[must_use]
    pub const fn task(&self) -> &Task {
        &self.task
    }

    /// What the server proposes to tell the model while the task runs.
    #[must_use]
    pub fn immediate_response(&self) -> Option<&str> {
        self.immediate.as_deref()
    }

    /// Looks where the task is now.
    ///
    /// # Errors
    ///
    /// When the server doesn't say: [`ClientError::Refused`] once it has forgotten the task.
    pub async fn look(&mut self) -> Result<&Task, ClientError> {
        let call = self.client.get_task(self.task.task_id.clone()).timeouts(self.timeouts);
        let task = self.watch.beside(call.into_future()).await?;
        self.saw(task);
        Ok(&self.task)
    }

    /// Waits for the result: looks from time to time, no more often than the server wishes, and
    /// fetches the result once there is one. While the server needs something from this client
    /// it is asked for the result, too: over HTTP its questions come that way.
    ///
    /// It waits for as long as the server keeps the task. Each request has the limits of the
    /// call that made it.
    ///
    /// # Errors
    ///
    /// What the call would have come to; [`ClientError::Refused`] also when the task was
    /// canceled or is forgotten.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the task as it is; it can be asked for again.
    pub async fn result(&mut self) -> Result<CallToolResult, ClientError> {
        self.result_until(None).await
    }

    /// As [`result`](Self::result), until a moment that is so far from the call's beginning.
    pub(super) async fn result_until(
        &mut self,
        limit: Option<(Instant, Duration)>,
    ) -> Result<CallToolResult, ClientError> {
        loop {
            match self.task.status {
                TaskStatus::Working => self.pause(limit).await?,
                TaskStatus::InputRequired => match self.fetch(limit).await {
                    // It ends the waiting, and not the task.
                    Err(ClientError::TimedOut { .. }) => in_time(&self.client, limit)?,
                    ended => return ended,
                },
                _ => return self.fetch(limit).await,
            }
            self.look().await?;
        }
    }

    /// Waits until it is time for another look.
    async fn pause(&mut self, limit: Option<(Instant, Duration)>) -> Result<(), ClientError> {
        let interval = self.task.poll_interval.map_or(POLL, Duration::from_millis);
        let now = self.client.clock().now();
        let next = now + interval.clamp(POLL_LEAST, POLL_MOST);
        let until = limit.map_or(next, |(limit, _)| limit.min(next));
        let sleep = self.client.clock().sleep_until(until);
        self.watch.beside(sleep).await;
        in_time(&self.client, limit)
    }

    async fn fetch(
        &mut self,
        limit: Option<(Instant, Duration)>,
    ) -> Result<CallToolResult, ClientError> {
        let params = GetTaskPayloadRequestParams::new(self.task.task_id.clone());
        let mut timeouts = self.timeouts;
        if let Some((limit, _)) = limit {
            let left = limit.saturating_duration_since(self.client.clock().now());
            timeouts.idle = Some(timeouts.idle.map_or(left, |idle| idle.min(left)));
            timeouts.max = Some(timeouts.max.map_or(left, |max| max.min(left)));
        }
        let call: Call<'_, CallToolResult> =
            Call::new(&self.client, Method::TasksResult, &params, parse);
        let result = self.watch.beside(call.timeouts(timeouts).into_future()).await?;
        tracing::info!(task = %self.task.task_id, "what a task came to is here");
        let broken = match &self.promise {
            Some(promise) if !result.failed() => promise.check(&result).err(),
            _ => None,
        };
        match (broken, &self.tool) {
            (Some(source), Some(tool)) => {
                let (tool, result) = (tool.clone(), Box::new(result));
                Err(ClientError::Output { tool, result, source })
            }
            _ => Ok(result),
        }
    }

    /// Cancels the task.
    ///
    /// # Errors
    ///
    /// When it has ended already ([`ClientError::Refused`]), or the server can't cancel tasks
    /// ([`ClientError::Unsupported`]).
    pub async fn cancel(&mut self) -> Result<&Task, ClientError> {
        let call = self.client.cancel_task(self.task.task_id.clone()).timeouts(self.timeouts);
        let task = self.watch.beside(call.into_future()).await?;
        self.saw(task);
        Ok(&self.task)
    }

    fn saw(&mut self, task: Task) {
        if task.status != self.task.status {
            tracing::info!(task = %task.task_id, status = %task.status, "a task stands elsewhere");
        }
        let id = self.task.task_id.clone();
        self.task = task;
        // The one that was asked for, whatever the server calls it.
        self.task.task_id = id;
    }
}

/// An error once the limit has passed.
fn in_time(client: &Client, limit: Option<(Instant, Duration)>) -> Result<(), ClientError> {
    match limit {
        Some((at, limit)) if at <= client.clock().now() => Err(ClientError::TimedOut {
            method: Method::ToolsCall.as_str().into(),
            source: TimedOut::Max { limit },
        }),
        _ => Ok(()),
    }
}

impl fmt::Debug for ToolTask<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolTask").field("task", &self.task).finish_non_exhaustive()
    }
}

/// Tasks on the server's side.
///
/// Specification: [tasks](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks).
impl Client {
    /// Takes up the task of a tool call that was made before.
    ///
    /// # Errors
    ///
    /// When the server doesn't know it (any more).
    pub async fn tool_task(&self, id: impl Into<TaskId>) -> Result<ToolTask<'static>, ClientError> {
        let made = CreateTaskResult::new(self.get_task(id).await?);
        let watch = Watch::new(self.clone(), None, None);
        Ok(ToolTask::new(self.clone(), None, None, made, watch))
    }

    /// Asks where a task stands.
    pub fn get_task(&self, id: impl Into<TaskId>) -> Call<'static, Task> {
        Call::new(self, Method::TasksGet, &GetTaskRequestParams::new(id), parse)
    }

    /// Waits for what a task comes to, as the server says it. A task that needs much time is
    /// better looked at from time to time: [`ToolTask::result`] does.
    pub fn task_result(&self, id: impl Into<TaskId>) -> Call<'static, mcp_jsonrpc::RawJson> {
        let params = GetTaskPayloadRequestParams::new(id);
        Call::new(self, Method::TasksResult, &params, crate::call::raw)
    }

    /// Cancels a task.
    pub fn cancel_task(&self, id: impl Into<TaskId>) -> Call<'static, Task> {
        Call::new(self, Method::TasksCancel, &CancelTaskRequestParams::new(id), parse)
    }
}
