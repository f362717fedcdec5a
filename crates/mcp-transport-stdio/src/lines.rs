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
        Self { buffer: BytesMut::new(), scanned: 0, limit, skipping: None }
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
            self.detach(line.len());
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

    /// Leaves a large allocation to the line of `taken` bytes that it was made for.
    fn detach(&mut self, taken: usize) {
        let large = taken.max(self.buffer.capacity()) > KEEP;
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
