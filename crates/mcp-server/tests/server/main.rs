//! What a client sees of a server, message by message, over a link in memory.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "this is a test, also outside of its test functions"
)]

mod access;
mod asks;
mod capture;
mod cases;
mod changes;
#[cfg(feature = "files")]
mod files;
#[cfg(feature = "tracing-subscriber")]
mod forward;
mod layers;
mod logging;
#[cfg(all(feature = "macros", feature = "validate"))]
mod macros;
mod observed;
mod prompts;
#[cfg(feature = "testing")]
mod recording;
mod resources;
mod schemas;
mod suites;
#[cfg(all(feature = "tasks", feature = "validate"))]
mod tasks;
mod tools;
mod wire;
