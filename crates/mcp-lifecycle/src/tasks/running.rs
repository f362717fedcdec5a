use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use mcp_jsonrpc::service::v1::BoxFuture;
use mcp_jsonrpc::{ErrorObject, RawJson};
use mcp_types::TaskId;

use super::live::Live;
use super::receiver::Inner;
use crate::v1::{TaskChange, TaskOutcome, TaskRecord, TaskStoreError};

/// What a task has come to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskEnd {
    /// What the request would have been answered, had it not run as a task.
    pub outcome: Result<RawJson, ErrorObject>,
    /// Whether the result says that it has failed; an error always does.
    pub failed: bool,
    /// What there is to say about that, for people.
    pub message: Option<String>,
}

impl TaskEnd {
    /// A result, or an error.
    #[must_use]
    pub const fn new(outcome: Result<RawJson, ErrorObject>) -> Self {
        Self { outcome, failed: false, message: None }
    }

    /// The result says that the task has failed, and `message` says how.
    #[must_use]
    pub fn failed(mut self, message: Option<String>) -> Self {
        self.failed = true;
        self.message = message;
        self
    }

    fn into_change(self) -> TaskChange {
        let Self { outcome, failed, message } = self;
        let (failed, message, outcome) = match outcome {
            Ok(result) => (failed, message, TaskOutcome::Result(result)),
            Err(error) => {
                let said = message.unwrap_or_else(|| error.message.clone().into_owned());
                (true, Some(said), TaskOutcome::Error(error))
            }
        };
        // It is for people, and repeated in every look at the task.
        let message = message.map(|message| message.chars().take(SHOWN).collect::<String>());
        TaskChange::Ends { failed, message: message.map(Arc::from), outcome: Arc::new(outcome) }
    }
}

/// Characters of a status message.
pub(super) const SHOWN: usize = 1000;

/// A task under way, for the one who runs it. Found by type in the extensions of the request.
#[derive(Clone)]
pub struct RunningTask {
    pub(super) inner: Arc<Inner>,
    pub(super) live: Arc<Live>,
}

impl RunningTask {
    /// Its id. Whoever knows it may be able to read what the task comes to.
    #[must_use]
    pub fn id(&self) -> &TaskId {
        &self.live.id
    }

    /// Says where the task is, for people; at most 1,000 characters of it. Does nothing once the
    /// task is over.
    pub async fn say(&self, message: impl Into<String>) {
        let message: String = message.into().chars().take(SHOWN).collect();
        // It is over, or gone: there is nobody to tell.
        let _ = self.inner.change(&self.live, TaskChange::Says(message.into())).await;
    }
}

impl std::fmt::Debug for RunningTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningTask").finish_non_exhaustive()
    }
}

/// How a run ended.
enum Ended {
    Came(TaskEnd),
    /// It was told to stop; where the task stands is said already.
    Stopped,
    /// Its time is over, or there is nobody left who could ask for it.
    Lost,
}

/// Runs a task to its end.
pub(super) async fn run(
    inner: Arc<Inner>,
    live: Arc<Live>,
    record: TaskRecord,
    work: BoxFuture<'static, TaskEnd>,
) {
    let over = EndOnDrop { inner: &inner, live: &live };
    let lost = {
        let (inner, live) = (Arc::clone(&inner), Arc::clone(&live));
        let expires = record.expires().and_then(|at| inner.instant_of(at));
        Box::pin(async move {
            let expired = async {
                match expires {
                    Some(at) => inner.clock.sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            let left = async {
                match &live.outlet {
                    Some(outlet) if live.direct => outlet.closed().await,
                    _ => std::future::pending().await,
                }
            };
            super::race::race(expired, left).await;
        })
    };
    let running = Running {
        inner: Arc::clone(&inner),
        live: Arc::clone(&live),
        work,
        lost,
        said_input: false,
        saying: None,
    };
    match running.await {
        Ended::Came(end) => finish(&inner, &live, end).await,
        Ended::Stopped => {}
        Ended::Lost => {
            tracing::info!(task = record.number, "a task is given up");
            if let Err(error) = inner.config.store.remove(&live.id).await {
                tracing::warn!(%error, task = record.number, "a task can't be forgotten");
            }
        }
    }
    drop(over);
}

async fn finish(inner: &Inner, live: &Live, end: TaskEnd) {
    let change = end.into_change();
    let ended = match inner.change(live, change).await {
        Err(error @ (TaskStoreError::Full { .. } | TaskStoreError::Failed { .. })) => {
            tracing::error!(%error, "what a task came to can't be kept");
            let lost = ErrorObject::internal("what the task came to could not be kept");
            inner.change(live, TaskEnd::new(Err(lost)).into_change()).await
        }
        ended => ended,
    };
    match ended {
        Ok(record) => {
            tracing::info!(task = record.number, status = %record.status, owner = ?record.owner, "a task has ended");
        }
        // It was canceled, or its time was over, at the same moment.
        Err(TaskStoreError::Ended { .. } | TaskStoreError::Unknown) => {}
        Err(error) => tracing::error!(%error, "a task can't be ended"),
    }
}

/// However a run ends, nothing is left of it.
struct EndOnDrop<'a> {
    inner: &'a Inner,
    live: &'a Live,
}

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.inner.forget_live(&self.live.id);
        self.live.end();
    }
}

/// The handler of a task, and what has to happen while it runs.
struct Running {
    inner: Arc<Inner>,
    live: Arc<Live>,
    work: BoxFuture<'static, TaskEnd>,
    lost: BoxFuture<'static, ()>,
    /// Whether it is said that the task needs input.
    said_input: bool,
    saying: Option<BoxFuture<'static, ()>>,
}

impl Running {
    /// The handler is polled once more, so that it can see that it was canceled.
    fn stop(&mut self, cx: &mut Context<'_>) {
        self.live.cancelled.give();
        // Whatever it comes to, it comes too late.
        let _ = self.work.as_mut().poll(cx);
    }
}

impl Future for Running {
    type Output = Ended;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Ended> {
        let this = self.get_mut();
        this.live.driven_by(cx.waker());
        if this.live.stop.poll_given(cx).is_ready() {
            this.stop(cx);
            return Poll::Ready(Ended::Stopped);
        }
        if this.lost.as_mut().poll(cx).is_ready() {
            this.stop(cx);
            return Poll::Ready(Ended::Lost);
        }
        if let Poll::Ready(end) = this.work.as_mut().poll(cx) {
            return Poll::Ready(Ended::Came(end));
        }
        loop {
            if let Some(saying) = &mut this.saying {
                if saying.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                this.saying = None;
            }
            let needs_input = this.live.needs_input();
            if needs_input == this.said_input {
                return Poll::Pending;
            }
            this.said_input = needs_input;
            let change = if needs_input { TaskChange::NeedsInput } else { TaskChange::Works };
            let (inner, live) = (Arc::clone(&this.inner), Arc::clone(&this.live));
            this.saying = Some(Box::pin(async move {
                match inner.change(&live, change).await {
                    Ok(_) | Err(TaskStoreError::Ended { .. } | TaskStoreError::Unknown) => {}
                    Err(error) => tracing::warn!(%error, "where a task stands can't be said"),
                }
            }));
        }
    }
}
