use std::sync::{Arc, Mutex, PoisonError};

use mcp_jsonrpc::service::v1::{Replies, SendError};
use mcp_jsonrpc::{Name, Outgoing};
use mcp_types::{ProgressNotificationParams, ProgressToken, Revision};

/// Tells the peer how far a request has come, if it wants to know.
///
/// Values only grow: a report that doesn't is dropped. Clones report on the same request.
#[derive(Clone, Debug)]
pub struct Progress {
    token: Option<ProgressToken>,
    revision: Revision,
    replies: Replies,
    last: Arc<Mutex<Option<f64>>>,
}

impl Progress {
    pub(crate) fn new(token: Option<ProgressToken>, revision: Revision, replies: Replies) -> Self {
        Self { token, revision, replies, last: Arc::default() }
    }

    /// Whether the peer wants to know.
    #[must_use]
    pub const fn is_wanted(&self) -> bool {
        self.token.is_some()
    }

    /// The token that the peer has given.
    #[must_use]
    pub const fn token(&self) -> Option<&ProgressToken> {
        self.token.as_ref()
    }

    /// Reports `done` out of `total`, and waits for room.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is ready sends nothing.
    pub async fn report(&self, done: f64, total: Option<f64>) {
        self.send(done, total, None).await;
    }

    /// Reports `done` out of `total` with a text for people, and waits for room.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is ready sends nothing.
    pub async fn report_with(&self, done: f64, total: Option<f64>, message: impl Into<String>) {
        self.send(done, total, Some(message.into())).await;
    }

    async fn send(&self, done: f64, total: Option<f64>, message: Option<String>) {
        let Some(token) = &self.token else { return };
        if !self.grows(done) {
            return;
        }
        let mut params = ProgressNotificationParams::new(token.clone(), done);
        params.total = total;
        if self.revision >= Revision::V2025_03_26 {
            params.message = message;
        }
        let name = Name::from_static("notifications/progress");
        if let Ok(notification) = Outgoing::notification(name, Some(&params)) {
            // The request is over or canceled: there is nobody to tell.
            let _: Result<(), SendError> = self.replies.notify(notification).await;
        }
    }

    fn grows(&self, done: f64) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let grows = done.is_finite() && last.is_none_or(|last| done > last);
        if grows {
            *last = Some(done);
        }
        grows
    }
}
