//! What a client sees of a server, message by message, over a link in memory.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "this is a test, also outside of its test functions"
)]

mod asks;
mod prompts;
mod resources;
mod tools;
mod wire;
