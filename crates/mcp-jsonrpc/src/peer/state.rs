use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

use crate::link::v1::LinkError;
use crate::service::v1::AskError;
use crate::wait::WaitList;
use crate::{Extensions, Head, Name, Outgoing, Response};

/// What is under the lock of [`Shared`](super::shared::Shared): the queue, and the requests of
/// ours.
#[derive(Default)]
pub(super) struct State {
    pub(super) queue: VecDeque<Command>,
    pub(super) queued_bytes: usize,
    pub(super) queued_answers: usize,
    /// Who waits for room in the queue.
    ///
    /// Invariant: if there is room while somebody waits, then somebody else was woken for it,
    /// and hands it on when done: by taking it, or by going away.
    pub(super) room: WaitList,
    pub(super) pending: BTreeMap<i64, Slot>,
    /// The id of the latest request; none is used twice.
    pub(super) last_id: i64,
    /// Exchanges that were woken.
    pub(super) woken: Vec<usize>,
    /// There is something new for the driver since it looked.
    pub(super) news: bool,
    /// Here while the driver waits, so that it is woken once for all that is new.
    pub(super) driver: Option<Waker>,
    /// This side has closed: nothing new is taken.
    pub(super) closing: bool,
    /// Nothing more comes in.
    pub(super) received_all: Option<LinkError>,
    pub(super) ended: Option<LinkError>,
    pub(super) watchers: WaitList,
}

/// A request of ours.
pub(super) enum Slot {
    Waiting {
        method: Name,
        waker: Option<Waker>,
        /// Handed to the link. What comes before that answers something else.
        sent: bool,
    },
    Done(Result<Response, AskError>),
}

pub(super) enum Command {
    Send(Outgoing),
    /// Responses that belong in one array.
    Batch(Vec<Outgoing>),
    Abandon {
        id: i64,
        method: Name,
        notes: Extensions,
        reason: Option<String>,
    },
}

impl State {
    /// Whether nothing more may be sent: at all, or by the exchange that is `over`.
    pub(super) fn refuses(&self, over: Option<&AtomicBool>) -> bool {
        // Read under the lock: the response is queued under it after `over` was set, so nothing
        // of its exchange gets behind it.
        self.ended.is_some()
            || self.closing
            || over.is_some_and(|over| over.load(Ordering::Acquire))
    }

    /// Queues a command; hands back the driver if that has to be woken.
    #[must_use]
    pub(super) fn push(&mut self, command: Command) -> Option<Waker> {
        self.enqueue(command);
        self.tell_driver()
    }

    pub(super) fn enqueue(&mut self, command: Command) {
        let (bytes, answers) = command.weight();
        self.queued_bytes += bytes;
        self.queued_answers += answers;
        self.queue.push_back(command);
    }

    pub(super) fn pop(&mut self) -> Option<Command> {
        let command = self.queue.pop_front()?;
        self.forget(&command);
        if let Some(id) = command.request()
            && let Some(Slot::Waiting { sent, .. }) = self.pending.get_mut(&id)
        {
            *sent = true;
        }
        Some(command)
    }

    fn forget(&mut self, command: &Command) {
        let (bytes, answers) = command.weight();
        self.queued_bytes = self.queued_bytes.saturating_sub(bytes);
        self.queued_answers = self.queued_answers.saturating_sub(answers);
    }

    /// Takes request `id` out of the queue, if it is still there.
    pub(super) fn take_unsent(&mut self, id: i64) -> Option<Command> {
        // From the back: who gives up soon has not been waiting for long.
        let at = self.queue.iter().rposition(|command| command.request() == Some(id))?;
        let command = self.queue.remove(at)?;
        self.forget(&command);
        Some(command)
    }

    #[must_use]
    pub(super) fn tell_driver(&mut self) -> Option<Waker> {
        self.news = true;
        self.driver.take()
    }

    #[must_use]
    pub(super) fn fail_pending(&mut self, cause: &LinkError) -> Vec<Option<Waker>> {
        let waiting = self.pending.values_mut().filter_map(|slot| match slot {
            Slot::Waiting { waker, .. } => {
                let waker = waker.take();
                *slot = Slot::Done(Err(AskError::Link(cause.clone())));
                Some(waker)
            }
            Slot::Done(_) => None,
        });
        waiting.collect()
    }
}

impl Command {
    /// Its bytes, and how many answers it is.
    fn weight(&self) -> (usize, usize) {
        match self {
            Self::Send(message) => (message.frame().len(), usize::from(message.is_response())),
            Self::Batch(responses) => {
                (responses.iter().map(|response| response.frame().len()).sum(), 1)
            }
            Self::Abandon { .. } => (0, 0),
        }
    }

    /// The id of the request of ours that this is.
    fn request(&self) -> Option<i64> {
        match self {
            Self::Send(message) => match message.head() {
                Head::Request { id, .. } => id.as_i64(),
                _ => None,
            },
            Self::Batch(_) | Self::Abandon { .. } => None,
        }
    }
}
