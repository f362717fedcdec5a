//! Tools for tests, and the contract suites of the boundaries.
//!
//! | what | for |
//! |---|---|
//! | [`Tasks`], [`block_on`] | polling futures without a runtime, only when they were woken |
//! | [`Faulty`] | a link that delays, drops, doubles and reorders, from a seed |
//! | [`Script`] | a peer that expects and sends frames, one after the other |
//! | [`link_suite`] | the contract of [`Link`](crate::link::v1::Link) |
//! | [`into_link_suite`] | the contract of [`IntoLink`](crate::link::v1::IntoLink) |
//! | [`service_suite`] | what every [`Service`](crate::service::v1::Service) keeps to |
//!
//! A linked pair in memory is [`memory_pair`](crate::link::memory_pair), for everybody.

mod tasks;
pub use tasks::{Stalled, Tasks, block_on};

mod random;

mod faulty;
pub use faulty::{Faults, Faulty};

mod script;
pub use script::{Script, ScriptError};

mod suite;
pub use suite::NamedTest;

mod link_suite;
pub use link_suite::{link_suite, link_suite_within};

mod into_link_suite;
pub use into_link_suite::into_link_suite;

mod service_suite;
pub use service_suite::service_suite;
