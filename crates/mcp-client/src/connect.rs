//! How a conversation begins, and what keeps it going.

use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use mcp_jsonrpc::link::v1::{Link, LinkError};
use mcp_jsonrpc::peer::Driver;
use mcp_jsonrpc::service::v1::{Ask, BoxFuture};
use mcp_jsonrpc::{Name, Outgoing, RawJson};
use mcp_lifecycle::{ClientSession, Negotiated};
use mcp_types::Method;

use crate::client::Inner;
use crate::service::ClientService;
use crate::timer::Keeper;
use crate::{Client, ConnectError, RootsChanges};

/// The handshake under way: ready once there is a [`Client`]. Its [`Driving`] has to be polled
/// beside it.
///
/// # Cancel safety
///
/// Dropping it closes the link.
#[must_use = "futures do nothing unless polled"]
pub struct Connecting(BoxFuture<'static, Result<Client, ConnectError>>);

/// What keeps a conversation going: it has to be polled until it is ready, by a task or beside
/// the calls. Answers with how the conversation ended.
///
/// # Cancel safety
///
/// Dropping it ends the conversation at once: calls that wait fail.
#[must_use = "a conversation goes on only while this is polled"]
pub struct Driving(BoxFuture<'static, LinkError>);

impl Connecting {
    pub(crate) fn new(
        inner: Arc<Inner>,
        limit: Duration,
        roots: Option<Arc<dyn crate::v1::RootsProvider>>,
    ) -> Self {
        Self(Box::pin(async move {
            let opening = Opening(Some(inner));
            let client = handshake(opening, limit).await?;
            if let Some(roots) = roots.filter(|roots| roots.announces_changes()) {
                roots.connected(RootsChanges::new(client.downgrade()));
            }
            Ok(client)
        }))
    }
}

impl Driving {
    pub(crate) fn new<L: Link>(
        driver: Driver<L, ClientSession, ClientService>,
        inner: Arc<Inner>,
    ) -> Self {
        Self(Box::pin(drive(driver, inner)))
    }
}

/// Closes the link unless the handshake succeeds.
struct Opening(Option<Arc<Inner>>);

impl Opening {
    /// The handshake has succeeded.
    fn into_client(mut self, negotiated: Arc<Negotiated>) -> Option<Client> {
        self.0.take().map(|inner| Client::owned(inner, negotiated))
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        if let Some(inner) = self.0.take() {
            inner.session.close();
            inner.close();
        }
    }
}

async fn handshake(opening: Opening, limit: Duration) -> Result<Client, ConnectError> {
    let Some(inner) = &opening.0 else { return Err(ConnectError::Link(LinkError::Closed)) };
    let inner = Arc::clone(inner);
    let params = RawJson::from_serialize(&inner.session.hello()?).map_err(ConnectError::Encode)?;
    let method = Name::from_static(Method::Initialize.as_str());
    let mut call = pin!(inner.peer.call(Ask::new(method, Some(params))));
    let mut up = inner.clock.now().checked_add(limit).map(|at| inner.clock.sleep_until(at));
    let response = poll_fn(|cx| {
        if let Poll::Ready(answer) = call.as_mut().poll(cx) {
            return Poll::Ready(answer.map_err(ConnectError::unanswered));
        }
        match up.as_mut().map(|up| up.as_mut().poll(cx)) {
            Some(Poll::Ready(())) => Poll::Ready(Err(ConnectError::TimedOut { limit })),
            Some(Poll::Pending) | None => Poll::Pending,
        }
    })
    .await?;
    let negotiated = inner.session.conclude(&response)?;
    let ready = Name::from_static(Method::NotificationsInitialized.as_str());
    // Room is waited for by the same limit as everything else: there is nothing queued yet.
    inner
        .peer
        .notify(Outgoing::notification_raw(ready, None))
        .await
        .map_err(|_| ConnectError::Link(LinkError::Closed))?;
    opening.into_client(negotiated).ok_or(ConnectError::Link(LinkError::Closed))
}

/// Polls the driver, the timer of the calls, and, once the conversation is being closed, the
/// time that it has for that.
async fn drive<L: Link>(
    driver: Driver<L, ClientSession, ClientService>,
    inner: Arc<Inner>,
) -> LinkError {
    let mut run = pin!(driver.run());
    let mut keeper = Keeper::default();
    let mut up: Option<BoxFuture<'static, ()>> = None;
    poll_fn(|cx| {
        keeper.poll(&inner.timers, &*inner.clock, cx);
        if let Poll::Ready(cause) = run.as_mut().poll(cx) {
            return Poll::Ready(cause);
        }
        let Some(until) = inner.closing.get() else { return Poll::Pending };
        let up = up.get_or_insert_with(|| inner.clock.sleep_until(*until));
        // Dropping the driver is what ends it then.
        up.as_mut().poll(cx).map(|()| LinkError::Closed)
    })
    .await
}

impl Future for Connecting {
    type Output = Result<Client, ConnectError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl Future for Driving {
    type Output = LinkError;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<LinkError> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for Connecting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connecting")
    }
}

impl fmt::Debug for Driving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Driving")
    }
}
