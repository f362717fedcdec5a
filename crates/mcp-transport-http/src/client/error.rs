use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use mcp_jsonrpc::link::v1::LinkError;
use mcp_jsonrpc::{ErrorObject, Fault};

use crate::sse::EventTooLarge;
use crate::v1::AuthorizeError;

/// What HTTP can do to a message of ours.
///
/// It is the source of a [`LinkError::Failed`]: of the one that ends a single request, or, with
/// the older HTTP+SSE, of the one that ends the link. [`HttpError::of`] finds it there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// There is no connection to the server. Nothing was sent.
    #[error("no connection to {to}")]
    Connect {
        /// Host and port.
        to: Box<str>,
        /// Why.
        source: ConnectError,
    },
    /// The connection broke before an answer came. Whether the server has read the message is
    /// not known.
    #[error("the connection broke before an answer came")]
    Broken(#[source] hyper::Error),
    /// The server was silent for too long.
    #[error("no {phase} within {} ms", limit.as_millis())]
    TimedOut {
        /// What did not come.
        phase: Phase,
        /// The limit that was in force.
        limit: Duration,
    },
    /// The server, or something before it, refused the request.
    #[error("the server answered {status}{excerpt}")]
    Status {
        /// The status.
        status: StatusCode,
        /// The JSON-RPC error in the answer, where there was one.
        error: Option<ErrorObject>,
        /// The start of the answer, where it was something else.
        excerpt: Excerpt,
        /// When to try again, as the server says.
        retry_after: Option<Duration>,
    },
    /// A successful answer that is neither JSON nor a stream of events.
    #[error("the server answered {status} with {content_type}, which is no MCP{excerpt}")]
    NotMcp {
        /// The status.
        status: StatusCode,
        /// What the answer says it is.
        content_type: Excerpt,
        /// How it starts.
        excerpt: Excerpt,
    },
    /// The answer is JSON, but no response to the request.
    #[error("the answer is no response to the request")]
    NotAResponse(#[source] Option<Fault>),
    /// The answer is larger than [`Limits::message_bytes`](super::Limits::message_bytes).
    #[error("the answer has {size} bytes or more, past the limit of {limit}")]
    TooLarge {
        /// Bytes seen, or announced.
        size: u64,
        /// The limit that was in force.
        limit: usize,
    },
    /// An event is larger than [`Limits::message_bytes`](super::Limits::message_bytes).
    #[error("the stream can't be read on")]
    EventTooLarge(#[from] EventTooLarge),
    /// The answer is compressed, which we didn't ask for.
    #[error("the answer is encoded as {0}, which was not asked for")]
    Encoded(Excerpt),
    /// The answer was cut off.
    #[error("the answer was cut off")]
    Cut(#[source] hyper::Error),
    /// The stream of the request ended without a response, and without an event id by which
    /// it could be taken up again. The request may have been served.
    #[error("the stream ended without a response")]
    NoResponse(#[source] Option<hyper::Error>),
    /// The stream broke, and the server does not take it up again. The request may have been
    /// served.
    #[error("the stream broke and was not taken up again")]
    StreamLost(#[source] Box<Self>),
    /// The server says that events of the stream are lost to it, and the response may be
    /// among them ([`EVENTS_LOST`](crate::EVENTS_LOST)).
    #[error("the server no longer has what the stream carried")]
    EventsLost,
    /// The server has forgotten the session.
    #[error(
        "the session is lost{}{}",
        if *unread { ", the request was not served" } else { "" },
        if *renewed { ", there is a new one" } else { "" }
    )]
    SessionLost {
        /// The server refused this very request, so it was not served, and may be sent again
        /// whatever it does. If not, it may have been served.
        unread: bool,
        /// There is a new session. If not, the source says why.
        renewed: bool,
        /// Why there is no new session.
        source: Option<Arc<Self>>,
    },
    /// The new session is of another revision than the lost one, so the conversation can't go
    /// on as it was.
    #[error("the new session is of another revision")]
    OtherRevision,
    /// The server gave a session id that is none: it has other characters than visible ASCII,
    /// or is too long.
    #[error("the session id is not visible ASCII")]
    InvalidSessionId,
    /// The server sends us somewhere else, and we don't go: to another origin, by another
    /// status than 307 and 308, or once too often.
    #[error("the server redirects by {status}{to}")]
    Redirected {
        /// The status.
        status: StatusCode,
        /// Where to.
        to: Excerpt,
    },
    /// There are no credentials for the server.
    #[error(transparent)]
    Authorize(#[from] AuthorizeError),
    /// The server speaks the older HTTP+SSE, and names no endpoint that we may post to.
    #[error("the server names no endpoint of its own{0}")]
    Endpoint(Excerpt),
    /// The stream of the older HTTP+SSE is over, and the conversation with it.
    #[error("the stream of events is over")]
    LegacyStreamEnded(#[source] Option<hyper::Error>),
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The name has no address.
    #[error("the name can't be resolved")]
    Resolve(#[source] io::Error),
    /// No address takes connections.
    #[error("the connection was not taken")]
    Tcp(#[source] io::Error),
    /// The server could not prove who it is, or doesn't speak TLS as we do.
    #[error("TLS failed")]
    Tls(#[source] io::Error),
    /// The proxy could not be spoken to.
    #[error("the proxy failed")]
    Proxy(#[source] io::Error),
    /// The proxy opens no tunnel.
    #[error("the proxy answered {0}")]
    ProxyRefused(u16),
    /// Too slow.
    #[error("no connection within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The connection was closed while HTTP began.
    #[error("HTTP failed")]
    Http(#[source] hyper::Error),
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// The head of an answer.
    Head,
    /// The rest of an answer.
    Body,
    /// The event that names the endpoint of the older HTTP+SSE.
    Endpoint,
    /// Something on a stream, if only a sign of life.
    Event,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Head => "answer",
            Self::Body => "end of the answer",
            Self::Endpoint => "endpoint event",
            Self::Event => "event",
        })
    }
}

impl HttpError {
    /// The HTTP side of a link's error, where it has one.
    ///
    /// ```
    /// use mcp_jsonrpc::link::v1::LinkError;
    /// use mcp_transport_http::client::HttpError;
    ///
    /// assert!(HttpError::of(&LinkError::Closed).is_none());
    /// let error = LinkError::failed(HttpError::OtherRevision);
    /// assert!(matches!(HttpError::of(&error), Some(HttpError::OtherRevision)));
    /// ```
    pub fn of(error: &LinkError) -> Option<&Self> {
        match error {
            LinkError::Failed(source) => source.downcast_ref(),
            _ => None,
        }
    }

    /// Whether the same request may succeed if it is sent again unchanged. That is no promise
    /// that it was not served the first time: see [`is_unsent`](Self::is_unsent).
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Connect { source, .. } => !matches!(source, ConnectError::Tls(_)),
            Self::Broken(_)
            | Self::TimedOut { .. }
            | Self::Cut(_)
            | Self::NoResponse(_)
            | Self::StreamLost(_)
            | Self::EventsLost
            | Self::LegacyStreamEnded(_) => true,
            Self::SessionLost { renewed, .. } => *renewed,
            Self::Status { status, .. } => is_passing(*status),
            Self::Authorize(error) => error.is_retryable(),
            Self::NotMcp { .. }
            | Self::NotAResponse(_)
            | Self::TooLarge { .. }
            | Self::EventTooLarge(_)
            | Self::Encoded(_)
            | Self::OtherRevision
            | Self::InvalidSessionId
            | Self::Redirected { .. }
            | Self::Endpoint(_) => false,
        }
    }

    /// Whether the server has certainly not served the request.
    pub const fn is_unsent(&self) -> bool {
        matches!(
            self,
            Self::Connect { .. } | Self::SessionLost { unread: true, .. } | Self::Authorize(_)
        )
    }

    /// The status of the answer, where one decided.
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Status { status, .. }
            | Self::NotMcp { status, .. }
            | Self::Redirected { status, .. } => Some(*status),
            Self::StreamLost(source) => source.status(),
            _ => None,
        }
    }

    /// When to try again, where the server says so.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

/// Whether a refusal by `status` may be over in a moment.
pub(super) fn is_passing(status: StatusCode) -> bool {
    status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED
        || matches!(
            status,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS | StatusCode::CONFLICT
        )
}

/// The start of what a server sent, safe to be shown: at most 500 characters in one line.
///
/// It comes from the server, or from something between it and us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt(Box<str>);

impl Excerpt {
    const LONGEST: usize = 500;

    pub(super) fn new(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes.get(..Self::LONGEST * 4).unwrap_or(bytes));
        let mut shown = String::new();
        for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
            if !word.is_empty() {
                if !shown.is_empty() {
                    shown.push(' ');
                }
                shown.push_str(word);
            }
        }
        if let Some((end, _)) = shown.char_indices().nth(Self::LONGEST) {
            shown.truncate(end);
            shown.push('…');
        }
        Self(shown.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Nothing if it is empty, else the text behind a colon.
impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ": {}", self.0) }
    }
}

/// A client that can't be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The address of the server is no absolute `http` or `https` URL.
    #[error("the address is no absolute http or https URL")]
    Url,
    /// The address holds a user name or password. Credentials go into a header.
    #[error("the address holds credentials")]
    Credentials,
    /// A header that the transport sets by itself.
    #[error("the transport sets the header {name} by itself")]
    Header {
        /// Its name.
        name: Box<str>,
    },
    /// `https`, with a build that has no TLS: the feature `tls` is off.
    #[error("this build has no TLS")]
    NoTls,
    /// `https`, with no certificates to trust: neither given, nor compiled in by a feature.
    #[error("there are no certificates to trust")]
    NoRoots,
    /// The certificates, or the configuration of TLS, can't be used.
    #[error("TLS can't be set up")]
    Tls(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The address of a proxy can't be used.
    #[error("the address of the proxy is no http or https URL")]
    Proxy,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_bounded_line() {
        let page = b"<html>\r\n  <title>502\tBad\x1b[31m Gateway</title>\xff";
        assert_eq!(
            Excerpt::new(page).as_str(),
            "<html> <title>502 Bad [31m Gateway</title>\u{fffd}"
        );
        assert_eq!(Excerpt::new(&[b'x'; 5000]).as_str().chars().count(), 501);
        assert_eq!(Excerpt::default().to_string(), "");
    }

    #[test]
    fn what_passes_is_worth_another_try() {
        let passing = [408, 409, 429, 500, 502, 503, 504];
        for status in [400, 401, 403, 404, 405, 406, 408, 409, 410, 429, 500, 501, 502, 503, 504] {
            let code = StatusCode::from_u16(status).unwrap();
            assert_eq!(is_passing(code), passing.contains(&status), "{status}");
        }
    }
}
