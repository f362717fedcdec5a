//! Tools for tests: a clock moved by hand, ids from a seed, a server that does the least, and the
//! contract suites of the
//! boundaries in [`v1`](crate::v1).
//!
//! The suites are functions that panic when a contract is broken, so that they run inside of
//! any test.

mod bare;
mod clock;
mod ids;
mod suite;
#[cfg(feature = "tasks")]
mod task_suite;

#[cfg(feature = "tasks")]
pub use self::task_suite::{now_or_never, task_store_suite};
pub use self::{
    bare::BareServer,
    clock::ManualClock,
    ids::SeededIds,
    suite::{clock_suite, id_source_suite, schema_validator_suite, service_suite},
};
