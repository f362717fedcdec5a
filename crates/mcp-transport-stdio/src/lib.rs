//! The stdio transport of the Model Context Protocol.

// Reading order: how bytes become lines, how lines become a link, and then the two sides.
mod lines;
pub use crate::lines::{Line, Lines, LongLine};

mod pipe;
pub use crate::pipe::{OnNoise, PipeConfig, PipeError, PipeLink};

#[cfg(feature = "server")]
mod server;
#[cfg(feature = "server")]
pub use crate::server::{Stdio, StdioError, StdioLink, stdio};

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
pub use crate::client::{ChildCommand, ChildError, ChildHandle, ChildLink, SpawnError, Stderr};

#[cfg(any(feature = "server", not(unix)))]
mod blocking;
mod long_line;

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
