use std::collections::VecDeque;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use crate::service::v1::BoxFuture;

/// Tasks that are polled on this thread, in turn, and only when they were woken: a wake-up that
/// was lost shows as [`Stalled`].
pub struct Tasks {
    /// `None` once a task is over. The first one is whatever is waited for.
    tasks: Vec<Option<BoxFuture<'static, ()>>>,
    ready: Arc<Ready>,
    patience: Duration,
}

/// Everybody waits for somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nobody was woken, and {open} tasks wait")]
#[non_exhaustive]
pub struct Stalled {
    /// How many tasks wait.
    pub open: usize,
}

#[derive(Default)]
struct Ready {
    woken: Mutex<VecDeque<usize>>,
    more: Condvar,
}

impl Ready {
    fn lock(&self) -> MutexGuard<'_, VecDeque<usize>> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, task: usize) {
        let mut woken = self.lock();
        if !woken.contains(&task) {
            woken.push_back(task);
            self.more.notify_one();
        }
    }
}

struct TaskWaker {
    task: usize,
    ready: Arc<Ready>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.ready.push(self.task);
    }
}

/// The number of what is waited for; tasks come behind it.
const MAIN: usize = 0;

impl Tasks {
    /// No tasks. Whoever waits for a thread or a runtime beside this one wants
    /// [`with_patience`](Self::with_patience).
    #[must_use]
    pub fn new() -> Self {
        Self { tasks: vec![None], ready: Arc::default(), patience: Duration::ZERO }
    }

    /// Waits so long for a wake-up from another thread before calling it a stall.
    #[must_use]
    pub const fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Adds a task. It runs while something is waited for.
    pub fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.ready.push(self.tasks.len());
        self.tasks.push(Some(Box::pin(task)));
    }

    /// How many tasks are not over.
    #[must_use]
    pub fn open(&self) -> usize {
        self.tasks.iter().flatten().count()
    }

    /// Polls `main` and all tasks until `main` is ready.
    ///
    /// # Errors
    ///
    /// [`Stalled`] when it isn't, and nobody was woken.
    pub fn run_until<T>(&mut self, main: impl Future<Output = T>) -> Result<T, Stalled> {
        let mut main = pin!(main);
        self.ready.push(MAIN);
        loop {
            let Some(task) = self.next() else { return Err(Stalled { open: self.open() + 1 }) };
            if task != MAIN {
                self.poll(task);
            } else if let Poll::Ready(output) =
                main.as_mut().poll(&mut Context::from_waker(&self.waker(MAIN)))
            {
                return Ok(output);
            }
        }
    }

    /// Polls all tasks until they are over.
    ///
    /// # Errors
    ///
    /// [`Stalled`] when some aren't, and nobody was woken.
    pub fn run_all(&mut self) -> Result<(), Stalled> {
        while self.open() > 0 {
            let Some(task) = self.next() else { return Err(Stalled { open: self.open() }) };
            self.poll(task);
        }
        Ok(())
    }

    /// Polls all tasks until nobody is woken any more.
    pub fn run(&mut self) {
        while self.open() > 0
            && let Some(task) = self.next()
        {
            self.poll(task);
        }
    }

    fn waker(&self, task: usize) -> Waker {
        Waker::from(Arc::new(TaskWaker { task, ready: Arc::clone(&self.ready) }))
    }

    fn poll(&mut self, task: usize) {
        let waker = self.waker(task);
        let mut cx = Context::from_waker(&waker);
        if let Some(slot) = self.tasks.get_mut(task)
            && slot.as_mut().is_some_and(|future| future.as_mut().poll(&mut cx).is_ready())
        {
            *slot = None;
        }
    }

    fn next(&self) -> Option<usize> {
        let deadline = Instant::now().checked_add(self.patience)?;
        let mut woken = self.ready.lock();
        loop {
            if let Some(task) = woken.pop_front() {
                return Some(task);
            }
            let left = deadline.checked_duration_since(Instant::now()).filter(|d| !d.is_zero())?;
            woken =
                self.ready.more.wait_timeout(woken, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Default for Tasks {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").field("open", &self.open()).finish_non_exhaustive()
    }
}

/// Polls a future until it is ready, on this thread.
///
/// # Panics
///
/// When it isn't ready and nobody will wake it, from this thread or in ten seconds from another.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut tasks = Tasks::new().with_patience(Duration::from_secs(10));
    match tasks.run_until(future) {
        Ok(output) => output,
        #[expect(clippy::panic, reason = "for tests, where a stall is a failure")]
        Err(stalled) => panic!("{stalled}"),
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[test]
    fn tasks_run_when_they_are_woken() {
        let mut tasks = Tasks::new();
        let shared = Arc::new(Mutex::new((0, None::<Waker>)));
        let other = Arc::clone(&shared);
        tasks.spawn(async move {
            let mut shared = other.lock().unwrap();
            shared.0 = 1;
            if let Some(waker) = shared.1.take() {
                waker.wake();
            }
        });
        let got = tasks.run_until(poll_fn(|cx| {
            let mut shared = shared.lock().unwrap();
            if shared.0 == 1 {
                return Poll::Ready(shared.0);
            }
            shared.1 = Some(cx.waker().clone());
            Poll::Pending
        }));
        assert_eq!((got, tasks.open()), (Ok(1), 0));
    }

    #[test]
    fn a_wake_up_that_nobody_gives_is_a_stall() {
        let mut tasks = Tasks::new();
        tasks.spawn(std::future::pending());
        assert_eq!(tasks.run_until(std::future::pending::<()>()), Err(Stalled { open: 2 }));
    }

    #[test]
    fn another_thread_may_wake() {
        let (send, receive) = std::sync::mpsc::channel::<Waker>();
        let thread = std::thread::spawn(move || receive.recv().unwrap().wake());
        let mut polls = 0;
        block_on(poll_fn(|cx| {
            polls += 1;
            if polls == 2 {
                return Poll::Ready(());
            }
            send.send(cx.waker().clone()).unwrap();
            Poll::Pending
        }));
        thread.join().unwrap();
    }
}
