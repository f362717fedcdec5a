use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_jsonrpc::service::v1::{Replies, SendError};
use mcp_jsonrpc::{Name, Outgoing};
use mcp_types::{ProgressNotificationParams, ProgressToken, Revision};

/// Tells the peer how far a request has come, if it wants to know.
///
/// Values only grow: a report that doesn't is dropped. Clones report on the same request; what
/// they report while another one waits for room is merged into one report, the latest.
///
/// Specification: [Progress](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress).
#[derive(Clone, Debug)]
pub struct Progress {
    token: Option<ProgressToken>,
    revision: Revision,
    replies: Replies,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    last: Option<f64>,
    /// One clone sends at a time, so that values leave in the order in which they grew.
    sending: bool,
    /// What came meanwhile.
    next: Option<Report>,
}

#[derive(Debug)]
struct Report {
    done: f64,
    total: Option<f64>,
    message: Option<String>,
}

impl Progress {
    pub(crate) fn new(token: Option<ProgressToken>, revision: Revision, replies: Replies) -> Self {
        Self { token, revision, replies, state: Arc::default() }
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
        self.send(Report { done, total, message: None }).await;
    }

    /// Reports `done` out of `total` with a text for people, and waits for room.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is ready sends nothing.
    pub async fn report_with(&self, done: f64, total: Option<f64>, message: impl Into<String>) {
        self.send(Report { done, total, message: Some(message.into()) }).await;
    }

    async fn send(&self, report: Report) {
        let Some(token) = &self.token else { return };
        let Some(report) = self.begin(report) else { return };
        let sending = Sending(self);
        let mut report = Some(report);
        while let Some(Report { done, total, message }) = report {
            let mut params = ProgressNotificationParams::new(token.clone(), done);
            params.total = total.filter(|total| total.is_finite());
            if self.revision >= Revision::V2025_03_26 {
                params.message = message;
            }
            let name = Name::from_static("notifications/progress");
            if let Ok(notification) = Outgoing::notification(name, Some(&params)) {
                // The request is over or canceled: there is nobody to tell.
                let _: Result<(), SendError> = self.replies.notify(notification).await;
            }
            let mut state = self.lock();
            report = state.next.take();
            state.sending = report.is_some();
        }
        std::mem::forget(sending);
    }

    /// Hands the report back if it is this clone's to send.
    fn begin(&self, report: Report) -> Option<Report> {
        let mut state = self.lock();
        let grows = report.done.is_finite() && state.last.is_none_or(|last| report.done > last);
        if !grows {
            return None;
        }
        state.last = Some(report.done);
        if state.sending {
            state.next = Some(report);
            return None;
        }
        state.sending = true;
        // What was left by a report that was given up is older.
        state.next = None;
        Some(report)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets others send again, also when the report is given up half way.
struct Sending<'a>(&'a Progress);

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        self.0.lock().sending = false;
    }
}
