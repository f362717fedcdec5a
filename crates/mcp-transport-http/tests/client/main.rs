//! The client, against servers that do exactly what a test says, and against our own.

#![cfg(test)]
#![cfg(all(feature = "client", feature = "server"))]
#![allow(unreachable_pub, reason = "the modules of a test program have no other users")]

#[path = "../support/mod.rs"]
mod support;

mod host;
mod script;

mod legacy;
mod messages;
mod net;
mod own;
mod resume;
mod sessions;
