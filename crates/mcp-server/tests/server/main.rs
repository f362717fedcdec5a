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
mod cases;
mod changes;
mod layers;
mod prompts;
mod resources;
mod schemas;
mod suites;
mod tools;
mod wire;
