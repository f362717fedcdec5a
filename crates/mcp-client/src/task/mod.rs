//! Calls that run as tasks on the server's side, and are fetched later.

mod call;
pub use call::TaskCall;

mod tool_task;
pub use tool_task::ToolTask;

mod run;
pub(crate) use run::run;

mod watch;
pub(crate) use watch::Watch;

mod farewell;
pub(crate) use farewell::Farewells;
