//! The boundaries of this crate, version 1.
//!
//! Within `v1` there are only additions; a break is `v2` beside it.

mod event_log;
pub use self::event_log::{EventLog, LogError, LogPage, LoggedEvent, ReadError, StreamKey};

mod step;
pub use self::step::{BoxFuture, Step};
