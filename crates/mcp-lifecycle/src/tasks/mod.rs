//! Requests that run as tasks: the side that runs them, which servers and clients share.
//!
//! [`Tasks`] takes a request on, runs it apart from its exchange, and answers `tasks/get`,
//! `tasks/result`, `tasks/list` and `tasks/cancel`. Where tasks stand is kept by a
//! [`TaskStore`](crate::v1::TaskStore).
//!
//! This is the one part of this crate that waits and holds a lock. It still does no I/O and
//! names no runtime: time, ids and a way to spawn are passed in.
//!
//! Specification: [tasks](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks).
#![expect(
    clippy::disallowed_types,
    reason = "what runs apart from its exchange is shared with those who ask about it"
)]

mod config;
pub use config::TaskConfig;

mod owner;
pub(crate) use owner::owner_of;

mod receiver;
pub use receiver::{Spawn, TaskOrder, Tasks};

mod running;
pub use running::{RunningTask, TaskEnd};

mod memory;
pub use memory::MemoryTaskStore;

mod related;
pub use related::{relate, relate_result};

mod live;
mod race;
mod sink;
