//! From events to bytes.

use std::time::Duration;

use bytes::{BufMut, BytesMut};
use memchr::memchr2;

/// One event, to be written.
///
/// # Examples
///
/// ```
/// use bytes::BytesMut;
/// use mcp_transport_http::sse::EventText;
///
/// # fn main() -> Result<(), mcp_transport_http::sse::NotOneLine> {
/// let mut out = BytesMut::new();
/// EventText::new(b"{}").with_id("7")?.write(&mut out);
/// assert_eq!(out, "id: 7\ndata: {}\n\n");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct EventText<'a> {
    id: Option<&'a str>,
    name: Option<&'a str>,
    retry: Option<Duration>,
    data: &'a [u8],
}

/// A name or an id of an event holds a line end or a NUL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event's name or id can't hold a line end or a NUL")]
#[non_exhaustive]
pub struct NotOneLine;

impl<'a> EventText<'a> {
    /// Starts an event with `data`, which may be empty and may hold line ends.
    ///
    /// A reader sees each line end as a LF.
    pub fn new(data: &'a [u8]) -> Self {
        Self { id: None, name: None, retry: None, data }
    }

    /// Gives the event an id, the cursor from which a reader resumes.
    ///
    /// # Errors
    ///
    /// [`NotOneLine`] when a reader would not take `id` as written.
    pub fn with_id(mut self, id: &'a str) -> Result<Self, NotOneLine> {
        self.id = Some(one_line(id)?);
        Ok(self)
    }

    /// Gives the event a name; without one it is a `message`.
    ///
    /// # Errors
    ///
    /// [`NotOneLine`] when a reader would not take `name` as written.
    pub fn with_name(mut self, name: &'a str) -> Result<Self, NotOneLine> {
        self.name = Some(one_line(name)?);
        Ok(self)
    }

    /// Tells the reader how long to wait before a reconnect, in whole milliseconds.
    #[must_use]
    pub fn with_retry(mut self, retry: Duration) -> Self {
        self.retry = Some(retry);
        self
    }

    /// Appends the event to `out`.
    pub fn write(&self, out: &mut BytesMut) {
        let names = self.id.map_or(0, str::len) + self.name.map_or(0, str::len);
        // Field names, line ends and the longest retry.
        out.reserve(names + self.data.len() + 64);
        if let Some(name) = self.name {
            line(out, b"event: ", name.as_bytes());
        }
        if let Some(id) = self.id {
            line(out, b"id: ", id.as_bytes());
        }
        if let Some(retry) = self.retry {
            let mut digits = [0; 20];
            let ms = u64::try_from(retry.as_millis()).unwrap_or(u64::MAX);
            line(out, b"retry: ", decimal(ms, &mut digits));
        }
        let mut rest = self.data;
        loop {
            let end = memchr2(b'\n', b'\r', rest);
            let (head, tail) = rest.split_at(end.unwrap_or(rest.len()));
            // Without the space for empty data, as the standard's own examples write it.
            line(out, if head.is_empty() { b"data:" } else { b"data: " }, head);
            match tail {
                [] => break,
                [b'\r', b'\n', after @ ..] | [_, after @ ..] => rest = after,
            }
        }
        out.put_u8(b'\n');
    }
}

/// Appends a comment, which keeps a silent connection alive and means nothing.
///
/// # Errors
///
/// [`NotOneLine`] when `text` holds a line end or a NUL.
pub fn comment(text: &str, out: &mut BytesMut) -> Result<(), NotOneLine> {
    line(out, if text.is_empty() { b":" } else { b": " }, one_line(text)?.as_bytes());
    out.put_u8(b'\n');
    Ok(())
}

fn line(out: &mut BytesMut, field: &[u8], value: &[u8]) {
    out.extend_from_slice(field);
    out.extend_from_slice(value);
    out.put_u8(b'\n');
}

fn one_line(text: &str) -> Result<&str, NotOneLine> {
    match memchr::memchr3(b'\n', b'\r', 0, text.as_bytes()) {
        None => Ok(text),
        Some(_) => Err(NotOneLine),
    }
}

fn decimal(mut n: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut start = digits.len();
    for (at, digit) in digits.iter_mut().enumerate().rev() {
        *digit = b'0' + u8::try_from(n % 10).unwrap_or_default();
        n /= 10;
        start = at;
        if n == 0 {
            break;
        }
    }
    digits.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(event: EventText<'_>, expected: &str) {
        let mut out = BytesMut::new();
        event.write(&mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn every_field_has_its_line() {
        let event = EventText::new(b"{}").with_id("a-1").unwrap().with_name("endpoint").unwrap();
        let event = event.with_retry(Duration::from_millis(3000));
        check(event, "event: endpoint\nid: a-1\nretry: 3000\ndata: {}\n\n");
    }

    // Shows: TRANSPORT-HTTP-016
    #[test]
    fn a_priming_event_has_an_empty_data_field() {
        check(EventText::new(b"").with_id("a-0").unwrap(), "id: a-0\ndata:\n\n");
    }

    #[test]
    fn line_ends_in_data_make_lines() {
        check(
            EventText::new(b"{\r\n\"a\":\r1\n}\n"),
            "data: {\ndata: \"a\":\ndata: 1\ndata: }\ndata:\n\n",
        );
    }

    #[test]
    fn an_id_with_a_line_end_is_refused() {
        for bad in ["a\nb", "\r", "\0"] {
            assert_eq!(EventText::new(b"").with_id(bad).unwrap_err(), NotOneLine);
            assert_eq!(EventText::new(b"").with_name(bad).unwrap_err(), NotOneLine);
            assert_eq!(comment(bad, &mut BytesMut::new()), Err(NotOneLine));
        }
    }

    #[test]
    fn retry_is_written_in_whole_milliseconds() {
        check(EventText::new(b"").with_retry(Duration::ZERO), "retry: 0\ndata:\n\n");
        check(
            EventText::new(b"").with_retry(Duration::MAX),
            "retry: 18446744073709551615\ndata:\n\n",
        );
    }
}
