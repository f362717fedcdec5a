//! The server's side: an endpoint, and a listener for it.
//!
//! A request passes through the files in this order: `connection` (bytes), `endpoint` (head,
//! guards, method), `intake` (body), `lookup` (session, revision), `post` (the answer's
//! form), `exchange` (the call and its stream), `body` (bytes again). A GET goes from
//! `endpoint` to `replay`.

mod endpoint;
pub use self::endpoint::{Endpoint, EndpointBuilder};

mod listener;
pub use self::listener::{ListenError, Listener, ListenerConfig};
#[cfg(feature = "tls")]
pub use tokio_rustls::rustls;

mod config;
pub use self::config::{AcceptPolicy, Answers, Config, Limits, Sessions, Times};

mod guard;
pub use self::guard::{Blocked, BrowserGuard, InvalidPattern};

mod context;
pub use self::context::HttpExchange;

mod body;
pub use self::body::AnswerBody;

mod event_id;
pub use self::event_id::{EventId, EventIdText, InvalidEventId};

mod legacy;
pub use self::legacy::LegacyConfig;

mod asks;
mod batch;
mod connection;
mod core;
mod cors;
mod exchange;
mod intake;
mod lookup;
mod outlet;
mod permit;
mod post;
mod refuse;
mod replay;
mod rules;
mod session;
mod stall;
mod table;
#[cfg(feature = "tower")]
mod tower;
