use std::fmt;
use std::time::Duration;

use mcp_jsonrpc::service::v1::BoxFuture;
use mcp_lifecycle::Timeouts;
use mcp_types::{CreateTaskResult, TaskMetadata};

use super::ToolTask;
use crate::call::{ToolCall, parse};
use crate::{Client, ClientError};

/// A call of a tool that runs as a task: made by [`ToolCall::as_task`], sent by `.await`ing it.
///
/// # Errors
///
/// Nothing is sent, and the call fails, when the server runs no calls as tasks
/// ([`ClientError::Unsupported`]), or a list that was fetched before says that this tool doesn't
/// run as one ([`ClientError::NotAsTask`]).
///
/// # Cancel safety
///
/// Nothing is sent before it is `.await`ed. When the future is dropped before the server has
/// answered, the task may run on for as long as the server keeps it: nobody has learned its
/// name, by which it could be canceled.
#[must_use = "a tool is called when the call is awaited"]
pub struct TaskCall<'p> {
    call: ToolCall<'p>,
    ttl: Option<Duration>,
}

impl<'p> TaskCall<'p> {
    pub(crate) const fn new(call: ToolCall<'p>) -> Self {
        Self { call, ttl: None }
    }

    /// Asks the server to keep the task, and what it comes to, for so long from its making on.
    /// The server may keep it for a shorter time: [`ToolTask::task`] says.
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// The conversation, and the limits of the call.
    pub(super) fn bounds(&self) -> (Client, Timeouts) {
        (self.call.client().clone(), self.call.limits())
    }

    pub(super) async fn start(self) -> Result<ToolTask<'p>, ClientError> {
        let Self { call, ttl } = self;
        let (client, name) = (call.client().clone(), call.name().clone());
        if client.is_never_a_task(&name) {
            return Err(ClientError::NotAsTask { tool: name });
        }
        let promise = call.promise()?;
        let mut wanted = TaskMetadata::new();
        wanted.ttl = ttl.map(|ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
        let timeouts = call.limits();
        let mut calling = call.start(Some(wanted), parse::<CreateTaskResult>);
        let made = (&mut calling).await?;
        let watch = calling.into_watch();
        tracing::info!(tool = %name, task = %made.task.task_id, "a call runs as a task");
        Ok(ToolTask::new(client, Some(name), promise, made, watch).with_timeouts(timeouts))
    }
}

impl<'p> IntoFuture for TaskCall<'p> {
    type Output = Result<ToolTask<'p>, ClientError>;
    type IntoFuture = BoxFuture<'p, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let approve = self.call.approve();
        Box::pin(async move {
            approve.await?;
            self.start().await
        })
    }
}

impl fmt::Debug for TaskCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskCall").field("call", &self.call).field("ttl", &self.ttl).finish()
    }
}

impl Client {
    /// Whether the tools were listed, and this one doesn't run as a task.
    fn is_never_a_task(&self, tool: &mcp_types::ToolName) -> bool {
        if self.knows_as_task(tool).is_some() {
            return false;
        }
        let Some((tools, _)) = self.known::<mcp_types::Tool>() else { return false };
        tools.iter().any(|known| known.name == *tool)
    }
}
