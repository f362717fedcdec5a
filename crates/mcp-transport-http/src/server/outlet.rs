//! The way to a session's client outside of its requests.

use std::sync::Weak;
use std::task::{Context, Poll};

use mcp_jsonrpc::link::v1::LinkError;
use mcp_jsonrpc::service::v1::{
    Ask, AskError, BoxFuture, Outlet, ReplySink, SendError, TrySendError,
};
use mcp_jsonrpc::{Outgoing, Response};

use super::asks::{AskCall, Road};
use super::session::Session;

/// Sends on the newest GET stream.
pub(super) struct SessionOutlet(pub(super) Weak<Session>);

impl Outlet for SessionOutlet {
    fn try_notify(&self, notification: Outgoing) -> Result<(), TrySendError> {
        let session = self.0.upgrade().ok_or(TrySendError::Closed)?;
        session.push(notification.into_frame())
    }

    fn ask(&self, ask: Ask) -> BoxFuture<'_, Result<Response, AskError>> {
        match self.0.upgrade() {
            Some(session) => Box::pin(AskCall::new(session, Road::Session, ask)),
            None => Box::pin(std::future::ready(Err(AskError::Link(LinkError::Closed)))),
        }
    }

    fn is_closed(&self) -> bool {
        self.0.upgrade().is_none_or(|session| session.is_closed())
    }
}

/// The replies of a notification: it has no stream of its own.
impl ReplySink for SessionOutlet {
    fn poll_notify(
        &self,
        cx: &mut Context<'_>,
        notification: &mut Option<Outgoing>,
    ) -> Poll<Result<(), SendError>> {
        match self.0.upgrade() {
            Some(session) => session.poll_push(cx, notification),
            None => Poll::Ready(Err(SendError::default())),
        }
    }

    fn try_notify(&self, notification: Outgoing) -> Result<(), TrySendError> {
        Outlet::try_notify(self, notification)
    }

    fn ask(&self, ask: Ask) -> BoxFuture<'_, Result<Response, AskError>> {
        Outlet::ask(self, ask)
    }

    fn poll_cancelled(&self, _: &mut Context<'_>) -> Poll<()> {
        // Nothing cancels a notification.
        Poll::Pending
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}
