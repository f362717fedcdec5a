//! Messages on their way to the server, each a POST of its own.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{HeaderMap, HeaderValue};
use hyper::{Method, StatusCode, Uri};
use mcp_jsonrpc::link::v1::{Incoming, Stream};
use mcp_jsonrpc::{Frame, Head, Message, Outgoing, RequestId, Response, decode};
use tokio::sync::SemaphorePermit;
use tokio::time::{sleep, timeout};

use super::core::{Call, Core, Note, Underway};
use super::cursor::{Cursor, backoff};
use super::net::{Answer, AnswerBody, Repeat};
use super::resume::Broken;
use super::send::{Errand, check_encoding, discard};
use super::session::{Pass, session_id};
use super::stream::{Events, Purpose, Taken};
use super::{HttpError, Transport};
use crate::header::{is_event_stream, is_json};

/// How often a response to the server is sent when the server can't be reached.
const TRIES: u32 = 4;

/// The server has forgotten the session.
struct Lost {
    epoch: u64,
    /// It has not looked at the request.
    unread: bool,
}

impl Core {
    /// Sends a request, and sees to its response.
    pub(super) fn start_call(self: &Arc<Self>, id: RequestId, message: Outgoing) {
        let task = self.spawner.reserve();
        self.lock().calls.insert(id.clone(), Call { task, departed: false });
        let underway = self.begin(false);
        let core = Arc::clone(self);
        self.spawner.spawn_as(task, async move {
            core.call(&id, &message).await;
            drop(underway);
        });
    }

    async fn call(self: &Arc<Self>, id: &RequestId, message: &Outgoing) {
        let method = message.method().and_then(|m| mcp_types::Method::from_name(m.as_str()));
        if method == Some(mcp_types::Method::Initialize) {
            return self.hello(id, message).await;
        }
        let repeatable = method.is_some_and(mcp_types::Method::is_idempotent);
        let mut sent = false;
        loop {
            // The semaphore is never closed. The session is entered when it is this request's
            // turn, not before: it may have changed meanwhile.
            let turn = self.turns.acquire().await;
            let pass = match self.enter().await {
                Ok(pass) => pass,
                Err(source) => {
                    let source = Some(source);
                    let lost = HttpError::SessionLost { unread: true, renewed: false, source };
                    return self.fail(id, lost).await;
                }
            };
            let attempt = self.attempt(id, message, pass, repeatable, turn.ok());
            let Err(lost) = attempt.await else { return };
            let renewed = self.renewed(lost.epoch).await;
            if !self.is_waited_for(id) {
                return;
            }
            if repeatable && !sent && renewed.is_ok() {
                sent = true;
                continue;
            }
            let (renewed, source) = match renewed {
                Ok(_) => (true, None),
                Err(source) => (false, Some(source)),
            };
            let lost = HttpError::SessionLost { unread: lost.unread, renewed, source };
            return self.fail(id, lost).await;
        }
    }

    /// Sends a request once.
    async fn attempt(
        &self,
        id: &RequestId,
        message: &Outgoing,
        pass: Pass,
        repeatable: bool,
        turn: Option<SemaphorePermit<'_>>,
    ) -> Result<(), Lost> {
        let repeat = if repeatable { Repeat::IfUnanswered } else { Repeat::IfUnwritten };
        let Pass { epoch, uri, headers, has_session } = pass;
        let answer = match self.post_call(id, message, &uri, headers, repeat).await {
            Ok(answer) => answer,
            Err(error) => {
                self.fail(id, error).await;
                return Ok(());
            }
        };
        if answer.status == StatusCode::NOT_FOUND && has_session {
            discard(answer.body).await;
            return Err(Lost { epoch, unread: true });
        }
        let purpose = Purpose::Call(id.clone());
        let seen = self.see_answer(&purpose, epoch, answer).await;
        drop(turn);
        match seen {
            Ok(rest) => {
                self.linger(rest).await;
                Ok(())
            }
            Err(Broken::Failed(error)) => {
                self.fail(id, error).await;
                Ok(())
            }
            Err(Broken::SessionLost) => Err(Lost { epoch, unread: false }),
        }
    }

    async fn post_call(
        &self,
        id: &RequestId,
        message: &Outgoing,
        uri: &Uri,
        headers: HeaderMap,
        repeat: Repeat,
    ) -> Result<Answer, HttpError> {
        let errand = Errand {
            method: Method::POST,
            uri: uri.clone(),
            headers,
            body: message.frame().clone(),
            repeat,
            head: self.config.times.answer,
            message: Some(message),
        };
        self.send(errand, || self.departed(id)).await
    }

    /// Sends `initialize`, in the way that the server understands.
    async fn hello(self: &Arc<Self>, id: &RequestId, message: &Outgoing) {
        let legacy = matches!(self.config.transport, Transport::LegacySse);
        if legacy
            && self.lock().legacy.is_none()
            && let Err(error) = self.open_legacy().await
        {
            return self.fail(id, error).await;
        }
        match self.hello_once(id, message).await {
            Ok(rest) => self.linger(rest).await,
            Err(Broken::SessionLost) => self.fail(id, HttpError::NoResponse(None)).await,
            Err(Broken::Failed(error)) => {
                let falls_back = matches!(self.config.transport, Transport::Auto)
                    && self.lock().legacy.is_none()
                    && is_older(&error);
                if !falls_back {
                    return self.fail(id, error).await;
                }
                tracing::debug!("the server may speak the older transport");
                match self.open_legacy().await {
                    Ok(()) => match self.hello_once(id, message).await {
                        Ok(rest) => self.linger(rest).await,
                        Err(Broken::Failed(error)) => self.fail(id, error).await,
                        Err(Broken::SessionLost) => {
                            self.fail(id, HttpError::NoResponse(None)).await;
                        }
                    },
                    // It does, but badly.
                    Err(
                        error @ (HttpError::Endpoint(_)
                        | HttpError::TimedOut { phase: super::Phase::Endpoint, .. }),
                    ) => self.fail(id, error).await,
                    // It doesn't: what it said at first counts.
                    Err(_) => self.fail(id, error).await,
                }
            }
        }
    }

    async fn hello_once(
        &self,
        id: &RequestId,
        message: &Outgoing,
    ) -> Result<Option<AnswerBody>, Broken> {
        let Pass { epoch, uri, headers, .. } = self.greet(message);
        let answer = self
            .post_call(id, message, &uri, headers, Repeat::IfUnanswered)
            .await
            .map_err(Broken::Failed)?;
        let session = session_id(&answer.headers).map_err(Broken::Failed)?;
        let purpose = if self.lock().legacy.is_some() {
            Purpose::Call(id.clone())
        } else {
            Purpose::Greeting { id: id.clone(), session }
        };
        self.see_answer(&purpose, epoch, answer).await
    }

    /// `initialize` once more, for a new session. Gives the response, and the session's id.
    pub(super) async fn greet_again(
        &self,
        hello: &Outgoing,
        id: RequestId,
        headers: HeaderMap,
    ) -> Result<(Response, Option<HeaderValue>), HttpError> {
        let errand = Errand {
            method: Method::POST,
            uri: self.endpoint.clone(),
            headers,
            body: hello.frame().clone(),
            repeat: Repeat::IfUnanswered,
            // Nobody else watches the time.
            head: Some(self.config.times.answer.unwrap_or(self.config.times.head)),
            message: Some(hello),
        };
        let answer = self.send(errand, || {}).await?;
        if !answer.status.is_success() {
            return Err(self.refusal(answer).await.error);
        }
        check_encoding(&answer)?;
        let session = session_id(&answer.headers)?;
        let epoch = self.lock().session.epoch();
        if is_event_stream(&answer.headers) {
            let purpose = Purpose::Renewal { id, session: session.clone() };
            return match self.see_through(&purpose, epoch, answer.body).await {
                Ok((Some(response), rest)) => {
                    discard(rest).await;
                    Ok((response, session))
                }
                Ok((None, _)) => Err(HttpError::NoResponse(None)),
                Err(Broken::Failed(error)) => Err(error),
                Err(Broken::SessionLost) => Err(HttpError::NoResponse(None)),
            };
        }
        let frame = self.read(answer.body).await?;
        match decode(&frame, &self.limits) {
            Ok(Frame::Single(Message::Response(response))) => Ok((response, session)),
            Ok(_) => Err(HttpError::NotAResponse(None)),
            Err(fault) => Err(HttpError::NotAResponse(Some(fault))),
        }
    }

    /// Reads the answer to a request up to its response. Gives what is left of it.
    async fn see_answer(
        &self,
        purpose: &Purpose,
        epoch: u64,
        answer: Answer,
    ) -> Result<Option<AnswerBody>, Broken> {
        if !answer.status.is_success() {
            return self.see_refusal(purpose, answer).await.map_err(Broken::Failed);
        }
        check_encoding(&answer).map_err(Broken::Failed)?;
        if is_event_stream(&answer.headers) {
            let (_, rest) = self.see_through(purpose, epoch, answer.body).await?;
            return Ok(Some(rest));
        }
        if self.lock().legacy.is_some() {
            // The response comes on the stream, whatever is said here.
            return Ok(Some(answer.body));
        }
        if is_json(&answer.headers) {
            let frame = self.read(answer.body).await.map_err(Broken::Failed)?;
            self.see_json(purpose, frame).await.map_err(Broken::Failed)?;
            return Ok(None);
        }
        let elsewhere = answer.status == StatusCode::ACCEPTED && self.lock().session.listens();
        match answer.status {
            // Against the specification, but the response may come on another stream.
            StatusCode::ACCEPTED if elsewhere => Ok(Some(answer.body)),
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => {
                Err(Broken::Failed(HttpError::NoResponse(None)))
            }
            _ => Err(Broken::Failed(self.not_mcp(answer).await)),
        }
    }

    /// A refusal may still be the response, where the server speaks JSON-RPC and the status says
    /// no more than that something is wrong with the request.
    async fn see_refusal(
        &self,
        purpose: &Purpose,
        answer: Answer,
    ) -> Result<Option<AnswerBody>, HttpError> {
        let status = answer.status;
        let mut refusal = self.refusal(answer).await;
        let general = matches!(status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY);
        // `initialize` may have to be tried in another way.
        let greets = matches!(purpose, Purpose::Greeting { .. });
        if let (HttpError::Status { error: said, .. }, Some(own)) =
            (&mut refusal.error, purpose.own())
            && said.is_some()
            && (refusal.names.as_ref() == Some(own)
                || refusal.names.is_none() && general && !greets)
            && let Some(error) = said.take()
        {
            self.respond_with(own, Err(error)).await;
            return Ok(None);
        }
        Err(refusal.error)
    }

    async fn see_json(&self, purpose: &Purpose, frame: Bytes) -> Result<(), HttpError> {
        match decode(&frame, &self.limits) {
            // To what else could it be?
            Ok(Frame::Single(Message::Response(Response {
                id: None,
                outcome: Err(error),
                ..
            }))) if let Some(own) = purpose.own() => {
                self.respond_with(own, Err(error)).await;
                return Ok(());
            }
            Err(fault) => return Err(HttpError::NotAResponse(Some(fault))),
            Ok(_) => {}
        }
        match self.take(frame, purpose).await {
            Taken::Own(_) => Ok(()),
            Taken::Other | Taken::Gap => Err(HttpError::NotAResponse(None)),
        }
    }

    async fn respond_with(
        &self,
        id: &RequestId,
        outcome: Result<mcp_jsonrpc::RawJson, mcp_jsonrpc::ErrorObject>,
    ) {
        if self.lock().calls.remove(id).is_some() {
            let response = Message::Response(Response::new(Some(id.clone()), outcome));
            self.deliver(Incoming::Message(response, Stream::Of(id.clone())), 0).await;
        }
    }

    /// Gives a server that has answered a moment to end the stream, so that the connection can
    /// be used again.
    async fn linger(&self, rest: Option<AnswerBody>) {
        if let Some(rest) = rest {
            let _ = timeout(self.config.times.linger, discard(rest)).await;
        }
    }

    /// Gives up a request.
    pub(super) fn give_up(self: &Arc<Self>, id: &RequestId, notice: Option<Outgoing>) {
        let Some(call) = self.lock().calls.remove(id) else { return };
        if !call.departed {
            // The server doesn't know of it.
            return self.spawner.end(call.task);
        }
        let underway = self.begin(true);
        let core = Arc::clone(self);
        self.spawner.spawn(async move {
            if let Some(notice) = notice {
                core.notify(&notice).await;
            }
            drop(underway);
            // Now the server ends the stream, or we do.
            sleep(core.config.times.linger).await;
            core.spawner.end(call.task);
        });
    }

    /// Sends a notification, after those before it.
    pub(super) fn start_note(self: &Arc<Self>, message: Outgoing) {
        let underway = self.begin(true);
        let mut state = self.lock();
        state.lane.push_back(Note { message, underway });
        if !state.lane_is_driven {
            state.lane_is_driven = true;
            let core = Arc::clone(self);
            self.spawner.spawn(async move { core.drive_lane().await });
        }
    }

    async fn drive_lane(self: &Arc<Self>) {
        loop {
            let note = {
                let mut state = self.lock();
                let note = state.lane.pop_front();
                state.lane_is_driven = note.is_some();
                note
            };
            let Some(Note { message, underway }) = note else { return };
            self.notify(&message).await;
            drop(underway);
        }
    }

    async fn notify(self: &Arc<Self>, message: &Outgoing) {
        let method = message.method().and_then(|m| mcp_types::Method::from_name(m.as_str()));
        // They are about requests of a session.
        let bound = matches!(
            method,
            Some(
                mcp_types::Method::NotificationsCancelled
                    | mcp_types::Method::NotificationsProgress
            )
        );
        for _ in 0..2 {
            let Ok(pass) = self.enter().await else { return };
            let (epoch, has_session) = (pass.epoch, pass.has_session);
            let head = Some(self.config.times.head);
            match self.post_note(message, pass, head).await {
                Ok(answer) if answer.status == StatusCode::NOT_FOUND && has_session => {
                    discard(answer.body).await;
                    self.lose(epoch);
                    if bound {
                        return;
                    }
                }
                answer => return self.note_answered(message, answer).await,
            }
        }
    }

    /// Sends `notifications/initialized`; what comes after it waits.
    pub(super) fn start_initialized(self: &Arc<Self>, message: Outgoing) {
        let underway = self.begin(true);
        let pass = self.settle(&message);
        let core = Arc::clone(self);
        self.spawner.spawn(async move {
            core.announce(&message, pass).await;
            core.settled();
            drop(underway);
        });
    }

    /// Sends a response, if the server still waits for it.
    pub(super) fn start_response(self: &Arc<Self>, message: Outgoing) {
        let epoch = {
            let mut state = self.lock();
            if let Head::Result { id } | Head::Error { id: Some(id), .. } = message.head()
                && !state.session.is_answered(id)
            {
                tracing::debug!(%id, "dropped a response: the session that asked is lost");
                return;
            }
            state.session.epoch()
        };
        let underway: Underway = self.begin(true);
        let core = Arc::clone(self);
        self.spawner.spawn(async move {
            core.respond(&message, epoch).await;
            drop(underway);
        });
    }

    async fn respond(self: &Arc<Self>, message: &Outgoing, epoch: u64) {
        for failures in 0..TRIES {
            let Ok(pass) = self.enter().await else { return };
            if pass.epoch != epoch {
                return;
            }
            let has_session = pass.has_session;
            let answer = self.post_note(message, pass, Some(self.config.times.head)).await;
            match answer {
                Ok(answer) if answer.status == StatusCode::NOT_FOUND && has_session => {
                    discard(answer.body).await;
                    return self.lose(epoch);
                }
                // The server waits for it.
                Err(HttpError::Connect { .. }) if failures + 1 < TRIES => {
                    sleep(backoff(&self.config.reconnect, failures, self.chance())).await;
                }
                answer => return self.note_answered(message, answer).await,
            }
        }
    }

    /// Posts what nobody answers; gives the answer that only says whether it was taken.
    pub(super) async fn post_note(
        &self,
        message: &Outgoing,
        pass: Pass,
        head: Option<Duration>,
    ) -> Result<Answer, HttpError> {
        let errand = Errand {
            method: Method::POST,
            uri: pass.uri,
            headers: pass.headers,
            body: message.frame().clone(),
            repeat: Repeat::IfUnanswered,
            head,
            message: Some(message),
        };
        self.send(errand, || {}).await
    }

    async fn note_answered(
        self: &Arc<Self>,
        message: &Outgoing,
        answer: Result<Answer, HttpError>,
    ) {
        let error = match answer {
            Ok(answer) if answer.status.is_success() => return self.noted(answer),
            Ok(answer) => self.refusal(answer).await.error,
            Err(error) => error,
        };
        tracing::warn!(
            message = ?message.head(),
            error = &error as &dyn std::error::Error,
            "the server did not take a message"
        );
    }

    /// What was posted needs no answer. Some servers give one all the same.
    pub(super) fn noted(self: &Arc<Self>, answer: Answer) {
        if answer.body.is_over() {
            return;
        }
        let core = Arc::clone(self);
        self.spawner.spawn(async move {
            if is_event_stream(&answer.headers) {
                let mut events = Events::new(answer.body, core.config.limits.message_bytes);
                core.follow(&mut events, &mut Cursor::default(), &Purpose::Note).await;
            } else if is_json(&answer.headers)
                && let Ok(frame) = core.read(answer.body).await
                && let Ok(Frame::Single(Message::Response(response))) = decode(&frame, &core.limits)
                && response.id.is_none()
                && response.outcome.is_err()
            {
                let message = Message::Response(response);
                core.deliver(Incoming::Message(message, Stream::Shared), frame.len()).await;
            }
        });
    }
}

/// Whether `initialize` was refused as a server of the older transport would.
fn is_older(error: &HttpError) -> bool {
    matches!(
        error,
        HttpError::Status {
            status: StatusCode::BAD_REQUEST
                | StatusCode::NOT_FOUND
                | StatusCode::METHOD_NOT_ALLOWED,
            ..
        }
    )
}
