//! Header names, and what their values mean.

use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

/// `MCP-Session-Id`: which session a request belongs to.
pub const MCP_SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// `MCP-Protocol-Version`: the revision that was negotiated.
pub const MCP_PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// `Last-Event-ID`: where to resume a stream.
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(crate) const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");

/// The kinds of answer that a request's `Accept` header allows.
///
/// Wildcards, weights, several header lines and any letter case are understood as
/// [RFC 9110](https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1) says: the most
/// specific range decides, and a weight of 0 excludes. No header allows everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Accept {
    /// Whether `application/json` may be sent.
    pub json: Taken,
    /// Whether `text/event-stream` may be sent.
    pub event_stream: Taken,
}

/// Whether a client takes a kind of answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Taken {
    /// It doesn't.
    No,
    /// It takes it among others: by a wildcard, or by having no `Accept` header.
    Implied,
    /// It names it.
    Named,
}

impl Taken {
    /// Whether the kind may be sent.
    pub fn is_allowed(self) -> bool {
        self != Self::No
    }
}

impl Accept {
    /// Reads the `Accept` header.
    ///
    /// # Examples
    ///
    /// ```
    /// use hyper::header::{ACCEPT, HeaderMap, HeaderValue};
    /// use mcp_transport_http::header::{Accept, Taken};
    ///
    /// let mut headers = HeaderMap::new();
    /// headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream;q=0, */*"));
    /// let accept = Accept::of(&headers);
    /// assert_eq!((accept.json, accept.event_stream), (Taken::Implied, Taken::No));
    /// ```
    pub fn of(headers: &HeaderMap) -> Self {
        // What nearly every client sends, word for word.
        let mut values = headers.get_all(ACCEPT).iter();
        let first = values.next();
        if values.next().is_none()
            && first.is_some_and(|v| v == "application/json, text/event-stream")
        {
            return Self { json: Taken::Named, event_stream: Taken::Named };
        }

        let mut json = Match::default();
        let mut event_stream = Match::default();
        let mut any = false;
        for value in headers.get_all(ACCEPT) {
            for element in split(value.as_bytes(), b',') {
                let mut parts = split(element, b';');
                let range = parts.next().unwrap_or_default();
                if range.is_empty() {
                    continue;
                }
                any = true;
                let allowed = weight(parts);
                json.offer(range, "application", "json", allowed);
                event_stream.offer(range, "text", "event-stream", allowed);
            }
        }
        if !any {
            return Self { json: Taken::Implied, event_stream: Taken::Implied };
        }
        Self { json: json.taken(), event_stream: event_stream.taken() }
    }
}

/// The best match for one media type so far.
#[derive(Clone, Copy, Debug, Default)]
struct Match {
    allowed: bool,
    /// 0: none, 1: `*/*`, 2: `type/*`, 3: named.
    precision: u8,
}

impl Match {
    fn offer(&mut self, range: &[u8], kind: &str, subtype: &str, allowed: bool) {
        let Some(slash) = memchr::memchr(b'/', range) else { return };
        let (ours, rest) = range.split_at(slash);
        let theirs = rest.get(1..).unwrap_or_default();
        let precision = match (ours, theirs) {
            (b"*", b"*") => 1,
            _ if !ours.eq_ignore_ascii_case(kind.as_bytes()) => return,
            (_, b"*") => 2,
            _ if theirs.eq_ignore_ascii_case(subtype.as_bytes()) => 3,
            _ => return,
        };
        // Of two equally specific ranges, the one that allows wins.
        if self.precision < precision || (self.precision == precision && allowed) {
            *self = Self { allowed, precision };
        }
    }

    fn taken(self) -> Taken {
        match (self.allowed, self.precision) {
            (false, _) => Taken::No,
            (true, 3) => Taken::Named,
            (true, _) => Taken::Implied,
        }
    }
}

/// Whether the weight among `parameters` is above 0; one that can't be read counts as 1.
fn weight<'a>(parameters: impl Iterator<Item = &'a [u8]>) -> bool {
    for parameter in parameters {
        if let Some((name, value)) = assignment(parameter)
            && name.eq_ignore_ascii_case(b"q")
        {
            let zero = value.first() == Some(&b'0')
                && value.iter().all(|byte| matches!(byte, b'0' | b'.'));
            return !zero;
        }
    }
    true
}

/// Whether the body is said to be JSON in UTF-8.
///
/// Parameters are allowed; a `charset` has to be one that UTF-8 covers. Several
/// `Content-Type` headers, or none, are not JSON.
pub fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    value == JSON || has_media_type(value, "application/json")
}

/// Whether the body is said to be a stream of events.
pub fn is_event_stream(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    value == EVENT_STREAM || has_media_type(value, "text/event-stream")
}

fn has_media_type(value: &HeaderValue, expected: &str) -> bool {
    let mut parts = split(value.as_bytes(), b';');
    let kind = parts.next().unwrap_or_default();
    kind.eq_ignore_ascii_case(expected.as_bytes())
        && parts.filter_map(assignment).all(|(name, value)| {
            !name.eq_ignore_ascii_case(b"charset")
                || [&b"utf-8"[..], b"utf8", b"us-ascii"]
                    .iter()
                    .any(|known| value.eq_ignore_ascii_case(known))
        })
}

/// A header that may stand once, and what its values were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Single<'a> {
    /// The header is not there.
    Absent,
    /// The header stands once, with visible ASCII and inner spaces only; may be empty.
    Text(&'a str),
    /// The header stands several times, or holds something else.
    Malformed,
}

impl<'a> Single<'a> {
    /// Reads the header `name`.
    pub fn of(headers: &'a HeaderMap, name: &HeaderName) -> Self {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (None, _) => Self::Absent,
            (Some(value), None) => value.to_str().map_or(Self::Malformed, Self::Text),
            (Some(_), Some(_)) => Self::Malformed,
        }
    }
}

/// Cuts a list at `separator`, but not inside quoted strings, and trims its elements.
fn split(list: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(list);
    std::iter::from_fn(move || {
        let list = rest?;
        let mut quoted = false;
        let mut escaped = false;
        let end = list.iter().position(|byte| {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                byte if !quoted && *byte == separator => return true,
                _ => {}
            }
            false
        });
        let (element, tail) = list.split_at(end.unwrap_or(list.len()));
        rest = tail.get(1..);
        Some(element.trim_ascii())
    })
}

/// `name=value` or `name="value"`; quoting is taken off, escapes are kept.
fn assignment(parameter: &[u8]) -> Option<(&[u8], &[u8])> {
    let equals = memchr::memchr(b'=', parameter)?;
    let (name, rest) = parameter.split_at(equals);
    let value = rest.get(1..).unwrap_or_default().trim_ascii();
    let value = value.strip_prefix(b"\"").and_then(|v| v.strip_suffix(b"\"")).unwrap_or(value);
    Some((name.trim_ascii(), value))
}

#[cfg(test)]
mod tests {
    use super::Taken::{Implied, Named, No};
    use super::*;

    fn accept(lines: &[&'static str]) -> HeaderMap {
        lines.iter().map(|line| (ACCEPT, HeaderValue::from_static(line))).collect()
    }

    // Shows: FC-052, TRANSPORT-HTTP-008, TRANSPORT-HTTP-031
    #[test]
    fn accept_is_read_by_the_rules_of_http() {
        // Header lines; JSON, event stream.
        let table: &[(&[&str], [Taken; 2])] = &[
            (&["application/json, text/event-stream"], [Named, Named]),
            (&["text/event-stream;q=0.9 , application/json;q=1.0"], [Named, Named]),
            (&["application/json", "text/event-stream"], [Named, Named]),
            (&["APPLICATION/JSON,Text/Event-Stream"], [Named, Named]),
            (&["application/json;charset=\"a,b;q=0\", text/event-stream"], [Named, Named]),
            (&["*/*"], [Implied, Implied]),
            (&["application/*, text/*"], [Implied, Implied]),
            (&["application/json, */*;q=0.1"], [Named, Implied]),
            (&[], [Implied, Implied]),
            (&[""], [Implied, Implied]),
            (&[" , "], [Implied, Implied]),
            (&["application/json"], [Named, No]),
            (&["text/event-stream"], [No, Named]),
            (&["text/event-stream;q=0, application/json"], [Named, No]),
            (&["text/event-stream;q=0, */*"], [Implied, No]),
            (&["*/*, text/event-stream; Q=0.000"], [Implied, No]),
            (&["text/*;q=0, */*"], [Implied, No]),
            (&["text/*;q=0, text/event-stream, */*;q=0.5"], [Implied, Named]),
            (&["text/event-stream;q=0.001, application/json;q=junk"], [Named, Named]),
            (&["text/html"], [No, No]),
            (&["text/html, application/xhtml+xml, */*;q=0.8"], [Implied, Implied]),
            (&["*/json"], [No, No]),
            (&["json"], [No, No]),
        ];
        for (lines, [json, event_stream]) in table {
            let expected = Accept { json: *json, event_stream: *event_stream };
            assert_eq!(Accept::of(&accept(lines)), expected, "{lines:?}");
        }
    }

    // Shows: TRANSPORT-HTTP-015
    #[test]
    fn content_types_may_have_parameters() {
        let table: &[(&[&str], bool)] = &[
            (&["application/json"], true),
            (&["application/json; charset=utf-8"], true),
            (&["Application/JSON;Charset=\"UTF-8\"; x=y"], true),
            (&["application/json;"], true),
            (&["application/json; charset=iso-8859-1"], false),
            (&["application/jsonp"], false),
            (&["text/plain"], false),
            (&["application/json", "application/json"], false),
            (&[], false),
        ];
        for (lines, expected) in table {
            let headers: HeaderMap =
                lines.iter().map(|line| (CONTENT_TYPE, HeaderValue::from_static(line))).collect();
            assert_eq!(is_json(&headers), *expected, "{lines:?}");
        }
        let headers = HeaderMap::from_iter([(
            CONTENT_TYPE,
            HeaderValue::from_static("text/event-stream; charset=utf-8"),
        )]);
        assert!(is_event_stream(&headers) && !is_json(&headers));
    }

    #[test]
    fn a_header_that_stands_twice_is_malformed() {
        let mut headers = HeaderMap::new();
        assert_eq!(Single::of(&headers, &LAST_EVENT_ID), Single::Absent);
        headers.append(LAST_EVENT_ID, HeaderValue::from_static("a-1"));
        assert_eq!(Single::of(&headers, &LAST_EVENT_ID), Single::Text("a-1"));
        headers.append(LAST_EVENT_ID, HeaderValue::from_static("a-1"));
        assert_eq!(Single::of(&headers, &LAST_EVENT_ID), Single::Malformed);
        headers.insert(LAST_EVENT_ID, HeaderValue::from_bytes(b"\xff").unwrap());
        assert_eq!(Single::of(&headers, &LAST_EVENT_ID), Single::Malformed);
    }
}
