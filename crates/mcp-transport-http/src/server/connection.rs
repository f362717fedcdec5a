//! One connection of a listener, from its first byte to its last.

use std::collections::HashMap;
use std::error::Error;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
#[cfg(feature = "tls")]
use tokio_rustls::TlsAcceptor;

use super::endpoint::Endpoint;
use super::listener::ListenerConfig;
use super::stall::Stall;

/// What a connection is served with.
pub(super) struct Connection {
    pub(super) endpoint: Endpoint,
    pub(super) config: ListenerConfig,
    pub(super) signal: Arc<Signal>,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<TlsAcceptor>,
}

impl Connection {
    pub(super) fn serve_tcp(self, stream: TcpStream) -> impl Future<Output = ()> + Send {
        // Small events must not wait for the acknowledgment of what went before.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(error = &error as &dyn Error, "no TCP_NODELAY");
        }
        self.serve(stream)
    }

    pub(super) async fn serve<T>(self, stream: T)
    where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let stream = Stall::new(stream, self.config.stall);
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            match tokio::time::timeout(self.config.head, tls.accept(stream)).await {
                Ok(Ok(stream)) => return self.serve_any(stream).await,
                Ok(Err(error)) => {
                    tracing::debug!(error = &error as &dyn Error, "no TLS");
                    return;
                }
                Err(_) => return,
            }
        }
        #[cfg(feature = "http2")]
        if self.config.h2c {
            return self.serve_any(stream).await;
        }
        self.serve_http1(stream).await;
    }

    async fn serve_http1<T: AsyncRead + AsyncWrite + Unpin + Send>(&self, io: T) {
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.config.head)
            .max_headers(self.config.headers)
            .max_buf_size(self.config.head_buffer())
            .serve_connection(TokioIo::new(io), self.endpoint.clone());
        self.drive(pin!(connection)).await;
    }

    /// HTTP/2 for who begins with it, else HTTP/1.1.
    #[cfg(feature = "http2")]
    async fn serve_any<T: AsyncRead + AsyncWrite + Unpin + Send + 'static>(&self, io: T) {
        use hyper_util::rt::TokioExecutor;
        use hyper_util::server::conn::auto;

        /// How often a silent peer is asked whether it is there, and how long it may take.
        const PING: std::time::Duration = std::time::Duration::from_secs(30);

        let config = &self.config;
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(config.head)
            .max_headers(config.headers)
            .max_buf_size(config.head_buffer());
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_header_list_size(u32::try_from(config.head_bytes).unwrap_or(u32::MAX))
            .keep_alive_interval(PING)
            .keep_alive_timeout(PING);
        let connection = builder.serve_connection(TokioIo::new(io), self.endpoint.clone());
        self.drive(pin!(connection)).await;
    }

    #[cfg(all(feature = "tls", not(feature = "http2")))]
    async fn serve_any<T: AsyncRead + AsyncWrite + Unpin + Send>(&self, io: T) {
        self.serve_http1(io).await;
    }

    /// Runs a connection to its end, or until it is told to end.
    ///
    /// It is borrowed: a future that owns what it was given holds it twice.
    async fn drive<C: Graceful>(&self, mut connection: Pin<&mut C>) {
        let mut ending = false;
        let mut listener = self.signal.listen();
        let served = poll_fn(|cx| {
            if !ending && listener.is_set(cx) {
                ending = true;
                connection.as_mut().end();
            }
            connection.as_mut().poll_served(cx)
        })
        .await;
        if let Err(error) = served {
            tracing::debug!(error = &*error as &dyn Error, "a connection failed");
        }
    }
}

type Served = Poll<Result<(), Box<dyn Error + Send + Sync>>>;

/// A connection that can be told to end after what it is doing.
trait Graceful {
    fn end(self: Pin<&mut Self>);
    fn poll_served(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Served;
}

impl<T> Graceful for http1::Connection<TokioIo<T>, Endpoint>
where
    T: AsyncRead + AsyncWrite + Unpin + Send,
{
    fn end(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }

    fn poll_served(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Served {
        self.poll(cx).map_err(Into::into)
    }
}

#[cfg(feature = "http2")]
impl<T> Graceful
    for hyper_util::server::conn::auto::Connection<
        '_,
        TokioIo<T>,
        Endpoint,
        hyper_util::rt::TokioExecutor,
    >
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    fn end(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }

    fn poll_served(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Served {
        self.poll(cx)
    }
}

/// Tells all connections to end. Looking at it costs one load.
#[derive(Default)]
pub(super) struct Signal {
    set: AtomicBool,
    next: AtomicU64,
    wakers: Mutex<HashMap<u64, Waker>>,
}

impl Signal {
    pub(super) fn set(&self) {
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
