//! The boundaries, implemented in memory.

mod event_log;
pub use self::event_log::{EventLogLimits, MemoryEventLog};

mod session_store;
pub use self::session_store::MemorySessionStore;
