use std::fmt;

use mcp_jsonrpc::service::v1::Replies;
use mcp_jsonrpc::{Extensions, RawJson, RequestId};
use mcp_types::Meta;

use crate::Client;

/// One request of the server on its way through a handler.
///
/// Cheap to clone.
#[derive(Clone)]
pub struct Context {
    client: Client,
    id: Option<RequestId>,
    params: Option<RawJson>,
    extensions: Extensions,
    replies: Replies,
}

impl Context {
    pub(crate) const fn new(
        client: Client,
        id: Option<RequestId>,
        params: Option<RawJson>,
        extensions: Extensions,
        replies: Replies,
    ) -> Self {
        Self { client, id, params, extensions, replies }
    }

    /// The server that asks, to be asked in turn: who it is, and calls of its tools. This
    /// handle doesn't keep the conversation open.
    #[must_use]
    pub const fn client(&self) -> &Client {
        &self.client
    }

    /// The request's id; none for a notification.
    #[must_use]
    pub const fn id(&self) -> Option<&RequestId> {
        self.id.as_ref()
    }

    /// What the server attached to the request, read anew each time; none if there is nothing
    /// that can be read.
    #[must_use]
    pub fn meta(&self) -> Option<Meta> {
        let params = self.params.as_ref()?.parse::<mcp_types::RequestParams>().ok()?;
        params.meta
    }

    /// A fact that a transport or a layer has left, by its type.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.extensions.get()
    }

    /// The task as which the request runs; none when it is a plain one.
    #[cfg(feature = "tasks")]
    #[must_use]
    pub fn task(&self) -> Option<&mcp_lifecycle::tasks::RunningTask> {
        self.extension()
    }

    /// The same request, apart from its exchange.
    #[cfg(feature = "tasks")]
    pub(crate) fn as_task(
        &self,
        replies: Replies,
        task: mcp_lifecycle::tasks::RunningTask,
    ) -> Self {
        let mut extensions = self.extensions.clone();
        extensions.insert(task);
        Self { extensions, replies, ..self.clone() }
    }

    /// What is known of the exchange, and the way back.
    #[cfg(feature = "tasks")]
    pub(crate) const fn road(&self) -> (&Extensions, &Replies) {
        (&self.extensions, &self.replies)
    }

    /// Waits until the server cancels the request. After that the handler is polled once more,
    /// and dropped.
    pub async fn cancelled(&self) {
        self.replies.cancelled().await;
    }

    /// Whether the server has canceled the request.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.replies.is_cancelled()
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("id", &self.id).finish_non_exhaustive()
    }
}
