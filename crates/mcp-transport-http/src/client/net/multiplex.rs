//! Connections of HTTP/2, which carry many requests at once.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::body::Incoming;
use hyper::client::conn::{TrySendError, http2};
use hyper::rt::Executor;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};

use super::BoxIo;
use super::body::Once;
use crate::client::error::ConnectError;
use crate::client::tasks::Spawner;

/// Streams of one connection, whatever the server would take.
const STREAMS: usize = 100;
/// How often a silent connection is asked whether it is still there.
const PING: std::time::Duration = std::time::Duration::from_secs(30);

pub(super) struct Multiplexed {
    sender: http2::SendRequest<Once>,
    load: Arc<Load>,
}

struct Load {
    open: AtomicUsize,
    most: AtomicUsize,
}

/// One stream of a connection. Counts until it is dropped.
pub(super) struct OpenStream {
    sender: http2::SendRequest<Once>,
    load: Arc<Load>,
}

impl Multiplexed {
    pub(super) async fn handshake(
        io: TokioIo<BoxIo>,
        spawner: &Spawner,
    ) -> Result<Self, ConnectError> {
        let (sender, mut connection) = http2::Builder::new(InLink(spawner.clone()))
            .timer(TokioTimer::new())
            .keep_alive_interval(PING)
            .adaptive_window(true)
            .handshake(io)
            .await
            .map_err(ConnectError::Http)?;
        let load = Arc::new(Load { open: AtomicUsize::new(0), most: AtomicUsize::new(STREAMS) });
        let known = Arc::clone(&load);
        spawner.spawn(async move {
            let ended = std::future::poll_fn(|cx| {
                let polled = Pin::new(&mut connection).poll(cx);
                let most = connection.current_max_send_streams().min(STREAMS);
                known.most.store(most, Ordering::Relaxed);
                polled
            });
            if let Err(error) = ended.await {
                tracing::debug!(error = &error as &dyn std::error::Error, "a connection failed");
            }
        });
        Ok(Self { sender, load })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// A stream, if the server takes one more.
    pub(super) fn open(&self) -> Option<OpenStream> {
        let (open, most) = (&self.load.open, &self.load.most);
        (open.load(Ordering::Relaxed) < most.load(Ordering::Relaxed)).then(|| self.begin())
    }

    /// A stream, which may have to wait.
    pub(super) fn begin(&self) -> OpenStream {
        self.load.open.fetch_add(1, Ordering::Relaxed);
        OpenStream { sender: self.sender.clone(), load: Arc::clone(&self.load) }
    }
}

impl OpenStream {
    pub(super) async fn send(
        &mut self,
        request: Request<Once>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Once>>> {
        self.sender.try_send_request(request).await
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.load.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs what a connection needs inside of the link.
#[derive(Clone)]
struct InLink(Spawner);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for InLink {
    fn execute(&self, task: F) {
        self.0.spawn(task);
    }
}
