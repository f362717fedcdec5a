//! The server's side.

mod endpoint;
pub use self::endpoint::{Endpoint, EndpointBuilder};

mod listener;
pub use self::listener::{ListenError, Listener, ListenerConfig};

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

// From a request to its answer, in the order in which it passes through.
mod asks;
mod batch;
mod core;
mod cors;
mod exchange;
mod intake;
mod lookup;
mod post;
mod refuse;
mod session;
mod stall;
mod table;

mod rules;

mod legacy;
pub use self::legacy::LegacyConfig;

mod replay;
pub use self::replay::EVENTS_LOST;
