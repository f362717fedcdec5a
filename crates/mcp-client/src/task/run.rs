use mcp_types::{CallToolResult, CancelTaskRequestParams, Method};

use super::{TaskCall, ToolTask};
use crate::ClientError;
use crate::call::{Call, done};

/// Makes a call of a tool that runs as a task only look like any other: to give it up, by drop or
/// because its time is over, cancels the task.
pub(crate) async fn run(call: TaskCall<'_>) -> Result<CallToolResult, ClientError> {
    let (client, timeouts) = call.bounds();
    let limit = timeouts.max.and_then(|max| Some((client.clock().now().checked_add(max)?, max)));
    let mut running = CancelOnDrop { task: call.start().await?, over: false };
    let result = running.task.result_until(limit).await;
    running.over = !matches!(result, Err(ClientError::TimedOut { .. }));
    result
}

struct CancelOnDrop<'p> {
    task: ToolTask<'p>,
    over: bool,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let params = CancelTaskRequestParams::new(self.task.id().clone());
        // A server that can't cancel tasks is not asked to.
        let call = Call::new(self.task.client(), Method::TasksCancel, &params, done);
        call.say_farewell();
    }
}
