//! POST: one message of the client, and what answers it.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::http::request::Parts as Head;
use hyper::{HeaderMap, Response, StatusCode};
use mcp_jsonrpc::peer::{Arrival, NotificationVerdict, RequestVerdict};
use mcp_jsonrpc::service::v1::{Call, Inbound, Replies, Reply};
use mcp_jsonrpc::{
    ErrorObject, Extensions, Fault, FaultKind, Frame, Message, Notification, Outgoing, RawJson,
    Request, Response as Answer, decode,
};
use mcp_types::Revision;

use super::batch;
use super::body::{AnswerBody, Idle};
use super::config::{AcceptPolicy, Answers, Sessions};
use super::context::HttpExchange;
use super::core::Core;
use super::exchange::{Exchange, First, Hearing};
use super::intake::Unread;
use super::lookup::{find_session, revision_of, store_down};
use super::outlet::SessionOutlet;
use super::permit;
use super::refuse::{
    Refused, accepted, busy, json, no_session, refuse, refuse_request, status, wrong,
};
use super::session::{Session, Unfit};
use crate::header::{Accept, EVENT_STREAM, MCP_SESSION_ID, Taken, is_json};
use crate::v1::{Admission, SessionRecord};

pub(super) const INITIALIZE: &str = "initialize";
const PING: &str = "ping";
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Which forms the answer to a request may take. At least one is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) json: bool,
    pub(super) stream: bool,
}

impl Form {
    /// What the client takes, and we want to send; `None` when these don't meet.
    pub(super) fn choose(
        headers: &HeaderMap,
        policy: AcceptPolicy,
        answers: Answers,
    ) -> Option<Self> {
        let accept = Accept::of(headers);
        let (json, stream) = (accept.json.is_allowed(), accept.event_stream.is_allowed());
        let fine = match policy {
            AcceptPolicy::Named => accept.json.min(accept.event_stream) == Taken::Named,
            AcceptPolicy::Allowed => json && stream,
            AcceptPolicy::Lenient => json || stream,
        };
        if !fine {
            return None;
        }
        Some(match answers {
            Answers::Json if json => Self { json: true, stream: false },
            Answers::EventStream if stream => Self { json: false, stream: true },
            Answers::ByFirstEmission | Answers::Json | Answers::EventStream => {
                Self { json, stream }
            }
        })
    }

    pub(super) fn hearing(self) -> Hearing {
        if self.stream { Hearing::Stream } else { Hearing::Nobody }
    }
}

/// What is known of a POST beside its message.
pub(super) struct Posted {
    pub(super) core: Arc<Core>,
    pub(super) head: Head,
    pub(super) admission: Admission,
    pub(super) form: Form,
}

/// Looks at the head of a POST, before its body is read.
pub(super) fn check_head(core: &Core, headers: &HeaderMap) -> Result<Form, Refused> {
    if !is_json(headers) {
        let message = "the body of a POST is one JSON-RPC message, as application/json";
        return Err(wrong(StatusCode::UNSUPPORTED_MEDIA_TYPE, message).into());
    }
    if headers.get_all(CONTENT_ENCODING).iter().any(|coding| coding != "identity") {
        let mut response =
            wrong(StatusCode::UNSUPPORTED_MEDIA_TYPE, "compressed bodies are not taken");
        let identity = HeaderValue::from_static("identity");
        response.headers_mut().insert(hyper::header::ACCEPT_ENCODING, identity);
        return Err(response.into());
    }
    Form::choose(headers, core.config.accept, core.config.answers).ok_or_else(|| {
        wrong(
            StatusCode::NOT_ACCEPTABLE,
            "a POST is answered by application/json or text/event-stream: accept both",
        )
        .into()
    })
}

/// The answer to a body that could not be read.
pub(super) fn unread(core: &Core, why: Unread) -> Response<AnswerBody> {
    match why {
        Unread::TooLong => {
            let limit = core.config.limits.body_bytes;
            let message = format!("a body has at most {limit} bytes");
            refuse(StatusCode::PAYLOAD_TOO_LARGE, &ErrorObject::invalid_request(message))
        }
        Unread::TooSlow => wrong(StatusCode::REQUEST_TIMEOUT, "the body took too long"),
        Unread::Cut => wrong(StatusCode::BAD_REQUEST, "the body ended early"),
    }
}

/// Answers a POST whose body is `body`.
pub(super) async fn post(posted: Posted, body: Bytes) -> Response<AnswerBody> {
    let limits = mcp_jsonrpc::Limits::new().with_frame_bytes(posted.core.config.limits.body_bytes);
    let frame = decode(&body, &limits);
    drop(body);
    if let Ok(Frame::Single(Message::Request(request))) = &frame
        && request.method == INITIALIZE
    {
        if let Err(response) = permit::judge(&posted.core, &posted.admission, &frame).await {
            return *response;
        }
        if let Ok(Frame::Single(Message::Request(request))) = frame {
            return initialize(posted, request).await;
        }
        return wrong(StatusCode::BAD_REQUEST, "not a message");
    }
    let session = match find_session(&posted.core, &posted.head.headers, &posted.admission).await {
        Ok(session) => session,
        Err(response) => return *response,
    };
    let revision = match revision_of(&posted.core, &posted.head.headers, session.as_deref()) {
        Ok(revision) => revision,
        Err(response) => return *response,
    };
    if let Err(response) = permit::judge(&posted.core, &posted.admission, &frame).await {
        return *response;
    }
    if let Some(session) = &session
        && may_be_early(&frame)
    {
        session.wait_until_ready().await;
        if session.is_closed() {
            return no_session();
        }
    }
    match frame {
        Ok(Frame::Single(Message::Request(request))) => {
            call(posted, session, revision, request).await
        }
        Ok(Frame::Single(Message::Notification(notification))) => {
            notify(posted, session, revision, notification).await
        }
        Ok(Frame::Single(Message::Response(response))) => {
            take_answer(session.as_deref(), response);
            accepted()
        }
        Ok(Frame::Batch(messages)) if revision.has_batches() => {
            batch::run(posted, session, revision, messages).await
        }
        Ok(Frame::Batch(_)) => malformed(None, &Fault::new(FaultKind::NoBatches)),
        Ok(_) => wrong(StatusCode::BAD_REQUEST, "not a message"),
        Err(fault) => malformed(session.as_deref(), &fault),
    }
}

/// Whether `frame` holds what is served only after `notifications/initialized`.
fn may_be_early(frame: &Result<Frame, Fault>) -> bool {
    match frame {
        Ok(Frame::Single(Message::Request(request))) => request.method != PING,
        // One may bring `initialized` itself.
        Ok(Frame::Batch(members)) => {
            members.iter().all(|member| matches!(member, Ok(Message::Request(_))))
        }
        Ok(_) | Err(_) => false,
    }
}

/// The answer to a frame that is no message.
fn malformed(session: Option<&Session>, fault: &Fault) -> Response<AnswerBody> {
    if fault.response
        && let (Some(session), Some(id)) = (session, &fault.id)
    {
        // A response that can't be read still ends the wait for it.
        session.fail_ask(id, fault.kind);
    }
    let id = fault.id.clone().filter(|_| !fault.response);
    refuse_request(StatusCode::BAD_REQUEST, id, &fault.to_error())
}

pub(super) fn take_answer(session: Option<&Session>, response: Answer) {
    if !session.is_some_and(|session| session.answer(response)) {
        tracing::debug!("a response came that nothing waits for");
    }
}

/// Opens a session, if its first request succeeds.
async fn initialize(posted: Posted, request: Request) -> Response<AnswerBody> {
    let core = Arc::clone(&posted.core);
    if core.config.sessions == Sessions::Off {
        return call(posted, None, Revision::LATEST_STATEFUL, request).await;
    }
    if !core.table.has_room(&core) {
        return busy("there are too many sessions");
    }
    let Some((id, tag)) = core.new_session_id() else {
        return busy("no session id can be made");
    };
    let principal = posted.admission.principal.clone();
    let session = Session::new(Arc::clone(&core), id, tag, principal);
    session.open(core.service.profile());
    let response = match session.request(&request, Arrival::default()) {
        Some(RequestVerdict::Serve(facts)) => {
            let params = request.params.clone().map(RawJson::into_bytes).unwrap_or_default();
            let opening = Opening { session: &session, params };
            run(posted, Some(Arc::clone(&session)), request, facts, Some(opening)).await
        }
        Some(RequestVerdict::Refuse(error)) => {
            json(StatusCode::OK, Outgoing::error(Some(request.id), &error))
        }
        _ => json(StatusCode::OK, unserved(&request)),
    };
    if !response.headers().contains_key(MCP_SESSION_ID) {
        session.close();
    }
    response
}

/// A request of an open session, or one that stands alone.
async fn call(
    posted: Posted,
    session: Option<Arc<Session>>,
    revision: Revision,
    request: Request,
) -> Response<AnswerBody> {
    let verdict = match &session {
        Some(session) => session.request(&request, Arrival::default()),
        None => {
            let Core { strangers, service, .. } = &*posted.core;
            Some(strangers.request(&service.profile(), revision, &request, Arrival::default()))
        }
    };
    match verdict {
        Some(RequestVerdict::Serve(facts)) => run(posted, session, request, facts, None).await,
        Some(RequestVerdict::Refuse(error)) => {
            json(StatusCode::OK, Outgoing::error(Some(request.id), &error))
        }
        _ => json(StatusCode::OK, unserved(&request)),
    }
}

pub(super) fn unserved(request: &Request) -> Outgoing {
    let error = ErrorObject::internal("this server can't tell whether it serves this");
    Outgoing::error(Some(request.id.clone()), &error)
}

/// Runs an admitted request, and answers it. `opening` is the session that it opens.
async fn run(
    posted: Posted,
    session: Option<Arc<Session>>,
    request: Request,
    facts: Extensions,
    opening: Option<Opening<'_>>,
) -> Response<AnswerBody> {
    let Posted { core, head, admission, form } = posted;
    let Some(permit) = core.permit_exchange() else {
        return busy("too many requests are being served");
    };
    let exchange = Arc::new(Exchange::new(
        Arc::clone(&core),
        session.clone(),
        Some(request.id.clone()),
        request.method.clone(),
        form.hearing(),
    ));
    if let Some(session) = &session
        && let Err(unfit) = session.register(&exchange)
    {
        return unfit.refuse(&request);
    }
    let lasts = admission.streams_for;
    let facts = HttpExchange::extend(facts, head, admission, &exchange);
    let inbound = Inbound::new(Call::Request(request)).with_extensions(facts);
    let replies = Replies::new(Arc::<Exchange>::clone(&exchange));
    exchange.start(core.service.call(inbound, replies), permit);
    answer(exchange, form, lasts, opening).await
}

impl Unfit {
    fn refuse(self, request: &Request) -> Response<AnswerBody> {
        match self {
            Self::Closed => no_session(),
            Self::Full => busy("too many requests of this session are being served"),
            Self::Duplicate => {
                let error = ErrorObject::invalid_request("a request with this id is being served");
                refuse_request(StatusCode::BAD_REQUEST, Some(request.id.clone()), &error)
            }
        }
    }
}

/// Lets go of an exchange whose connection is lost before its answer has begun.
struct Attached(Option<Arc<Exchange>>);

impl Drop for Attached {
    fn drop(&mut self) {
        if let Some(exchange) = self.0.take() {
            exchange.release();
        }
    }
}

/// A session that a request is about to open.
pub(super) struct Opening<'a> {
    session: &'a Arc<Session>,
    /// Of `initialize`, as they came.
    params: Bytes,
}

impl Opening<'_> {
    /// Opens the session, before its client learns of it.
    async fn keep(&self) -> Result<(), Refused> {
        let Self { session, params } = self;
        let core = &session.core;
        if !core.table.insert(core, session) {
            return Err(busy("there are too many sessions").into());
        }
        let Some(store) = &core.store else { return Ok(()) };
        let principal = session.principal.clone();
        let record = SessionRecord::new(session.id.clone(), session.tag, principal, params.clone());
        store.create(record).await.map_err(|error| {
            core.table.remove(&session.id);
            store_down(&error).into()
        })
    }
}

/// Drives an exchange until the form of its answer is clear, and makes the answer.
pub(super) async fn answer(
    exchange: Arc<Exchange>,
    form: Form,
    lasts: Option<Duration>,
    opening: Option<Opening<'_>>,
) -> Response<AnswerBody> {
    let mut attached = Attached(Some(Arc::clone(&exchange)));
    let first = if form.json {
        let mut idle = Idle::new(exchange.core.config.times.keep_alive);
        poll_fn(|cx| {
            if let Poll::Ready(first) = exchange.poll_first(cx) {
                return Poll::Ready(first);
            }
            if !form.stream {
                return Poll::Pending;
            }
            // Silent for so long that a proxy may take the connection for dead.
            ready!(idle.poll(cx));
            Poll::Ready(First::Stream)
        })
        .await
    } else {
        First::Stream
    };
    let is_result = |reply: &Reply| match reply {
        Reply::Response(response) => matches!(response.head(), mcp_jsonrpc::Head::Result { .. }),
        _ => false,
    };
    let opens = match &first {
        First::Reply(reply) => is_result(reply),
        First::Stream => true,
        First::Ended => false,
    };
    let opening = opening.filter(|_| opens);
    if let Some(opening) = &opening
        && let Err(refused) = opening.keep().await
    {
        return *refused;
    }
    let mut response = match first {
        First::Reply(Reply::Response(message)) => {
            attached.0 = None;
            json(StatusCode::OK, message)
        }
        First::Reply(_) | First::Ended => {
            attached.0 = None;
            match &exchange.session {
                Some(session) if session.is_closed() => no_session(),
                // Canceled: the stream ends without a response.
                _ if form.stream => stream(AnswerBody::empty()),
                _ => status(StatusCode::ACCEPTED),
            }
        }
        First::Stream => {
            exchange.begin_stream();
            attached.0 = None;
            stream(AnswerBody::exchange(exchange, lasts))
        }
    };
    if let Some(Opening { session, .. }) = opening {
        response.headers_mut().insert(MCP_SESSION_ID, session.id.to_header());
    }
    response
}

/// An answer that is a stream of events.
pub(super) fn stream(body: AnswerBody) -> Response<AnswerBody> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, EVENT_STREAM);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies that buffer would keep events back.
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// A notification: it is taken at once, and runs on by itself if it has to.
async fn notify(
    posted: Posted,
    session: Option<Arc<Session>>,
    revision: Revision,
    notification: Notification,
) -> Response<AnswerBody> {
    let verdict = match &session {
        Some(session) => session.notification(&notification, Arrival::default()),
        None => {
            let Core { strangers, service, .. } = &*posted.core;
            Some(strangers.notification(&service.profile(), revision, &notification))
        }
    };
    match verdict {
        Some(NotificationVerdict::Serve(facts)) => {
            let Posted { core, head, admission, .. } = posted;
            let Some(permit) = core.permit_exchange() else {
                return busy("too many messages are being served");
            };
            let exchange = Arc::new(Exchange::new(
                Arc::clone(&core),
                session.clone(),
                None,
                notification.method.clone(),
                Hearing::Nobody,
            ));
            if let Some(session) = &session {
                match session.register(&exchange) {
                    Ok(()) => {}
                    Err(Unfit::Closed) => return no_session(),
                    Err(Unfit::Full | Unfit::Duplicate) => {
                        return busy("too many messages of this session are being served");
                    }
                }
            }
            let facts = HttpExchange::extend(facts, head, admission, &exchange);
            let inbound = Inbound::new(Call::Notification(notification)).with_extensions(facts);
            let replies = session.as_ref().map_or(Replies::nowhere(), |session| {
                Replies::new(Arc::new(SessionOutlet(Arc::downgrade(session))))
            });
            exchange.start(core.service.call(inbound, replies), permit);
            let attached = Attached(Some(Arc::clone(&exchange)));
            let alone = session.is_none();
            poll_fn(|cx| match exchange.poll_first(cx) {
                Poll::Pending if alone => Poll::Pending,
                Poll::Pending | Poll::Ready(_) => Poll::Ready(()),
            })
            .await;
            drop(attached);
        }
        Some(NotificationVerdict::Cancel { id }) => {
            if let Some(session) = &session {
                session.cancel(&id);
            }
        }
        _ => {}
    }
    accepted()
}
