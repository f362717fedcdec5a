//! Connections to one origin, and requests over them. Knows HTTP, and no MCP.

mod body;
pub(super) use self::body::{Answer, AnswerBody};

mod pool;
pub(super) use self::pool::{Outbound, Pool, Repeat};

#[cfg(all(feature = "http2", feature = "tls"))]
mod multiplex;

mod dial;
pub(super) use self::dial::Dialer;

mod proxy;
pub use self::proxy::ProxyConfig;

#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "tls")]
pub use self::tls::Tls;

mod reference;
pub(super) use self::reference::{host, port, resolve, same_origin};

/// What a connection reads from and writes to.
trait Io: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin {}

impl<T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin> Io for T {}

type BoxIo = Box<dyn Io>;

/// What is spoken over a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Http1,
    #[cfg(all(feature = "http2", feature = "tls"))]
    Http2,
}
