use std::collections::VecDeque;
use std::task::Waker;

use mcp_jsonrpc::link::v1::Incoming;

/// Bytes that wait, beside the message that passes this.
const BYTES: usize = 4 << 20;

/// What came in and was not taken yet.
#[derive(Debug)]
pub(super) struct Inbox {
    queue: VecDeque<(Incoming, usize)>,
    bytes: usize,
    most: usize,
    waiting: Vec<Waker>,
}

impl Inbox {
    pub(super) fn new(most: usize) -> Self {
        Self { queue: VecDeque::new(), bytes: 0, most: most.max(1), waiting: Vec::new() }
    }

    /// Whether one more message has room. One always has when there is none.
    pub(super) fn has_room(&self) -> bool {
        self.queue.is_empty() || (self.queue.len() < self.most && self.bytes < BYTES)
    }

    pub(super) fn push(&mut self, incoming: Incoming, bytes: usize) {
        self.bytes += bytes;
        self.queue.push_back((incoming, bytes));
    }

    /// The next message, and who may try again.
    pub(super) fn pop(&mut self) -> Option<(Incoming, Vec<Waker>)> {
        let (incoming, bytes) = self.queue.pop_front()?;
        self.bytes -= bytes;
        let waiting = if self.has_room() { std::mem::take(&mut self.waiting) } else { Vec::new() };
        Some((incoming, waiting))
    }

    pub(super) fn wait(&mut self, waker: &Waker) {
        if !self.waiting.iter().any(|known| known.will_wake(waker)) {
            self.waiting.push(waker.clone());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use mcp_jsonrpc::{Fault, FaultKind};

    use super::*;

    fn message() -> Incoming {
        Incoming::Malformed(Fault::new(FaultKind::NotAnObject))
    }

    #[test]
    fn both_number_and_bytes_are_bounded() {
        let mut inbox = Inbox::new(2);
        inbox.push(message(), 1);
        assert!(inbox.has_room());
        inbox.push(message(), 1);
        assert!(!inbox.has_room());
        inbox.wait(Waker::noop());
        let (_, woken) = inbox.pop().unwrap();
        assert_eq!(woken.len(), 1);

        let mut inbox = Inbox::new(10);
        inbox.push(message(), BYTES);
        assert!(!inbox.has_room());
        inbox.wait(Waker::noop());
        assert_eq!(inbox.pop().unwrap().1.len(), 1);
        assert!(inbox.has_room() && inbox.is_empty());
    }
}
