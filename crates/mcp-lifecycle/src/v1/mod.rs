//! Version 1 of the boundaries that this crate owns. Traits and data; no work is done here.

mod clock;
mod ids;
mod schema;
mod service;

pub use self::{
    clock::Clock,
    ids::{IdSource, NoRandomness},
    schema::{SchemaError, SchemaValidator, Validator, Violation},
    service::McpService,
};
