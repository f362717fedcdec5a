//! A listener for an endpoint, for who has no server of their own.

use std::collections::HashMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::task::JoinSet;

use super::endpoint::Endpoint;
use super::stall::Stall;

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
    tcp: TcpListener,
    addr: SocketAddr,
    endpoint: Endpoint,
    config: ListenerConfig,
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
        }
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
        let tcp = TcpListener::bind(addr).await?;
        let addr = tcp.local_addr()?;
        Ok(Self { tcp, addr, endpoint, config: ListenerConfig::new() })
    }

    /// Sets how connections are treated.
    #[must_use]
    pub fn with_config(mut self, config: ListenerConfig) -> Self {
        self.config = config;
        self
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.addr
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
        let Self { tcp, endpoint, config, .. } = self;
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
                tcp.poll_accept(cx).map(Some)
            })
            .await;
            match accepted {
                None => break,
                Some(Ok((stream, _))) => {
                    let signal = Arc::clone(&signal);
                    connections.spawn(serve(stream, endpoint.clone(), config, signal));
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
        drop(tcp);
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
        f.debug_struct("Listener").field("addr", &self.addr).finish_non_exhaustive()
    }
}

async fn serve(stream: TcpStream, endpoint: Endpoint, config: ListenerConfig, signal: Arc<Signal>) {
    // Small events must not wait for the acknowledgment of what went before.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(error = &error as &dyn std::error::Error, "no TCP_NODELAY");
    }
    let io = TokioIo::new(Stall::new(stream, config.stall));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(config.head)
        .max_headers(config.headers)
        .max_buf_size(config.head_bytes.max(8 << 10))
        .serve_connection(io, endpoint);
    let mut connection = pin!(connection);
    let mut ending = false;
    let mut listener = signal.listen();
    let served = poll_fn(|cx| {
        if !ending && listener.is_set(cx) {
            ending = true;
            connection.as_mut().graceful_shutdown();
        }
        connection.as_mut().poll(cx)
    })
    .await;
    if let Err(error) = served {
        tracing::debug!(error = &error as &dyn std::error::Error, "a connection failed");
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

/// Tells all connections to end. Looking at it costs one load.
#[derive(Default)]
struct Signal {
    set: AtomicBool,
    next: AtomicU64,
    wakers: Mutex<HashMap<u64, Waker>>,
}

impl Signal {
    fn set(&self) {
        self.set.store(true, Ordering::Release);
        let wakers =
            std::mem::take(&mut *self.wakers.lock().unwrap_or_else(PoisonError::into_inner));
        wakers.into_values().for_each(Waker::wake);
    }

    fn listen(self: &Arc<Self>) -> SignalListener {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        SignalListener { signal: Arc::clone(self), key, known: false }
    }
}

/// One connection that listens to a [`Signal`].
struct SignalListener {
    signal: Arc<Signal>,
    key: u64,
    known: bool,
}

impl SignalListener {
    /// Whether the signal is set; if not, the task is woken when it is. It is always polled
    /// by the same task, so its waker is taken once.
    fn is_set(&mut self, cx: &mut Context<'_>) -> bool {
        if !self.known {
            self.known = true;
            let mut wakers = self.signal.wakers.lock().unwrap_or_else(PoisonError::into_inner);
            wakers.insert(self.key, cx.waker().clone());
        }
        self.signal.set.load(Ordering::Acquire)
    }
}

impl Drop for SignalListener {
    fn drop(&mut self) {
        self.signal.wakers.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}
