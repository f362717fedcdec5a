//! The rules of the Model Context Protocol, without I/O.
//!
//! # Where this crate sits
//!
//! Between the envelope (`mcp-jsonrpc`) and the words (`mcp-types`) on one side, and transports,
//! servers and clients on the other. It decides whether a message is allowed now, and what two
//! peers have agreed on:
//!
//! ```text
//! bytes ─▶ frame ─▶ message ─▶ gate ─▶ typed params ─▶ handler
//! transport         jsonrpc    here    types            server, client
//! ```
//!
//! # What is in it
//!
//! | for | there is |
//! |---|---|
//! | both eras | [`Profile`], [`PeerFacts`] around a [`Caller`], [`TraceContext`], the gate ([`admit_request`], [`admit_notification`], [`Outbound`]), [`admit()`], [`to_error`] and [`from_error`] |
//! | the stateful one | [`ServerSession`] and [`ClientSession`], which implement [`Protocol`](mcp_jsonrpc::peer::Protocol), [`Session`], [`ClientHandle`], [`negotiate()`](negotiate::negotiate) |
//! | requests of our own | [`Timeouts`] and [`Deadline`], [`ProgressTable`], [`Ids`], [`KeepAlive`], [`TaskAugmented`] |
//! | requests of others | [`ProgressReporter`] |
//! | those around | the boundaries in [`v1`]: `McpService`, `Clock`, `IdSource`, `SchemaValidator` |
//!
//! # What a service finds in the extensions of what came in
//!
//! | type | what | there |
//! |---|---|---|
//! | [`PeerFacts`] | revision, the client's name and capabilities, log level, trace | at a server, from `initialize` on |
//! | [`Requestor`] | who asks, where a guard has said so | at a server, behind a guard |
//! | [`Session`] | what is remembered between exchanges | at a server, in a session, from `initialize` on |
//! | [`Negotiated`] | revision, the server's name and capabilities | at a client, after the handshake |
//! | [`PeerOutlet`](mcp_jsonrpc::service::v1::PeerOutlet) | a way to the peer outside of exchanges | where the medium has one |
//!
//! # Rules
//!
//! - Nothing here does I/O, reads a clock, spawns a task, waits, or holds a lock. Time and ids
//!   are passed in. The one exception is the module `tasks`, behind the feature of that name:
//!   what runs apart from its exchange has to be shared, and waited for.
//! - Whatever a peer controls has a bound, and a documented answer when it is reached.
//! - Nothing that serves both eras assumes that there is a session.
//! - A plain call allocates nothing here: what repeats is in one shared set.
//!
//! # Features
//!
//! - `tasks` (off): requests that run as tasks, and the boundary `TaskStore`.
//! - `testing` (off): a clock moved by hand, ids from a seed, and the contract suites of the
//!   boundaries.

// Reading order: what is offered and agreed on, what may be said, the two sides, then what they
// share, then the boundaries.
pub mod negotiate;
pub use negotiate::RevisionSet;

mod profile;
pub use profile::{ClientProfile, Profile, UnknownMethods};

mod facts;
pub use facts::{Caller, PeerFacts, Requestor};

mod trace;
pub use trace::TraceContext;

mod session;
pub use session::{Session, TooManyAttachments};

mod gate;
pub use gate::{
    Declared, ElicitationModes, GateError, Outbound, Refusal, admit_notification, admit_request,
};

mod admit;
pub use admit::{Admission, OnLost, admit};

mod server;
pub use server::{Phase, ServerSession};

mod client;
pub use client::{ClientHandle, ClientPhase, ClientSession, HandshakeError, Negotiated};

mod cancel;
pub use cancel::TaskAugmented;

mod outgoing;
pub use outgoing::{Deadline, Ids, ProgressReset, TimedOut, Timeouts};

mod progress;
pub use progress::{ProgressReporter, ProgressTable, ProgressVerdict, Report, TooManyTokens};

mod keep_alive;
pub use keep_alive::{KeepAlive, KeepAliveAction, KeepAliveConfig};

#[cfg(feature = "tasks")]
pub mod tasks;

mod error;
pub use error::{Culprit, from_error, to_error};

pub mod v1;

mod unchecked;
pub use unchecked::Unchecked;

#[cfg(any(test, feature = "testing"))]
pub mod testing;

mod augmented;
mod peek;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
