use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use hyper::Uri;
use mcp_jsonrpc::link::v1::{Connector, Incoming, IntoLink, Link, LinkError, LinkFeatures};
use mcp_jsonrpc::{Head, Outgoing, RequestId};
use tokio::time::timeout;

use super::core::Core;
use super::net::Dialer;
use super::tasks::{Side, Tasks};
use super::{Config, ConfigError};

/// Makes links to one server.
///
/// Making a link sends nothing; its first message does.
///
/// # Examples
///
/// ```
/// use mcp_transport_http::client::{Config, HttpConnector};
///
/// let connector = HttpConnector::new("http://localhost:8080/mcp", Config::new())?;
/// let link = connector.link();
/// # Ok::<(), mcp_transport_http::client::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct HttpConnector {
    config: Arc<Config>,
    endpoint: Uri,
    #[cfg(feature = "tls")]
    tls: Option<super::Tls>,
}

/// A link to a server over HTTP.
///
/// # What it does by itself
///
/// - Each message is a POST. Requests and responses leave at once and side by side;
///   notifications one after the other; and everything else after
///   `notifications/initialized` was taken.
/// - It reads the session's id and the revision off the answer to `initialize`, and sends them
///   with everything from then on.
/// - After the handshake it opens the stream on which the server sends of its own accord.
/// - A stream that breaks is taken up again where it was. What comes twice is handed up once.
/// - When the server has forgotten the session, the handshake is repeated once, however many
///   requests found out. Requests that may be repeated by the method table
///   ([`Method::is_idempotent`](mcp_types::Method::is_idempotent)) are sent once more, the
///   others end with [`HttpError::SessionLost`](super::HttpError::SessionLost).
/// - Towards a server of the older HTTP+SSE it speaks that.
///
/// # How it ends
///
/// - A request that gets no response ends by itself ([`Incoming::StreamEnded`]), with an
///   [`HttpError`](super::HttpError) as the cause. The link goes on: a server that is away
///   for a while is found again by the next request.
/// - [`poll_close`](Link::poll_close) ends streams and requests, waits for notifications and
///   responses that are on their way, and ends the session by a DELETE, all within
///   [`Times::close`](super::Times::close).
/// - Only with the older HTTP+SSE it ends with its stream.
/// - Dropping it closes all connections at once. The server is not told.
///
/// It has no tasks: connections and streams are driven by whoever polls the link, within a Tokio
/// runtime with I/O and time.
///
/// Flushing means that messages have begun their way; whether they arrived is known when
/// their answer comes.
///
/// Specification: [Streamable HTTP](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http).
pub struct HttpLink {
    core: Arc<Core>,
    tasks: Tasks,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Open,
    Closing,
    Ended(LinkError),
}

impl HttpConnector {
    /// A connector for the server at `url`, which is `http` or `https` and may be of either
    /// transport.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] when the address or the configuration can't be used.
    pub fn new(url: &str, config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let endpoint: Uri = url.trim().parse().map_err(|_| ConfigError::Url)?;
        let authority = endpoint.authority().ok_or(ConfigError::Url)?;
        if authority.as_str().contains('@') {
            return Err(ConfigError::Credentials);
        }
        let https = match endpoint.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(ConfigError::Url),
        };
        if !cfg!(feature = "tls") && https {
            return Err(ConfigError::NoTls);
        }
        #[cfg(feature = "tls")]
        let tls = match &config.tls {
            Some(tls) => Some(tls.clone()),
            None if https || config.proxy.needs_tls() => Some(super::Tls::default_roots()?),
            None => None,
        };
        Ok(Self {
            config: Arc::new(config),
            endpoint,
            #[cfg(feature = "tls")]
            tls,
        })
    }

    /// A link that has sent nothing yet.
    pub fn link(&self) -> HttpLink {
        let dialer = Dialer::new(
            &self.endpoint,
            self.config.proxy.proxy_for(&self.endpoint).cloned(),
            self.config.times.connect,
            #[cfg(feature = "tls")]
            self.tls.clone(),
        );
        let core = Core::new(Arc::clone(&self.config), self.endpoint.clone(), dialer);
        let tasks = Tasks::new(core.spawner.clone());
        HttpLink { core, tasks, stage: Stage::Open }
    }
}

impl Connector for HttpConnector {
    type Link = HttpLink;

    async fn open(&self) -> Result<HttpLink, LinkError> {
        Ok(self.link())
    }
}

impl IntoLink for HttpConnector {
    type Link = HttpLink;

    async fn into_link(self) -> Result<HttpLink, LinkError> {
        Ok(self.link())
    }
}

impl IntoLink for &HttpConnector {
    type Link = HttpLink;

    async fn into_link(self) -> Result<HttpLink, LinkError> {
        Ok(self.link())
    }
}

impl fmt::Debug for HttpConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpConnector")
            .field("endpoint", &self.endpoint)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl HttpLink {
    /// Lets everything take a step, and tells the other side of the link what it may wait for.
    fn run(&mut self, side: Side) {
        self.tasks.run();
        if side == Side::Sending {
            let state = self.core.lock();
            let news = !state.inbox.is_empty() || state.ended.is_some();
            drop(state);
            if news {
                self.tasks.wake(Side::Receiving);
            }
        }
    }

    /// What came in, if anything.
    fn pop(&self) -> Option<Incoming> {
        let (incoming, waiting) = self.core.lock().inbox.pop()?;
        waiting.into_iter().for_each(Waker::wake);
        Some(incoming)
    }

    /// Why nothing more is taken.
    fn refusal(&self) -> Option<LinkError> {
        match &self.stage {
            Stage::Open => self.core.lock().ended.clone(),
            Stage::Closing => Some(LinkError::Closed),
            Stage::Ended(cause) => Some(cause.clone()),
        }
    }

    /// Begins to close.
    fn close(&mut self) {
        self.stage = Stage::Closing;
        let (calls, listener) = {
            let mut state = self.core.lock();
            (std::mem::take(&mut state.calls), state.session.listener.take())
        };
        for task in calls.into_values().map(|call| call.task).chain(listener) {
            self.core.spawner.end(task);
        }
        let core = Arc::clone(&self.core);
        self.core.spawner.spawn(async move {
            let ending = async {
                core.notes_are_through().await;
                core.delete().await;
            };
            if timeout(core.config.times.close, ending).await.is_err() {
                tracing::debug!("the server took too long to end the session");
            }
            core.end(LinkError::Closed);
            let waiting = std::mem::take(&mut core.lock().waiting);
            waiting.into_iter().for_each(Waker::wake);
        });
    }
}

impl Link for HttpLink {
    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Result<Incoming, LinkError>> {
        if let Some(incoming) = self.pop() {
            return Poll::Ready(Ok(incoming));
        }
        if let Stage::Ended(cause) = &self.stage {
            return Poll::Ready(Err(cause.clone()));
        }
        self.tasks.register(Side::Receiving, cx.waker());
        self.run(Side::Receiving);
        if let Some(incoming) = self.pop() {
            return Poll::Ready(Ok(incoming));
        }
        let ended = self.core.lock().ended.clone();
        let Some(cause) = ended else { return Poll::Pending };
        self.tasks.clear();
        self.stage = Stage::Ended(cause.clone());
        Poll::Ready(Err(cause))
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        if let Some(cause) = self.refusal() {
            return Poll::Ready(Err(cause));
        }
        let most = self.core.config.limits.messages.max(1);
        if self.core.lock().underway < most {
            return Poll::Ready(Ok(()));
        }
        self.tasks.register(Side::Sending, cx.waker());
        self.run(Side::Sending);
        let mut state = self.core.lock();
        if state.underway < most {
            return Poll::Ready(Ok(()));
        }
        state.wait(cx.waker());
        Poll::Pending
    }

    fn start_send(&mut self, message: Outgoing) -> Result<(), LinkError> {
        if let Some(cause) = self.refusal() {
            return Err(cause);
        }
        match message.head() {
            Head::Request { id, .. } => {
                if self.core.is_waited_for(id) {
                    let reason = "a request with this id is under way";
                    return Err(LinkError::Refused { reason });
                }
                self.core.start_call(id.clone(), message);
            }
            Head::Notification { method }
                if *method == mcp_types::Method::NotificationsInitialized.as_str() =>
            {
                self.core.start_initialized(message);
            }
            Head::Notification { .. } => self.core.start_note(message),
            Head::Result { .. } | Head::Error { .. } | Head::Batch => {
                self.core.start_response(message);
            }
            _ => return Err(LinkError::Refused { reason: "no message of a known kind" }),
        }
        Ok(())
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        match &self.stage {
            Stage::Open => {}
            Stage::Closing => return Poll::Ready(Err(LinkError::Closed)),
            Stage::Ended(cause) => return Poll::Ready(Err(cause.clone())),
        }
        self.tasks.register(Side::Sending, cx.waker());
        self.run(Side::Sending);
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        match &self.stage {
            Stage::Open => self.close(),
            Stage::Closing => {}
            Stage::Ended(_) => return Poll::Ready(Ok(())),
        }
        self.tasks.register(Side::Sending, cx.waker());
        self.run(Side::Sending);
        let mut state = self.core.lock();
        let Some(cause) = state.ended.clone() else {
            state.wait(cx.waker());
            return Poll::Pending;
        };
        drop(state);
        self.tasks.clear();
        self.stage = Stage::Ended(cause);
        Poll::Ready(Ok(()))
    }

    fn abandon(&mut self, id: &RequestId, notice: Option<Outgoing>) -> Result<(), LinkError> {
        if let Some(cause) = self.refusal() {
            return Err(cause);
        }
        self.core.give_up(id, notice);
        Ok(())
    }

    fn features(&self) -> LinkFeatures {
        let mut features = LinkFeatures::default();
        features.stream_per_request = true;
        features.resumable = true;
        features
    }
}

impl Drop for HttpLink {
    fn drop(&mut self) {
        // Tasks hold the core, and the core may hold tasks.
        self.tasks.clear();
    }
}

impl fmt::Debug for HttpLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpLink")
            .field("endpoint", &self.core.endpoint)
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}
