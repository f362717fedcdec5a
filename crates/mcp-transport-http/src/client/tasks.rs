//! Futures that run inside of whoever polls the link.
//!
//! The link owns no task of a runtime: requests, streams and connections are polled from its
//! own methods, each only when it was woken. Dropping the set ends them all.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};

pub(super) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Names a task, also after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskId(u64);

/// Rounds in which tasks may wake each other before the caller gets its turn.
const ROUNDS: usize = 8;

/// A set of futures.
pub(super) struct Tasks {
    slots: Vec<Slot>,
    free: Vec<usize>,
    ready: Arc<Ready>,
    spawner: Spawner,
    /// Indices of this round, kept for their memory.
    round: Vec<usize>,
}

struct Slot {
    task: Option<(TaskId, Task)>,
    alarm: Arc<Alarm>,
    waker: Waker,
}

/// Takes new tasks, from anywhere.
#[derive(Clone, Default)]
pub(super) struct Spawner(Arc<SpawnQueue>);

#[derive(Default)]
struct SpawnQueue {
    next: AtomicU64,
    changes: Mutex<Changes>,
}

#[derive(Default)]
struct Changes {
    spawned: Vec<(TaskId, Task)>,
    ended: Vec<TaskId>,
}

/// Wakes one slot.
struct Alarm {
    index: usize,
    /// The slot is in the queue, or on its way there.
    rung: AtomicBool,
    ready: Arc<Ready>,
}

#[derive(Default)]
struct Ready(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    woken: Vec<usize>,
    /// The set is being polled: it looks into the queue by itself.
    running: bool,
    /// Everybody was told that there is something to do.
    told: bool,
    receiver: Option<Waker>,
    sender: Option<Waker>,
}

/// Who is to be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Receiving,
    Sending,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Spawner {
    /// Adds a task.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> TaskId {
        let id = self.reserve();
        self.spawn_as(id, task);
        id
    }

    /// A name for a task that is about to be added.
    pub(super) fn reserve(&self) -> TaskId {
        TaskId(self.0.next.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn spawn_as(&self, id: TaskId, task: impl Future<Output = ()> + Send + 'static) {
        lock(&self.0.changes).spawned.push((id, Box::pin(task)));
    }

    /// Ends a task, at the latest at the end of the round.
    pub(super) fn end(&self, id: TaskId) {
        lock(&self.0.changes).ended.push(id);
    }

    fn take(&self) -> Changes {
        std::mem::take(&mut *lock(&self.0.changes))
    }
}

impl Tasks {
    pub(super) fn new(spawner: Spawner) -> Self {
        let ready = Arc::default();
        Self { slots: Vec::new(), free: Vec::new(), ready, spawner, round: Vec::new() }
    }

    /// Has `waker` woken when a task is.
    pub(super) fn register(&self, side: Side, waker: &Waker) {
        let mut queue = lock(&self.ready.0);
        let slot = match side {
            Side::Receiving => &mut queue.receiver,
            Side::Sending => &mut queue.sender,
        };
        match slot {
            Some(known) if known.will_wake(waker) => {}
            Some(known) => known.clone_from(waker),
            None => *slot = Some(waker.clone()),
        }
    }

    /// Wakes whoever waits on `side`.
    pub(super) fn wake(&self, side: Side) {
        let waker = {
            let queue = lock(&self.ready.0);
            match side {
                Side::Receiving => queue.receiver.clone(),
                Side::Sending => queue.sender.clone(),
            }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Polls every task that was woken, and those that they wake.
    pub(super) fn run(&mut self) {
        {
            let mut queue = lock(&self.ready.0);
            queue.running = true;
            queue.told = false;
        }
        for _ in 0..ROUNDS {
            self.change();
            {
                let mut queue = lock(&self.ready.0);
                if queue.woken.is_empty() {
                    queue.running = false;
                    return;
                }
                std::mem::swap(&mut queue.woken, &mut self.round);
            }
            let mut round = std::mem::take(&mut self.round);
            for index in round.drain(..) {
                self.poll(index);
            }
            self.round = round;
        }
        self.change();
        // A task may have been out of its budget, and wake itself for ever.
        let wakers = {
            let mut queue = lock(&self.ready.0);
            queue.running = false;
            if queue.woken.is_empty() {
                return;
            }
            queue.tell()
        };
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    fn poll(&mut self, index: usize) {
        let Some(slot) = self.slots.get_mut(index) else { return };
        slot.alarm.rung.store(false, Ordering::Release);
        let Some((_, task)) = &mut slot.task else { return };
        if task.as_mut().poll(&mut Context::from_waker(&slot.waker)).is_ready() {
            slot.task = None;
            self.free.push(index);
        }
    }

    /// Takes in what was spawned, and drops what was ended.
    fn change(&mut self) {
        loop {
            let Changes { spawned, ended } = self.spawner.take();
            if spawned.is_empty() && ended.is_empty() {
                return;
            }
            for (id, task) in spawned {
                self.add(id, task);
            }
            for id in ended {
                self.remove(id);
            }
        }
    }

    fn add(&mut self, id: TaskId, task: Task) {
        let index = self.free.pop().unwrap_or(self.slots.len());
        if index == self.slots.len() {
            let ready = Arc::clone(&self.ready);
            let alarm = Arc::new(Alarm { index, rung: AtomicBool::new(false), ready });
            let waker = Waker::from(Arc::clone(&alarm));
            self.slots.push(Slot { task: None, alarm, waker });
        }
        if let Some(slot) = self.slots.get_mut(index) {
            slot.task = Some((id, task));
            slot.waker.wake_by_ref();
        }
    }

    fn remove(&mut self, id: TaskId) {
        let is_it = |slot: &Slot| slot.task.as_ref().is_some_and(|(known, _)| *known == id);
        if let Some(index) = self.slots.iter().position(is_it)
            && let Some(slot) = self.slots.get_mut(index)
        {
            slot.task = None;
            self.free.push(index);
        }
    }

    /// Drops all tasks, and what they spawn while they go.
    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.free.clear();
        drop(self.spawner.take());
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.slots.iter().filter(|slot| slot.task.is_some()).count()
    }
}

impl Queue {
    fn tell(&mut self) -> [Option<Waker>; 2] {
        if std::mem::replace(&mut self.told, true) {
            return [None, None];
        }
        let receiver = self.receiver.clone();
        let sender = self
            .sender
            .as_ref()
            .filter(|sender| receiver.as_ref().is_none_or(|receiver| !receiver.will_wake(sender)));
        [receiver.clone(), sender.cloned()]
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.rung.swap(true, Ordering::AcqRel) {
            return;
        }
        let wakers = {
            let mut queue = lock(&self.ready.0);
            queue.woken.push(self.index);
            if queue.running { [None, None] } else { queue.tell() }
        };
        wakers.into_iter().flatten().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::AtomicUsize;
    use std::task::Poll;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn set() -> (Tasks, Spawner, Arc<Count>) {
        let spawner = Spawner::default();
        let tasks = Tasks::new(spawner.clone());
        let count = Arc::new(Count::default());
        tasks.register(Side::Receiving, &Arc::clone(&count).into());
        tasks.register(Side::Sending, &Arc::clone(&count).into());
        (tasks, spawner, count)
    }

    #[test]
    fn a_task_is_polled_only_when_it_was_woken() {
        let (mut tasks, spawner, count) = set();
        let (polls, waker) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(None)));
        let (inner, keep) = (Arc::clone(&polls), Arc::clone(&waker));
        spawner.spawn(poll_fn(move |cx| {
            *lock(&keep) = Some(cx.waker().clone());
            match inner.fetch_add(1, Ordering::Relaxed) {
                0 => Poll::Pending,
                _ => Poll::Ready(()),
            }
        }));
        for _ in 0..3 {
            tasks.run();
            assert_eq!(polls.load(Ordering::Relaxed), 1);
        }
        let waker = lock(&waker).take().unwrap();
        waker.wake_by_ref();
        waker.wake_by_ref();
        // Both sides have the same waker: one call is enough.
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        tasks.run();
        assert_eq!((polls.load(Ordering::Relaxed), tasks.len()), (2, 0));
        // A late wake-up finds nobody.
        waker.wake();
        tasks.run();
    }

    #[test]
    fn a_task_that_always_wakes_itself_lets_others_run() {
        let (mut tasks, spawner, count) = set();
        spawner.spawn(poll_fn(|cx| {
            cx.waker().wake_by_ref();
            Poll::Pending
        }));
        tasks.run();
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn tasks_that_are_spawned_or_ended_by_tasks_are_so_in_the_same_run() {
        let (mut tasks, spawner, _) = set();
        let idle = spawner.spawn(std::future::pending());
        let inner = spawner.clone();
        spawner.spawn(async move {
            inner.end(idle);
            inner.spawn(async {});
        });
        tasks.run();
        assert_eq!(tasks.len(), 0);
    }
}
