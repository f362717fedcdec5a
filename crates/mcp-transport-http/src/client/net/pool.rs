use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::client::conn::{TrySendError, http1};
use hyper::header::{HOST, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, timeout};

use super::body::{Answer, Once};
use super::dial::Dialer;
#[cfg(all(feature = "http2", feature = "tls"))]
use super::multiplex::{Multiplexed, OpenStream};
use super::{BoxIo, Protocol};
use crate::client::error::{ConnectError, HttpError, Phase};
use crate::client::tasks::Spawner;

/// Headers of an answer, at most.
const HEADERS: usize = 128;

/// A request to the pool's origin.
pub(in crate::client) struct Outbound {
    pub(in crate::client) method: Method,
    /// Absolute.
    pub(in crate::client) uri: Uri,
    pub(in crate::client) headers: HeaderMap,
    pub(in crate::client) body: Bytes,
    pub(in crate::client) repeat: Repeat,
    /// How long the head of the answer may take.
    pub(in crate::client) head: Option<Duration>,
}

/// What to do when a connection that was kept open turns out to be gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) enum Repeat {
    /// Send again over a new one if nothing was written.
    IfUnwritten,
    /// Send again over a new one if no answer has begun.
    IfUnanswered,
}

/// The connections to one origin.
///
/// A connection carries one request at a time, or with HTTP/2 as many as the server takes.
/// Streams that stay open have theirs for themselves, so nothing waits behind them.
pub(in crate::client) struct Pool {
    dialer: Dialer,
    spawner: Spawner,
    host: HeaderValue,
    longest_idle: Duration,
    most_idle: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The one that was used last stands last.
    idle: Vec<Idle>,
    #[cfg(all(feature = "http2", feature = "tls"))]
    multiplexed: Vec<Multiplexed>,
    /// Grows when the connections turn out to be gone.
    generation: u64,
}

struct Idle {
    sender: http1::SendRequest<Once>,
    since: Instant,
}

/// A connection, for one request.
pub(super) struct Lease {
    sender: Sender,
    generation: u64,
    reused: bool,
}

enum Sender {
    Single(http1::SendRequest<Once>),
    #[cfg(all(feature = "http2", feature = "tls"))]
    Multiplexed(OpenStream),
}

impl Pool {
    pub(in crate::client) fn new(
        dialer: Dialer,
        spawner: Spawner,
        host: HeaderValue,
        longest_idle: Duration,
        most_idle: usize,
    ) -> Self {
        let state = Mutex::default();
        Self { dialer, spawner, host, longest_idle, most_idle, state }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request, and waits for the head of its answer. `departs` is called when it
    /// leaves.
    pub(in crate::client) async fn send(
        self: &Arc<Self>,
        outbound: &Outbound,
        departs: &mut impl FnMut(),
    ) -> Result<Answer, HttpError> {
        let mut lease = self.lease().await?;
        loop {
            let request = self.request(outbound, &lease);
            departs();
            let sent = async {
                let mut sending = pin!(lease.sender.send(request));
                match outbound.head {
                    None => Ok(sending.await),
                    Some(limit) => timeout(limit, &mut sending)
                        .await
                        .map_err(|_| HttpError::TimedOut { phase: Phase::Head, limit }),
                }
            };
            let mut error = match sent.await? {
                Ok(response) => return Ok(Answer::new(response, lease, self)),
                Err(error) => error,
            };
            let unwritten = error.take_message().is_some();
            let error = error.into_error();
            let again = unwritten
                || outbound.repeat == Repeat::IfUnanswered && !error.is_parse() && !error.is_user();
            if !lease.reused || !again {
                return Err(HttpError::Broken(error));
            }
            // The others are of the same age, and not tried one by one.
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "a connection was gone, sending again over a new one"
            );
            self.forget(lease.generation);
            lease = self.open().await?;
        }
    }

    fn request(&self, outbound: &Outbound, lease: &Lease) -> Request<Once> {
        let mut request = Request::new(Once::new(outbound.body.clone()));
        *request.method_mut() = outbound.method.clone();
        *request.headers_mut() = outbound.headers.clone();
        match &lease.sender {
            Sender::Single(_) => {
                request.headers_mut().insert(HOST, self.host.clone());
                *request.uri_mut() = if self.dialer.is_forwarded() {
                    outbound.uri.clone()
                } else {
                    let mut parts = hyper::http::uri::Parts::default();
                    parts.path_and_query = outbound.uri.path_and_query().cloned();
                    Uri::from_parts(parts).unwrap_or_default()
                };
                if self.dialer.is_forwarded() {
                    self.dialer.authorize_at_proxy(request.headers_mut());
                }
            }
            #[cfg(all(feature = "http2", feature = "tls"))]
            Sender::Multiplexed(_) => {
                *request.version_mut() = hyper::Version::HTTP_2;
                *request.uri_mut() = outbound.uri.clone();
            }
        }
        request
    }

    /// A connection that is open, or a new one.
    async fn lease(&self) -> Result<Lease, HttpError> {
        #[cfg(all(feature = "http2", feature = "tls"))]
        if let Some(lease) = self.multiplexed() {
            return Ok(lease);
        }
        while let Some((mut sender, generation)) = self.take_idle() {
            // The end of the last answer may still have to be noticed.
            if sender.ready().await.is_ok() {
                return Ok(Lease { sender: Sender::Single(sender), generation, reused: true });
            }
        }
        self.open().await
    }

    fn take_idle(&self) -> Option<(http1::SendRequest<Once>, u64)> {
        let mut state = self.lock();
        while let Some(idle) = state.idle.pop() {
            if idle.since.elapsed() < self.longest_idle && !idle.sender.is_closed() {
                return Some((idle.sender, state.generation));
            }
        }
        None
    }

    #[cfg(all(feature = "http2", feature = "tls"))]
    fn multiplexed(&self) -> Option<Lease> {
        let mut state = self.lock();
        state.multiplexed.retain(|connection| !connection.is_closed());
        let stream = state.multiplexed.iter().find_map(Multiplexed::open)?;
        let sender = Sender::Multiplexed(stream);
        Some(Lease { sender, generation: state.generation, reused: true })
    }

    async fn open(&self) -> Result<Lease, HttpError> {
        let generation = self.lock().generation;
        let limit = self.dialer.limit();
        let failed = |source| HttpError::Connect { to: self.dialer.name(), source };
        let opening = async {
            let (io, protocol) = self.dialer.dial().await?;
            self.handshake(io, protocol).await
        };
        let sender = timeout(limit, opening)
            .await
            .unwrap_or(Err(ConnectError::TimedOut(limit)))
            .map_err(failed)?;
        Ok(Lease { sender, generation, reused: false })
    }

    async fn handshake(&self, io: BoxIo, protocol: Protocol) -> Result<Sender, ConnectError> {
        let io = TokioIo::new(io);
        match protocol {
            Protocol::Http1 => {
                let (sender, connection) = http1::Builder::new()
                    .max_headers(HEADERS)
                    .handshake(io)
                    .await
                    .map_err(ConnectError::Http)?;
                self.spawner.spawn(async move {
                    // Whoever waits for an answer learns of it, too.
                    if let Err(error) = connection.await {
                        tracing::debug!(
                            error = &error as &dyn std::error::Error,
                            "a connection failed"
                        );
                    }
                });
                Ok(Sender::Single(sender))
            }
            #[cfg(all(feature = "http2", feature = "tls"))]
            Protocol::Http2 => {
                let connection = Multiplexed::handshake(io, &self.spawner).await?;
                let stream = connection.begin();
                let mut state = self.lock();
                state.multiplexed.push(connection);
                Ok(Sender::Multiplexed(stream))
            }
        }
    }

    /// The connections of this generation are of no more use.
    fn forget(&self, generation: u64) {
        let mut state = self.lock();
        if state.generation == generation {
            state.generation += 1;
            state.idle.clear();
            #[cfg(all(feature = "http2", feature = "tls"))]
            state.multiplexed.clear();
        }
    }

    /// Keeps a connection whose answer was read to its end.
    pub(super) fn give_back(&self, lease: Lease) {
        let mut state = self.lock();
        match lease.sender {
            Sender::Single(sender) => {
                if lease.generation == state.generation && !sender.is_closed() {
                    state.idle.push(Idle { sender, since: Instant::now() });
                    if state.idle.len() > self.most_idle {
                        state.idle.remove(0);
                    }
                }
            }
            #[cfg(all(feature = "http2", feature = "tls"))]
            Sender::Multiplexed(_) => {}
        }
    }
}

impl Sender {
    async fn send(
        &mut self,
        request: Request<Once>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Once>>> {
        match self {
            Self::Single(sender) => sender.try_send_request(request).await,
            #[cfg(all(feature = "http2", feature = "tls"))]
            Self::Multiplexed(stream) => stream.send(request).await,
        }
    }
}
