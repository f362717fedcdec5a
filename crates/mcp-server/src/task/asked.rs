use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use mcp_types::{
    CancelTaskRequestParams, CreateMessageRequestParams, CreateMessageResult, CreateTaskResult,
    ElicitRequestFormParams, ElicitRequestParams, ElicitRequestUrlParams, ElicitResult,
    GetTaskPayloadRequestParams, GetTaskRequestParams, RequestedSchema, Task, TaskId, TaskMetadata,
    TaskStatus,
};
use serde_core::Serialize;
use serde_core::de::DeserializeOwned;

use crate::context::Context;
use crate::error::RequestError;

/// A request to the client that runs as a task on its side.
///
/// It belongs to the exchange in which the client was asked: once that is over, nothing more can
/// be asked of the client. Dropping this leaves the task as it is.
pub struct AskedTask<R> {
    context: Context,
    task: Task,
    /// What an accepted form is held against.
    form: Option<RequestedSchema>,
    check: fn(Option<&RequestedSchema>, &R) -> Result<(), RequestError>,
    result: PhantomData<fn() -> R>,
}

/// How long to wait between two looks at a task that says nothing about it.
const POLL: Duration = Duration::from_secs(1);
/// The least time between two looks, whatever the client says.
const LEAST: Duration = Duration::from_millis(10);

impl Context {
    /// Whether the client runs a request to its model as a task.
    #[must_use]
    pub fn can_sample_as_task(&self) -> bool {
        self.can_sample()
            && self.client_tasks().is_some_and(|requests| {
                requests.sampling.as_ref().is_some_and(|s| s.create_message.is_some())
            })
    }

    /// Whether the client runs a question to its user as a task.
    #[must_use]
    pub fn can_elicit_as_task(&self) -> bool {
        self.client_tasks().is_some_and(|requests| {
            requests.elicitation.as_ref().is_some_and(|e| e.create.is_some())
        })
    }

    fn client_tasks(&self) -> Option<&mcp_types::ClientTasksRequests> {
        if !self.revision().has_core_tasks() {
            return None;
        }
        self.caller()?.capabilities.tasks.as_ref()?.requests.as_ref()
    }

    /// As [`sample`](Self::sample), as a task of the client, which is asked to keep it for `ttl`.
    ///
    /// # Errors
    ///
    /// [`RequestError::Unsupported`] when the client runs no such tasks; else as
    /// [`sample`](Self::sample).
    pub async fn sample_as_task(
        &self,
        params: CreateMessageRequestParams,
        ttl: Option<Duration>,
    ) -> Result<AskedTask<CreateMessageResult>, RequestError> {
        if !self.can_sample_as_task() {
            let capability = "tasks.requests.sampling.createMessage";
            return Err(RequestError::Unsupported { capability });
        }
        let mut params = self.sampling(params)?;
        params.task = Some(wanted(ttl));
        self.ask_as_task("sampling/createMessage", &params, None, |_, _| Ok(())).await
    }

    /// As [`elicit`](Self::elicit), as a task of the client, which is asked to keep it for `ttl`.
    ///
    /// # Errors
    ///
    /// [`RequestError::Unsupported`] when the client runs no such tasks; else as
    /// [`elicit`](Self::elicit).
    pub async fn elicit_as_task(
        &self,
        form: ElicitRequestFormParams,
        ttl: Option<Duration>,
    ) -> Result<AskedTask<ElicitResult>, RequestError> {
        if !self.can_elicit() {
            return Err(RequestError::Unsupported { capability: "elicitation" });
        }
        self.tasks_of_elicitation()?;
        let mut form = form;
        let schema = form.requested_schema.clone();
        form.task = Some(wanted(ttl));
        let params = self.checked(ElicitRequestParams::Form(form))?;
        let check = |form: Option<&RequestedSchema>, answer: &ElicitResult| match form {
            Some(form) => crate::ask::fits_form(form, answer),
            None => Ok(()),
        };
        self.ask_as_task("elicitation/create", &params, Some(schema), check).await
    }

    /// As [`elicit_url`](Self::elicit_url), as a task of the client, which is asked to keep it
    /// for `ttl`.
    ///
    /// # Errors
    ///
    /// [`RequestError::Unsupported`] when the client runs no such tasks; else as
    /// [`elicit_url`](Self::elicit_url).
    pub async fn elicit_url_as_task(
        &self,
        params: ElicitRequestUrlParams,
        ttl: Option<Duration>,
    ) -> Result<AskedTask<ElicitResult>, RequestError> {
        if !self.can_elicit_url() {
            return Err(RequestError::Unsupported { capability: "elicitation.url" });
        }
        self.tasks_of_elicitation()?;
        let mut params = params;
        params.task = Some(wanted(ttl));
        let params = self.checked(ElicitRequestParams::Url(params))?;
        self.ask_as_task("elicitation/create", &params, None, |_, _| Ok(())).await
    }

    fn tasks_of_elicitation(&self) -> Result<(), RequestError> {
        if self.can_elicit_as_task() {
            return Ok(());
        }
        Err(RequestError::Unsupported { capability: "tasks.requests.elicitation.create" })
    }

    async fn ask_as_task<P, R>(
        &self,
        method: &'static str,
        params: &P,
        form: Option<RequestedSchema>,
        check: fn(Option<&RequestedSchema>, &R) -> Result<(), RequestError>,
    ) -> Result<AskedTask<R>, RequestError>
    where
        P: Serialize + ?Sized,
    {
        let made: CreateTaskResult = self.ask_for_task(method, params).await?;
        tracing::debug!(method, "the client runs a request as a task");
        let (context, task) = (self.clone(), made.task);
        Ok(AskedTask { context, task, form, check, result: PhantomData })
    }
}

fn wanted(ttl: Option<Duration>) -> TaskMetadata {
    let mut wanted = TaskMetadata::new();
    wanted.ttl = ttl.map(|ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
    wanted
}

impl<R: DeserializeOwned> AskedTask<R> {
    /// Its id on the client's side.
    #[must_use]
    pub const fn id(&self) -> &TaskId {
        &self.task.task_id
    }

    /// The task, as the client has last described it.
    #[must_use]
    pub const fn task(&self) -> &Task {
        &self.task
    }

    /// Looks where the task is now.
    ///
    /// # Errors
    ///
    /// When the client doesn't say, for example because it has forgotten the task.
    pub async fn look(&mut self) -> Result<&Task, RequestError> {
        let params = GetTaskRequestParams::new(self.task.task_id.clone());
        self.task = self.context.ask("tasks/get", &params).await?;
        Ok(&self.task)
    }

    /// Waits for the result: looks from time to time, no more often than the client wishes, and
    /// fetches the result once there is one or the client needs something for it.
    ///
    /// # Errors
    ///
    /// The error that the request would have been answered by, or none of it can be had.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the task as it is. To give the task up, [`cancel`](Self::cancel)
    /// it.
    pub async fn result(&mut self) -> Result<R, RequestError> {
        while self.task.status == TaskStatus::Working {
            let interval = self.task.poll_interval.map_or(POLL, Duration::from_millis);
            tokio::time::sleep(interval.max(LEAST)).await;
            self.look().await?;
        }
        let params = GetTaskPayloadRequestParams::new(self.task.task_id.clone());
        let result = self.context.ask("tasks/result", &params).await?;
        (self.check)(self.form.as_ref(), &result)?;
        Ok(result)
    }

    /// Cancels the task.
    ///
    /// # Errors
    ///
    /// When it has ended already, or the client can't cancel tasks.
    pub async fn cancel(&mut self) -> Result<&Task, RequestError> {
        let can = self.context.caller().and_then(|caller| caller.capabilities.tasks.as_ref());
        if can.is_none_or(|tasks| tasks.cancel.is_none()) {
            return Err(RequestError::Unsupported { capability: "tasks.cancel" });
        }
        let params = CancelTaskRequestParams::new(self.task.task_id.clone());
        self.task = self.context.ask("tasks/cancel", &params).await?;
        Ok(&self.task)
    }
}

impl<R> fmt::Debug for AskedTask<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AskedTask").field("status", &self.task.status).finish_non_exhaustive()
    }
}
