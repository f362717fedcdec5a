//! A [`Link`] over any reader and writer.

mod config;
pub use config::{OnNoise, PipeConfig};

mod error;
pub use error::PipeError;

mod outbox;

use std::fmt;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use mcp_jsonrpc::link::v1::{Incoming, Link, LinkError, Stream};
use mcp_jsonrpc::{Fault, Frame, Message, Outgoing, decode};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};

use self::outbox::Outbox;
use crate::{Line, Lines, long_line};

/// A [`Link`] over a reader and a writer: one message a line.
///
/// It works with any pair of byte streams, a socket for example; what this process and child
/// processes need beside is in [`Stdio`](crate::Stdio) and
/// [`ChildCommand`](crate::ChildCommand).
///
/// - What is ready together is written together: messages wait until
///   [`poll_flush`](Link::poll_flush), and small ones leave in one write.
/// - Reading goes on whatever the writer does, so two peers that both send more than their
///   pipes hold can't block each other.
/// - A message never spans lines: line ends between the tokens of raw JSON become spaces.
/// - Memory: a line at most as long as the limit, what the caller sent up to the high-water
///   mark and one message, and a buffer of 64 KiB (after large messages: 2 MiB).
///
/// Specification: [stdio](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio).
pub struct PipeLink<R, W> {
    reader: R,
    lines: Lines,
    /// The reader has no more bytes; some lines may be left.
    eof: bool,
    /// Why nothing more comes in.
    ended: Option<LinkError>,
    /// `None` once this side has been closed.
    writer: Option<W>,
    outbox: Outbox,
    /// Why nothing more goes out.
    broken: Option<LinkError>,
    config: PipeConfig,
    skipped: Arc<AtomicU64>,
    on_noise: Option<NoiseCallback>,
}

pub(crate) type NoiseCallback = Arc<dyn Fn(&str) + Send + Sync>;

/// Lines that are skipped before other tasks get their turn.
const BUDGET: usize = 128;

impl<R, W> PipeLink<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    /// A link with the default configuration.
    #[must_use]
    pub fn new(reader: R, writer: W) -> Self {
        Self::with_config(reader, writer, PipeConfig::new())
    }

    /// A link.
    #[must_use]
    pub fn with_config(reader: R, writer: W, config: PipeConfig) -> Self {
        Self {
            reader,
            lines: Lines::new(config.limits.frame_bytes),
            eof: false,
            ended: None,
            writer: Some(writer),
            outbox: Outbox::default(),
            broken: None,
            config,
            skipped: Arc::default(),
            on_noise: None,
        }
    }

    /// Calls `callback` with each line that is skipped as noise, cut to 200 bytes; see
    /// [`OnNoise::Skip`]. It is called while messages are read, and must not block.
    #[must_use]
    pub fn on_noise(mut self, callback: Arc<dyn Fn(&str) + Send + Sync>) -> Self {
        self.on_noise = Some(callback);
        self
    }

    /// How many lines were skipped as noise; see [`OnNoise::Skip`].
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    /// The counter behind [`skipped`](Self::skipped), for whoever gives the link away.
    #[cfg(feature = "client")]
    pub(crate) fn skipped_counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.skipped)
    }

    /// Takes what `read` finds without waiting, up to what a pipe may hold, for the last that
    /// comes in. An error, such as that it would block, means that there is no more.
    #[cfg(feature = "client")]
    pub(crate) fn take_rest(&mut self, read: impl Fn(&R, &mut [u8]) -> io::Result<usize>) {
        const PIPE: usize = 1024 * 1024;
        let mut chunk = vec![0; 64 * 1024];
        let mut taken = 0;
        while !self.eof && taken < PIPE {
            match read(&self.reader, &mut chunk) {
                Ok(0) | Err(_) => break,
                Ok(count) => {
                    self.lines.feed(chunk.get(..count).unwrap_or_default());
                    taken += count;
                }
            }
        }
        self.eof = true;
    }

    /// The next line, or `None` at the end.
    fn poll_line(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Line>>> {
        loop {
            if self.eof {
                return Poll::Ready(Ok(self.lines.last_line()));
            }
            if let Some(line) = self.lines.next_line() {
                return Poll::Ready(Ok(Some(line)));
            }
            let room = self.lines.room();
            self.eof = ready!(pin!(self.reader.read_buf(room)).poll(cx))? == 0;
        }
    }

    /// Reads a line as a message; `None` when it was noise.
    fn read(&self, line: Line) -> Option<Incoming> {
        let (fault, text) = match line {
            Line::Whole(line) => match decode(&line, &self.config.limits) {
                Ok(Frame::Single(message)) => {
                    return Some(Incoming::Message(message, Stream::Shared));
                }
                Ok(Frame::Batch(messages)) => match only_noise(&messages) {
                    // Also a log line, such as `[1]`, can be an array.
                    Some(fault) if self.config.noise == OnNoise::Skip => (fault.clone(), line),
                    _ => return Some(Incoming::Batch(messages)),
                },
                Ok(_) => return None,
                Err(fault) => (fault, line),
            },
            Line::TooLong(line) => {
                let fault = long_line::fault(&line, self.config.limits.frame_bytes);
                tracing::warn!(bytes = line.bytes, id = ?fault.id, "skipped a line over the limit");
                (fault, Bytes::from(line.head))
            }
        };
        if is_noise(&fault) && self.config.noise == OnNoise::Skip {
            self.skip(&fault, &text);
            return None;
        }
        Some(Incoming::Malformed(fault))
    }

    fn skip(&self, fault: &Fault, line: &[u8]) {
        let count = self.skipped.fetch_add(1, Ordering::Relaxed) + 1;
        let line = String::from_utf8_lossy(line.get(..NOISE_SHOWN).unwrap_or(line));
        // A server that logs to its stdout would flood ours.
        if count <= NOISE_WARNED || count.is_power_of_two() {
            tracing::warn!(count, %fault, %line, "skipped a line that is no message");
        } else {
            tracing::debug!(count, %fault, %line, "skipped a line that is no message");
        }
        if let Some(callback) = &self.on_noise {
            callback(&line);
        }
    }

    /// Writes until the outbox is empty.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        if let Some(cause) = &self.broken {
            return Poll::Ready(Err(cause.clone()));
        }
        let Some(writer) = &mut self.writer else { return Poll::Ready(Ok(())) };
        while !self.outbox.is_empty() {
            let written = match ready!(write_some(Pin::new(writer), &self.outbox, cx)) {
                Ok(0) => Err(io::ErrorKind::WriteZero.into()),
                written => written,
            };
            match written {
                Ok(count) => self.outbox.advance(count),
                Err(error) => return Poll::Ready(Err(self.cut(error))),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// The writer is of no more use.
    fn cut(&mut self, error: io::Error) -> LinkError {
        let cause = match error.kind() {
            // Nobody is there to read: the peer has closed its side.
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => LinkError::Closed,
            _ => LinkError::failed(PipeError::Write(error)),
        };
        self.outbox.clear();
        self.writer = None;
        self.broken = Some(cause.clone());
        cause
    }
}

/// With an id it would be somebody's request or answer, however broken.
fn is_noise(fault: &Fault) -> bool {
    fault.id.is_none() && !fault.response
}

/// The first fault of a batch that holds nothing but noise.
fn only_noise(messages: &[Result<Message, Fault>]) -> Option<&Fault> {
    if messages.iter().all(|message| message.as_ref().is_err_and(is_noise)) {
        messages.first()?.as_ref().err()
    } else {
        None
    }
}

/// How much of a skipped line a log shows, in bytes.
const NOISE_SHOWN: usize = 200;
/// How many skipped lines are worth a warning, before only every doubling is.
const NOISE_WARNED: u64 = 8;

fn write_some<W: AsyncWrite>(
    writer: Pin<&mut W>,
    outbox: &Outbox,
    cx: &mut Context<'_>,
) -> Poll<io::Result<usize>> {
    if !outbox.is_split() || !writer.is_write_vectored() {
        return writer.poll_write(cx, outbox.first());
    }
    let mut slices = [IoSlice::new(&[]); _];
    let filled = outbox.fill(&mut slices);
    writer.poll_write_vectored(cx, slices.get(..filled).unwrap_or_default())
}

impl<R, W> Link for PipeLink<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Result<Incoming, LinkError>> {
        for _ in 0..BUDGET {
            if let Some(cause) = &self.ended {
                return Poll::Ready(Err(cause.clone()));
            }
            match ready!(self.poll_line(cx)) {
                Ok(Some(line)) => {
                    if let Some(incoming) = self.read(line) {
                        return Poll::Ready(Ok(incoming));
                    }
                }
                Ok(None) => self.ended = Some(LinkError::Closed),
                Err(error) => self.ended = Some(LinkError::failed(PipeError::Read(error))),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        if let Some(cause) = &self.broken {
            return Poll::Ready(Err(cause.clone()));
        }
        if self.writer.is_none() {
            return Poll::Ready(Err(LinkError::Closed));
        }
        if self.outbox.len() < self.config.high_water {
            return Poll::Ready(Ok(()));
        }
        match self.poll_drain(cx) {
            Poll::Pending if self.outbox.len() < self.config.high_water => Poll::Ready(Ok(())),
            drained => drained,
        }
    }

    fn start_send(&mut self, message: Outgoing) -> Result<(), LinkError> {
        if let Some(cause) = &self.broken {
            return Err(cause.clone());
        }
        if self.writer.is_none() {
            return Err(LinkError::Closed);
        }
        let frame = message.into_frame();
        if frame.len() > self.config.outgoing_bytes {
            return Err(LinkError::Refused { reason: "the message is longer than the limit" });
        }
        self.outbox.push(frame);
        Ok(())
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        ready!(self.poll_drain(cx))?;
        let Some(writer) = &mut self.writer else { return Poll::Ready(Ok(())) };
        let flushed = ready!(Pin::new(writer).poll_flush(cx));
        Poll::Ready(flushed.map_err(|error| self.cut(error)))
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        ready!(self.poll_flush(cx))?;
        let Some(writer) = &mut self.writer else { return Poll::Ready(Ok(())) };
        let shut = ready!(Pin::new(writer).poll_shutdown(cx));
        // Of a pipe only closing it tells the peer.
        self.writer = None;
        match shut {
            // The peer was faster.
            Err(error) if error.kind() != io::ErrorKind::NotConnected => {
                Poll::Ready(Err(self.cut(error)))
            }
            _ => Poll::Ready(Ok(())),
        }
    }
}

impl<R: fmt::Debug, W: fmt::Debug> fmt::Debug for PipeLink<R, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PipeLink")
            .field("reader", &self.reader)
            .field("writer", &self.writer)
            .field("unsent", &self.outbox.len())
            .field("ended", &self.ended)
            .field("broken", &self.broken)
            .field("skipped", &self.skipped)
            .finish_non_exhaustive()
    }
}
