//! Streamable HTTP for the Model Context Protocol.
//!
//! # Where this crate sits
//!
//! ```text
//! socket ─▶ hyper ─▶ Endpoint ─▶ Message ─▶ ServerSession ─▶ McpService
//!                    here        jsonrpc    lifecycle        server, or yours
//! ```
//!
//! It knows HTTP, sessions and streams, and of MCP only what its transports page says: the
//! rules are the lifecycle layer's, the methods are the service's.
//!
//! # What is in it
//!
//! | for | there is |
//! |---|---|
//! | a server | [`server::Endpoint`], a hyper service; [`server::Listener`], where you have no server of your own |
//! | a client | [`client::HttpConnector`], which makes links; it speaks the older HTTP+SSE, too |
//! | protection | [`server::BrowserGuard`] (`Host` and `Origin`), [`server::Limits`], the boundary [`v1::Guard`] |
//! | streams that survive | [`v1::EventLog`], [`memory::MemoryEventLog`] |
//! | sessions that survive | [`v1::SessionStore`], [`memory::MemorySessionStore`] |
//! | anybody's stack | [`sse`], [`header`], without I/O |
//!
//! # Rules
//!
//! - The answer to a request takes the form that the exchange's first emission asks for: its
//!   response gives one JSON body, anything earlier a stream.
//! - An exchange is driven by the connection's own task: no spawn and no channel. When the
//!   connection is lost it moves to a task of its own; without sessions it is canceled.
//! - An event is in the log before its first byte is sent.
//! - A message goes on exactly one stream: on that of the request it belongs to, else on the
//!   GET stream that was opened last.
//! - An idle session owns no task, timer or channel; one task ends all that are idle for too
//!   long.
//! - What can't be resumed begins with an error of code [`EVENTS_LOST`],
//!   never with silence.
//! - 404 means that there is no such session for this caller; 503 that a limit is reached or
//!   a store is down.
//!
//! # What it leaves out
//!
//! Routing, compression, and who may call what: the first two belong to the server around
//! the endpoint, the last to a [`v1::Guard`] and to layers around the service.
//!
//! # Features
//!
//! - `server` (on): the endpoint, and a listener for it.
//! - `client` (off): the client of both transports.
//! - `http2` (off): HTTP/2, in the listener and in the client.
//! - `tls` (off): TLS in the listener and in the client, with rustls and ring.
//! - `webpki-roots` (off): the client trusts Mozilla's roots, compiled in.
//! - `native-roots` (off): the client trusts the roots of the operating system.
//! - `tower` (off): the endpoint as a `tower` service.
//! - `testing` (off): the contract suites of `EventLog` and `SessionStore`.

// Reading order: the codec and the headers, the server, then the boundaries and what stands
// behind them by default.
pub mod sse;

pub mod header;

mod lost;
pub use crate::lost::EVENTS_LOST;

mod session_id;
pub use crate::session_id::{InvalidSessionId, NamedSession, SessionId};

#[cfg(feature = "server")]
pub mod server;

#[cfg(feature = "client")]
pub mod client;

pub mod v1;

pub mod memory;

#[cfg(any(test, feature = "testing"))]
pub mod testing;

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;

#[cfg(all(doctest, feature = "server", feature = "client"))]
#[doc = include_str!("../README.md")]
struct Readme;
