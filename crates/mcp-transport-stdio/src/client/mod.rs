//! Servers as child processes.

mod command;
pub use self::command::ChildCommand;

mod stderr;
pub use self::stderr::Stderr;

mod link;
pub use self::link::{ChildHandle, ChildLink};

mod error;
pub use self::error::{ChildError, SpawnError};

mod env;
mod lookup;
mod supervisor;

#[cfg(not(unix))]
#[path = "portable.rs"]
mod process;
#[cfg(unix)]
#[path = "unix.rs"]
mod process;

/// What other platforms get, so that it is tested here.
#[cfg(all(test, unix))]
mod portable;
