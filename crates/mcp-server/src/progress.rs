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

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Context, Poll, Waker};

    use mcp_jsonrpc::Response;
    use mcp_jsonrpc::service::v1::{Ask, AskError, BoxFuture, ReplySink, TrySendError};

    use super::*;

    /// Takes what is sent when there is room.
    #[derive(Default)]
    struct Sink {
        has_room: AtomicBool,
        sent: Mutex<Vec<f64>>,
    }

    impl ReplySink for Sink {
        fn poll_notify(
            &self,
            _: &mut Context<'_>,
            notification: &mut Option<Outgoing>,
        ) -> Poll<Result<(), SendError>> {
            if !self.has_room.load(Ordering::SeqCst) {
                return Poll::Pending;
            }
            let body = notification.take().unwrap().body();
            let params: ProgressNotificationParams = serde_json::from_slice(&body).unwrap();
            self.sent.lock().unwrap().push(params.progress);
            Poll::Ready(Ok(()))
        }

        fn try_notify(&self, _: Outgoing) -> Result<(), TrySendError> {
            Err(TrySendError::Full)
        }

        fn ask(&self, _: Ask) -> BoxFuture<'_, Result<Response, AskError>> {
            Box::pin(std::future::ready(Err(AskError::Unavailable)))
        }

        fn poll_cancelled(&self, _: &mut Context<'_>) -> Poll<()> {
            Poll::Pending
        }

        fn is_cancelled(&self) -> bool {
            false
        }
    }

    fn progress() -> (Progress, Arc<Sink>) {
        let sink = Arc::new(Sink::default());
        let replies = Replies::new(Arc::clone(&sink) as Arc<dyn ReplySink>);
        (Progress::new(Some(1.into()), Revision::V2025_11_25, replies), sink)
    }

    // Shows: PROGRESS-005, PROGRESS-017
    #[test]
    fn what_clones_report_while_one_waits_is_merged_and_grows() {
        let (progress, sink) = progress();
        let other = progress.clone();
        let mut cx = Context::from_waker(Waker::noop());
        let mut first = pin!(progress.report(1.0, None));
        assert!(first.as_mut().poll(&mut cx).is_pending());
        for done in [2.0, 5.0, 3.0, 4.0] {
            assert!(pin!(other.report(done, None)).poll(&mut cx).is_ready());
        }
        sink.has_room.store(true, Ordering::SeqCst);
        assert!(first.as_mut().poll(&mut cx).is_ready());
        assert_eq!(*sink.sent.lock().unwrap(), [1.0, 5.0]);
    }

    #[test]
    fn a_report_that_is_given_up_does_not_hold_up_others() {
        let (progress, sink) = progress();
        let mut cx = Context::from_waker(Waker::noop());
        {
            let mut given_up = Box::pin(progress.report(1.0, None));
            assert!(given_up.as_mut().poll(&mut cx).is_pending());
        }
        sink.has_room.store(true, Ordering::SeqCst);
        assert!(pin!(progress.report(2.0, None)).poll(&mut cx).is_ready());
        assert_eq!(*sink.sent.lock().unwrap(), [2.0]);
    }
}
