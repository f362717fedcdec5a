//! One JSON-RPC peer: a link, a service, and the rules of a protocol, driven together.
//!
//! [`Driver`] is a loop without a runtime: it spawns nothing and keeps no time. Whoever has
//! a runtime polls [`Driver::run`]. What the protocol on top allows is decided by its
//! [`Protocol`], which does no I/O; what is asked of this side goes to a
//! [`Service`](crate::service::v1::Service); what this side asks goes through [`Peer`].
//!
//! ```text
//!              ┌──────────────────── Driver ─────────────────────┐
//!   Link ──────▶ Protocol: may it? ──▶ exchanges ──▶ Service     │
//!        ◀──────  queue ◀── responses, notifications, requests ◀─┼── Peer
//!              └──────────────── pending requests ───────────────┘
//! ```

mod protocol;
pub use protocol::{Arrival, Event, NotificationVerdict, Protocol, RequestVerdict};

mod config;
pub use config::DriverConfig;

mod driver;
pub use driver::Driver;

mod inbound;

mod handle;
pub use handle::Peer;

mod call;
pub use call::PendingCall;

// What driver and handles share, and what only the driver has.
mod shared;
mod state;

mod batch;
mod exchange;
mod sink;
