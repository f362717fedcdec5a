//! What a server says on stderr: drained always, cut into lines, the last of them kept.

use std::collections::VecDeque;
use std::fmt;
use std::io::{ErrorKind, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::{Line, Lines};

/// What becomes of what a server writes to stderr.
///
/// It is free text for people, of any importance, and says nothing about whether the server
/// works. Whatever is chosen, it is read as fast as it comes, so that a server never waits for
/// its log; a line is cut at 8 KiB.
///
/// Specification: [stdio](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio).
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Stderr {
    /// Each line becomes a `tracing` event, of level `INFO` and target
    /// `mcp_transport_stdio::stderr`.
    #[default]
    Trace,
    /// Each line goes to a callback, in a thread of its own: it may block, and then the server
    /// does, too. If it panics it isn't called again.
    Lines(Arc<dyn Fn(&str) + Send + Sync>),
    /// The server writes to this process's stderr itself. It sees a terminal where this
    /// process has one, and no lines are there to be shown in errors.
    Inherit,
    /// Nobody hears it; errors still show the last lines.
    Discard,
}

impl Stderr {
    /// Each line goes to `callback`.
    pub fn lines(callback: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self::Lines(Arc::new(callback))
    }
}

impl fmt::Debug for Stderr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Trace => "Trace",
            Self::Lines(_) => "Lines(..)",
            Self::Inherit => "Inherit",
            Self::Discard => "Discard",
        })
    }
}

/// Bytes of one line.
const LINE: usize = 8 * 1024;

/// The last lines.
#[derive(Debug)]
pub(super) struct Tail {
    lines: VecDeque<String>,
    capacity: usize,
}

impl Tail {
    pub(super) const fn new(capacity: usize) -> Self {
        Self { lines: VecDeque::new(), capacity }
    }

    pub(super) fn push(&mut self, line: String) {
        if self.lines.len() >= self.capacity {
            self.lines.pop_front();
        }
        if self.capacity > 0 {
            self.lines.push_back(line);
        }
    }

    pub(super) fn to_vec(&self) -> Vec<String> {
        self.lines.iter().cloned().collect()
    }
}

/// Reads `stderr` to its end. Each line goes to where `policy` says, and then to `keep`.
///
/// A read that would block says that everything that the process itself has written was read;
/// `caught_up` hears of it.
pub(super) fn drain(
    mut stderr: impl Read,
    policy: Stderr,
    program: &str,
    pid: u32,
    mut keep: impl FnMut(String),
    caught_up: impl Fn(),
) {
    let mut policy = policy;
    let mut tell = |line: Line| {
        let line = text(line);
        match &policy {
            Stderr::Trace => {
                tracing::info!(target: "mcp_transport_stdio::stderr", pid, program, "{line}");
            }
            Stderr::Lines(callback) => {
                if catch_unwind(AssertUnwindSafe(|| callback(&line))).is_err() {
                    policy = Stderr::Discard;
                }
            }
            Stderr::Inherit | Stderr::Discard => {}
        }
        keep(line);
    };
    let mut lines = Lines::new(LINE);
    let mut chunk = vec![0; 16 * 1024];
    loop {
        match stderr.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => lines.feed(chunk.get(..count).unwrap_or_default()),
            Err(error) => match error.kind() {
                ErrorKind::Interrupted => {}
                ErrorKind::WouldBlock => caught_up(),
                _ => break,
            },
        }
        while let Some(line) = lines.next_line() {
            tell(line);
        }
    }
    while let Some(line) = lines.last_line() {
        tell(line);
    }
    caught_up();
}

fn text(line: Line) -> String {
    match line {
        Line::Whole(line) => String::from_utf8_lossy(&line).into_owned(),
        Line::TooLong(line) => {
            format!("{} … ({} bytes)", String::from_utf8_lossy(&line.head), line.bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn lines_are_told_and_the_last_ones_kept() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&told);
        let policy = Stderr::lines(move |line| sink.lock().unwrap().push(line.to_owned()));
        let mut tail = Tail::new(2);
        drain(&b"one\r\n\ntwo\nthr\xffee"[..], policy, "p", 1, |line| tail.push(line), || ());
        assert_eq!(*told.lock().unwrap(), ["one", "two", "thr\u{fffd}ee"]);
        assert_eq!(tail.to_vec(), ["two", "thr\u{fffd}ee"]);
    }

    #[test]
    fn a_line_without_an_end_is_cut() {
        let mut kept = Vec::new();
        let flood = vec![b'x'; 1_000_000];
        drain(&flood[..], Stderr::Discard, "p", 1, |line| kept.push(line), || ());
        let [line] = &kept[..] else { panic!("{} lines", kept.len()) };
        assert!(line.len() < LINE && line.ends_with("(1000000 bytes)"), "{}", line.len());
    }

    #[test]
    fn a_callback_that_panics_does_not_stop_the_draining() {
        let mut kept = 0;
        let policy = Stderr::lines(|_| panic!("not my day"));
        drain(&b"1\n2\n3\n"[..], policy, "p", 1, |_| kept += 1, || ());
        assert_eq!(kept, 3);
    }
}
