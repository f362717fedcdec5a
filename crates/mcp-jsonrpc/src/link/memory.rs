use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::v1::{Incoming, Link, LinkError, Stream};
use crate::{Frame, Limits, Outgoing, decode};

/// One end of a link in memory; see [`memory_pair`].
#[derive(Debug)]
pub struct MemoryLink {
    incoming: Arc<Mutex<Pipe>>,
    outgoing: Arc<Mutex<Pipe>>,
    limits: Limits,
}

/// Two ends of a link in memory. What goes into one comes out of the other, by way of the same
/// bytes and the same decoder as everywhere else.
///
/// `capacity` is the number of messages that each direction holds; at least one.
#[must_use]
pub fn memory_pair(capacity: usize) -> (MemoryLink, MemoryLink) {
    let pipe = || Arc::new(Mutex::new(Pipe { capacity: capacity.max(1), ..Pipe::default() }));
    let (there, back) = (pipe(), pipe());
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
}

/// One direction.
#[derive(Debug, Default)]
struct Pipe {
    frames: VecDeque<bytes::Bytes>,
    capacity: usize,
    closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

fn lock(pipe: &Mutex<Pipe>) -> MutexGuard<'_, Pipe> {
    pipe.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link for MemoryLink {
    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Result<Incoming, LinkError>> {
        let mut pipe = lock(&self.incoming);
        let Some(frame) = pipe.frames.pop_front() else {
            if pipe.closed {
                return Poll::Ready(Err(LinkError::Closed));
            }
            pipe.reader = Some(cx.waker().clone());
            return Poll::Pending;
        };
        if let Some(writer) = pipe.writer.take() {
            writer.wake();
        }
        drop(pipe);
        Poll::Ready(Ok(match decode(&frame, &self.limits) {
            Ok(Frame::Single(message)) => Incoming::Message(message, Stream::Shared),
            Ok(Frame::Batch(messages)) => Incoming::Batch(messages),
            Err(fault) => Incoming::Malformed(fault),
        }))
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        let mut pipe = lock(&self.outgoing);
        if pipe.closed {
            return Poll::Ready(Err(LinkError::Closed));
        }
        if pipe.frames.len() < pipe.capacity {
            return Poll::Ready(Ok(()));
        }
        pipe.writer = Some(cx.waker().clone());
        Poll::Pending
    }

    fn start_send(&mut self, message: Outgoing) -> Result<(), LinkError> {
        let mut pipe = lock(&self.outgoing);
        if pipe.closed {
            return Err(LinkError::Closed);
        }
        pipe.frames.push_back(message.into_frame());
        if let Some(reader) = pipe.reader.take() {
            reader.wake();
        }
        Ok(())
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        close(&self.outgoing);
        Poll::Ready(Ok(()))
    }
}

impl Drop for MemoryLink {
    fn drop(&mut self) {
        close(&self.outgoing);
        close(&self.incoming);
    }
}

fn close(pipe: &Mutex<Pipe>) {
    let mut pipe = lock(pipe);
    pipe.closed = true;
    for waker in [pipe.reader.take(), pipe.writer.take()].into_iter().flatten() {
        waker.wake();
    }
}
