//! What watches over a child process: three threads of which one lives only while the process
//! is being ended. They need no runtime, so what they do is done even when it is going away.

use std::io;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::ChildError;
use super::process::{Process, Reader, Started, StopStderr, Writer};
use super::stderr::{Stderr, Tail, drain};

/// How long the last words of a process that has ended may take to go through somebody's
/// callback.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How long a link waits to learn why its pipes were closed, and for others who hold them open
/// to close them, too.
const GIVE_UP: Duration = Duration::from_millis(250);
/// The first and the longest pause between two looks at what a process has left behind.
const LOOKS: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(50)];

/// How long the steps of an orderly end take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// From closing stdin to asking the group to end.
    pub(super) exit: Duration,
    /// From asking the group to end to ending it.
    pub(super) terminate: Duration,
}

/// Watches over one process.
#[derive(Debug)]
pub(super) struct Supervisor {
    process: Process,
    program: String,
    times: Times,
    state: Mutex<State>,
    /// Wakes the threads.
    changed: Condvar,
    /// Whether there is news for the link in `state`.
    ///
    /// Invariant: set before the tasks in `state` are woken.
    news: AtomicBool,
    gone: watch::Sender<bool>,
}

#[derive(Debug)]
struct State {
    /// The process has ended.
    ended: bool,
    /// How; `None` also when somebody else has waited for it.
    status: Option<ExitStatus>,
    /// All of stderr was read, or no more is waited for.
    stderr_done: bool,
    /// It has ended a while ago: what can still be read of its stdout isn't from it.
    settled: bool,
    /// It should have ended, having closed its pipes, but hasn't yet.
    overdue: bool,
    /// The process is being ended, or has ended.
    ending: bool,
    /// By choice of this side, and not since it failed.
    closing: bool,
    tail: Tail,
    /// By [`Side`].
    tasks: [Option<Waker>; 2],
}

/// What has become of a process.
#[derive(Debug)]
pub(super) enum Fate {
    /// What was wanted.
    Closed,
    Failed(ChildError),
}

/// Which half of a link waits. They may be polled from different places.
#[derive(Clone, Copy, Debug)]
pub(super) enum Side {
    Receiving,
    Sending,
}

impl Supervisor {
    /// Takes care of a process that was just started.
    ///
    /// # Errors
    ///
    /// When there can be no more threads; the process has been killed.
    pub(super) fn start(
        started: Started,
        program: String,
        times: Times,
        tail: usize,
        policy: Stderr,
    ) -> io::Result<(Arc<Self>, Reader, Writer)> {
        let Started { process, stdin, stdout, stderr } = started;
        let supervisor = Arc::new(Self {
            process,
            program,
            times,
            state: Mutex::new(State {
                ended: false,
                status: None,
                stderr_done: stderr.is_none(),
                settled: false,
                overdue: false,
                ending: false,
                closing: false,
                tail: Tail::new(tail),
                tasks: [None, None],
            }),
            changed: Condvar::new(),
            news: AtomicBool::new(false),
            gone: watch::Sender::new(false),
        });
        let mut threads = Ok(());
        let mut stop = None;
        if let Some((stderr, stopper)) = stderr {
            stop = Some(stopper);
            let this = Arc::clone(&supervisor);
            threads = spawn("mcp-child-stderr", move || {
                let keep = |line| this.lock().tail.push(line);
                let caught_up = || this.update(|state| state.stderr_done = true);
                drain(stderr, policy, &this.program, this.id(), keep, caught_up);
            });
        }
        let this = Arc::clone(&supervisor);
        let threads = threads.and_then(|()| {
            spawn("mcp-child-wait", move || {
                this.watch(stop);
            })
        });
        if let Err(error) = threads {
            supervisor.process.kill();
            supervisor.process.wait();
            return Err(error);
        }
        Ok((supervisor, stdout, stdin))
    }

    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    /// How the process has ended, once it has.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        self.lock().status
    }

    pub(super) fn stderr(&self) -> Vec<String> {
        self.lock().tail.to_vec()
    }

    /// Whether this side has chosen to close.
    pub(super) fn closing(&self) -> bool {
        self.has_news() && self.lock().closing
    }

    /// This side has chosen to close: the process has its time to end by itself, then it is
    /// asked to, then it is ended.
    pub(super) fn close(self: &Arc<Self>) {
        self.begin(true);
    }

    /// The same, since the process is of no more use.
    pub(super) fn end(self: &Arc<Self>) {
        self.begin(false);
    }

    fn begin(self: &Arc<Self>, closing: bool) {
        if self.lock().ending {
            return;
        }
        let mut begun = true;
        self.update(|state| {
            begun = std::mem::replace(&mut state.ending, true);
            state.closing |= closing && !begun;
        });
        if begun {
            return;
        }
        let this = Arc::clone(self);
        if spawn("mcp-child-end", move || this.escalate()).is_err() {
            // Without a thread there is no waiting.
            self.process.kill();
        }
    }

    /// Ends the process and its group at once.
    pub(super) fn kill(&self) {
        self.update(|state| {
            state.closing |= !state.ending;
            state.ending = true;
        });
        self.process.kill();
    }

    /// Waits until the process and its group are gone.
    pub(super) async fn gone(&self) {
        // It fails only when the sender is gone, which `self` holds.
        let _ = self.gone.subscribe().wait_for(|gone| *gone).await;
    }

    pub(super) fn is_gone(&self) -> bool {
        *self.gone.borrow()
    }

    /// Whether there has been any news.
    pub(super) fn has_news(&self) -> bool {
        self.news.load(Ordering::Acquire)
    }

    /// Has `side` woken when there is news; ready when there is some already.
    pub(super) fn poll_news(&self, side: Side, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        let [receiving, sending] = &mut state.tasks;
        *match side {
            Side::Receiving => receiving,
            Side::Sending => sending,
        } = Some(cx.waker().clone());
        if self.has_news() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// What has become of the process, once that is known; `None` until then. `eof` says that
    /// its stdout was read to the end.
    pub(super) fn fate(&self, eof: bool) -> Option<Fate> {
        let state = self.lock();
        if state.closing {
            return (eof || state.settled).then_some(Fate::Closed);
        }
        if state.ended && state.stderr_done && (eof || state.settled) {
            let stderr = state.tail.to_vec();
            return Some(Fate::Failed(ChildError::Exited { status: state.status, stderr }));
        }
        let stderr = || state.tail.to_vec();
        state.overdue.then(|| Fate::Failed(ChildError::ClosedPipes { stderr: stderr() }))
    }

    /// Waits for the process, then for what it has left behind.
    fn watch(&self, mut stderr: Option<StopStderr>) {
        let status = self.process.wait();
        if let Some(stderr) = &mut stderr {
            stderr.child_ended();
        }
        tracing::info!(pid = self.id(), program = self.program, ?status, "a server process ended");
        let ended = Instant::now();
        self.update(|state| {
            state.ended = true;
            state.ending = true;
            state.status = status;
        });
        let mut pause = LOOKS[0];
        let mut killed = false;
        loop {
            let elapsed = ended.elapsed();
            let alone = !self.process.group_lives();
            if !alone && !killed && elapsed >= self.times.terminate {
                tracing::warn!(
                    pid = self.id(),
                    program = self.program,
                    "a server process left others behind, which are killed"
                );
                killed = true;
                self.process.kill();
            }
            let given_up = killed && elapsed >= self.times.terminate.saturating_add(GIVE_UP);
            let state = self.lock();
            let stderr_done = state.stderr_done || elapsed >= LAST_WORDS;
            let settled = elapsed >= GIVE_UP;
            let gone = (alone || given_up) && stderr_done;
            if (stderr_done, settled) != (state.stderr_done, state.settled) {
                drop(state);
                self.update(|state| {
                    state.stderr_done = stderr_done;
                    state.settled = settled;
                });
            } else if gone && !self.is_gone() {
                drop(state);
                self.gone.send_replace(true);
                self.update(|_| ());
            } else if gone && settled {
                return;
            } else {
                let waited = self.changed.wait_timeout(state, pause);
                drop(waited.unwrap_or_else(PoisonError::into_inner));
                pause = (2 * pause).min(LOOKS[1]);
            }
        }
    }

    /// Waits, asks, waits, kills.
    fn escalate(&self) {
        let since = Instant::now();
        let ended = self.wait_ended(since, self.times.exit.min(GIVE_UP));
        if !ended {
            self.update(|state| state.overdue = !state.ended);
        }
        if ended || self.wait_ended(since, self.times.exit) {
            return;
        }
        tracing::debug!(
            pid = self.id(),
            program = self.program,
            "a server process is asked to end"
        );
        self.process.terminate();
        if self.wait_ended(since, self.times.exit.saturating_add(self.times.terminate)) {
            return;
        }
        tracing::warn!(
            pid = self.id(),
            program = self.program,
            "a server process does not end, and is killed"
        );
        self.process.kill();
    }

    /// Waits for the process to end, until so much time has passed.
    fn wait_ended(&self, since: Instant, time: Duration) -> bool {
        let limit = time.saturating_sub(since.elapsed());
        let waited = self.changed.wait_timeout_while(self.lock(), limit, |state| !state.ended);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }

    /// Changes the state, and tells everybody.
    fn update(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        self.news.store(true, Ordering::Release);
        let tasks = std::mem::take(&mut state.tasks);
        drop(state);
        self.changed.notify_all();
        for task in tasks.into_iter().flatten() {
            task.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread whose events go where the caller's go.
fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let dispatch = tracing::dispatcher::get_default(Clone::clone);
    let run = move || tracing::dispatcher::with_default(&dispatch, run);
    thread::Builder::new().name(name.into()).spawn(run).map(drop)
}
