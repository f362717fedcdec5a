//! Streams that outlive their connections.

use std::sync::Arc;

use hyper::{Method, StatusCode};
use mcp_jsonrpc::Response;
use tokio::time::sleep;

use super::HttpError;
use super::core::Core;
use super::cursor::Cursor;
use super::net::{Answer, AnswerBody, Repeat};
use super::send::{Errand, check_encoding, discard};
use super::stream::{Events, Purpose, Read};
use crate::header::{LAST_EVENT_ID, MCP_SESSION_ID, is_event_stream};

/// Why a stream is over without its response.
#[derive(Debug)]
pub(super) enum Broken {
    Failed(HttpError),
    /// The server has forgotten the session.
    SessionLost,
}

impl Core {
    /// Reads the stream of a request up to its response, over as many connections as it takes.
    /// Gives what is left of the last one.
    pub(super) async fn see_through(
        &self,
        purpose: &Purpose,
        epoch: u64,
        body: AnswerBody,
    ) -> Result<(Option<Response>, AnswerBody), Broken> {
        let limit = self.config.limits.message_bytes;
        let mut cursor = Cursor::default();
        let mut events = Events::new(body, limit);
        loop {
            let cause = match self.follow(&mut events, &mut cursor, purpose).await {
                Read::Own(response) => return Ok((response, events.body)),
                Read::Failed(error) => return Err(Broken::Failed(error)),
                Read::Closed(cause) => cause,
                Read::Silent => None,
            };
            if cursor.last().is_none() {
                return Err(Broken::Failed(HttpError::NoResponse(cause)));
            }
            drop(events);
            tracing::debug!("a stream was cut and is taken up again");
            let body = self.reconnect(&mut cursor, purpose, epoch).await?;
            events = Events::new(body, limit);
        }
    }

    /// Takes a stream up again, after waiting as long as the server, or prudence, says.
    async fn reconnect(
        &self,
        cursor: &mut Cursor,
        purpose: &Purpose,
        epoch: u64,
    ) -> Result<AnswerBody, Broken> {
        let policy = &self.config.reconnect;
        let gives_up = purpose.own().is_some();
        let mut error = None;
        loop {
            sleep(cursor.wait(policy, error.as_ref(), self.chance())).await;
            if !self.lock().session.is_current(epoch) {
                return Err(Broken::SessionLost);
            }
            cursor.tries();
            let failed = match self.get(cursor, purpose).await {
                Ok(answer)
                    if answer.status == StatusCode::NOT_FOUND && self.has_session(purpose) =>
                {
                    discard(answer.body).await;
                    return Err(Broken::SessionLost);
                }
                Ok(answer) => match self.events_of(answer).await {
                    Ok(body) => return Ok(body),
                    Err(error) => error,
                },
                Err(error) => error,
            };
            if !failed.is_retryable() || gives_up && policy.attempts < cursor.barren() {
                return Err(Broken::Failed(HttpError::StreamLost(Box::new(failed))));
            }
            tracing::debug!(error = &failed as &dyn std::error::Error, "a reconnect failed");
            error = Some(failed);
        }
    }

    fn has_session(&self, purpose: &Purpose) -> bool {
        match purpose {
            Purpose::Greeting { session, .. } | Purpose::Renewal { session, .. } => {
                session.is_some()
            }
            _ => self.lock().session.has_id(),
        }
    }

    /// Asks for a stream, from where the cursor stands.
    async fn get(&self, cursor: &Cursor, purpose: &Purpose) -> Result<Answer, HttpError> {
        let mut headers = self.lock().session.get_headers();
        if let Purpose::Greeting { session, .. } | Purpose::Renewal { session, .. } = purpose
            && let Some(session) = session
        {
            headers.insert(MCP_SESSION_ID, session.clone());
        }
        if let Some(last) = cursor.last() {
            headers.insert(LAST_EVENT_ID, last.clone());
        }
        let errand = Errand {
            method: Method::GET,
            uri: self.endpoint.clone(),
            headers,
            body: bytes::Bytes::new(),
            repeat: Repeat::IfUnanswered,
            head: Some(self.config.times.head),
            message: None,
        };
        self.send(errand, || {}).await
    }

    /// The stream that an answer is.
    async fn events_of(&self, answer: Answer) -> Result<AnswerBody, HttpError> {
        check_encoding(&answer)?;
        if !answer.status.is_success() {
            return Err(self.refusal(answer).await.error);
        }
        if is_event_stream(&answer.headers) {
            return Ok(answer.body);
        }
        Err(self.not_mcp(answer).await)
    }

    /// Opens the stream for what the server sends of its own accord.
    pub(super) fn listen(self: &Arc<Self>, epoch: u64) {
        let core = Arc::clone(self);
        let task = self.spawner.spawn(async move {
            core.listening(epoch).await;
            core.lock().session.stopped_listening(epoch);
            core.listener_settles(epoch);
        });
        let mut state = self.lock();
        if state.session.epoch() == epoch {
            state.session.listener = Some(task);
        }
    }

    async fn listening(self: &Arc<Self>, epoch: u64) {
        let limit = self.config.limits.message_bytes;
        let purpose = Purpose::Listening;
        let mut cursor = Cursor::default();
        let opened = match self.get(&cursor, &purpose).await {
            // Also 404: that the session is gone already would be strange, and the next
            // request tells.
            Ok(answer) => self.events_of(answer).await,
            Err(error) => Err(error),
        };
        let mut body = match opened {
            Ok(body) => Some(body),
            Err(error) => {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "the server opens no stream of its own"
                );
                if !error.is_retryable() {
                    return;
                }
                None
            }
        };
        self.listener_settles(epoch);
        loop {
            if let Some(body) = body.take() {
                let mut events = Events::new(body, limit);
                if let Read::Failed(error) = self.follow(&mut events, &mut cursor, &purpose).await {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "the server's own stream is begun anew"
                    );
                    // From where it stood the same would come again.
                    cursor.restart();
                }
            }
            match self.reconnect(&mut cursor, &purpose, epoch).await {
                Ok(again) => body = Some(again),
                Err(Broken::SessionLost) => return self.lose(epoch),
                Err(Broken::Failed(error)) if cursor.last().is_some() => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "the server's own stream can't be resumed, what it sent meanwhile is lost"
                    );
                    cursor.restart();
                }
                Err(Broken::Failed(error)) => {
                    tracing::debug!(
                        error = &error as &dyn std::error::Error,
                        "the server's own stream is over"
                    );
                    return;
                }
            }
        }
    }
}
