//! From bytes to events.

use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use memchr::{memchr, memchr2};

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Cuts a stream of bytes into events.
///
/// Where the bytes are cut into chunks makes no difference. What the standard ignores is
/// ignored: comments, unknown fields, an `id` with a NUL, a `retry` that is not a number,
/// an event without data (its `id` and `retry` still count), an event that the end of
/// the stream cut off. Text is not decoded: JSON parsers check UTF-8 themselves.
///
/// Data that stands in one line of one chunk is handed out without a copy.
///
/// # Examples
///
/// ```
/// use bytes::Bytes;
/// use mcp_transport_http::sse::{Decoder, EventTooLarge};
///
/// # fn main() -> Result<(), EventTooLarge> {
/// let mut decoder = Decoder::new(1024);
/// let mut chunk = Bytes::from_static(b": hello\nid: 7\ndata: {}\n\ndata: unfini");
/// let event = decoder.feed(&mut chunk)?.expect("the first event is whole");
/// assert_eq!(event.data, "{}");
/// assert_eq!(event.id.as_deref(), Some(&b"7"[..]));
/// assert!(decoder.feed(&mut chunk)?.is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    /// The start of a line whose end has not come yet. Holds no line end.
    line: BytesMut,
    /// The current line is a comment: its bytes are dropped as they come.
    in_comment: bool,
    /// The last byte was a CR that ended a line; a LF right behind it belongs to it.
    after_cr: bool,
    /// How much of a leading byte order mark has been seen; `BOM.len()` once past it.
    bom: usize,
    /// Bytes in the finished lines of the current event.
    size: usize,
    data: Data,
    name: Bytes,
    /// The `id` of the current event, if it has one; takes effect when the event ends.
    id: Option<Bytes>,
    last_id: Option<Bytes>,
    retry: Option<Duration>,
    failed: Option<EventTooLarge>,
}

/// One event, as far as the standard dispatches it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The data lines, joined by LF. May be empty: a priming event has empty data.
    pub data: Bytes,
    /// The event's name; `None` for none or an empty one, which means `message`.
    pub name: Option<Bytes>,
    /// The last event id in force after this event, from this event or an earlier one.
    pub id: Option<Bytes>,
}

impl Event {
    /// Whether this is a message event: without a name, or named `message`.
    pub fn is_message(&self) -> bool {
        self.name.as_ref().is_none_or(|name| name == "message")
    }
}

/// An event is larger than the decoder was told to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event has {size} bytes or more, past the limit of {limit}")]
#[non_exhaustive]
pub struct EventTooLarge {
    /// Bytes of the event seen so far; the event may have more.
    pub size: usize,
    /// The limit in force, in bytes.
    pub limit: usize,
}

#[derive(Debug)]
enum Data {
    Absent,
    Line(Bytes),
    Lines(BytesMut),
}

impl Decoder {
    /// Makes a decoder for the start of a stream.
    ///
    /// `limit` bounds one event: the bytes of its lines, without line ends and comments.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: BytesMut::new(),
            in_comment: false,
            after_cr: false,
            bom: 0,
            size: 0,
            data: Data::Absent,
            name: Bytes::new(),
            id: None,
            last_id: None,
            retry: None,
            failed: None,
        }
    }

    /// Takes bytes from the front of `chunk` up to the end of an event.
    ///
    /// Call it again with the rest of the chunk until it gives `None`: then the chunk is
    /// empty, and the next one may come.
    ///
    /// # Errors
    ///
    /// [`EventTooLarge`] as soon as an event passes the limit. The stream can't be read
    /// on from there: every later call gives the same error.
    pub fn feed(&mut self, chunk: &mut Bytes) -> Result<Option<Event>, EventTooLarge> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.bom < BOM.len() {
            self.skip_bom(chunk);
        }
        loop {
            if self.after_cr && !chunk.is_empty() {
                self.after_cr = false;
                if chunk.first() == Some(&b'\n') {
                    chunk.advance(1);
                }
            }
            let Some(end) = memchr2(b'\n', b'\r', chunk) else {
                let rest = chunk.split_off(0);
                self.hold(&rest)?;
                return Ok(None);
            };
            let piece = chunk.split_to(end);
            self.after_cr = chunk.first() == Some(&b'\r');
            chunk.advance(1);

            if self.in_comment {
                self.in_comment = false;
                continue;
            }
            let line = if self.line.is_empty() {
                piece
            } else {
                self.check(piece.len())?;
                self.line.extend_from_slice(&piece);
                self.line.split().freeze()
            };
            if !line.is_empty() {
                self.field(line)?;
            } else if let Some(event) = self.dispatch() {
                return Ok(Some(event));
            }
        }
    }

    /// The last event id in force, `None` for none or an empty one.
    ///
    /// This is what `Last-Event-ID` says when the stream is resumed. It counts once the
    /// event that brought it has ended, also if that event had no data.
    pub fn last_event_id(&self) -> Option<&Bytes> {
        self.last_id.as_ref()
    }

    /// How long the peer asked to wait before a reconnect, if it did.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    fn skip_bom(&mut self, chunk: &mut Bytes) {
        while let (Some(expected), Some(byte)) = (BOM.get(self.bom), chunk.first()) {
            if byte != expected {
                // Not a mark after all: these bytes begin the first line.
                self.line.extend_from_slice(BOM.get(..self.bom).unwrap_or_default());
                self.bom = BOM.len();
                return;
            }
            chunk.advance(1);
            self.bom += 1;
        }
    }

    /// Keeps the start of a line until the rest comes.
    fn hold(&mut self, piece: &[u8]) -> Result<(), EventTooLarge> {
        if self.line.is_empty() && piece.first() == Some(&b':') {
            self.in_comment = true;
        }
        if self.in_comment || piece.is_empty() {
            return Ok(());
        }
        self.check(piece.len())?;
        self.line.extend_from_slice(piece);
        Ok(())
    }

    /// Whether `more` bytes still fit into the current event.
    fn check(&mut self, more: usize) -> Result<(), EventTooLarge> {
        let size = self.size.saturating_add(self.line.len()).saturating_add(more);
        if size <= self.limit {
            return Ok(());
        }
        let error = EventTooLarge { size, limit: self.limit };
        self.failed = Some(error);
        self.line = BytesMut::new();
        self.data = Data::Absent;
        Err(error)
    }

    fn field(&mut self, mut line: Bytes) -> Result<(), EventTooLarge> {
        if line.first() == Some(&b':') {
            return Ok(());
        }
        self.check(line.len())?;
        self.size += line.len();
        let name = match memchr(b':', &line) {
            None => line.split_off(0),
            Some(colon) => {
                let name = line.split_to(colon);
                line.advance(1);
                if line.first() == Some(&b' ') {
                    line.advance(1);
                }
                name
            }
        };
        let value = line;
        match &*name {
            b"data" => self.data.push(value),
            b"event" => self.name = value,
            b"id" if memchr(0, &value).is_none() => self.id = Some(value),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.retry = Some(Duration::from_millis(number(&value)));
            }
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self) -> Option<Event> {
        self.size = 0;
        if let Some(id) = self.id.take() {
            self.last_id = Some(id).filter(|id| !id.is_empty());
        }
        let name = Some(std::mem::take(&mut self.name)).filter(|name| !name.is_empty());
        let data = match std::mem::replace(&mut self.data, Data::Absent) {
            Data::Absent => return None,
            Data::Line(line) => line,
            Data::Lines(lines) => lines.freeze(),
        };
        Some(Event { data, name, id: self.last_id.clone() })
    }
}

impl Data {
    fn push(&mut self, line: Bytes) {
        match self {
            Self::Absent => *self = Self::Line(line),
            Self::Line(first) => {
                let mut lines = BytesMut::with_capacity(first.len() + 1 + line.len());
                lines.extend_from_slice(first);
                lines.extend_from_slice(b"\n");
                lines.extend_from_slice(&line);
                *self = Self::Lines(lines);
            }
            Self::Lines(lines) => {
                lines.extend_from_slice(b"\n");
                lines.extend_from_slice(&line);
            }
        }
    }
}

/// Digits to a number; one that is too large becomes the largest.
fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0u64, |n, digit| {
        n.saturating_mul(10).saturating_add(u64::from(digit.wrapping_sub(b'0')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `chunks`, and prints every event and then the state.
    fn check(chunks: &[&[u8]], expected: &expect_test::Expect) {
        let mut decoder = Decoder::new(200);
        let mut log = String::new();
        for chunk in chunks {
            let mut chunk = Bytes::copy_from_slice(chunk);
            loop {
                match decoder.feed(&mut chunk) {
                    Ok(Some(event)) => {
                        log += &format!("{:?}", event.data);
                        if let Some(name) = event.name {
                            log += &format!(" name {name:?}");
                        }
                        if let Some(id) = event.id {
                            log += &format!(" id {id:?}");
                        }
                        log += "\n";
                    }
                    Ok(None) => break,
                    Err(error) => {
                        log += &format!("! {error}\n");
                        break;
                    }
                }
            }
            assert!(decoder.failed.is_some() || chunk.is_empty());
        }
        log += &format!("last id {:?}, retry {:?}\n", decoder.last_id, decoder.retry);
        expected.assert_eq(&log);
    }

    macro_rules! expected {
        ($($text:tt)*) => { &expect_test::expect![$($text)*] };
    }

    // Shows: FC-055, TRANSPORT-HTTP-048
    #[test]
    fn an_event_ends_with_the_first_byte_of_its_blank_line() {
        for ends in ["\n\n", "\r\n\r", "\r\r", "\n\r", "\r\n\n"] {
            let text = format!("data: 1{ends}");
            check(
                &[text.as_bytes()],
                expected![[r#"
                    b"1"
                    last id None, retry None
                "#]],
            );
        }
    }

    // Shows: FC-055
    #[test]
    fn a_line_feed_behind_a_carriage_return_belongs_to_it_across_chunks() {
        check(
            &[b"data: 1\r", b"\n\r", b"\ndata: 2\r\n", b"\r", b"\n\r\n"],
            expected![[r#"
                b"1"
                b"2"
                last id None, retry None
            "#]],
        );
    }

    // Shows: FC-056
    #[test]
    fn comments_are_ignored_wherever_they_stand() {
        check(
            &[b": ping - 2025-01-01 00:00:00\n\n:\ndata: {\"id\":1,\n: mid\ndata: \"r\":{}}\n\n"],
            expected![[r#"
                b"{\"id\":1,\n\"r\":{}}"
                last id None, retry None
            "#]],
        );
    }

    // Shows: FC-057, TRANSPORT-HTTP-049
    #[test]
    fn a_priming_event_has_empty_data_and_sets_id_and_retry() {
        check(
            &[b"id: s1:0\nretry: 3000\ndata:\n\nid: s1:1\ndata: {}\n\n"],
            expected![[r#"
                b"" id b"s1:0"
                b"{}" id b"s1:1"
                last id Some(b"s1:1"), retry Some(3s)
            "#]],
        );
    }

    // Shows: FC-058, TRANSPORT-HTTP-048
    #[test]
    fn an_event_that_the_end_cut_off_is_not_given_out() {
        check(
            &[b"id: 9\ndata: {}\n"],
            expected![[r#"
                last id None, retry None
            "#]],
        );
    }

    #[test]
    fn an_event_without_data_still_sets_the_id() {
        check(
            &[b"id: 9\nevent: x\n\ndata: later\n\n"],
            expected![[r#"
                b"later" id b"9"
                last id Some(b"9"), retry None
            "#]],
        );
    }

    // Shows: TRANSPORT-HTTP-048
    #[test]
    fn what_the_standard_ignores_is_ignored() {
        check(
            &[b"id: a\0b\nretry: 12x\nretry:\nretry: -1\nunknown: field\nno colon\ndata: 1\nid\n\n"],
            expected![[r#"
                b"1"
                last id None, retry None
            "#]],
        );
    }

    #[test]
    fn the_last_field_of_a_kind_wins() {
        check(
            &[b"id: 1\nid: 2\nevent: a\nevent: message\nretry: 1\nretry: 99999999999999999999\ndata\ndata:x\ndata:  y\n\n"],
            expected![[r#"
                b"\nx\n y" name b"message" id b"2"
                last id Some(b"2"), retry Some(18446744073709551.615s)
            "#]],
        );
    }

    #[test]
    fn one_byte_order_mark_at_the_start_is_skipped() {
        let one = expected![[r#"
            b"1"
            last id None, retry None
        "#]];
        check(&[b"\xef\xbb\xbfdata: 1\n\n"], one);
        check(&[b"\xef", b"\xbb", b"\xbf", b"data: 1\n\n"], one);
        let none = expected![[r#"
            last id None, retry None
        "#]];
        check(&[b"\xef\xbb\xbf\xef\xbb\xbfdata: 1\n\n"], none);
        check(&[b"\xef\xbb", b"data: 1\n\n"], none);
    }

    // Shows: FC-059
    #[test]
    fn an_event_over_the_limit_is_an_error_that_names_both_sizes() {
        let mut long = b"data: ".to_vec();
        long.resize(201, b'x');
        check(
            &[&long, b"\n\ndata: 1\n\n"],
            expected![[r#"
                ! an event has 201 bytes or more, past the limit of 200
                ! an event has 201 bytes or more, past the limit of 200
                last id None, retry None
            "#]],
        );
        let fits: Vec<u8> = [&long[..200], b"\n\n"].concat();
        let mut decoder = Decoder::new(200);
        let event = decoder.feed(&mut Bytes::from(fits)).unwrap().unwrap();
        assert_eq!(event.data.len(), 194);
    }

    #[test]
    fn many_lines_of_one_event_share_the_limit() {
        let text = "data: 1234567890\n".repeat(13);
        check(
            &[text.as_bytes()],
            expected![[r#"
                ! an event has 208 bytes or more, past the limit of 200
                last id None, retry None
            "#]],
        );
    }

    #[test]
    fn an_endless_comment_takes_no_memory() {
        let mut decoder = Decoder::new(16);
        let mut first = Bytes::from_static(b": ");
        assert_eq!(decoder.feed(&mut first), Ok(None));
        for _ in 0..1000 {
            let mut chunk = Bytes::from_static(&[b'x'; 1000]);
            assert_eq!(decoder.feed(&mut chunk), Ok(None));
        }
        assert_eq!(decoder.line.capacity(), 0);
        let mut end = Bytes::from_static(b"\ndata: 1\n\n");
        assert!(decoder.feed(&mut end).unwrap().is_some());
    }

    #[test]
    fn data_in_one_line_of_one_chunk_is_not_copied() {
        let whole = Bytes::from_static(b"id: 1\ndata: {\"jsonrpc\":\"2.0\"}\n\n");
        let event = Decoder::new(100).feed(&mut whole.clone()).unwrap().unwrap();
        assert_eq!(event.data.as_ptr(), whole.slice(12..).as_ptr());
    }
}
