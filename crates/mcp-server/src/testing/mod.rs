//! What tests of servers need.
//!
//! [`Server::connect`](crate::Server::connect) gives a client's end of a link in memory;
//! [`Recorder`] writes a conversation down, and [`replay`] holds a server against one.

#[cfg(feature = "testing")]
mod record;
#[cfg(feature = "testing")]
pub use record::{Direction, Line, ReadError, Recorder, Recording};

#[cfg(feature = "testing")]
mod replay;
#[cfg(feature = "testing")]
pub use replay::{ReplayError, replay};

#[cfg(test)]
mod temp;
#[cfg(test)]
pub(crate) use temp::TempDir;
