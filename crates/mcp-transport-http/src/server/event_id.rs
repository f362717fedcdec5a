//! Event ids: a cursor in one stream of one session.

use std::fmt;

/// Names one event of one stream of one session.
///
/// On the wire it reads `tag-stream-event` in hexadecimal, for example `9c2f01aa-3-1c`.
/// The tag belongs to the session, so that an id of another session is never taken for
/// one of this one; the stream is in the id, so that a resume finds it without a search.
/// Event 0 is the priming event; the messages of a stream count from 1.
///
/// Specification:
/// [resumability](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct EventId {
    /// Which session, as far as its own ids are concerned.
    pub tag: u32,
    /// Which stream of the session.
    pub stream: u64,
    /// Which event of the stream.
    pub event: u64,
}

/// An [`EventId`] as it is written, without an allocation.
#[derive(Clone, Copy)]
pub struct EventIdText {
    bytes: [u8; Self::MAX],
    start: usize,
}

/// Text that is no event id of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an event id of this server")]
#[non_exhaustive]
pub struct InvalidEventId;

impl EventId {
    /// Makes an id.
    pub fn new(tag: u32, stream: u64, event: u64) -> Self {
        Self { tag, stream, event }
    }

    /// The id as it is written.
    pub fn to_text(self) -> EventIdText {
        let mut text = EventIdText { bytes: [b'0'; EventIdText::MAX], start: EventIdText::MAX };
        text.push_hex(self.event, 1);
        text.push(b'-');
        text.push_hex(self.stream, 1);
        text.push(b'-');
        text.push_hex(u64::from(self.tag), 8);
        text
    }
}

impl std::str::FromStr for EventId {
    type Err = InvalidEventId;

    /// Reads exactly what [`EventId::to_text`] writes, in bounded time.
    fn from_str(text: &str) -> Result<Self, InvalidEventId> {
        if EventIdText::MAX < text.len() {
            return Err(InvalidEventId);
        }
        let mut parts = text.split('-').map(|part| {
            let digits = part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
            digits.then(|| u64::from_str_radix(part, 16).ok()).flatten()
        });
        let mut part = || parts.next().flatten().ok_or(InvalidEventId);
        let tag = u32::try_from(part()?).map_err(|_| InvalidEventId)?;
        let id = Self { tag, stream: part()?, event: part()? };
        // One spelling each: an id is a name, and names are compared.
        if parts.next().is_none() && id.to_text().as_str() == text {
            Ok(id)
        } else {
            Err(InvalidEventId)
        }
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_text().as_str())
    }
}

impl EventIdText {
    /// Three numbers and two hyphens.
    const MAX: usize = 8 + 16 + 16 + 2;

    /// The text.
    pub fn as_str(&self) -> &str {
        // Only hexadecimal digits and hyphens were pushed.
        std::str::from_utf8(self.bytes.get(self.start..).unwrap_or_default()).unwrap_or_default()
    }

    /// Puts a byte in front.
    fn push(&mut self, byte: u8) {
        self.start = self.start.saturating_sub(1);
        if let Some(slot) = self.bytes.get_mut(self.start) {
            *slot = byte;
        }
    }

    /// Puts a number in front, with at least `width` digits.
    fn push_hex(&mut self, mut n: u64, width: usize) {
        let mut digits = 0;
        while n != 0 || digits < width {
            let digit = u8::try_from(n & 0xf).unwrap_or_default();
            self.push(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 });
            n >>= 4;
            digits += 1;
        }
    }
}

impl fmt::Debug for EventIdText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_id_reads_tag_stream_event() {
        let id = EventId::new(0x1a, 3, 28);
        assert_eq!(id.to_string(), "0000001a-3-1c");
        let longest = EventId::new(u32::MAX, u64::MAX, u64::MAX);
        assert_eq!(longest.to_text().as_str().len(), EventIdText::MAX);
        assert_eq!(longest.to_string().parse(), Ok(longest));
    }

    // Shows: FC-062
    #[test]
    fn what_we_did_not_write_is_no_id() {
        let garbage = "x".repeat(10_000);
        for bad in [
            "nope",
            "",
            &garbage,
            "1-2-3",
            "0000001A-1-1",
            "0000001a-01-1",
            "0000001a-1",
            "0000001a-1-1-1",
            "0000001a--1",
            "0000001a-+1-1",
            "100000000-1-1",
        ] {
            assert_eq!(bad.parse::<EventId>(), Err(InvalidEventId), "{bad}");
        }
    }

    proptest! {
        // Shows: TRANSPORT-RESUME-003
        #[test]
        fn what_is_written_is_read_back(tag: u32, stream: u64, event: u64) {
            let id = EventId::new(tag, stream, event);
            prop_assert_eq!(id.to_string().parse(), Ok(id));
        }

        #[test]
        fn no_text_makes_it_fail_other_than_by_an_error(text in "\\PC{0,60}") {
            if let Ok(id) = text.parse::<EventId>() {
                prop_assert_eq!(id.to_string(), text);
            }
        }
    }
}
