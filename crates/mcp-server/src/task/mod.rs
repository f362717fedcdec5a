//! Tasks: calls that run apart from their exchange, and whose results are fetched later.
//!
//! A server that was given a [`TaskConfig`] by [`Server::tasks`](crate::Server::tasks) runs calls
//! of tools as tasks when its client asks for it and the tool allows it
//! ([`ToolEntry::task_support`](crate::tool::ToolEntry::task_support)). Handlers are written as
//! ever. What they report, log and ask the client goes on to reach it, and
//! [`Context::task`](crate::Context::task) says where the task is.
//!
//! Who may ask for a task: the requestor that a guard has named
//! ([`Requestor`](mcp_lifecycle::Requestor)), in whatever session; without one only the session
//! in which it was made. Without either, as in a stateless server without a guard, whoever knows
//! its id, which can't be guessed, and nobody can list tasks.
//!
//! Layers see the request that makes a task and those that ask for it, and not its run: what
//! bounds a run is its time to live, and the limits of the [`TaskStore`](crate::v1::TaskStore).
//! A run whose client has left a pipe for good is canceled; elsewhere it goes on.
//!
//! ```
//! use mcp_server::Server;
//! use mcp_server::task::TaskConfig;
//! use mcp_server::tool::{ToolEntry, TaskSupport};
//!
//! let server = Server::new("reports", "1.0.0").tasks(TaskConfig::new()).with_tool(
//!     ToolEntry::new("report", |cx: mcp_server::Context| async move {
//!         if let Some(task) = cx.task() {
//!             task.say("half of it is done").await;
//!         }
//!         "a long report"
//!     })
//!     .task_support(TaskSupport::Optional),
//! );
//! ```
//!
//! Specification: [tasks](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks).

mod asked;
pub use asked::AskedTask;

mod call;
pub(crate) use call::TaskCall;

mod config;
pub(crate) use config::capability;

mod runtime;

pub use mcp_lifecycle::tasks::{MemoryTaskStore, RunningTask, TaskConfig};
