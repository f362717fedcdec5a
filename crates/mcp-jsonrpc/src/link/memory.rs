use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::v1::{Incoming, Link, LinkError, Stream};
use crate::{Frame, Limits, Outgoing, decode};

/// One end of a link in memory; see [`memory_pair`].
#[derive(Debug)]
pub struct MemoryLink {
    incoming: Arc<Pipe>,
    outgoing: Arc<Pipe>,
    limits: Limits,
}

/// Two ends of a link in memory. What goes into one comes out of the other, by way of the same
/// bytes and the same decoder as everywhere else.
///
/// The two are connected from the start, until one is closed or dropped. Each message is one
/// frame, so nothing in it delimits it.
///
/// `capacity` is the number of messages that each direction holds; at least one. When it is
/// full, [`poll_ready`](Link::poll_ready) waits until the other end has received.
#[must_use]
pub fn memory_pair(capacity: usize) -> (MemoryLink, MemoryLink) {
    let (there, back) = (Arc::new(Pipe::new(capacity)), Arc::new(Pipe::new(capacity)));
    let end = |incoming: &Arc<_>, outgoing: &Arc<_>| MemoryLink {
        incoming: Arc::clone(incoming),
        outgoing: Arc::clone(outgoing),
        limits: Limits::new(),
    };
    (end(&back, &there), end(&there, &back))
}

impl MemoryLink {
    /// Sets what is accepted.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The next frame as it is; `None` once the other end has closed.
    pub(crate) fn poll_frame(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.incoming.poll_pop(cx)
    }

    /// Sends a frame as it is, whether there is room or not.
    #[cfg(any(test, fuzzing, feature = "testing"))]
    pub(crate) fn send_frame(&self, frame: Bytes) -> Result<(), LinkError> {
        self.outgoing.push(frame)
    }
}

impl Link for MemoryLink {
    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Result<Incoming, LinkError>> {
        self.poll_frame(cx).map(|frame| {
            let frame = frame.ok_or(LinkError::Closed)?;
            Ok(match decode(&frame, &self.limits) {
                Ok(Frame::Single(message)) => Incoming::Message(message, Stream::Shared),
                Ok(Frame::Batch(messages)) => Incoming::Batch(messages),
                Err(fault) => Incoming::Malformed(fault),
            })
        })
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.outgoing.poll_room(cx)
    }

    fn start_send(&mut self, message: Outgoing) -> Result<(), LinkError> {
        self.outgoing.push(message.into_frame())
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        // The other end has it already.
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.outgoing.close();
        Poll::Ready(Ok(()))
    }
}

impl Drop for MemoryLink {
    fn drop(&mut self) {
        self.outgoing.close();
        self.incoming.close();
    }
}

/// One direction. Wakers are foreign code: they are woken and dropped outside of the lock.
#[derive(Debug)]
struct Pipe {
    state: Mutex<State>,
    capacity: usize,
}

#[derive(Debug, Default)]
struct State {
    frames: VecDeque<Bytes>,
    closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Pipe {
    fn new(capacity: usize) -> Self {
        Self { state: Mutex::default(), capacity: capacity.max(1) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll_pop(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.lock();
        if let Some(frame) = state.frames.pop_front() {
            let writer = state.writer.take();
            drop(state);
            writer.into_iter().for_each(Waker::wake);
            return Poll::Ready(Some(frame));
        }
        if state.closed {
            return Poll::Ready(None);
        }
        let before = state.reader.replace(cx.waker().clone());
        drop(state);
        drop(before);
        Poll::Pending
    }

    fn poll_room(&self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        let mut state = self.lock();
        if state.closed {
            return Poll::Ready(Err(LinkError::Closed));
        }
        if state.frames.len() < self.capacity {
            return Poll::Ready(Ok(()));
        }
        let before = state.writer.replace(cx.waker().clone());
        drop(state);
        drop(before);
        Poll::Pending
    }

    fn push(&self, frame: Bytes) -> Result<(), LinkError> {
        let mut state = self.lock();
        if state.closed {
            return Err(LinkError::Closed);
        }
        state.frames.push_back(frame);
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
        Ok(())
    }

    fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let wakers = [state.reader.take(), state.writer.take()];
        drop(state);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }
}
