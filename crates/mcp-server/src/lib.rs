//! Write a Model Context Protocol server.
//!
//! # Where this crate sits
//!
//! Above `mcp-lifecycle`, `mcp-types` and `mcp-jsonrpc`; it names no transport and no runtime.
//! A [`Server`] is a [`Service`](mcp_jsonrpc::service::v1::Service): it is handed messages by
//! whatever carries them.
//!
//! # Examples
//!
//! ```
//! use mcp_server::tool::Args;
//! use mcp_server::{Context, Server, ToolError};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Wait {
//!     /// How long, in seconds.
//!     seconds: u64,
//! }
//!
//! let server = Server::new("clock", "1.0.0").tool(
//!     "wait",
//!     |Args(Wait { seconds }): Args<Wait>, cx: Context| async move {
//!         if seconds > 60 {
//!             return Err(ToolError::new("a minute at most"));
//!         }
//!         cx.progress().report(1.0, Some(2.0)).await;
//!         Ok(format!("waited {seconds} seconds"))
//!     },
//! );
//! ```
//!
//! # Features
//!
//! - `schemars` (default): typed arguments and results, with schemas from Rust types.
//! - `validate` (default): arguments and results are held against their JSON Schemas.
//! - `macros` (default): [`tool`](macro@tool), [`prompt`](macro@prompt),
//!   [`resource`](macro@resource) and [`offer`](macro@offer), which write what is above.
//! - `tokio` (default): timers, and a task for a peer in memory.
//! - `files` (off): the files of a directory as resources.
//! - `tasks` (off): calls that run as tasks, whose results are fetched later.
//! - `tracing-subscriber` (off): events of a request go to its client, by `LogForwarder`.
//! - `testing` (off): a recorder of conversations, and a player for what was recorded.

// Reading order: the server, then what handlers see, then what they are made of, then the
// boundaries.
mod server;
pub use server::{Offer, ServeOptions, Server};

mod context;
pub use context::Context;

mod progress;
pub use progress::Progress;

mod extract;
pub use extract::{FromRequest, RequestParts};

mod ask;
pub use ask::Elicitation;

mod access;
pub use access::{Asker, Grants};

pub mod completion;
pub mod prompt;
pub mod resource;
pub mod roots;
pub mod tool;

#[cfg(feature = "tasks")]
pub mod task;

mod error;
pub use error::{PromptError, RegisterError, RequestError, ToolError};

mod schema;
pub use schema::{ToolSchema, UnusableSchema};

#[cfg(feature = "tracing-subscriber")]
pub use log::LogForwarder;

pub mod layer;

pub mod v1;

#[cfg(any(test, feature = "testing"))]
pub mod testing;

#[cfg(feature = "macros")]
pub use mcp_macros::{offer, prompt, resource, tool};

#[cfg(feature = "macros")]
#[doc(hidden)]
pub mod __private;

mod bucket;
mod catch;
#[cfg(feature = "files")]
mod files;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod list;
mod listeners;
mod log;
mod page;
#[cfg(feature = "schemars")]
mod portable;
mod prompts;
mod resources;
mod service;
mod tools;
#[cfg(feature = "validate")]
mod validate;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
