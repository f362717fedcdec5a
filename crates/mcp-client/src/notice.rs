//! Changes that the server tells of, and what the host does about them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Client;
use crate::catch::catching;
use crate::v1::BoxFuture;

/// What to do when a list has changed.
type Action = dyn Fn(Client) -> BoxFuture<'static, ()> + Send + Sync;

/// One kind of change, with what is done about it. While that runs further changes are merged:
/// it runs once more, however many there were.
pub(crate) struct Notice {
    action: Box<Action>,
    state: Mutex<State>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Running,
    /// Something has changed since it began to run.
    Again,
}

impl Notice {
    pub(crate) fn new<F, Fut>(action: F) -> Self
    where
        F: Fn(Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let action = Box::new(move |client| -> BoxFuture<'static, ()> { Box::pin(action(client)) });
        Self { action, state: Mutex::new(State::Idle) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something has changed.
    pub(crate) async fn take(&self, client: &Client) {
        {
            let mut state = self.lock();
            if *state != State::Idle {
                *state = State::Again;
                return;
            }
            *state = State::Running;
        }
        let mut running = Running(Some(self));
        loop {
            // A panic was logged; the next change is another chance.
            let _ = catching(|| (self.action)(client.clone())).await;
            let mut state = self.lock();
            if *state != State::Again {
                *state = State::Idle;
                running.0 = None;
                return;
            }
            *state = State::Running;
        }
    }
}

/// Nothing runs any more when this is dropped in the middle: the conversation has ended.
struct Running<'a>(Option<&'a Notice>);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(notice) = self.0 {
            *notice.lock() = State::Idle;
        }
    }
}
