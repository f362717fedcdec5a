//! This process as a server: a link on its own stdin and stdout.

#[cfg(unix)]
mod fd;
#[cfg(unix)]
use self::fd::{Input, Output, take};

#[cfg(any(not(unix), test))]
#[cfg_attr(unix, expect(dead_code, reason = "for other platforms; here it is only compiled"))]
mod portable;
#[cfg(not(unix))]
use self::portable::{Input, Output, take};

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use mcp_jsonrpc::link::v1::{Incoming, Link, LinkError};
use mcp_jsonrpc::{Outgoing, RequestId};

use crate::{PipeConfig, PipeLink};

/// A link on this process's stdin and stdout, with everything at its default; see [`Stdio`].
///
/// It can't fail here: when stdin and stdout can't be had, that is the first thing that the
/// link answers. [`Stdio::open`] tells at once.
///
/// Call it before anything else may print: from then on stdout belongs to the protocol.
#[must_use]
pub fn stdio() -> StdioLink {
    Stdio::new().open().unwrap_or_else(|error| StdioLink(Inner::Failed(LinkError::failed(error))))
}

/// How this process's stdin and stdout become a link.
///
/// # What happens to stdin and stdout
///
/// On Unix both are moved to descriptors of their own, which no child process inherits.
/// Stdout then leads where stderr leads, so that a stray `println!`, or a child process that
/// prints, can't be taken for protocol; stdin is at its end, so that nobody else can take bytes
/// from the protocol. It stays so until the process ends.
/// [`without_guard`](Self::without_guard) leaves both as they are.
///
/// # How they are driven
///
/// Pipes and sockets by the runtime's poll, without a thread. Files, terminals and other
/// devices by a thread for each direction, and so is everything on other platforms, and when
/// there is no Tokio runtime. A thread that waits for a terminal doesn't hold up the end of
/// the runtime or of the process.
///
/// A pipe or socket that is shared with other processes, such as the shell that started this
/// one, stays in the mode that it was in where the platform has a way to do so; otherwise its
/// mode is restored when the link is dropped.
///
/// Specification: [stdio](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio).
#[derive(Clone, Debug)]
pub struct Stdio {
    config: PipeConfig,
    guard: Guard,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    On,
    Off,
}

impl Stdio {
    /// The defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self { config: PipeConfig::new(), guard: Guard::On }
    }

    /// Sets what is accepted and how much is held.
    #[must_use]
    pub fn with_config(mut self, config: PipeConfig) -> Self {
        self.config = config;
        self
    }

    /// Leaves stdin and stdout open to the rest of the process. Whatever it prints then goes
    /// between the messages, and the client sees the end only when the process ends.
    #[must_use]
    pub const fn without_guard(mut self) -> Self {
        self.guard = Guard::Off;
        self
    }

    /// Takes stdin and stdout. Needs no runtime yet.
    ///
    /// # Errors
    ///
    /// When they were taken before, or the system refuses.
    pub fn open(self) -> Result<StdioLink, StdioError> {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        if TAKEN.swap(true, Ordering::AcqRel) {
            return Err(StdioError::Taken);
        }
        let (input, output) = take(self.guard).map_err(StdioError::Io)?;
        Ok(self.link(input, output))
    }

    /// A link on two descriptors that take the place of stdin and stdout, such as what a
    /// socket activation hands over.
    #[cfg(unix)]
    #[must_use]
    pub fn open_on(self, input: std::os::fd::OwnedFd, output: std::os::fd::OwnedFd) -> StdioLink {
        self.link(Input::new(input), Output::new(output))
    }

    fn link(self, input: Input, output: Output) -> StdioLink {
        StdioLink(Inner::Open(PipeLink::with_config(input, output, self.config)))
    }
}

impl Default for Stdio {
    fn default() -> Self {
        Self::new()
    }
}

/// Stdin and stdout can't be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StdioError {
    /// This process has only one stdin and one stdout, and they serve a link already.
    #[error("stdin and stdout are in use by another link")]
    Taken,
    /// The system refuses.
    #[error("stdin and stdout can't be taken")]
    Io(#[source] io::Error),
}

/// A link on this process's stdin and stdout; made by [`stdio`] and [`Stdio`].
///
/// # Panics
///
/// Polling it panics in a Tokio runtime that was built without I/O.
#[derive(Debug)]
pub struct StdioLink(Inner);

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a process has one")]
enum Inner {
    Open(PipeLink<Input, Output>),
    Failed(LinkError),
}

impl StdioLink {
    fn pipe(&mut self) -> Result<&mut PipeLink<Input, Output>, LinkError> {
        match &mut self.0 {
            Inner::Open(pipe) => Ok(pipe),
            Inner::Failed(cause) => Err(cause.clone()),
        }
    }
}

impl Link for StdioLink {
    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Result<Incoming, LinkError>> {
        self.pipe()?.poll_recv(cx)
    }
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.pipe()?.poll_ready(cx)
    }
    fn start_send(&mut self, message: Outgoing) -> Result<(), LinkError> {
        self.pipe()?.start_send(message)
    }
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.pipe()?.poll_flush(cx)
    }
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.pipe()?.poll_close(cx)
    }
    fn abandon(&mut self, id: &RequestId, notice: Option<Outgoing>) -> Result<(), LinkError> {
        self.pipe()?.abandon(id, notice)
    }
}
