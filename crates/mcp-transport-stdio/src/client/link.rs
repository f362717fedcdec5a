use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker, ready};

use mcp_jsonrpc::Outgoing;
use mcp_jsonrpc::link::v1::{Incoming, Link, LinkError};

use super::process::{Reader, Writer, read_now};
use super::supervisor::{Fate, Side, Supervisor};
use crate::PipeLink;

/// A link to a server in a child process; made by
/// [`ChildCommand::spawn`](super::ChildCommand::spawn).
///
/// # How it ends
///
/// - When the process ends by itself, or closes its pipes, everything that it had sent comes
///   first, and then a [`LinkError::Failed`] whose source is a
///   [`ChildError`](super::ChildError): how it ended, and
///   the last lines of its stderr.
/// - [`poll_close`](Link::poll_close) closes its stdin, and is ready when the process is gone.
///   Until then receiving goes on. A process that stays is asked to end (`SIGTERM`), and when
///   it stays even then, ended (`SIGKILL`).
/// - Dropping the link does the same without waiting. It needs no runtime; but what it does is
///   lost when this process ends before, so a program that is about to end closes its links, or
///   waits for [`ChildHandle::shutdown`].
///
/// Signals go to the process and everything it has started (its process group), so that no
/// wrapper such as `npx` or `sh` leaves the server itself behind. What of the group outlives
/// the process is ended in the same way.
///
/// Specification: [shutdown](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#stdio).
#[derive(Debug)]
pub struct ChildLink {
    pipe: PipeLink<Reader, Writer>,
    supervisor: Arc<Supervisor>,
    skipped: Arc<AtomicU64>,
    /// Who is woken by the supervisor when something comes up for the receiving side.
    known: Option<Waker>,
    /// Stdout was read to its end.
    eof: bool,
    /// Nothing more can be written.
    deaf: bool,
    /// Why the link has ended, for the receiving side.
    ended: Option<LinkError>,
    /// The same, for the sending side, which may learn it earlier.
    failed: Option<LinkError>,
}

impl ChildLink {
    pub(super) fn new(
        pipe: PipeLink<Reader, Writer>,
        supervisor: Arc<Supervisor>,
        skipped: Arc<AtomicU64>,
    ) -> Self {
        Self {
            pipe,
            supervisor,
            skipped,
            known: None,
            eof: false,
            deaf: false,
            ended: None,
            failed: None,
        }
    }

    /// A handle on the process.
    #[must_use]
    pub fn handle(&self) -> ChildHandle {
        ChildHandle { supervisor: Arc::clone(&self.supervisor), skipped: Arc::clone(&self.skipped) }
    }

    /// Whether there may be news about the process; has the receiving task woken by the first.
    fn has_news(&mut self, cx: &mut Context<'_>) -> bool {
        let known = self.known.as_ref().is_some_and(|known| known.will_wake(cx.waker()));
        // Registering costs a lock, which most messages don't have to pay.
        if known && !self.supervisor.has_news() {
            return false;
        }
        self.known = Some(cx.waker().clone());
        self.supervisor.poll_news(Side::Receiving, cx).is_ready()
    }

    /// Why the link has ended, once that is known.
    fn fate(&self) -> Option<LinkError> {
        Some(match self.supervisor.fate(self.eof)? {
            Fate::Closed => LinkError::Closed,
            Fate::Failed(cause) => LinkError::failed(cause),
        })
    }

    /// The process does not read any more, or so it seems; the error follows when it is known
    /// why. Meanwhile what it had sent can be received.
    fn poll_failed(&mut self, cx: &mut Context<'_>) -> Poll<LinkError> {
        if let Some(cause) = &self.failed {
            return Poll::Ready(cause.clone());
        }
        if !self.deaf {
            self.deaf = true;
            self.supervisor.end();
        }
        ready!(self.supervisor.poll_news(Side::Sending, cx));
        let Some(cause) = self.fate() else { return Poll::Pending };
        self.failed = Some(cause.clone());
        Poll::Ready(cause)
    }
}

impl Link for ChildLink {
    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Result<Incoming, LinkError>> {
        if let Some(cause) = &self.ended {
            return Poll::Ready(Err(cause.clone()));
        }
        loop {
            if !self.eof {
                match self.pipe.poll_recv(cx) {
                    Poll::Ready(Ok(incoming)) => return Poll::Ready(Ok(incoming)),
                    Poll::Ready(Err(_)) => {
                        self.eof = true;
                        self.supervisor.end();
                    }
                    Poll::Pending => {}
                }
            }
            if !self.has_news(cx) {
                return Poll::Pending;
            }
            if self.supervisor.closing() {
                // Somebody else may have begun it: stdin is still to be closed then.
                let _ = self.pipe.poll_close(cx);
            }
            let Some(cause) = self.fate() else { return Poll::Pending };
            if self.eof {
                self.ended = Some(cause.clone());
                return Poll::Ready(Err(cause));
            }
            // Others hold stdout open, and may for good. What has come so far counts, even if
            // this task was so late that the runtime has not heard of it.
            self.pipe.take_rest(read_now);
        }
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        if !self.deaf {
            match self.pipe.poll_ready(cx) {
                Poll::Ready(Err(_)) => {}
                ready => return ready,
            }
        }
        self.poll_failed(cx).map(Err)
    }

    fn start_send(&mut self, message: Outgoing) -> Result<(), LinkError> {
        match self.pipe.start_send(message) {
            Err(refused @ LinkError::Refused { .. }) => Err(refused),
            Err(cause) => Err(self.failed.clone().unwrap_or(cause)),
            Ok(()) => Ok(()),
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        if !self.deaf {
            match self.pipe.poll_flush(cx) {
                Poll::Ready(Err(_)) => {}
                flushed => return flushed,
            }
        }
        self.poll_failed(cx).map(Err)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        // The time that the process has begins now, whether or not it reads what is left.
        self.supervisor.close();
        let flushed = self.pipe.poll_close(cx);
        if !self.supervisor.is_gone() {
            // There always is news: that it is being closed.
            let _ = self.supervisor.poll_news(Side::Sending, cx);
            if !self.supervisor.is_gone() {
                return Poll::Pending;
            }
        }
        match flushed {
            Poll::Ready(closed) => Poll::Ready(closed),
            Poll::Pending => Poll::Ready(Err(LinkError::Closed)),
        }
    }
}

impl Drop for ChildLink {
    fn drop(&mut self) {
        // The pipes are closed right after, and stdin with them.
        self.supervisor.close();
    }
}

/// A handle on a server process, for whoever doesn't own its [`ChildLink`]. Holding or dropping
/// it does nothing to the process.
#[derive(Clone, Debug)]
pub struct ChildHandle {
    supervisor: Arc<Supervisor>,
    skipped: Arc<AtomicU64>,
}

impl ChildHandle {
    /// The process id. It is somebody else's, or nobody's, once the process has ended.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.supervisor.id()
    }

    /// How the process has ended; `None` while it runs.
    #[must_use]
    pub fn status(&self) -> Option<ExitStatus> {
        self.supervisor.status()
    }

    /// The last lines that the process wrote to stderr, the newest last.
    #[must_use]
    pub fn stderr(&self) -> Vec<String> {
        self.supervisor.stderr()
    }

    /// How many lines of its stdout were no messages, and were skipped.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    /// Waits until the process, and everything that it has started in its group, is gone.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does nothing.
    pub async fn gone(&self) -> Option<ExitStatus> {
        self.supervisor.gone().await;
        self.status()
    }

    /// Ends the process in good order, and waits until it is gone; see [`ChildLink`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future doesn't stop what was begun.
    pub async fn shutdown(&self) -> Option<ExitStatus> {
        self.supervisor.close();
        self.gone().await
    }

    /// Ends the process and its group at once (`SIGKILL`).
    pub fn kill(&self) {
        self.supervisor.kill();
    }
}
