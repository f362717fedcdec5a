//! Tools for tests: a clock moved by hand, ids from a seed, and the contract suites of the
//! boundaries in [`v1`](crate::v1).
//!
//! The suites are functions that panic when a contract is broken, so that they run inside of
//! any test.

mod clock;
mod ids;
mod suite;

pub use self::{
    clock::ManualClock,
    ids::SeededIds,
    suite::{clock_suite, id_source_suite, schema_validator_suite},
};
