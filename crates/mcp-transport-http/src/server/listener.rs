//! A listener for an endpoint, for who has no server of their own.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
#[cfg(unix)]
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
#[cfg(feature = "tls")]
use tokio_rustls::{TlsAcceptor, rustls};

use super::connection::{Connection, Signal};
use super::endpoint::Endpoint;

/// How long nothing is accepted after the system could not give a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Listens on a TCP port and serves an endpoint there.
///
/// # Examples
///
/// ```no_run
/// # async fn example(endpoint: mcp_transport_http::server::Endpoint)
/// # -> Result<(), mcp_transport_http::server::ListenError> {
/// use mcp_transport_http::server::Listener;
///
/// let listener = Listener::bind(endpoint, "127.0.0.1:0").await?;
/// eprintln!("listening on {}", listener.local_addr());
/// listener.run(std::future::pending()).await;
/// # Ok(())
/// # }
/// ```
pub struct Listener {
    socket: Socket,
    endpoint: Endpoint,
    config: ListenerConfig,
    #[cfg(feature = "tls")]
    tls: Option<TlsAcceptor>,
}

/// Settings of a [`Listener`]. The defaults are safe, and not part of semver.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ListenerConfig {
    /// Connections at once, 12,000 by default. Beyond: they wait in the system's queue.
    pub connections: usize,
    /// How long the head of a request may take, also the wait for the next one on a
    /// connection that is kept open; 60 s by default. Beyond: the connection is closed.
    pub head: Duration,
    /// Header fields of one request, 64 by default. Beyond: 431.
    pub headers: usize,
    /// Bytes of the head of one request, 64 KiB by default and 8 KiB at least. Beyond twice
    /// that, and often before: 431.
    pub head_bytes: usize,
    /// How long a peer may read nothing of what is written, 30 s by default. Beyond: the
    /// connection is cut; its streams stay and can be resumed.
    pub stall: Duration,
    /// How long running requests have to end at a shutdown, 10 s by default. Beyond: they
    /// are canceled.
    pub drain: Duration,
    /// Whether a client without TLS may begin with HTTP/2, by prior knowledge; `false` by
    /// default.
    #[cfg(feature = "http2")]
    pub h2c: bool,
}

/// The listener can't listen.
#[derive(Debug, thiserror::Error)]
#[error("can't listen on that address")]
#[non_exhaustive]
pub struct ListenError(#[from] io::Error);

impl ListenerConfig {
    /// The defaults.
    pub const fn new() -> Self {
        Self {
            connections: 12_000,
            head: Duration::from_secs(60),
            headers: 64,
            head_bytes: 64 << 10,
            stall: Duration::from_secs(30),
            drain: Duration::from_secs(10),
            #[cfg(feature = "http2")]
            h2c: false,
        }
    }
}

impl ListenerConfig {
    /// The buffer that bounds a head; hyper takes none that is smaller.
    pub(super) fn head_buffer(&self) -> usize {
        self.head_bytes.max(8 << 10)
    }
}

impl Default for ListenerConfig {
    fn default() -> Self {
        Self::new()
    }
}

impl Listener {
    /// Listens on `addr`. On a machine of one's own that is `127.0.0.1` with some port, 0
    /// for any.
    ///
    /// # Errors
    ///
    /// [`ListenError`] when the system refuses.
    pub async fn bind(endpoint: Endpoint, addr: impl ToSocketAddrs) -> Result<Self, ListenError> {
        Self::from_tcp(endpoint, TcpListener::bind(addr).await?)
    }

    /// Serves a socket that listens already: for who has to know the port before there is an
    /// endpoint, or is given the socket by a supervisor.
    ///
    /// # Errors
    ///
    /// [`ListenError`] when the system doesn't say where it listens.
    pub fn from_tcp(endpoint: Endpoint, tcp: TcpListener) -> Result<Self, ListenError> {
        let addr = tcp.local_addr()?;
        Ok(Self::on(Socket::Tcp(tcp, addr), endpoint))
    }

    /// Listens on a Unix socket at `path`, where nothing may stand yet: only who may open
    /// that file gets in.
    ///
    /// The file stays when the listener ends; removing it is up to the caller.
    ///
    /// # Errors
    ///
    /// [`ListenError`] when the system refuses.
    #[cfg(unix)]
    pub fn bind_unix(endpoint: Endpoint, path: impl AsRef<Path>) -> Result<Self, ListenError> {
        Ok(Self::on(Socket::Unix(UnixListener::bind(path)?), endpoint))
    }

    fn on(socket: Socket, endpoint: Endpoint) -> Self {
        Self {
            socket,
            endpoint,
            config: ListenerConfig::new(),
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// Speaks TLS. Unless `config` says otherwise, HTTP/2 (with the feature `http2`) and
    /// HTTP/1.1 are offered.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn with_tls(mut self, mut config: rustls::ServerConfig) -> Self {
        if config.alpn_protocols.is_empty() {
            if cfg!(feature = "http2") {
                config.alpn_protocols.push(b"h2".to_vec());
            }
            config.alpn_protocols.push(b"http/1.1".to_vec());
        }
        self.tls = Some(TlsAcceptor::from(Arc::new(config)));
        self
    }

    /// Sets how connections are treated.
    #[must_use]
    pub fn with_config(mut self, config: ListenerConfig) -> Self {
        self.config = config;
        self
    }

    /// Where it listens; `0.0.0.0:0` for a Unix socket, which has no such address.
    pub fn local_addr(&self) -> SocketAddr {
        match &self.socket {
            Socket::Tcp(_, addr) => *addr,
            #[cfg(unix)]
            Socket::Unix(_) => SocketAddr::from(([0, 0, 0, 0], 0)),
        }
    }

    /// Serves until `shutdown` is ready, then lets running requests end.
    ///
    /// At a shutdown nothing more is accepted, GET streams end, and what is running has
    /// [`ListenerConfig::drain`] to end. Then the endpoint is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cuts all connections.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let Self { socket, endpoint, config, .. } = self;
        #[cfg(feature = "tls")]
        let tls = self.tls;
        let signal = Arc::new(Signal::default());
        let mut connections = JoinSet::new();
        let mut shutdown = pin!(shutdown);
        loop {
            let accepted = poll_fn(|cx| {
                if shutdown.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(None);
                }
                while let Poll::Ready(Some(_)) = connections.poll_join_next(cx) {}
                if config.connections <= connections.len() {
                    return Poll::Pending;
                }
                socket.poll_accept(cx).map(Some)
            })
            .await;
            match accepted {
                None => break,
                Some(Ok(stream)) => {
                    let connection = Connection {
                        endpoint: endpoint.clone(),
                        config,
                        signal: Arc::clone(&signal),
                        #[cfg(feature = "tls")]
                        tls: tls.clone(),
                    };
                    match stream {
                        Accepted::Tcp(stream) => connections.spawn(connection.serve_tcp(stream)),
                        #[cfg(unix)]
                        Accepted::Unix(stream) => connections.spawn(connection.serve(stream)),
                    };
                }
                Some(Err(error)) => {
                    // The peer has gone already, or there are no descriptors left.
                    tracing::debug!(error = &error as &dyn std::error::Error, "no connection");
                    if !is_of_connection(&error) {
                        tokio::time::sleep(PAUSE).await;
                    }
                }
            }
        }
        drop(socket);
        endpoint.end_streams();
        signal.set();
        let all = async { while connections.join_next().await.is_some() {} };
        let drained = tokio::time::timeout(config.drain, all).await.is_ok();
        endpoint.close();
        if !drained {
            // What was canceled still gets to say so.
            let all = async { while connections.join_next().await.is_some() {} };
            let _ = tokio::time::timeout(PAUSE, all).await;
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("addr", &self.local_addr()).finish_non_exhaustive()
    }
}

enum Socket {
    Tcp(TcpListener, SocketAddr),
    #[cfg(unix)]
    Unix(UnixListener),
}

enum Accepted {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Socket {
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Accepted>> {
        match self {
            Self::Tcp(tcp, _) => tcp.poll_accept(cx).map_ok(|(stream, _)| Accepted::Tcp(stream)),
            #[cfg(unix)]
            Self::Unix(unix) => unix.poll_accept(cx).map_ok(|(stream, _)| Accepted::Unix(stream)),
        }
    }
}

/// Whether an accept failed because of the connection, not because of the system.
fn is_of_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}
