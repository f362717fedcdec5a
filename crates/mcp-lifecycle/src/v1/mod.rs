//! Version 1 of the boundaries that this crate owns. Traits and data; no work is done here.

mod clock;
mod ids;
mod schema;
mod service;
#[cfg(feature = "tasks")]
mod task_store;

#[cfg(feature = "tasks")]
pub use self::task_store::{
    NewTask, Owner, TaskChange, TaskOutcome, TaskRecord, TaskStore, TaskStoreError,
};
pub use self::{
    clock::Clock,
    ids::{IdSource, NoRandomness},
    schema::{SchemaError, SchemaValidator, Validator, Violation},
    service::McpService,
};
