use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, Bytes};
use memchr::memchr2;

/// What is to be written: small frames in one buffer, so that they go out in one write; large
/// ones as they are, without a copy.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// Comes first.
    parts: VecDeque<Bytes>,
    /// Comes last: frames that were small, of which `written` bytes are out.
    ///
    /// Invariant: `written <= small.len()`, and it is 0 while there are `parts`.
    small: Vec<u8>,
    written: usize,
    len: usize,
}

/// A frame up to this many bytes is copied: that costs less than one more entry in a vectored
/// write, and it leaves the frame's memory to its owner.
const SMALL: usize = 8 * 1024;
/// How much memory an empty outbox keeps.
const KEEP: usize = 64 * 1024;
/// Parts in one vectored write.
const SLICES: usize = 16;

impl Outbox {
    /// Bytes that are still to be written.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a frame, and its line end.
    pub(super) fn push(&mut self, frame: Bytes) {
        self.len += frame.len() + 1;
        // Only raw JSON brings line ends, and only between its tokens: in a string they are
        // escaped. A reader that also takes a lone CR for one is to see one line, too.
        let broken = memchr2(b'\n', b'\r', &frame).is_some();
        if frame.len() <= SMALL {
            let start = self.small.len();
            self.small.extend_from_slice(&frame);
            if broken {
                join(self.small.get_mut(start..).unwrap_or_default());
            }
        } else {
            self.seal();
            self.parts.push_back(if broken {
                let mut joined = frame.to_vec();
                join(&mut joined);
                joined.into()
            } else {
                frame
            });
        }
        self.small.push(b'\n');
    }

    /// What comes next, in one piece.
    pub(super) fn first(&self) -> &[u8] {
        match self.parts.front() {
            Some(part) => part,
            None => self.small.get(self.written..).unwrap_or_default(),
        }
    }

    /// Whether there is more than [`first`](Self::first).
    pub(super) fn is_split(&self) -> bool {
        !self.parts.is_empty()
    }

    /// What comes next, in pieces; answers how many of `slices` were filled.
    pub(super) fn fill<'a>(&'a self, slices: &mut [IoSlice<'a>; SLICES]) -> usize {
        let small = self.small.get(self.written..).unwrap_or_default();
        let parts = self.parts.iter().map(|part| part.as_ref()).chain([small]);
        let mut filled = 0;
        for (slice, part) in slices.iter_mut().zip(parts.filter(|part| !part.is_empty())) {
            *slice = IoSlice::new(part);
            filled += 1;
        }
        filled
    }

    /// So many bytes have been written.
    pub(super) fn advance(&mut self, mut count: usize) {
        self.len = self.len.saturating_sub(count);
        while let Some(part) = self.parts.front_mut() {
            if count < part.len() {
                part.advance(count);
                return;
            }
            count -= part.len();
            self.parts.pop_front();
        }
        self.written += count;
        if self.written >= self.small.len() {
            self.written = 0;
            self.small.clear();
            self.small.shrink_to(KEEP);
        }
    }

    /// Throws everything away.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Makes what was small a part of its own, so that something can come after it.
    fn seal(&mut self) {
        if self.small.is_empty() {
            return;
        }
        let mut part = Bytes::from(std::mem::take(&mut self.small));
        part.advance(std::mem::take(&mut self.written));
        self.parts.push_back(part);
    }
}

/// Replaces line ends by spaces.
fn join(frame: &mut [u8]) {
    for byte in frame {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}
