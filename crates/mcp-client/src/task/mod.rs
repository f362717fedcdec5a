//! Tasks, in both directions: calls that run on the server's side and are fetched later, and what
//! the server asks of the model and the person, run on this side.

mod call;
pub use call::TaskCall;

mod tool_task;
pub use tool_task::ToolTask;

mod run;
pub(crate) use run::run;

mod watch;
pub(crate) use watch::Watch;

#[cfg(feature = "tasks")]
mod receiver;
#[cfg(feature = "tasks")]
pub(crate) use receiver::{answer, capability, requestor, tasks};

mod farewell;
pub(crate) use farewell::Farewells;
