//! What the attributes make, as a client sees it.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "this is a test, also outside of its test functions"
)]

mod offers;
mod prompts;
mod resources;
mod tools;

use mcp_client::{Client, ClientError};
use mcp_server::Server;
use serde_json::Value;

/// A client of a server, in memory.
pub(crate) async fn connect(server: &Server) -> Client {
    Client::builder("test", "1").connect(server.connect()).await.unwrap()
}

/// A value as JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

/// The code of the error that a request was answered with.
pub(crate) fn code(error: &ClientError) -> i64 {
    match error {
        ClientError::Refused { source, .. } => source.code,
        other => panic!("{other:?}"),
    }
}
