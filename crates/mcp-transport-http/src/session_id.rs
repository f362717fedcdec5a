//! The name of a session, which is a secret.

use std::fmt;
use std::sync::Arc;

use hyper::header::{HeaderMap, HeaderValue};

use crate::header::{MCP_SESSION_ID, Single};

/// Names one session.
///
/// Who knows it may, short of a guard, act in the session: it prints as `<redacted>`.
/// Visible ASCII only, at most [`SessionId::MAX`] bytes.
///
/// Specification:
/// [session management](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management).
///
/// # Examples
///
/// ```
/// use mcp_transport_http::SessionId;
///
/// let id: SessionId = "1868a90c".parse()?;
/// assert_eq!(format!("{id:?}"), "<redacted>");
/// assert!("with space".parse::<SessionId>().is_err());
/// # Ok::<(), mcp_transport_http::InvalidSessionId>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(Arc<str>);

/// Text that can't be a session id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a session id is 1 to {} visible ASCII characters", SessionId::MAX)]
#[non_exhaustive]
pub struct InvalidSessionId;

/// The session that a request names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NamedSession {
    /// None: there is no header.
    None,
    /// One that may exist.
    Id(SessionId),
    /// One that can't exist: we never issue such an id.
    Impossible,
}

impl SessionId {
    /// The longest id that is taken, in bytes.
    pub const MAX: usize = 256;

    /// The id as text. It is a secret: keep it out of logs.
    pub fn expose(&self) -> &str {
        &self.0
    }

    #[cfg(feature = "server")]
    pub(crate) fn to_arc(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    /// The session that `headers` name.
    pub fn of(headers: &HeaderMap) -> NamedSession {
        match Single::of(headers, &MCP_SESSION_ID) {
            Single::Absent => NamedSession::None,
            Single::Text(text) => text.parse().map_or(NamedSession::Impossible, NamedSession::Id),
            Single::Malformed => NamedSession::Impossible,
        }
    }

    /// The id as a header's value, marked as sensitive.
    pub fn to_header(&self) -> HeaderValue {
        // Visible ASCII is always a valid value; an empty one can't come out.
        let mut value = HeaderValue::from_str(&self.0).unwrap_or(HeaderValue::from_static(""));
        value.set_sensitive(true);
        value
    }
}

impl std::str::FromStr for SessionId {
    type Err = InvalidSessionId;

    fn from_str(text: &str) -> Result<Self, InvalidSessionId> {
        let visible = text.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
        if visible && (1..=Self::MAX).contains(&text.len()) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidSessionId)
        }
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<redacted>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: TRANSPORT-SESSION-003
    #[test]
    fn only_visible_ascii_is_a_session_id() {
        for good in ["a", "!~", &"x".repeat(SessionId::MAX)] {
            assert_eq!(good.parse::<SessionId>().map(|id| id.expose() == good), Ok(true));
        }
        for bad in ["", " ", "a b", "\t", "ä", "a\u{7f}", &"x".repeat(SessionId::MAX + 1)] {
            assert_eq!(bad.parse::<SessionId>(), Err(InvalidSessionId), "{bad:?}");
        }
    }

    // Shows: RS-SB-6, TRANSPORT-SESSION-004
    #[test]
    fn a_session_id_is_never_printed() {
        let id: SessionId = "secret".parse().unwrap();
        assert!(!format!("{id:?} {:?}", id.to_header()).contains("secret"));
        assert_eq!(id.to_header(), "secret");
    }

    #[test]
    fn a_header_that_stands_twice_names_no_session() {
        let value = HeaderValue::from_static("abc");
        let headers: HeaderMap =
            [(MCP_SESSION_ID, value.clone()), (MCP_SESSION_ID, value)].into_iter().collect();
        assert_eq!(SessionId::of(&headers), NamedSession::Impossible);
    }
}
