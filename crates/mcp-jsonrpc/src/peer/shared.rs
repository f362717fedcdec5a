use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::link::v1::LinkError;
use crate::service::v1::{Ask, AskError, BoxFuture, Outlet, SendError, TrySendError};
use crate::{Extensions, Name, Outgoing, RequestId, Response};

/// A handle on a peer that a [`Driver`](super::Driver) drives: for requests and notifications of
/// our own. Cheap to clone.
#[derive(Clone)]
pub struct Peer {
    pub(super) shared: Arc<Shared>,
}

/// What handles and driver share.
pub(super) struct Shared {
    state: Mutex<State>,
    pub(super) max_pending: usize,
    max_queued: usize,
    max_queued_bytes: usize,
}

struct State {
    queue: VecDeque<Command>,
    queued_bytes: usize,
    /// Producers that wait for room.
    waiting: Vec<Waker>,
    pending: BTreeMap<i64, Slot>,
    next_id: i64,
    driver: Option<Waker>,
    closing: bool,
    ended: Option<LinkError>,
    watchers: Vec<Waker>,
}

enum Slot {
    Waiting { method: Name, waker: Option<Waker> },
    Done(Result<Response, AskError>),
}

pub(super) enum Command {
    Send(Outgoing),
    Abandon { id: i64, method: Name, notes: Extensions, reason: Option<String> },
}

impl Shared {
    pub(super) fn new(max_pending: usize, max_queued: usize, max_queued_bytes: usize) -> Self {
        Self {
            state: Mutex::new(State {
                queue: VecDeque::new(),
                queued_bytes: 0,
                waiting: Vec::new(),
                pending: BTreeMap::new(),
                next_id: 1,
                driver: None,
                closing: false,
                ended: None,
                watchers: Vec::new(),
            }),
            max_pending,
            max_queued,
            max_queued_bytes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_room(&self, state: &State) -> bool {
        state.queue.len() < self.max_queued && state.queued_bytes < self.max_queued_bytes
    }

    pub(super) fn poll_notify(
        &self,
        cx: &mut Context<'_>,
        notification: &mut Option<Outgoing>,
    ) -> Poll<Result<(), SendError>> {
        let mut state = self.lock();
        if state.ended.is_some() || state.closing {
            return Poll::Ready(Err(SendError));
        }
        if !self.has_room(&state) {
            remember(&mut state.waiting, cx.waker());
            return Poll::Pending;
        }
        if let Some(notification) = notification.take() {
            state.push(Command::Send(notification));
        }
        Poll::Ready(Ok(()))
    }

    pub(super) fn try_notify(&self, notification: Outgoing) -> Result<(), TrySendError> {
        let mut state = self.lock();
        if state.ended.is_some() || state.closing {
            return Err(TrySendError::Closed);
        }
        if !self.has_room(&state) {
            return Err(TrySendError::Full);
        }
        state.push(Command::Send(notification));
        Ok(())
    }

    /// Queues a response whatever the queue holds: their number is bounded by the driver.
    pub(super) fn push_response(&self, response: Outgoing) {
        let mut state = self.lock();
        state.queued_bytes += response.frame().len();
        state.queue.push_back(Command::Send(response));
    }

    pub(super) fn pop(&self) -> Option<Command> {
        let mut state = self.lock();
        let command = state.queue.pop_front();
        if let Some(Command::Send(message)) = &command {
            state.queued_bytes = state.queued_bytes.saturating_sub(message.frame().len());
        }
        if command.is_some() && !state.waiting.is_empty() && self.has_room(&state) {
            state.waiting.drain(..).for_each(Waker::wake);
        }
        command
    }

    pub(super) fn queued(&self) -> usize {
        self.lock().queue.len()
    }

    pub(super) fn register_driver(&self, waker: &Waker) -> bool {
        let mut state = self.lock();
        if !state.driver.as_ref().is_some_and(|known| known.will_wake(waker)) {
            state.driver = Some(waker.clone());
        }
        state.closing
    }

    /// Hands a response to the call that waits for it; `false` when there is none.
    pub(super) fn complete(&self, id: &RequestId, response: Result<Response, AskError>) -> bool {
        let Some(id) = id.as_i64() else { return false };
        let mut state = self.lock();
        match state.pending.get_mut(&id) {
            Some(slot @ Slot::Waiting { .. }) => {
                if let Slot::Waiting { waker: Some(waker), .. } =
                    std::mem::replace(slot, Slot::Done(response))
                {
                    waker.wake();
                }
                true
            }
            // The second response to a request is as unknown as any.
            Some(Slot::Done(_)) | None => false,
        }
    }

    /// Nothing comes from the peer any more: fails every call that waits. Sending goes on.
    pub(super) fn fail_pending(&self, cause: &LinkError) {
        let mut state = self.lock();
        for slot in state.pending.values_mut() {
            if let Slot::Waiting { waker, .. } = slot {
                let waker = waker.take();
                *slot = Slot::Done(Err(AskError::Link(cause.clone())));
                waker.into_iter().for_each(Waker::wake);
            }
        }
    }

    /// The driver is gone.
    pub(super) fn end(&self, cause: LinkError) {
        self.fail_pending(&cause);
        let mut state = self.lock();
        state.queue.clear();
        state.queued_bytes = 0;
        state.ended.get_or_insert(cause);
        state.driver = None;
        let State { waiting, watchers, .. } = &mut *state;
        waiting.drain(..).chain(watchers.drain(..)).for_each(Waker::wake);
    }

    pub(super) fn is_ended(&self) -> bool {
        self.lock().ended.is_some()
    }

    fn start(&self, ask: &Ask) -> Result<Option<i64>, AskError> {
        let mut state = self.lock();
        if let Some(cause) = &state.ended {
            return Err(AskError::Link(cause.clone()));
        }
        if state.closing {
            return Err(AskError::Link(LinkError::Closed));
        }
        if state.pending.len() >= self.max_pending {
            return Err(AskError::TooMany { limit: self.max_pending });
        }
        if !self.has_room(&state) {
            return Ok(None);
        }
        let id = state.next_id;
        state.next_id += 1;
        let mut request = Outgoing::request_raw(id.into(), ask.method.clone(), ask.params.as_ref());
        request.notes = ask.notes.clone();
        state.pending.insert(id, Slot::Waiting { method: ask.method.clone(), waker: None });
        state.push(Command::Send(request));
        Ok(Some(id))
    }
}

impl State {
    fn push(&mut self, command: Command) {
        if let Command::Send(message) = &command {
            self.queued_bytes += message.frame().len();
        }
        self.queue.push_back(command);
        if let Some(driver) = &self.driver {
            driver.wake_by_ref();
        }
    }
}

/// Keeps a waker unless it is there already: one task that polls often must not fill the list.
pub(super) fn remember(wakers: &mut Vec<Waker>, waker: &Waker) {
    if !wakers.iter().any(|known| known.will_wake(waker)) {
        wakers.push(waker.clone());
    }
}

impl Peer {
    /// Sends a request, and waits for its response.
    ///
    /// The request is sent when the call is first polled, under an id that this peer has never
    /// been sent before. There is no time limit here.
    #[must_use]
    pub fn call(&self, ask: Ask) -> PendingCall {
        PendingCall { shared: Arc::clone(&self.shared), ask, id: None, over: false }
    }

    /// Sends a notification, and waits for room for it.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the peer is gone.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is ready sends nothing.
    pub async fn notify(&self, notification: Outgoing) -> Result<(), SendError> {
        let mut notification = Some(notification);
        poll_fn(|cx| self.shared.poll_notify(cx, &mut notification)).await
    }

    /// Ends the conversation in good order: what is queued is sent, then the link closed.
    /// Calls that wait fail.
    pub fn close(&self) {
        let mut state = self.shared.lock();
        state.closing = true;
        if let Some(driver) = &state.driver {
            driver.wake_by_ref();
        }
    }

    /// Waits until the conversation is over; answers with why.
    pub async fn closed(&self) -> LinkError {
        poll_fn(|cx| {
            let mut state = self.shared.lock();
            match &state.ended {
                Some(cause) => Poll::Ready(cause.clone()),
                None => {
                    remember(&mut state.watchers, cx.waker());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// How many requests of ours wait for a response.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.shared.lock().pending.len()
    }
}

impl Outlet for Peer {
    fn try_notify(&self, notification: Outgoing) -> Result<(), TrySendError> {
        self.shared.try_notify(notification)
    }

    fn ask(&self, ask: Ask) -> BoxFuture<'_, Result<Response, AskError>> {
        Box::pin(self.call(ask))
    }

    fn is_closed(&self) -> bool {
        self.shared.is_ended()
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.lock();
        f.debug_struct("Peer")
            .field("pending", &state.pending.len())
            .field("queued", &state.queue.len())
            .field("ended", &state.ended)
            .finish()
    }
}

/// A request of ours that waits for its response.
///
/// # Cancel safety
///
/// Dropping it gives the request up: the peer is told, as far as the protocol wants that, and a
/// response that still comes is dropped.
pub struct PendingCall {
    shared: Arc<Shared>,
    ask: Ask,
    id: Option<i64>,
    over: bool,
}

impl PendingCall {
    /// The id of the request, once it was sent.
    #[must_use]
    pub fn id(&self) -> Option<RequestId> {
        self.id.map(RequestId::from)
    }

    /// Gives the request up, and tells the peer why.
    pub fn abandon(mut self, reason: impl Into<String>) {
        self.give_up(Some(reason.into()));
    }

    fn give_up(&mut self, reason: Option<String>) {
        let Some(id) = self.id.filter(|_| !self.over) else { return };
        self.over = true;
        let mut state = self.shared.lock();
        if let Some(Slot::Waiting { method, .. }) = state.pending.remove(&id)
            && state.ended.is_none()
        {
            let notes = self.ask.notes.clone();
            state.push(Command::Abandon { id, method, notes, reason });
        }
    }
}

impl Future for PendingCall {
    type Output = Result<Response, AskError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if this.over {
            return Poll::Ready(Err(AskError::Over));
        }
        let id = match this.id {
            Some(id) => id,
            None => match this.shared.start(&this.ask) {
                Ok(Some(id)) => *this.id.insert(id),
                Ok(None) => {
                    remember(&mut this.shared.lock().waiting, cx.waker());
                    return Poll::Pending;
                }
                Err(error) => {
                    this.over = true;
                    return Poll::Ready(Err(error));
                }
            },
        };
        let mut state = this.shared.lock();
        match state.pending.get_mut(&id) {
            Some(Slot::Waiting { waker, .. }) => {
                *waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            Some(Slot::Done(_)) | None => {}
        }
        this.over = true;
        match state.pending.remove(&id) {
            Some(Slot::Done(outcome)) => Poll::Ready(outcome),
            Some(Slot::Waiting { .. }) | None => Poll::Ready(Err(AskError::Over)),
        }
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.give_up(None);
        if let (true, Some(id)) = (self.over, self.id) {
            // A response that came, but was never looked at.
            self.shared.lock().pending.remove(&id);
        }
    }
}

impl fmt::Debug for PendingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingCall")
            .field("method", &self.ask.method)
            .field("id", &self.id)
            .finish()
    }
}
