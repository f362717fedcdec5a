//! The boundaries, implemented in memory.

mod event_log;
pub use self::event_log::{EventLogLimits, MemoryEventLog};
