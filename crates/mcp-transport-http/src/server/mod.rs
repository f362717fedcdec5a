//! The server's side.

mod guard;
pub use self::guard::{Blocked, BrowserGuard, InvalidPattern};

mod event_id;
pub use self::event_id::{EventId, EventIdText, InvalidEventId};
