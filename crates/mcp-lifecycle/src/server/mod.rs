//! The server's side of a conversation in the stateful era.

mod session;

pub use self::session::{Phase, ServerSession};
