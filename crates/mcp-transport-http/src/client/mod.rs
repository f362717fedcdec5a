//! The client of Streamable HTTP, as a [`Link`](mcp_jsonrpc::link::v1::Link).
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use mcp_jsonrpc::Outgoing;
//! use mcp_jsonrpc::link::v1::LinkExt;
//! use mcp_transport_http::client::{Config, HttpConnector};
//!
//! let mut link = HttpConnector::new("http://localhost:8080/mcp", Config::new())?.link();
//! link.send(Outgoing::request_raw(1.into(), "ping".into(), None)).await?;
//! println!("{:?}", link.recv().await?);
//! # Ok(()) }
//! ```

// Reading order: what is made, how it is set, what goes wrong; then the way of a message out,
// and of one in.
mod link;
pub use self::link::{HttpConnector, HttpLink};

mod config;
pub use self::config::{Config, Limits, Reconnect, RenewedCallback, Times, Transport};

mod error;
pub use self::error::{ConfigError, ConnectError, Excerpt, HttpError, Phase};

mod core;
mod inbox;
mod tasks;

mod post;
mod send;
mod session;

mod cursor;
mod legacy;
mod resume;
mod stream;

mod net;
pub use self::net::ProxyConfig;
#[cfg(feature = "tls")]
#[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
pub use self::net::Tls;
/// The version of rustls that [`Tls`] speaks of.
#[cfg(feature = "tls")]
#[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
pub use tokio_rustls::rustls;
