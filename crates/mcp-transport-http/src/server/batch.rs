//! Batches, which only revision 2025-03-26 has: several messages in one body.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll};

use hyper::{Response, StatusCode};
use mcp_jsonrpc::peer::{Arrival, NotificationVerdict, RequestVerdict};
use mcp_jsonrpc::service::v1::{
    Ask, AskError, BoxFuture, Call, CancelSignal, Inbound, Replies, Reply, ReplySink, SendError,
    TrySendError,
};
use mcp_jsonrpc::{
    ErrorObject, Fault, FaultKind, Message, Name, Outgoing, Request, RequestId, Response as Answer,
};

use mcp_types::Revision;

use super::body::AnswerBody;
use super::context::BatchFacts;
use super::exchange::Exchange;
use super::outlet::SessionOutlet;
use super::post::{Posted, answer, take_answer, unserved};
use super::refuse::{accepted, busy, no_session, refuse, refuse_request};
use super::session::{Session, Unfit};

/// Runs the messages of a batch side by side, and answers with what they are answered by.
pub(super) async fn run(
    posted: Posted,
    session: Option<Arc<Session>>,
    revision: Revision,
    messages: Vec<Result<Message, Fault>>,
) -> Response<AnswerBody> {
    let Posted { core, form, head, admission } = posted;
    let mut responses = Vec::new();
    let mut requests = Vec::new();
    let mut calls = Vec::new();
    let profile = core.service.profile();
    let mut arrival = Arrival::default();
    arrival.in_batch = true;

    if messages.iter().any(|message| matches!(message, Ok(Message::Response(_))))
        && messages.iter().any(|message| matches!(message, Ok(Message::Request(_))))
    {
        let error = ErrorObject::invalid_request("requests and responses go into batches apart");
        return refuse(StatusCode::BAD_REQUEST, &error);
    }
    let common = BatchFacts::new(&core, head, admission);
    for message in messages {
        match message {
            Ok(Message::Request(request)) => requests.push(request),
            Ok(Message::Notification(notification)) => {
                let verdict = match &session {
                    Some(session) => session.notification(&notification, arrival),
                    None => Some(core.strangers.notification(&profile, revision, &notification)),
                };
                match verdict {
                    Some(NotificationVerdict::Serve(facts)) => {
                        let inbound = Inbound::new(Call::Notification(notification))
                            .with_extensions(common.extend(facts));
                        let replies = session.as_ref().map_or(Replies::nowhere(), |session| {
                            Replies::new(Arc::new(SessionOutlet(Arc::downgrade(session))))
                        });
                        calls.push((None, core.service.call(inbound, replies)));
                    }
                    Some(NotificationVerdict::Cancel { id }) => {
                        if let Some(session) = &session {
                            session.cancel(&id);
                        }
                    }
                    _ => {}
                }
            }
            Ok(Message::Response(response)) => take_answer(session.as_deref(), response),
            Ok(_) => {}
            Err(fault) if fault.response => {
                if let (Some(session), Some(id)) = (&session, &fault.id) {
                    session.fail_ask(id, fault.kind);
                }
            }
            Err(fault) if fault.is_answered() => {
                responses.push(Outgoing::error(fault.id.clone(), &fault.to_error()));
            }
            Err(fault) => tracing::debug!(kind = %fault.kind, "a member that gets no answer"),
        }
    }

    let mut members: Vec<Arc<Member>> = Vec::new();
    for request in &requests {
        if members.iter().any(|member| member.id == request.id) {
            let error = Fault::new(FaultKind::Duplicate { member: "id" }).to_error();
            return refuse_request(StatusCode::BAD_REQUEST, Some(request.id.clone()), &error);
        }
        members.push(Arc::new(Member::new(request.id.clone())));
    }
    if calls.is_empty() && requests.is_empty() {
        return if responses.is_empty() {
            accepted()
        } else {
            super::refuse::json(StatusCode::BAD_REQUEST, Outgoing::batch(&responses))
        };
    }
    let Some(permit) = core.permit_exchange() else {
        return busy("too many requests are being served");
    };
    let hearing = form.hearing();
    let exchange = Exchange::new(
        Arc::clone(&core),
        session.clone(),
        None,
        Name::from_static("batch"),
        hearing,
    );
    let exchange = Arc::new(exchange.with_members(members.clone()));
    if let Some(session) = &session {
        match session.register(&exchange) {
            Ok(()) => {}
            Err(Unfit::Closed) => return no_session(),
            Err(Unfit::Full) => return busy("too many requests of this session are being served"),
            Err(Unfit::Duplicate) => {
                let error = ErrorObject::invalid_request("a request with this id is being served");
                return refuse(StatusCode::BAD_REQUEST, &error);
            }
        }
    }
    let answered = !requests.is_empty() || !responses.is_empty();
    for (request, member) in requests.into_iter().zip(members) {
        let verdict = match &session {
            Some(session) => session.request(&request, arrival),
            None => Some(core.strangers.request(&profile, revision, &request, arrival)),
        };
        match verdict {
            Some(RequestVerdict::Serve(facts)) => {
                member.join(&exchange, &request);
                let inbound =
                    Inbound::new(Call::Request(request)).with_extensions(common.extend(facts));
                let replies = Replies::new(Arc::<Member>::clone(&member));
                calls.push((Some(member), core.service.call(inbound, replies)));
            }
            Some(RequestVerdict::Refuse(error)) => {
                responses.push(Outgoing::error(Some(request.id), &error));
            }
            _ => responses.push(unserved(&request)),
        }
    }
    let work = Work { calls, responses, session, answered };
    exchange.start(Box::pin(work), permit);
    let response = answer(Arc::clone(&exchange), form, None, None).await;
    if answered { response } else { accepted() }
}

/// One request of a batch.
pub(super) struct Member {
    pub(super) id: RequestId,
    exchange: OnceLock<(Weak<Exchange>, Name)>,
    canceled: CancelSignal,
    /// Nothing more is taken from it.
    over: AtomicBool,
}

impl Member {
    fn new(id: RequestId) -> Self {
        Self {
            id,
            exchange: OnceLock::new(),
            canceled: CancelSignal::new(),
            over: AtomicBool::new(false),
        }
    }

    fn join(&self, exchange: &Arc<Exchange>, request: &Request) {
        let _ = self.exchange.set((Arc::downgrade(exchange), request.method.clone()));
    }

    fn method(&self) -> Option<&Name> {
        self.exchange.get().map(|(_, method)| method)
    }

    fn exchange(&self) -> Option<Arc<Exchange>> {
        self.exchange.get().and_then(|(exchange, _)| exchange.upgrade())
    }

    fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    pub(super) fn cancel(&self) {
        self.end();
        self.canceled.give();
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}

impl ReplySink for Member {
    fn poll_notify(
        &self,
        cx: &mut Context<'_>,
        notification: &mut Option<Outgoing>,
    ) -> Poll<Result<(), SendError>> {
        match self.exchange().filter(|_| !self.is_over()) {
            Some(exchange) => exchange.poll_notify(cx, notification),
            None => Poll::Ready(Err(SendError::default())),
        }
    }

    fn try_notify(&self, notification: Outgoing) -> Result<(), TrySendError> {
        match self.exchange().filter(|_| !self.is_over()) {
            Some(exchange) => exchange.try_notify(notification),
            None => Err(TrySendError::Closed),
        }
    }

    fn ask(&self, ask: Ask) -> BoxFuture<'_, Result<Answer, AskError>> {
        match self.exchange().filter(|_| !self.is_over()) {
            Some(exchange) => Box::pin(async move { exchange.ask(ask).await }),
            None => Box::pin(std::future::ready(Err(AskError::Over))),
        }
    }

    fn can_ask(&self) -> bool {
        self.exchange().is_some_and(|exchange| exchange.can_ask())
    }

    fn close_stream(&self) {
        if let Some(exchange) = self.exchange() {
            exchange.close_stream();
        }
    }

    fn cancel_signal(&self) -> Option<&CancelSignal> {
        Some(&self.canceled)
    }

    fn poll_cancelled(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.canceled.poll_given(cx)
    }

    fn is_cancelled(&self) -> bool {
        self.canceled.is_given()
    }
}

/// All calls of a batch as one: its output is the array of their responses.
struct Work {
    calls: Vec<(Option<Arc<Member>>, BoxFuture<'static, Reply>)>,
    responses: Vec<Outgoing>,
    session: Option<Arc<Session>>,
    answered: bool,
}

impl Future for Work {
    type Output = Reply;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Reply> {
        let Self { calls, responses, session, answered } = self.get_mut();
        calls.retain_mut(|(member, call)| {
            let polled = call.as_mut().poll(cx);
            let Some(member) = member else { return polled.is_pending() };
            if member.is_cancelled() {
                return false;
            }
            // A cancellation wakes the batch, which polls all of its calls.
            if member.poll_cancelled(cx).is_ready() {
                // It came while the call was being polled.
                cx.waker().wake_by_ref();
            }
            let Poll::Ready(reply) = polled else { return true };
            member.end();
            if let (Some(session), Some(method)) = (session.as_ref(), member.method()) {
                session.answered(&member.id, method, &reply);
            }
            if let Reply::Response(response) = reply {
                responses.push(response);
            }
            false
        });
        if !calls.is_empty() {
            return Poll::Pending;
        }
        if responses.is_empty() || !*answered {
            return Poll::Ready(Reply::Silent);
        }
        Poll::Ready(Reply::Response(Outgoing::batch(&*responses)))
    }
}
