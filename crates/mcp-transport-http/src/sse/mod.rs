//! Server-sent events: a codec without I/O.
//!
//! The [`Decoder`] takes bytes as they come and gives events back, the encoder
//! ([`EventText`], [`comment`]) writes an event into a buffer in one go. Neither knows
//! JSON or MCP.
//!
//! Standard: [event streams](https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).

mod decode;
pub use self::decode::{Decoder, Event, EventTooLarge};

mod encode;
pub use self::encode::{EventText, NotOneLine, comment};
