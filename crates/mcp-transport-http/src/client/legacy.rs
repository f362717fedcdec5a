//! HTTP+SSE of revision 2024-11-05: one stream for all that comes in, and an address to post to,
//! which the first event names.

use std::sync::Arc;

use hyper::Method;
use mcp_jsonrpc::link::v1::LinkError;
use tokio::time::timeout;

use super::core::Core;
use super::cursor::Cursor;
use super::error::{Excerpt, HttpError, Phase};
use super::net::{Repeat, resolve, same_origin};
use super::send::{Errand, check_encoding};
use super::stream::{Events, Purpose, Read};
use crate::header::is_event_stream;

impl Core {
    /// Opens the stream, and learns where to post.
    ///
    /// # Errors
    ///
    /// [`HttpError::Endpoint`] or a timeout when there is a stream that names no address of the
    /// server's own; anything else when there is none.
    pub(super) async fn open_legacy(self: &Arc<Self>) -> Result<(), HttpError> {
        let errand = Errand {
            method: Method::GET,
            uri: self.endpoint.clone(),
            headers: self.lock().session.get_headers(),
            body: bytes::Bytes::new(),
            repeat: Repeat::IfUnanswered,
            head: Some(self.config.times.head),
            message: None,
        };
        let answer = self.send(errand, || {}).await?;
        if !answer.status.is_success() {
            return Err(self.refusal(answer).await.error);
        }
        check_encoding(&answer)?;
        if !is_event_stream(&answer.headers) {
            return Err(self.not_mcp(answer).await);
        }
        let mut events = Events::new(answer.body, self.config.limits.message_bytes);
        let limit = self.config.times.endpoint;
        let event = match timeout(limit, events.wait()).await {
            Ok(Ok(event)) => event,
            Ok(Err(Read::Failed(error))) => return Err(error),
            Ok(Err(_)) => return Err(HttpError::Endpoint(Excerpt::default())),
            Err(_) => return Err(HttpError::TimedOut { phase: Phase::Endpoint, limit }),
        };
        let named = event.name.as_deref() == Some(b"endpoint");
        let endpoint = std::str::from_utf8(&event.data)
            .ok()
            .filter(|_| named)
            .and_then(|reference| resolve(&self.endpoint, reference))
            // Our messages, and our credentials, go to no other origin.
            .filter(|endpoint| same_origin(&self.endpoint, endpoint))
            .ok_or_else(|| HttpError::Endpoint(Excerpt::new(&event.data)))?;
        self.lock().legacy = Some(endpoint);
        let core = Arc::clone(self);
        self.spawner.spawn(async move {
            let mut cursor = Cursor::default();
            let cause = match core.follow(&mut events, &mut cursor, &Purpose::Legacy).await {
                Read::Closed(cause) => HttpError::LegacyStreamEnded(cause),
                Read::Failed(error) => error,
                Read::Own(_) | Read::Silent => HttpError::LegacyStreamEnded(None),
            };
            // The conversation can't be taken up again: the server knows it by this stream.
            core.end(LinkError::failed(cause));
        });
        Ok(())
    }
}
