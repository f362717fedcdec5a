//! What the server remembers of us, and what to do when it has forgotten.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, StatusCode, Uri};
use mcp_jsonrpc::link::v1::{Incoming, Stream};
use mcp_jsonrpc::{Message, Name, Notification, Outgoing, RawJson, RequestId};
use mcp_types::JsonObject;

use super::HttpError;
use super::core::{Core, State};
use super::error::Excerpt;
use super::net::Repeat;
use super::send::{Errand, discard};
use super::tasks::TaskId;
use crate::header::{EVENT_STREAM, JSON, MCP_PROTOCOL_VERSION, MCP_SESSION_ID};

const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
/// Bytes of a session id; some are signed tokens.
const LONGEST_ID: usize = 8 << 10;
/// Requests of the server that are remembered until they are answered.
const ASKED: usize = 1024;

/// ```text
///                      hello            initialized        taken
/// Fresh (or stateless) ────▶ Greeting ────────────▶ Settling ────▶ Open
///                                              404 to any of ours │  ▲
///                                                                 ▼  │
///                                            Lost ◀────────── Recovering
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Before `initialize`. Messages go as they are.
    Fresh,
    /// `initialize` was sent, `notifications/initialized` not yet.
    Greeting,
    /// `notifications/initialized` is on its way; requests wait.
    Settling,
    Open,
    /// Whoever sends next begins anew.
    Lost,
    /// Somebody does; everybody waits.
    Recovering,
}

pub(super) struct Session {
    phase: Phase,
    /// Grows with each new session.
    epoch: u64,
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    hello: Option<Outgoing>,
    initialized: Option<Outgoing>,
    /// Sent with everything.
    base: HeaderMap,
    /// Sent with each POST.
    post: HeaderMap,
    waiting: Vec<Waker>,
    /// Attempts to begin anew, and how the last one failed.
    attempt: u64,
    failure: Option<(u64, Arc<HttpError>)>,
    /// The stream for what the server sends of its own accord.
    pub(super) listener: Option<TaskId>,
    /// It is open, or there will be none.
    pub(super) listener_is_settled: bool,
    /// What the server has asked in this session, and has no answer to yet.
    asked: Vec<RequestId>,
}

/// What a request needs to take part in the session.
pub(super) struct Pass {
    pub(super) epoch: u64,
    pub(super) uri: Uri,
    /// Those of a POST.
    pub(super) headers: HeaderMap,
    pub(super) has_session: bool,
}

impl Session {
    pub(super) fn new(base: HeaderMap) -> Self {
        let mut session = Self {
            phase: Phase::Fresh,
            epoch: 0,
            id: None,
            version: None,
            hello: None,
            initialized: None,
            base,
            post: HeaderMap::new(),
            waiting: Vec::new(),
            attempt: 0,
            failure: None,
            listener: None,
            listener_is_settled: false,
            asked: Vec::new(),
        };
        session.build();
        session
    }

    /// Makes the headers anew.
    fn build(&mut self) {
        self.post = self.headers();
        self.post.insert(ACCEPT, BOTH);
        self.post.insert(CONTENT_TYPE, JSON);
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = self.base.clone();
        if let Some(id) = &self.id {
            headers.insert(MCP_SESSION_ID, id.clone());
        }
        if let Some(version) = &self.version {
            headers.insert(MCP_PROTOCOL_VERSION, version.clone());
        }
        headers
    }

    /// The headers of a GET.
    pub(super) fn get_headers(&self) -> HeaderMap {
        let mut headers = self.headers();
        headers.insert(ACCEPT, EVENT_STREAM);
        headers
    }

    /// The headers of a DELETE, if there is something to delete.
    pub(super) fn delete_headers(&self) -> Option<HeaderMap> {
        let has = self.id.is_some() && !matches!(self.phase, Phase::Lost | Phase::Recovering);
        has.then(|| self.headers())
    }

    pub(super) const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The stream that belongs to no request is over.
    pub(super) fn stopped_listening(&mut self, epoch: u64) {
        if self.epoch == epoch {
            self.listener = None;
        }
    }

    /// Whether there is, or may be, a stream that belongs to no request.
    pub(super) const fn listens(&self) -> bool {
        self.listener.is_some()
    }

    pub(super) const fn has_id(&self) -> bool {
        self.id.is_some()
    }

    /// Takes a session id and a revision as those of a new session.
    fn begin(&mut self, id: Option<HeaderValue>, version: Option<HeaderValue>) {
        self.epoch += 1;
        self.id = id;
        self.version = version;
        self.listener_is_settled = false;
        self.build();
    }

    /// Remembers a request of the server.
    pub(super) fn is_asked(&mut self, id: &RequestId) {
        if self.asked.len() >= ASKED {
            self.asked.remove(0);
        }
        self.asked.push(id.clone());
    }

    /// Whether the server of now has asked this, and waits.
    pub(super) fn is_answered(&mut self, id: &RequestId) -> bool {
        let position = self.asked.iter().position(|asked| asked == id);
        position.map(|position| self.asked.swap_remove(position)).is_some()
    }

    fn enter(&mut self, phase: Phase) -> Vec<Waker> {
        self.phase = phase;
        std::mem::take(&mut self.waiting)
    }

    /// Whether session number `epoch` is the one of now.
    pub(super) fn is_current(&self, epoch: u64) -> bool {
        self.epoch == epoch && !matches!(self.phase, Phase::Lost | Phase::Recovering)
    }

    /// What `initialize` is sent with: nothing of a session.
    fn hello_headers(&self) -> HeaderMap {
        let mut headers = self.base.clone();
        headers.insert(ACCEPT, BOTH);
        headers.insert(CONTENT_TYPE, JSON);
        headers
    }
}

impl State {
    fn pass(&self, endpoint: &Uri) -> Pass {
        let session = &self.session;
        match &self.legacy {
            Some(uri) => {
                let mut headers = session.base.clone();
                headers.insert(CONTENT_TYPE, JSON);
                let uri = uri.clone();
                Pass { epoch: session.epoch, uri, headers, has_session: false }
            }
            None => Pass {
                epoch: session.epoch,
                uri: endpoint.clone(),
                headers: session.post.clone(),
                has_session: session.id.is_some(),
            },
        }
    }
}

impl Core {
    /// The handshake begins; answers with what `initialize` is sent with.
    pub(super) fn greet(&self, hello: &Outgoing) -> Pass {
        let mut state = self.lock();
        let session = &mut state.session;
        session.hello = Some(hello.clone());
        session.initialized = None;
        session.id = None;
        session.version = None;
        session.asked.clear();
        session.build();
        let woken = session.enter(Phase::Greeting);
        let mut pass = state.pass(&self.endpoint);
        pass.headers = match state.legacy {
            Some(_) => pass.headers,
            None => state.session.hello_headers(),
        };
        let listener = state.session.listener.take();
        drop(state);
        if let Some(listener) = listener {
            self.spawner.end(listener);
        }
        woken.into_iter().for_each(Waker::wake);
        pass
    }

    /// The server has answered `initialize` with this result.
    pub(super) fn greeted(&self, id: Option<HeaderValue>, result: &RawJson) {
        let version = version_of(result);
        self.lock().session.begin(id, version);
    }

    /// `notifications/initialized` leaves; requests wait until it was taken.
    pub(super) fn settle(&self, initialized: &Outgoing) -> Pass {
        let mut state = self.lock();
        state.session.initialized = Some(initialized.clone());
        state.session.phase = Phase::Settling;
        state.pass(&self.endpoint)
    }

    /// It was taken, or will never be.
    pub(super) fn settled(&self) {
        let woken = {
            let session = &mut self.lock().session;
            match session.phase {
                Phase::Settling => session.enter(Phase::Open),
                _ => Vec::new(),
            }
        };
        woken.into_iter().for_each(Waker::wake);
    }

    /// Waits until messages may leave.
    ///
    /// # Errors
    ///
    /// When a lost session could not be replaced.
    pub(super) async fn enter(self: &Arc<Self>) -> Result<Pass, Arc<HttpError>> {
        let mut awaited = None;
        poll_fn(|cx| {
            let mut state = self.lock();
            let session = &mut state.session;
            match session.phase {
                Phase::Fresh | Phase::Greeting | Phase::Open => {
                    return Poll::Ready(Ok(state.pass(&self.endpoint)));
                }
                Phase::Lost => {
                    if let (Some(awaited), Some((attempt, error))) = (awaited, &session.failure)
                        && *attempt >= awaited
                    {
                        return Poll::Ready(Err(Arc::clone(error)));
                    }
                    self.recover(session);
                    awaited.get_or_insert(session.attempt);
                }
                Phase::Recovering => {
                    awaited.get_or_insert(session.attempt);
                }
                Phase::Settling => {}
            }
            if !session.waiting.iter().any(|known| known.will_wake(cx.waker())) {
                session.waiting.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await
    }

    /// Waits for the session that comes after number `epoch`, which the server has forgotten.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub(super) async fn renewed(self: &Arc<Self>, epoch: u64) -> Result<Pass, Arc<HttpError>> {
        self.lose(epoch);
        {
            // Another request has found out before, and it was tried already.
            let session = &self.lock().session;
            if let (Phase::Lost, Some((_, error))) = (session.phase, &session.failure)
                && session.epoch == epoch
            {
                return Err(Arc::clone(error));
            }
        }
        self.enter().await
    }

    /// A request of session number `epoch` was answered 404: the server has forgotten it.
    pub(super) fn lose(self: &Arc<Self>, epoch: u64) {
        let mut state = self.lock();
        let session = &mut state.session;
        let known = matches!(session.phase, Phase::Greeting | Phase::Settling | Phase::Open);
        if session.epoch != epoch || session.id.is_none() || !known {
            return;
        }
        tracing::info!("the server has forgotten the session");
        let listener = session.listener.take();
        self.recover(session);
        // What the old session has asked is asked no more.
        let asked = std::mem::take(&mut session.asked);
        drop(state);
        if let Some(listener) = listener {
            self.spawner.end(listener);
        }
        if !asked.is_empty() {
            let core = Arc::clone(self);
            self.spawner.spawn(async move {
                for id in asked {
                    core.deliver(void(&id), 0).await;
                }
            });
        }
    }

    fn recover(self: &Arc<Self>, session: &mut Session) {
        session.phase = Phase::Recovering;
        session.attempt += 1;
        let attempt = session.attempt;
        let core = Arc::clone(self);
        self.spawner.spawn(async move {
            let renewed = core.renew().await;
            let (woken, result) = {
                let session = &mut core.lock().session;
                if session.phase != Phase::Recovering || session.attempt != attempt {
                    return;
                }
                match renewed {
                    Ok(result) => {
                        let woken = session.enter(Phase::Open);
                        (woken, Some(result))
                    }
                    Err(error) => {
                        let error = Arc::new(error);
                        tracing::warn!(error = &*error as &dyn std::error::Error, "no new session");
                        session.failure = Some((attempt, error));
                        (session.enter(Phase::Lost), None)
                    }
                }
            };
            if let (Some(callback), Some(result)) = (&core.config.on_renewed, result) {
                callback(&result);
            }
            woken.into_iter().for_each(Waker::wake);
        });
    }

    /// Goes through the handshake once more, in the words of the first time.
    async fn renew(self: &Arc<Self>) -> Result<RawJson, HttpError> {
        let (hello, initialized, version, headers) = {
            let session = &self.lock().session;
            let hello = session.hello.clone();
            let initialized = session.initialized.clone();
            (hello, initialized, session.version.clone(), session.hello_headers())
        };
        let hello = hello.ok_or(HttpError::NotAResponse(None))?;
        let wanted = hello.id().cloned().ok_or(HttpError::NotAResponse(None))?;
        let (response, id) = self.greet_again(&hello, wanted, headers).await?;
        let result = response.outcome.map_err(|error| HttpError::Status {
            status: StatusCode::OK,
            excerpt: Excerpt::new(error.message.as_bytes()),
            error: Some(error),
            retry_after: None,
        })?;
        let renewed = version_of(&result);
        if renewed != version {
            return Err(HttpError::OtherRevision);
        }
        let pass = {
            let mut state = self.lock();
            state.session.begin(id, renewed);
            state.pass(&self.endpoint)
        };
        if let Some(initialized) = initialized {
            self.announce(&initialized, pass).await;
        }
        tracing::info!("there is a new session");
        Ok(result)
    }

    /// Sends `notifications/initialized`, and opens the stream for what the server sends of its
    /// own accord.
    pub(super) async fn announce(self: &Arc<Self>, initialized: &Outgoing, pass: Pass) {
        let epoch = pass.epoch;
        let head = Some(self.config.times.head);
        let taken = match self.post_note(initialized, pass, head).await {
            Ok(answer) if answer.status.is_success() => {
                self.noted(answer);
                true
            }
            Ok(answer) => {
                let error = self.refusal(answer).await.error;
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the server did not take that the handshake is over"
                );
                false
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the server was not told that the handshake is over"
                );
                false
            }
        };
        if taken && self.config.listen && self.lock().legacy.is_none() {
            self.listen(epoch);
            let limit = self.config.times.listen;
            if !limit.is_zero() {
                // A server that keeps us waiting may lose what it sends until then.
                let _ = tokio::time::timeout(limit, self.listener_is_settled(epoch)).await;
            }
        }
    }

    async fn listener_is_settled(&self, epoch: u64) {
        poll_fn(|cx| {
            let mut state = self.lock();
            if state.session.listener_is_settled || state.session.epoch != epoch {
                return Poll::Ready(());
            }
            state.wait(cx.waker());
            Poll::Pending
        })
        .await;
    }

    /// The stream of session `epoch` is open, or there will be none.
    pub(super) fn listener_settles(&self, epoch: u64) {
        let woken = {
            let mut state = self.lock();
            if state.session.epoch != epoch {
                return;
            }
            state.session.listener_is_settled = true;
            std::mem::take(&mut state.waiting)
        };
        woken.into_iter().for_each(Waker::wake);
    }

    /// Ends the session at the server, where there is one.
    pub(super) async fn delete(&self) {
        let Some(headers) = self.lock().session.delete_headers() else { return };
        let errand = Errand {
            method: Method::DELETE,
            uri: self.endpoint.clone(),
            headers,
            body: bytes::Bytes::new(),
            repeat: Repeat::IfUnanswered,
            head: Some(self.config.times.head),
            message: None,
        };
        match self.send(errand, || {}).await {
            Ok(answer) => {
                let status = answer.status;
                let fine = status.is_success()
                    || matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED);
                if !fine {
                    tracing::debug!(%status, "the server did not end the session");
                }
                discard(answer.body).await;
            }
            Err(error) => tracing::debug!(
                error = &error as &dyn std::error::Error,
                "the server was not told that the session is over"
            ),
        }
    }
}

/// The session id that the answer to `initialize` gives.
///
/// # Errors
///
/// [`HttpError::InvalidSessionId`] when it is none.
pub(super) fn session_id(headers: &HeaderMap) -> Result<Option<HeaderValue>, HttpError> {
    let Some(id) = headers.get(MCP_SESSION_ID) else { return Ok(None) };
    let bytes = id.as_bytes();
    let visible = bytes.iter().all(|byte| (0x21..=0x7e).contains(byte));
    if bytes.is_empty() || !visible || LONGEST_ID < bytes.len() {
        return Err(HttpError::InvalidSessionId);
    }
    let mut id = id.clone();
    id.set_sensitive(true);
    Ok(Some(id))
}

/// The revision that the server chose. The layer above decides whether it is one.
fn version_of(result: &RawJson) -> Option<HeaderValue> {
    let result: JsonObject = result.parse().ok()?;
    let version = result.get("protocolVersion")?.as_str()?;
    HeaderValue::from_str(&version).ok()
}

/// Tells whoever works on the server's request `id` that nobody waits for it any more.
fn void(id: &RequestId) -> Incoming {
    let params = match serde_json::to_vec(id) {
        Ok(id) => [&br#"{"requestId":"#[..], &id, br#","reason":"the session is lost"}"#].concat(),
        Err(_) => b"{}".to_vec(),
    };
    let notification = Notification::new(
        Name::from_static(mcp_types::Method::NotificationsCancelled.as_str()),
        RawJson::new(params).ok(),
    );
    Incoming::Message(Message::Notification(notification), Stream::Shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: TRANSPORT-SESSION-003, TRANSPORT-SESSION-004
    #[test]
    fn a_session_id_is_visible_ascii_and_secret() {
        let of = |value: &[u8]| {
            let value = HeaderValue::from_bytes(value).unwrap();
            session_id(&HeaderMap::from_iter([(MCP_SESSION_ID, value)]))
        };
        assert!(of(b"abc.~!").unwrap().unwrap().is_sensitive());
        assert!(session_id(&HeaderMap::new()).unwrap().is_none());
        for bad in [&b""[..], b"a b", b"\xff", &[b'x'; LONGEST_ID + 1]] {
            assert!(matches!(of(bad), Err(HttpError::InvalidSessionId)), "{bad:?}");
        }
    }

    #[test]
    fn a_request_of_the_server_is_answered_once() {
        let mut session = Session::new(HeaderMap::new());
        session.is_asked(&1.into());
        assert!(session.is_answered(&1.into()));
        assert!(!session.is_answered(&1.into()));
        for id in 0..2000 {
            session.is_asked(&id.into());
        }
        assert!(!session.is_answered(&0.into()) && session.is_answered(&1999.into()));
    }
}
