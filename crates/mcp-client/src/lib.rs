//! Use Model Context Protocol servers.
//!
//! # Where this crate sits
//!
//! Above `mcp-lifecycle`, `mcp-types` and `mcp-jsonrpc`; it names no transport and no runtime.
//! A [`Client`] talks over any [`Link`](mcp_jsonrpc::link::v1::Link): a child process, a
//! connection, two queues in memory.
//!
//! ```text
//!  your code ─▶ Client ─▶ gate ─▶ Link ─▶ server
//!  your handlers ◀─ approval ◀─ gate ◀─ Link ◀─ server
//! ```
//!
//! # Examples
//!
//! ```
//! # async fn example(link: impl mcp_jsonrpc::link::v1::Link) -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use mcp_client::Client;
//!
//! let client = Client::builder("my-app", "1.0").connect(link).await?;
//! println!("connected to {}", client.server().name);
//! let report = client
//!     .call_tool("forecast")
//!     .arg("city", "Bern")
//!     .timeout(Duration::from_secs(20))
//!     .on_progress(|step| println!("{}", step.progress))
//!     .text()
//!     .await?;
//! println!("{report}");
//! # Ok(()) }
//! ```
//!
//! # Rules
//!
//! - A request is sent when it is `.await`ed. Dropping its future gives it up, and tells the
//!   server so.
//! - Every request has a limit: 60 seconds of silence, which progress ends, and 10 minutes in
//!   all. Both can be set for each.
//! - What a server doesn't offer is refused here, and nothing is sent.
//! - What a server says is not trusted: lists are followed to a bound, schemas are hostile
//!   input, results are held against what was promised.
//! - Handlers run beside each other and beside the calls, in the task that drives the
//!   conversation. One that computes for long belongs into a task of its own.
//!
//! # Features
//!
//! - `validate` (default): structured results are held against the tool's output schema.
//! - `tokio` (default): [`Builder::connect`], and [`TokioClock`].
//! - `tasks`: what servers ask of the model and the person runs as tasks, if they wish so. Calls
//!   of tools as tasks need no feature.

// Reading order: the client, then its calls and lists, then what it does for servers, then the
// boundaries.
mod client;
pub use client::Client;

mod builder;
pub use builder::Builder;

mod connect;
pub use connect::{Connecting, Driving};

mod call;
pub use call::{Call, Calling, CompleteCall, PromptCall, ToolCall, ToolCalling, ToolValue};

mod set;
pub use set::{
    ChangeKind, ClientSet, InSet, InvalidServerName, NoServer, ServerName, SetChange, SetError,
    SetItem, SetListing,
};

mod task;
#[cfg(feature = "tasks")]
pub use mcp_lifecycle::tasks::{MemoryTaskStore, RunningTask, TaskConfig};
pub use task::{TaskCall, ToolTask};

mod progress;
pub use progress::Progress;

mod list;
pub use list::{ListCall, ListLimits, ListWarning, Listed, Listing, PageCall};

mod error;
pub use error::{ClientError, ConnectError, OutputError};

mod context;
pub use context::Context;

mod handler;
pub use handler::HandlerError;

mod roots;
pub use roots::{RootList, RootsChanges};

pub mod config;
pub mod form;
pub mod host;
pub mod v1;

#[cfg(feature = "tokio")]
mod clock;
#[cfg(feature = "tokio")]
pub use clock::TokioClock;

#[cfg(feature = "validate")]
mod validate;
#[cfg(feature = "validate")]
pub use validate::JsonSchemaValidator;

mod catch;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod notice;
mod sampling;
mod service;
mod timer;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
