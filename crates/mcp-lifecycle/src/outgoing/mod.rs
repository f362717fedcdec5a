//! What belongs to requests of our own: how long they may take, and their ids.

mod deadline;
mod ids;

pub use self::{
    deadline::{Deadline, ProgressReset, TimedOut, Timeouts},
    ids::Ids,
};
