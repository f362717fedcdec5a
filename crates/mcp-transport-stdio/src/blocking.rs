//! Readers and writers that only block, behind a thread each: files, terminals, and platforms
//! whose pipes the runtime can't poll.

use std::fmt;
use std::io::{self, Read, Write};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that wait between a thread and the task.
const CAPACITY: usize = 64 * 1024;

/// What a thread and a task share.
struct Shared<S> {
    state: Mutex<S>,
    /// Wakes the thread.
    changed: Condvar,
}

impl<S> Shared<S> {
    fn lock(&self) -> MutexGuard<'_, S> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while(&self, idle: impl FnMut(&mut S) -> bool) -> MutexGuard<'_, S> {
        self.changed.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Default> Default for Shared<S> {
    fn default() -> Self {
        Self { state: Mutex::new(S::default()), changed: Condvar::new() }
    }
}

/// An [`AsyncRead`] over a blocking reader.
///
/// Dropping it stops the thread at its next byte: a read that blocks can't be interrupted, but
/// it holds up neither the runtime nor the end of the process.
pub(crate) struct ThreadReader(Arc<Shared<Reading>>);

#[derive(Default)]
struct Reading {
    bytes: Vec<u8>,
    taken: usize,
    eof: bool,
    error: Option<io::Error>,
    dropped: bool,
    task: Option<Waker>,
}

impl ThreadReader {
    pub(crate) fn spawn(reader: impl Read + Send + 'static) -> io::Result<Self> {
        let shared = Arc::<Shared<Reading>>::default();
        let theirs = Arc::clone(&shared);
        thread::Builder::new().name("mcp-stdio-read".into()).spawn(move || {
            read_all(reader, &theirs);
        })?;
        Ok(Self(shared))
    }
}

fn read_all(mut reader: impl Read, shared: &Shared<Reading>) {
    let mut chunk = vec![0; CAPACITY];
    loop {
        let read = reader.read(&mut chunk);
        if matches!(&read, Err(error) if error.kind() == io::ErrorKind::Interrupted) {
            continue;
        }
        let mut state =
            shared.wait_while(|state| state.taken < state.bytes.len() && !state.dropped);
        if state.dropped {
            return;
        }
        match read {
            Ok(0) => state.eof = true,
            Ok(count) => {
                state.bytes.clear();
                state.taken = 0;
                state.bytes.extend_from_slice(chunk.get(..count).unwrap_or_default());
            }
            Err(error) => {
                state.error = Some(error);
                state.eof = true;
            }
        }
        if let Some(task) = state.task.take() {
            task.wake();
        }
        if state.eof {
            return;
        }
    }
}

impl AsyncRead for ThreadReader {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut state = self.0.lock();
        let ready = state.bytes.get(state.taken..).unwrap_or_default();
        if !ready.is_empty() {
            let count = ready.len().min(buf.remaining());
            buf.put_slice(ready.get(..count).unwrap_or_default());
            state.taken += count;
            self.0.changed.notify_one();
            return Poll::Ready(Ok(()));
        }
        if let Some(error) = state.error.take() {
            return Poll::Ready(Err(error));
        }
        if state.eof {
            return Poll::Ready(Ok(()));
        }
        state.task = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for ThreadReader {
    fn drop(&mut self) {
        self.0.lock().dropped = true;
        self.0.changed.notify_one();
    }
}

impl fmt::Debug for ThreadReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadReader").finish_non_exhaustive()
    }
}

/// An [`AsyncWrite`] over a blocking writer.
///
/// Dropping it lets the thread write what it has been given, and end.
pub(crate) struct ThreadWriter(Arc<Shared<Writing>>);

#[derive(Default)]
struct Writing {
    bytes: Vec<u8>,
    /// The thread has taken bytes that are not out yet.
    busy: bool,
    error: Option<io::ErrorKind>,
    dropped: bool,
    task: Option<Waker>,
}

impl ThreadWriter {
    pub(crate) fn spawn(writer: impl Write + Send + 'static) -> io::Result<Self> {
        let shared = Arc::<Shared<Writing>>::default();
        let theirs = Arc::clone(&shared);
        thread::Builder::new().name("mcp-stdio-write".into()).spawn(move || {
            write_all(writer, &theirs);
        })?;
        Ok(Self(shared))
    }
}

fn write_all(mut writer: impl Write, shared: &Shared<Writing>) {
    let mut chunk = Vec::new();
    loop {
        let mut state = shared.wait_while(|state| state.bytes.is_empty() && !state.dropped);
        if state.bytes.is_empty() {
            return;
        }
        std::mem::swap(&mut state.bytes, &mut chunk);
        state.busy = true;
        if let Some(task) = state.task.take() {
            task.wake();
        }
        drop(state);
        let written = writer.write_all(&chunk).and_then(|()| writer.flush());
        chunk.clear();
        let mut state = shared.lock();
        state.busy = false;
        state.error = written.err().map(|error| error.kind());
        if let Some(task) = state.task.take() {
            task.wake();
        }
        if state.error.is_some() {
            return;
        }
    }
}

impl AsyncWrite for ThreadWriter {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.0.lock();
        if let Some(kind) = state.error {
            return Poll::Ready(Err(kind.into()));
        }
        let room = CAPACITY.saturating_sub(state.bytes.len());
        if room == 0 {
            state.task = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let taken = buf.get(..room).unwrap_or(buf);
        state.bytes.extend_from_slice(taken);
        self.0.changed.notify_one();
        Poll::Ready(Ok(taken.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.0.lock();
        if let Some(kind) = state.error {
            return Poll::Ready(Err(kind.into()));
        }
        if state.bytes.is_empty() && !state.busy {
            return Poll::Ready(Ok(()));
        }
        state.task = Some(cx.waker().clone());
        Poll::Pending
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

impl Drop for ThreadWriter {
    fn drop(&mut self) {
        self.0.lock().dropped = true;
        self.0.changed.notify_one();
    }
}

impl fmt::Debug for ThreadWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadWriter").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn bytes_go_through_both_threads_unchanged() {
        let sent: Vec<u8> = (0..1_000_000_u32).map(|n| (n % 251) as u8).collect();
        let (reader, writer) = io::pipe().unwrap();
        let mut writer = ThreadWriter::spawn(writer).unwrap();
        let mut reader = ThreadReader::spawn(reader).unwrap();
        let expected = sent.clone();
        let writing = tokio::spawn(async move {
            writer.write_all(&sent).await.unwrap();
            writer.flush().await.unwrap();
        });
        let mut received = Vec::new();
        reader.read_to_end(&mut received).await.unwrap();
        assert!(received == expected, "{} bytes", received.len());
        writing.await.unwrap();
    }

    #[tokio::test]
    async fn a_writer_that_breaks_says_so_from_then_on() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut writer = ThreadWriter::spawn(writer).unwrap();
        writer.write_all(b"x").await.unwrap();
        for _ in 0..2 {
            let error = writer.flush().await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
            assert!(writer.write_all(b"x").await.is_err());
        }
    }

    #[tokio::test]
    async fn a_reader_that_is_dropped_lets_its_thread_go() {
        struct Endless(std::sync::mpsc::Sender<()>);
        impl Read for Endless {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                Ok(buf.len())
            }
        }
        impl Drop for Endless {
            fn drop(&mut self) {
                let _ = self.0.send(());
            }
        }
        let (sender, ended) = std::sync::mpsc::channel();
        let mut reader = ThreadReader::spawn(Endless(sender)).unwrap();
        // The next bytes wait already, or soon.
        reader.read_u8().await.unwrap();
        drop(reader);
        ended.recv_timeout(std::time::Duration::from_secs(30)).unwrap();
    }

    #[tokio::test]
    async fn a_reader_that_breaks_says_how() {
        struct Breaks;
        impl Read for Breaks {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::PermissionDenied.into())
            }
        }
        let mut reader = ThreadReader::spawn(Breaks).unwrap();
        let error = reader.read_u8().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(reader.read(&mut [0]).await.unwrap(), 0, "and then it is at its end");
    }
}
