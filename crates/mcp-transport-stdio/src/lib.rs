//! The stdio transport of the Model Context Protocol.
//!
//! # Where this crate sits
//!
//! On top of `mcp-jsonrpc`, and beside nothing: it knows bytes, lines and processes, and no
//! method of MCP. What it offers is a [`Link`](mcp_jsonrpc::link::v1::Link), for whoever speaks
//! the protocol over it.
//!
//! ```text
//! bytes ─▶ line ─▶ message ─▶ gate ─▶ …
//! └─── here ───┘   jsonrpc    lifecycle
//! ```
//!
//! # What is in it
//!
//! | for | there is |
//! |---|---|
//! | a server | [`stdio()`], and [`Stdio`] for its options: this process's stdin and stdout |
//! | a client | [`ChildCommand`]: a server in a child process, as a [`ChildLink`] with a [`ChildHandle`] |
//! | anything else | [`PipeLink`] over any reader and writer, and [`Lines`], which does no I/O |
//!
//! # A server
//!
//! ```no_run
//! # #[cfg(feature = "server")]
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use mcp_jsonrpc::link::v1::{Incoming, LinkExt};
//! use mcp_jsonrpc::{Message, Outgoing};
//!
//! let mut link = mcp_transport_stdio::stdio();
//! while let Ok(incoming) = link.recv().await {
//!     if let Incoming::Message(Message::Request(request), _) = incoming {
//!         link.send(Outgoing::result_raw(request.id, b"{}")).await?;
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Never print to stdout: it belongs to the protocol. On Unix what is printed all the same goes
//! to stderr; see [`Stdio`].
//!
//! # A client
//!
//! ```no_run
//! # #[cfg(feature = "client")]
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use mcp_jsonrpc::Outgoing;
//! use mcp_jsonrpc::link::v1::LinkExt;
//! use mcp_transport_stdio::{ChildCommand, ChildError};
//!
//! let mut link = ChildCommand::new("weather-server").arg("--verbose").spawn()?;
//! link.send(Outgoing::request_raw(1.into(), "ping".into(), None)).await?;
//! match link.recv().await {
//!     Ok(answer) => println!("{answer:?}"),
//!     Err(cause) => {
//!         // How the process ended, and the last that it wrote to stderr.
//!         println!("{:?}", ChildError::of(&cause));
//!     }
//! }
//! // Closes its stdin, waits, and if it doesn't end by itself sees to it that it does.
//! link.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Rules
//!
//! - A bad line costs only itself. Over the limit it is skipped without being held.
//! - Reading never waits for writing.
//! - What is ready together is written together, in one system call.
//! - A process that was started is ended, with everything that it has started, and waited for.
//!
//! # What bounds there are
//!
//! | what | default | when exceeded |
//! |---|---|---|
//! | bytes of a line ([`PipeConfig::limits`]) | 16 MiB | [`FaultKind::TooLong`](mcp_jsonrpc::FaultKind::TooLong), with the id where its ends show it |
//! | bytes of a message that is sent ([`PipeConfig::outgoing_bytes`]) | 16 MiB | [`LinkError::Refused`](mcp_jsonrpc::link::v1::LinkError::Refused) |
//! | bytes waiting to be written ([`PipeConfig::high_water`]) | 256 KiB | there is no room until some have left |
//! | bytes of a line on a child's stderr | 8 KiB | the line is cut |
//! | lines of a child's stderr that are kept (`ChildCommand::stderr_lines`) | 20 | the oldest goes |
//! | time to end after stdin was closed (`ChildCommand::exit_time`) | 2 s | the process group is asked to end |
//! | time to end after that (`ChildCommand::terminate_time`) | 2 s | the process group is killed |
//!
//! # Platforms
//!
//! On Unix the runtime drives pipes and sockets; there are no threads on a message's way. On
//! other platforms there is a thread for each direction, no guard on stdout, no process group,
//! and nothing between closing stdin and killing the process.
//!
//! # Features
//!
//! - `server` (on): [`stdio()`] and [`Stdio`].
//! - `client` (on): [`ChildCommand`] and what belongs to it.
//!
//! Specification: [stdio](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio).

// Reading order: how bytes become lines, how lines become a link, and then the two sides.
mod lines;
pub use crate::lines::{Line, Lines, LongLine};

mod pipe;
pub use crate::pipe::{OnNoise, PipeConfig, PipeError, PipeLink};

#[cfg(feature = "server")]
mod server;
#[cfg(feature = "server")]
pub use crate::server::{Stdio, StdioError, StdioLink, stdio};

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
pub use crate::client::{ChildCommand, ChildError, ChildHandle, ChildLink, SpawnError, Stderr};

#[cfg(any(feature = "server", not(unix), test))]
mod blocking;
mod long_line;

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
