use bytes::{Bytes, BytesMut};
use memchr::memchr;

/// Cuts a stream of bytes into lines. It does no I/O.
///
/// Lines end in LF or CRLF; empty and blank ones are skipped. A line shares the memory that it
/// was read into. One that is longer than the limit is never held as a whole: what comes after
/// the limit is thrown away as it comes, and the line is reported once, when it ends.
///
/// Bytes cost linear time however they are cut: none is looked at twice for a line end.
///
/// # Examples
///
/// ```
/// use mcp_transport_stdio::{Line, Lines};
///
/// let mut lines = Lines::new(1024);
/// lines.feed(b"{\"a\"");
/// assert_eq!(lines.next_line(), None);
/// lines.feed(b":1}\r\n\n[]");
/// assert_eq!(lines.next_line(), Some(Line::Whole("{\"a\":1}".into())));
/// assert_eq!(lines.next_line(), None);
/// // The stream has ended: what is left is the last line.
/// assert_eq!(lines.last_line(), Some(Line::Whole("[]".into())));
/// ```
#[derive(Debug)]
pub struct Lines {
    buffer: BytesMut,
    /// Bytes at the front of `buffer` known to hold no line end.
    ///
    /// Invariant: `scanned <= buffer.len()`.
    scanned: usize,
    limit: usize,
    /// How long the last line was.
    last: usize,
    /// The line that is being thrown away.
    skipping: Option<LongLine>,
}

/// One line, without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Line {
    /// The line.
    Whole(Bytes),
    /// It was longer than the limit.
    TooLong(LongLine),
}

/// What was kept of a line that was longer than the limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LongLine {
    /// How long it was, in bytes.
    pub bytes: u64,
    /// Its first bytes; 4 KiB at most.
    pub head: Vec<u8>,
    /// Its last bytes; 1 KiB at most.
    pub tail: Vec<u8>,
}

/// What one read asks for, unless a long line is under way.
const CHUNK: usize = 64 * 1024;
/// A read with less room than this isn't worth its system call.
const ROOM: usize = 4 * 1024;
/// More room than this isn't kept once the line that it was made for is out.
const KEEP: usize = 2 * 1024 * 1024;
const HEAD: usize = 4 * 1024;
const TAIL: usize = 1024;

impl Lines {
    /// Nothing has been read yet; a line may have `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), scanned: 0, limit, last: 0, skipping: None }
    }

    /// Takes the next bytes of the stream. Take out all lines before feeding more, since those
    /// that stay inside count against no limit.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next line; `None` when more bytes are needed.
    pub fn next_line(&mut self) -> Option<Line> {
        loop {
            let unread = self.buffer.get(self.scanned..).unwrap_or_default();
            let Some(at) = memchr(b'\n', unread) else {
                self.keep_partial();
                return None;
            };
            let line = self.buffer.split_to(self.scanned + at + 1);
            self.scanned = 0;
            self.last = line.len();
            self.detach();
            if let Some(line) = self.finish(line) {
                return Some(line);
            }
        }
    }

    /// The stream has ended: the last line, if it had no end.
    ///
    /// A message that is complete but for its line end counts: the sender has closed the
    /// stream, so nothing can be missing that would show.
    pub fn last_line(&mut self) -> Option<Line> {
        if let Some(line) = self.next_line() {
            return Some(line);
        }
        let line = std::mem::take(&mut self.buffer);
        self.scanned = 0;
        self.finish(line)
    }

    /// Where the next bytes may be read into, with room for a read's worth. Only to be
    /// appended to.
    pub(crate) fn room(&mut self) -> &mut BytesMut {
        let len = self.buffer.len();
        if len == 0 && self.last > CHUNK {
            // Large lines come in rows. While there is nothing to be moved, and if the last
            // one is used up, its memory serves for the next one at no cost.
            let _ = self.buffer.try_reclaim(self.last);
        }
        if self.buffer.capacity() - len < ROOM {
            // Doubling makes a long line cost linear time; the limit bounds what it takes.
            let missing = self.limit.saturating_sub(len).saturating_add(ROOM);
            self.buffer.reserve(CHUNK.max(len.min(missing)));
        }
        &mut self.buffer
    }

    /// There is no line end in the buffer.
    fn keep_partial(&mut self) {
        self.scanned = self.buffer.len();
        if let Some(line) = &mut self.skipping {
            line.skip(&self.buffer);
            self.buffer.clear();
            self.scanned = 0;
        } else if self.content(&self.buffer) > self.limit {
            let mut line = LongLine::default();
            line.skip(&self.buffer);
            self.skipping = Some(line);
            self.buffer = BytesMut::new();
            self.scanned = 0;
        }
    }

    /// How much of `line` counts, where its last byte may be the first of CRLF.
    fn content(&self, line: &[u8]) -> usize {
        line.strip_suffix(b"\r").unwrap_or(line).len()
    }

    /// Makes a line of what stands before a line end, or before the end of the stream.
    fn finish(&mut self, mut line: BytesMut) -> Option<Line> {
        let mut content = line.as_ref();
        content = content.strip_suffix(b"\n").unwrap_or(content);
        content = content.strip_suffix(b"\r").unwrap_or(content);
        if let Some(mut long) = self.skipping.take() {
            long.skip(content);
            return Some(Line::TooLong(long));
        }
        if content.len() > self.limit {
            let mut long = LongLine::default();
            long.skip(content);
            return Some(Line::TooLong(long));
        }
        if content.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        line.truncate(content.len());
        Some(Line::Whole(line.freeze()))
    }

    /// Leaves a large allocation to the line that it was made for.
    fn detach(&mut self) {
        let large = self.last.max(self.buffer.capacity()) > KEEP;
        // Of what is longer than a chunk, a later line will do it: copying it now, and again
        // then, would not be linear.
        if large && self.buffer.len() <= CHUNK {
            let mut small = BytesMut::with_capacity(CHUNK);
            small.extend_from_slice(&self.buffer);
            self.buffer = small;
        }
    }
}

impl LongLine {
    fn skip(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let missing = HEAD - self.head.len().min(HEAD);
        self.head.extend(bytes.iter().take(missing));
        if bytes.len() >= TAIL {
            self.tail.clear();
        } else {
            let surplus = (self.tail.len() + bytes.len()).saturating_sub(TAIL);
            self.tail.drain(..surplus.min(self.tail.len()));
        }
        let kept = bytes.len().saturating_sub(TAIL);
        self.tail.extend_from_slice(bytes.get(kept..).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMIT: usize = 16;

    /// All lines of a stream that comes in these pieces, and whether more was held than may be.
    fn lines<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Line> {
        let mut lines = Lines::new(LIMIT);
        let mut seen = Vec::new();
        for piece in pieces {
            lines.feed(piece);
            seen.extend(std::iter::from_fn(|| lines.next_line()));
            // The limit, and the CR of a CRLF that isn't complete.
            assert!(lines.buffer.len() <= LIMIT + 1, "{} bytes are held", lines.buffer.len());
        }
        seen.extend(std::iter::from_fn(|| lines.last_line()));
        seen
    }

    fn whole(line: &'static str) -> Line {
        Line::Whole(Bytes::from_static(line.as_bytes()))
    }

    fn too_long(line: &str) -> Line {
        let bytes = line.len() as u64;
        Line::TooLong(LongLine { bytes, head: line.into(), tail: line.into() })
    }

    // Shows: TRANSPORT-STDIO-004
    #[test]
    fn a_line_ends_in_lf_or_crlf_and_the_last_one_may_lack_both() {
        assert_eq!(lines([&b"a\nb\r\nc"[..]]), [whole("a"), whole("b"), whole("c")]);
        assert_eq!(lines([&b"a\nb\r"[..]]), [whole("a"), whole("b")]);
        // A CR alone ends nothing.
        assert_eq!(lines([&b"a\rb\n"[..]]), [whole("a\rb")]);
    }

    #[test]
    fn blank_lines_are_skipped() {
        assert_eq!(lines([&b"\n\r\n \t\r\na\n\n"[..]]), [whole("a")]);
        assert_eq!(lines([&b" "[..]]), []);
    }

    // Shows: FC-006
    #[test]
    fn what_only_unicode_takes_for_a_line_end_is_none() {
        let line = "a\u{2028}b\u{85}c\u{2029}";
        assert_eq!(lines([line.as_bytes(), b"\n"]), [whole("a\u{2028}b\u{85}c\u{2029}")]);
    }

    // Shows: FC-004
    #[test]
    fn a_line_of_exactly_the_limit_is_whole_and_one_more_byte_is_too_long() {
        let full = "0123456789abcdef";
        let over = "0123456789abcdefg";
        for end in ["\n", "\r\n", ""] {
            assert_eq!(lines([full.as_bytes(), end.as_bytes()]), [whole(full)]);
            assert_eq!(lines([over.as_bytes(), end.as_bytes()]), [too_long(over)]);
        }
        let stream = format!("{over}\nnext\n");
        assert_eq!(lines([stream.as_bytes()]), [too_long(over), whole("next")]);
        assert_eq!(lines(stream.as_bytes().chunks(1)), [too_long(over), whole("next")]);
    }

    // Shows: FC-004
    #[test]
    fn of_a_line_that_is_too_long_its_length_and_both_ends_are_kept() {
        let mut lines = Lines::new(LIMIT);
        let line: Vec<u8> = (0..100_000_u32).map(|n| b'a' + (n % 26) as u8).collect();
        for piece in line.chunks(777) {
            lines.feed(piece);
            assert_eq!(lines.next_line(), None);
        }
        lines.feed(b"\r\n");
        let Some(Line::TooLong(long)) = lines.next_line() else { panic!("no line") };
        assert_eq!(long.head, line[..HEAD]);
        assert_eq!(long.tail.len(), TAIL);
        assert!(line.ends_with(long.tail.strip_suffix(b"\r").unwrap_or(&long.tail)));
        assert!((100_000..=100_001).contains(&long.bytes), "{}", long.bytes);
    }

    #[test]
    fn no_byte_is_looked_at_twice() {
        let mut lines = Lines::new(usize::MAX);
        for n in 0..1000 {
            lines.feed(b"x");
            assert_eq!((lines.next_line(), lines.scanned), (None, n + 1));
        }
    }

    #[test]
    fn the_memory_of_a_large_line_goes_with_it() {
        let mut lines = Lines::new(usize::MAX);
        let room = lines.room();
        room.resize(KEEP + 1, b'x');
        room.extend_from_slice(b"\nrest");
        let Some(Line::Whole(line)) = lines.next_line() else { panic!("no line") };
        assert_eq!(line.len(), KEEP + 1);
        assert!(lines.buffer.capacity() <= CHUNK);
        drop(line);
        lines.room();
        assert!(lines.buffer.capacity() <= 2 * CHUNK, "{}", lines.buffer.capacity());
        assert_eq!(lines.last_line(), Some(whole("rest")));
    }

    #[test]
    fn room_grows_with_a_line_and_no_further_than_its_limit() {
        let mut lines = Lines::new(3 * CHUNK);
        let mut rooms = Vec::new();
        for _ in 0..8 {
            let room = lines.room();
            let (len, capacity) = (room.len(), room.capacity());
            rooms.push(capacity - len);
            room.resize(capacity, b'x');
            assert_eq!(lines.next_line(), None);
        }
        assert!(rooms.iter().all(|room| *room >= ROOM), "{rooms:?}");
        assert!(rooms.iter().all(|room| *room <= 4 * CHUNK), "{rooms:?}");
    }

    /// Streams in which limits are met often.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            4 => Just(b"{}".to_vec()),
            3 => Just(b"\n".to_vec()),
            1 => Just(b"\r\n".to_vec()),
            1 => Just(b"\r".to_vec()),
            1 => Just(b"0123456789".to_vec()),
            1 => proptest::collection::vec(any::<u8>(), 0..20),
        ];
        proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }

    /// How long a line was counts to the byte only where nothing of CRLF was cut.
    fn rounded(lines: Vec<Line>) -> Vec<Line> {
        let round = |line| match line {
            Line::TooLong(_) => Line::TooLong(LongLine::default()),
            whole => whole,
        };
        lines.into_iter().map(round).collect()
    }

    proptest! {
        // Shows: TRANSPORT-STDIO-004
        #[test]
        fn where_a_stream_is_cut_does_not_matter(
            stream in stream(),
            cuts in proptest::collection::vec(1_usize..9, 1..20),
        ) {
            let mut rest = &stream[..];
            let mut pieces = Vec::new();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, others) = rest.split_at((*cut).min(rest.len()));
                pieces.push(piece);
                rest = others;
            }
            prop_assert_eq!(rounded(lines(pieces)), rounded(lines([&stream[..]])));
        }

        #[test]
        fn what_comes_out_is_what_stood_between_line_ends(stream in stream()) {
            let expected: Vec<_> = stream
                .split(|byte| *byte == b'\n')
                .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
                .filter(|line| line.len() > LIMIT || !line.trim_ascii().is_empty())
                .map(|line| if line.len() > LIMIT {
                    Line::TooLong(LongLine::default())
                } else {
                    Line::Whole(Bytes::copy_from_slice(line))
                })
                .collect();
            prop_assert_eq!(rounded(lines([&stream[..]])), expected);
        }
    }
}
