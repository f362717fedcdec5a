//! JSON-RPC 2.0 for the Model Context Protocol, without I/O.
//!
//! # Where this crate sits
//!
//! Below all others: it knows frames, envelopes and peers, and no method of MCP. It meets the
//! rest in two boundaries: a [`Link`](link::v1::Link) is a duplex of messages to one peer, and a
//! [`Service`](service::v1::Service) takes one inbound message and answers it.
//!
//! ```text
//! bytes ─▶ decode ─▶ Message ─▶ Service ─▶ Reply ─▶ Outgoing ─▶ bytes
//! ```
//!
//! # Rules
//!
//! - An envelope is read once, in one pass; `params` and `result` stay raw and share the
//!   memory of the frame until somebody asks for them by type.
//! - Ids, parameters and results pass through unchanged. (Half of a surrogate pair, which no text
//!   can hold, is the one exception: it is read as `U+FFFD`, and as no id at all.)
//! - A frame that can't be read costs only itself, and is answered with what is wrong, under its
//!   id where that is certain. A response that can't be read ends the call that waits for it.
//! - Nothing here reads a clock, spawns a task, or grows without a bound.
//!
//! # Features
//!
//! - `tower` (off): services and layers of `tower` as ours, and ours as those of `tower`.
//! - `testing` (off): futures without a runtime, links with faults, scripted peers, and the
//!   contract suites for implementations of `Link` and `Service`.

// Reading order: what a message is, then how it is read and written, then who carries it,
// who answers it, and what brings both together.
mod id;
pub use id::{InvalidId, RequestId};

mod name;
pub use name::Name;

mod raw;
pub use raw::{RawJson, RawMember, RawMembers};

mod message;
pub use message::{Message, Notification, Request, Response};

mod error_object;
pub use error_object::{ErrorObject, code};

mod limits;
pub use limits::Limits;

mod parse;
pub use parse::{Fault, FaultKind, Frame, decode};

mod write;
pub use write::{EncodeError, Head, Outgoing};

mod json;
pub use json::{to_vec, write_json};

mod extensions;
pub use extensions::Extensions;

pub mod link;
pub mod service;

pub mod peer;

mod wait;

#[cfg(any(test, feature = "testing"))]
pub mod testing;

#[cfg(any(test, fuzzing, feature = "testing"))]
#[doc(hidden)]
pub mod fuzzing;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
