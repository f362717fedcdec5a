//! What an endpoint does, and how much of it.

use std::time::Duration;

/// Settings of an endpoint. The defaults are safe, and not part of semver.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The path that is served; `None`, the default, serves every path, for an endpoint
    /// that a router mounts.
    pub path: Option<Box<str>>,
    /// Whether there are sessions.
    pub sessions: Sessions,
    /// Which form answers to requests take.
    pub answers: Answers,
    /// Which `Accept` headers are good enough.
    pub accept: AcceptPolicy,
    /// Whether a GET opens a stream for messages that belong to no request; `true` by
    /// default. Without it a GET only resumes streams of requests.
    pub listen: bool,
    /// Whether a client may end its session; `true` by default. If not, 405.
    pub end_by_client: bool,
    /// How much of everything.
    pub limits: Limits,
    /// How long everything.
    pub times: Times,
}

/// Whether an endpoint has sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sessions {
    /// `initialize` opens a session, which later requests name. Answers can be resumed,
    /// and the server can ask and tell the client things of its own accord.
    On,
    /// Every request stands alone: nothing is remembered, nobody is asked anything, and a
    /// lost connection cancels its request.
    Off,
}

/// Which form answers to requests take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answers {
    /// What an exchange emits first decides: its response gives one JSON body, anything
    /// earlier a stream.
    ByFirstEmission,
    /// Always one JSON body. What is not the response is dropped, and the client can't be
    /// asked anything.
    Json,
    /// Always a stream, for clients that take it.
    EventStream,
}

/// Which `Accept` headers are good enough.
///
/// Specification:
/// [sending messages](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AcceptPolicy {
    /// Both kinds have to be named, as the specification asks of clients.
    Named,
    /// Both kinds have to be allowed, also by a wildcard or by having no header. A GET has
    /// to name what it opens.
    Allowed,
    /// One kind is enough; a client that takes no streams gets JSON bodies only, as under
    /// [`Answers::Json`].
    Lenient,
}

/// How much an endpoint takes on. Each limit says what is answered beyond it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a request's body, 4 MiB by default. Beyond: 413.
    pub body_bytes: usize,
    /// Sessions at once, 10,000 by default. Beyond: the one that was idle longest ends, if
    /// that was for [`Times::reclaim`] at least; else 503 with `Retry-After`.
    pub sessions: usize,
    /// Exchanges at once in one session, also those whose connection is gone; 64 by
    /// default. Beyond: 503 with `Retry-After`.
    pub session_exchanges: usize,
    /// Exchanges at once in all, 4,096 by default. Beyond: 503 with `Retry-After`.
    pub exchanges: usize,
    /// GET streams at once in one session, 4 by default. Beyond: the oldest is closed.
    pub session_streams: usize,
    /// GET streams at once in all, 10,000 by default. Beyond: 503 with `Retry-After`.
    pub streams: usize,
    /// Requests of ours in one session that wait for a response, 64 by default. Beyond:
    /// the asking handler is told.
    pub session_asks: usize,
    /// Messages that wait on one stream for its reader, 64 by default. Beyond: the sender
    /// waits or is told.
    pub queued: usize,
    /// Bytes that wait on one stream for its reader, 256 KiB by default, exceeded by one
    /// message at most. Beyond: the sender waits or is told.
    pub queued_bytes: usize,
}

/// How long an endpoint waits.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Times {
    /// A session without a request, a running exchange, or a stream that is read ends
    /// after this; 30 minutes by default.
    pub idle: Duration,
    /// How long a session is left alone, though idle, when there are too many; 1 minute
    /// by default.
    pub reclaim: Duration,
    /// A stream that is silent for this long carries a comment, and a request that is
    /// answered by nothing for this long is answered by a stream; 15 s by default.
    pub keep_alive: Duration,
    /// How long a body may take to come in, 30 s by default. Beyond: 408.
    pub body: Duration,
    /// How long an exchange runs on without a connection, 30 minutes by default. Beyond:
    /// it is dropped.
    pub detached: Duration,
    /// How long a request of ours that belongs to no exchange waits for the client to
    /// open a stream, 30 s by default. Beyond: the asker is told that nobody can be asked.
    pub listener: Duration,
    /// How long a request that has overtaken `notifications/initialized` waits for it, 1 s by
    /// default. Beyond: `-32600`.
    pub ready: Duration,
    /// What `retry` says when the server closes a connection, 1 s by default.
    pub retry: Duration,
}

impl Config {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            path: None,
            sessions: Sessions::On,
            answers: Answers::ByFirstEmission,
            accept: AcceptPolicy::Allowed,
            listen: true,
            end_by_client: true,
            limits: Limits::new(),
            times: Times::new(),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

impl Limits {
    /// The defaults.
    pub const fn new() -> Self {
        Self {
            body_bytes: 4 << 20,
            sessions: 10_000,
            session_exchanges: 64,
            exchanges: 4096,
            session_streams: 4,
            streams: 10_000,
            session_asks: 64,
            queued: 64,
            queued_bytes: 256 << 10,
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
            idle: Duration::from_secs(30 * 60),
            reclaim: Duration::from_secs(60),
            keep_alive: Duration::from_secs(15),
            body: Duration::from_secs(30),
            detached: Duration::from_secs(30 * 60),
            listener: Duration::from_secs(30),
            ready: Duration::from_secs(1),
            retry: Duration::from_secs(1),
        }
    }
}

impl Default for Times {
    fn default() -> Self {
        Self::new()
    }
}
