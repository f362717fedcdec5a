use std::sync::Arc;
use std::task::{Context, Poll};

use mcp_jsonrpc::service::v1::{
    Ask, AskError, BoxFuture, CancelSignal, ReplySink, SendError, TrySendError,
};
use mcp_jsonrpc::{Outgoing, Response};

use super::live::{Asking, Live};
use super::race::{First, race};
use super::related::{relate, relate_notification};

/// Where everything goes that belongs to a task, which has no exchange of its own: each message
/// says to which task it belongs.
///
/// Questions go by the outlet where the requestor hears of them at once, as on a pipe; elsewhere
/// with the exchange of a `tasks/result` that waits, which is what requestors of tasks that need
/// input are told to send. What is merely told goes with such an exchange, too, or else by the
/// outlet, and is dropped where there is no room.
pub(super) struct TaskSink(pub(super) Arc<Live>);

impl TaskSink {
    fn tell(&self, notification: &Outgoing) -> Result<(), TrySendError> {
        let live = &self.0;
        if live.over.is_given() || live.cancelled.is_given() {
            return Err(TrySendError::Closed);
        }
        let related = match relate_notification(notification, &live.id) {
            Ok(Some(related)) => related,
            Ok(None) => return Ok(()),
            Err(error) => {
                tracing::debug!(%error, "a task's notification is not sent");
                return Ok(());
            }
        };
        if let Some((_, road)) = live.newest_road()
            && road.try_notify(related.clone()).is_ok()
        {
            return Ok(());
        }
        match &live.outlet {
            Some(outlet) => outlet.try_notify(related),
            None => Err(TrySendError::Full),
        }
    }

    async fn put(&self, ask: Ask) -> Result<Response, AskError> {
        let live = &*self.0;
        let mut ask = ask;
        if !live.can_ask {
            return Err(AskError::Unavailable);
        }
        if let Ok(params) = relate(ask.params.as_ref(), &live.id) {
            ask.params = Some(params);
        }
        let _asking = Asking::begin(live);
        if live.direct
            && let Some(outlet) = &live.outlet
        {
            return outlet.ask(ask).await;
        }
        let mut road = live.road_after(0).await;
        loop {
            // A newer exchange is where the requestor looks now: the question moves there, and
            // is withdrawn from the older one.
            let answer = road.1.ask(ask.clone());
            match race(answer, live.road_after(road.0)).await {
                First::A(Err(AskError::Over | AskError::Link(_))) => {
                    live.remove_road(road.0);
                    road = live.road_after(0).await;
                }
                First::A(answer) => return answer,
                First::B(newer) => road = newer,
            }
        }
    }
}

impl ReplySink for TaskSink {
    fn poll_notify(
        &self,
        _: &mut Context<'_>,
        notification: &mut Option<Outgoing>,
    ) -> Poll<Result<(), SendError>> {
        let Some(notification) = notification.take() else { return Poll::Ready(Ok(())) };
        Poll::Ready(match self.tell(&notification) {
            Ok(()) => Ok(()),
            Err(TrySendError::Closed) => Err(SendError::default()),
            Err(error) => {
                tracing::debug!(%error, "a task's notification is not sent");
                Ok(())
            }
        })
    }

    fn try_notify(&self, notification: Outgoing) -> Result<(), TrySendError> {
        self.tell(&notification)
    }

    fn ask(&self, ask: Ask) -> BoxFuture<'_, Result<Response, AskError>> {
        Box::pin(async move {
            match race(self.0.over.given(), self.put(ask)).await {
                First::A(()) => Err(AskError::Over),
                First::B(answer) => answer,
            }
        })
    }

    fn can_ask(&self) -> bool {
        self.0.can_ask
    }

    fn cancel_signal(&self) -> Option<&CancelSignal> {
        Some(&self.0.cancelled)
    }

    fn poll_cancelled(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.cancelled.poll_given(cx)
    }

    fn is_cancelled(&self) -> bool {
        self.0.cancelled.is_given()
    }
}
