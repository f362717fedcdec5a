//! Whether a message is allowed: by direction, revision and capability. Pure functions over the
//! method table.
//!
//! Phases are not in here: they belong to [`ServerSession`](crate::ServerSession) and
//! [`ClientSession`](crate::ClientSession), which ask the gate once a phase allows it.

mod capability;
mod inbound;
mod outbound;

pub use self::{
    capability::{Declared, ElicitationModes},
    inbound::{Refusal, admit_notification, admit_request},
    outbound::{GateError, Outbound},
};
