use mcp_jsonrpc::Extensions;
use mcp_lifecycle::tasks::TaskConfig;
use mcp_types::{JsonObject, ServerCapabilities, ServerTasksCapability};
use mcp_types::{ServerTasksRequests, ServerTasksTools};

use crate::server::{Inner, Server};

impl Server {
    /// Runs calls of tools as tasks, where the client asks for it and the tool allows it.
    ///
    /// Specification: [tasks](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks).
    ///
    /// # Panics
    ///
    /// Calls do, outside of a Tokio runtime with timers.
    #[must_use]
    pub fn tasks(mut self, config: TaskConfig) -> Self {
        self.edit().tasks = Some(super::runtime::tasks(config));
        self
    }

    /// How many tasks of this server run in this process.
    #[must_use]
    pub fn running_tasks(&self) -> usize {
        self.inner.tasks.as_ref().map_or(0, mcp_lifecycle::tasks::Tasks::running)
    }
}

/// What a server with tasks announces.
pub(crate) fn capability(config: &TaskConfig, tools: bool) -> ServerTasksCapability {
    let mut capability = ServerTasksCapability::new();
    capability.cancel = Some(JsonObject::new());
    capability.list = config.list.then(JsonObject::new);
    if tools {
        let tools = ServerTasksTools::new().with_call(JsonObject::new());
        capability.requests = Some(ServerTasksRequests::new().with_tools(tools));
    }
    capability
}

impl Inner {
    /// A client that can't be told from others is not offered a list.
    pub(crate) fn fit_tasks(&self, capabilities: &mut ServerCapabilities, facts: &Extensions) {
        if let (Some(tasks), Some(announced)) = (&self.tasks, &mut capabilities.tasks)
            && !tasks.can_list(facts)
        {
            announced.list = None;
        }
    }
}
