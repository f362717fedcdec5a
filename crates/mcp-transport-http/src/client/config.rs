use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::{self, HeaderMap, HeaderName};
use mcp_jsonrpc::RawJson;

use super::ConfigError;
use super::net::ProxyConfig;
#[cfg(feature = "tls")]
use super::net::Tls;
use crate::header::{LAST_EVENT_ID, MCP_PROTOCOL_VERSION, MCP_SESSION_ID};
use crate::v1::Authorizer;

/// How a client speaks to its server. The defaults are what a host wants, and not part of
/// semver.
///
/// # Examples
///
/// ```
/// use hyper::header::HeaderValue;
/// use mcp_transport_http::client::Config;
///
/// let mut config = Config::new();
/// config.headers.insert("x-api-key", HeaderValue::from_static("secret"));
/// config.times.connect = std::time::Duration::from_secs(3);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Config {
    /// Which transport the server speaks; found out by default.
    pub transport: Transport,
    /// Whether a stream is opened for what the server sends of its own accord, once the
    /// handshake is over; `true` by default. A server that offers none is not asked again.
    pub listen: bool,
    /// Sent with every request to the server, and to no other origin. Those that the transport
    /// sets by itself are refused.
    pub headers: HeaderMap,
    /// Supplies and renews credentials; none by default.
    pub authorizer: Option<Arc<dyn Authorizer>>,
    /// The proxies to go through; none by default. [`ProxyConfig::from_env`] takes those of
    /// the environment.
    pub proxy: ProxyConfig,
    /// Whom to trust; what the features of this crate bring by default.
    #[cfg(feature = "tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
    pub tls: Option<Tls>,
    /// Called with the server's new `initialize` result when a lost session was replaced.
    /// What the old one knew is gone: the log level, subscriptions, tasks. It is called while
    /// messages are received, and must not block.
    pub on_renewed: Option<RenewedCallback>,
    /// How much.
    pub limits: Limits,
    /// How long.
    pub times: Times,
    /// How broken streams are taken up again.
    pub reconnect: Reconnect,
}

/// See [`Config::on_renewed`].
pub type RenewedCallback = Arc<dyn Fn(&RawJson) + Send + Sync>;

/// Which transport a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// Streamable HTTP, and the older HTTP+SSE where the server refuses that in the way that
    /// the [specification](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility)
    /// says: by 400, 404 or 405.
    Auto,
    /// Streamable HTTP.
    StreamableHttp,
    /// HTTP+SSE of revision 2024-11-05.
    LegacySse,
}

/// How much a client takes on.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a message, alone or as an event; 64 MiB by default. Beyond: the request fails
    /// with [`HttpError::TooLarge`](super::HttpError::TooLarge), and is not tried again.
    pub message_bytes: usize,
    /// Requests that are being answered at once, 128 by default; each may take a connection.
    /// Beyond: they wait for their turn. Notifications, responses and streams don't count.
    pub requests: usize,
    /// Messages that are on their way, or wait for their answer, 4,096 by default. Beyond: the
    /// link takes no more until one is through.
    pub messages: usize,
    /// Connections that are kept open without use, 16 by default. Beyond: the oldest is closed.
    pub idle_connections: usize,
    /// Messages that were received and not taken yet, 64 by default, and a few megabytes.
    /// Beyond: nothing more is read.
    pub received: usize,
}

/// How long a client waits.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Times {
    /// For a connection, with TLS and a proxy's tunnel; 10 s by default.
    pub connect: Duration,
    /// For the head of an answer that comes at once: to a notification, a response, a GET, a
    /// DELETE; 30 s by default.
    pub head: Duration,
    /// For the head of the answer to a request, and for the rest of an answer in JSON; by
    /// default for ever, since the caller has a limit of its own.
    pub answer: Option<Duration>,
    /// For anything on a stream, a comment at least, 5 minutes by default. Then it is taken for
    /// dead, and taken up again. A stream of a request that can't be taken up again is not
    /// cut.
    pub silence: Option<Duration>,
    /// For the head of the first answer to a GET, 1 s by default: so long are requests held
    /// back after the handshake, since what the server sends before would be lost. Zero for
    /// not at all.
    pub listen: Duration,
    /// For the event that names the endpoint of the older HTTP+SSE; 30 s by default.
    pub endpoint: Duration,
    /// For the server to end a stream after the response, or after a cancellation; 1 s by
    /// default. Then we end it.
    pub linger: Duration,
    /// For everything at the end: what is on its way, and the DELETE; 3 s by default.
    pub close: Duration,
    /// How long a connection is kept open without use, 60 s by default.
    pub idle_connection: Duration,
}

/// How broken streams are taken up again.
///
/// What the server says by `retry` is kept to exactly. Without it, and when a reconnect fails,
/// the waits grow by doubling, and are cut short at random by up to half.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Reconnect {
    /// The first wait; 500 ms by default.
    pub first: Duration,
    /// The longest wait; 30 s by default.
    pub longest: Duration,
    /// The longest wait that a server may ask for, 5 minutes by default. Beyond: this long.
    pub longest_retry: Duration,
    /// How many reconnects in a row may fail before a request is given up; 8 by default. The
    /// stream that belongs to no request is not given up.
    pub attempts: u32,
}

impl Config {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            transport: Transport::Auto,
            listen: true,
            headers: HeaderMap::new(),
            authorizer: None,
            proxy: ProxyConfig::new(),
            #[cfg(feature = "tls")]
            tls: None,
            on_renewed: None,
            limits: Limits::new(),
            times: Times::new(),
            reconnect: Reconnect::new(),
        }
    }

    /// Refuses headers that would contradict ours.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        match self.headers.keys().find(|name| OURS.contains(name)) {
            Some(name) => Err(ConfigError::Header { name: name.as_str().into() }),
            None => Ok(()),
        }
    }
}

static OURS: [HeaderName; 14] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::CONNECTION,
    header::CONTENT_ENCODING,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::EXPECT,
    header::HOST,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    LAST_EVENT_ID,
    MCP_PROTOCOL_VERSION,
    MCP_SESSION_ID,
];

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

/// Prints the names of headers only: their values may be secrets.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("transport", &self.transport)
            .field("listen", &self.listen)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("proxy", &self.proxy)
            .field("limits", &self.limits)
            .field("times", &self.times)
            .field("reconnect", &self.reconnect)
            .finish_non_exhaustive()
    }
}

impl Limits {
    /// The defaults.
    pub const fn new() -> Self {
        Self {
            message_bytes: 64 << 20,
            requests: 128,
            messages: 4096,
            idle_connections: 16,
            received: 64,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

impl Times {
    /// The defaults.
    pub const fn new() -> Self {
        Self {
            connect: Duration::from_secs(10),
            head: Duration::from_secs(30),
            answer: None,
            silence: Some(Duration::from_secs(5 * 60)),
            listen: Duration::from_secs(1),
            endpoint: Duration::from_secs(30),
            linger: Duration::from_secs(1),
            close: Duration::from_secs(3),
            idle_connection: Duration::from_secs(60),
        }
    }
}

impl Default for Times {
    fn default() -> Self {
        Self::new()
    }
}

impl Reconnect {
    /// The defaults.
    pub const fn new() -> Self {
        Self {
            first: Duration::from_millis(500),
            longest: Duration::from_secs(30),
            longest_retry: Duration::from_secs(5 * 60),
            attempts: 8,
        }
    }
}

impl Default for Reconnect {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn headers_of_the_transport_are_refused_and_values_not_printed() {
        let mut config = Config::new();
        config.headers.insert("x-api-key", HeaderValue::from_static("secret"));
        assert!(config.check().is_ok());
        let printed = format!("{config:?}");
        assert!(printed.contains("x-api-key") && !printed.contains("secret"));
        for name in ["accept", "mcp-session-id", "host"] {
            let mut config = config.clone();
            config.headers.insert(name, HeaderValue::from_static("x"));
            let Err(ConfigError::Header { name: refused }) = config.check() else { panic!() };
            assert_eq!(&*refused, name);
        }
    }
}
