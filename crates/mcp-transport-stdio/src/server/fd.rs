//! Stdin and stdout as descriptors: how they are taken, and what drives them.

use std::fs::File;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::fs::{FileType, OFlags};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::Guard;
use crate::blocking::{ThreadReader, ThreadWriter};

/// Moves stdin and stdout away from where the rest of the process knows them.
pub(super) fn take(guard: Guard) -> io::Result<(Input, Output)> {
    // Past the three that programs take to be theirs.
    let input = fcntl_dupfd_cloexec(stdin(), 3)?;
    let output = fcntl_dupfd_cloexec(stdout(), 3)?;
    if guard == Guard::On {
        let null = File::options().read(true).write(true).open("/dev/null")?;
        dup2_stdin(&null)?;
        // With `2>&1` stderr would lead into the protocol, too.
        if same_file(stderr(), &output) || dup2_stdout(stderr()).is_err() {
            dup2_stdout(&null)?;
        }
    }
    Ok((Input::new(input), Output::new(output)))
}

fn same_file(a: impl AsFd, b: impl AsFd) -> bool {
    match (rustix::fs::fstat(a), rustix::fs::fstat(b)) {
        (Ok(a), Ok(b)) => a.st_dev == b.st_dev && a.st_ino == b.st_ino,
        _ => false,
    }
}

/// How a descriptor can be driven.
enum Kind {
    /// By the runtime; the mode to go back to, where it is not the descriptor's own.
    Pipe(OwnedFd, Option<OFlags>),
    Socket(OwnedFd, Option<OFlags>),
    /// By a thread.
    Other(OwnedFd),
}

fn kind(fd: OwnedFd, access: OFlags) -> Kind {
    // Without a runtime only a thread can wait.
    if tokio::runtime::Handle::try_current().is_err() {
        return Kind::Other(fd);
    }
    let Ok(stat) = rustix::fs::fstat(&fd) else { return Kind::Other(fd) };
    let file_type = FileType::from_raw_mode(stat.st_mode);
    if file_type == FileType::Fifo
        && let Some(fresh) = reopened(&fd, access)
    {
        return Kind::Pipe(fresh, None);
    }
    // The mode belongs to all who share what the descriptor leads to. If that is also where
    // stderr leads, a log line could suddenly fail.
    if same_file(&fd, stderr()) {
        return Kind::Other(fd);
    }
    let Ok(flags) = rustix::fs::fcntl_getfl(&fd) else { return Kind::Other(fd) };
    let before = Some(flags).filter(|flags| !flags.contains(OFlags::NONBLOCK));
    match file_type {
        FileType::Fifo => Kind::Pipe(fd, before),
        FileType::Socket => Kind::Socket(fd, before),
        _ => Kind::Other(fd),
    }
}

/// A second opening of the same pipe. Linux only; anywhere else, and of a named pipe, it
/// would not be the same thing.
#[cfg(target_os = "linux")]
fn reopened(fd: &OwnedFd, access: OFlags) -> Option<OwnedFd> {
    use std::os::fd::AsRawFd;

    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    let target = rustix::fs::readlink(&path, Vec::new()).ok()?;
    if !target.as_bytes().starts_with(b"pipe:") {
        return None;
    }
    let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(&path, flags, rustix::fs::Mode::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn reopened(_: &OwnedFd, _: OFlags) -> Option<OwnedFd> {
    None
}

/// Where messages come from.
#[derive(Debug)]
pub(crate) enum Input {
    /// Not polled yet: only then there is a runtime for sure.
    New(Option<OwnedFd>),
    Pipe(Restored<pipe::Receiver>),
    Socket(Restored<UnixStream>),
    Thread(ThreadReader),
}

impl Input {
    pub(super) fn new(fd: OwnedFd) -> Self {
        Self::New(Some(fd))
    }

    fn open(fd: OwnedFd) -> io::Result<Self> {
        Ok(match kind(fd, OFlags::RDONLY) {
            Kind::Pipe(fd, before) => {
                Self::Pipe(Restored { fd: pipe::Receiver::from_owned_fd(fd)?, before })
            }
            Kind::Socket(fd, before) => Self::Socket(Restored { fd: stream(fd)?, before }),
            Kind::Other(fd) => Self::Thread(ThreadReader::spawn(File::from(fd))?),
        })
    }
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            match &mut *self {
                Self::New(fd) => {
                    let fd = fd.take().ok_or(io::ErrorKind::NotConnected)?;
                    *self = Self::open(fd)?;
                }
                Self::Pipe(pipe) => return Pin::new(&mut pipe.fd).poll_read(cx, buf),
                Self::Socket(socket) => {
                    return Pin::new(&mut socket.fd).poll_read(cx, buf).map(|read| match read {
                        // A client that was killed with something unread: that is its end.
                        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(()),
                        read => read,
                    });
                }
                Self::Thread(thread) => return Pin::new(thread).poll_read(cx, buf),
            }
        }
    }
}

/// Where messages go.
#[derive(Debug)]
pub(crate) enum Output {
    New(Option<OwnedFd>),
    Pipe(Restored<pipe::Sender>),
    Socket(Restored<UnixStream>),
    Thread(ThreadWriter),
}

impl Output {
    pub(super) fn new(fd: OwnedFd) -> Self {
        Self::New(Some(fd))
    }

    fn open(fd: OwnedFd) -> io::Result<Self> {
        Ok(match kind(fd, OFlags::WRONLY) {
            Kind::Pipe(fd, before) => {
                Self::Pipe(Restored { fd: pipe::Sender::from_owned_fd(fd)?, before })
            }
            Kind::Socket(fd, before) => Self::Socket(Restored { fd: stream(fd)?, before }),
            Kind::Other(fd) => Self::Thread(ThreadWriter::spawn(File::from(fd))?),
        })
    }

    fn opened(&mut self) -> io::Result<&mut Self> {
        if let Self::New(fd) = self {
            let fd = fd.take().ok_or(io::ErrorKind::NotConnected)?;
            *self = Self::open(fd)?;
        }
        Ok(self)
    }
}

impl AsyncWrite for Output {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.opened()? {
            Self::Pipe(pipe) => Pin::new(&mut pipe.fd).poll_write(cx, buf),
            Self::Socket(socket) => Pin::new(&mut socket.fd).poll_write(cx, buf),
            Self::Thread(thread) => Pin::new(thread).poll_write(cx, buf),
            Self::New(_) => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.opened()? {
            Self::Pipe(pipe) => Pin::new(&mut pipe.fd).poll_write_vectored(cx, bufs),
            Self::Socket(socket) => Pin::new(&mut socket.fd).poll_write_vectored(cx, bufs),
            Self::Thread(thread) => Pin::new(thread).poll_write_vectored(cx, bufs),
            Self::New(_) => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }

    fn is_write_vectored(&self) -> bool {
        // Of what isn't open yet one piece is written as well as many.
        matches!(self, Self::Pipe(_) | Self::Socket(_))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Thread(thread) => Pin::new(thread).poll_flush(cx),
            // Nothing is held back.
            Self::New(_) | Self::Pipe(_) | Self::Socket(_) => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Socket(socket) => Pin::new(&mut socket.fd).poll_shutdown(cx),
            _ => self.poll_flush(cx),
        }
    }
}

/// Any stream socket: what matters of it is reading and writing.
fn stream(fd: OwnedFd) -> io::Result<UnixStream> {
    let stream = std::os::unix::net::UnixStream::from(fd);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

/// A descriptor that is put back into its old mode.
#[derive(Debug)]
pub(crate) struct Restored<F: AsFd> {
    fd: F,
    before: Option<OFlags>,
}

impl<F: AsFd> Drop for Restored<F> {
    fn drop(&mut self) {
        if let Some(flags) = self.before {
            // Nothing is left to do about an error.
            let _ = rustix::fs::fcntl_setfl(&self.fd, flags);
        }
    }
}
