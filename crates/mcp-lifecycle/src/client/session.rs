use std::fmt;
use std::sync::Arc;

use mcp_jsonrpc::peer::{Arrival, Event, NotificationVerdict, Protocol, RequestVerdict};
use mcp_jsonrpc::service::v1::{PeerOutlet, Reply};
use mcp_jsonrpc::{
    ErrorObject, Extensions, Fault, Name, Notification, Outgoing, Request, RequestId,
};
use mcp_types::error_code::Meaning;
use mcp_types::{Method, Revision};

use super::{ClientHandle, ClientPhase, Negotiated};
use crate::augmented::{Augmented, asks_for_task};
use crate::gate::{Declared, Refusal, admit_notification, admit_request};
use crate::{UnknownMethods, cancel, error};

/// The client's side of a conversation with one server of the stateful era.
///
/// It decides what is to be done with whatever the server sends, and does none of it. A
/// [`Driver`](mcp_jsonrpc::peer::Driver) owns it; the handshake goes through its
/// [`ClientHandle`].
///
/// | phase | requests served | notifications served |
/// |---|---|---|
/// | fresh, greeting | `ping` | log messages |
/// | operating | what the gate admits | what the gate admits |
/// | closed | none | none |
///
/// A request that comes before the handshake is over is answered by `-32600`, one that takes a
/// capability which we didn't declare by `-32601`. Cancellations are heard in every phase.
///
/// Specification: [lifecycle](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle).
#[derive(Debug)]
pub struct ClientSession {
    handle: ClientHandle,
    /// What is known about the server before the handshake.
    base: Arc<Extensions>,
    state: State,
    on_error: Option<OnError>,
}

/// See [`ClientSession::with_on_error`].
struct OnError(Box<dyn Fn(&ErrorObject) + Send + Sync>);

impl fmt::Debug for OnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnError")
    }
}

#[derive(Debug)]
enum State {
    Greeting,
    Operating(Talk),
    Closed,
}

/// What was agreed on.
#[derive(Debug)]
struct Talk {
    negotiated: Arc<Negotiated>,
    /// What every exchange gets to know.
    shared: Arc<Extensions>,
    augmented: Augmented,
}

impl ClientSession {
    /// A conversation, as `handle` sees it.
    ///
    /// `outlet` reaches the server; `known` is what else every exchange gets to know.
    #[must_use]
    pub fn new(handle: ClientHandle, outlet: Option<PeerOutlet>, known: Extensions) -> Self {
        let mut base = known;
        if let Some(outlet) = outlet {
            base.insert(outlet);
        }
        Self { handle, base: Arc::new(base), state: State::Greeting, on_error: None }
    }

    /// Calls `callback` with each error of the server that belongs to no request, because the
    /// server could not read whose it is. No call ends by it, and the conversation goes on. It is
    /// logged in any case.
    ///
    /// The callback is called while messages are received: it must neither block nor panic.
    ///
    /// Specification: [error responses](https://modelcontextprotocol.io/specification/2025-11-25/basic#error-responses).
    #[must_use]
    pub fn with_on_error(
        mut self,
        callback: impl Fn(&ErrorObject) + Send + Sync + 'static,
    ) -> Self {
        self.on_error = Some(OnError(Box::new(callback)));
        self
    }

    /// The handle that this side shares with the client's calls.
    #[must_use]
    pub const fn handle(&self) -> &ClientHandle {
        &self.handle
    }

    /// Notices what the handle was told since the last message.
    fn refresh(&mut self) {
        let phase = self.handle.phase();
        match (&self.state, phase, self.handle.negotiated()) {
            (State::Greeting, ClientPhase::Operating, Some(negotiated)) => {
                let mut shared = Extensions::on(Arc::clone(&self.base));
                shared.insert_arc(Arc::clone(negotiated));
                let negotiated = Arc::clone(negotiated);
                let (shared, augmented) = (Arc::new(shared), Augmented::default());
                self.state = State::Operating(Talk { negotiated, shared, augmented });
            }
            (_, ClientPhase::Closed, _) => self.state = State::Closed,
            (State::Greeting | State::Operating(_) | State::Closed, _, _) => {}
        }
    }

    fn forget(&mut self, id: &RequestId) {
        match &mut self.state {
            State::Operating(talk) => talk.augmented.remove(id),
            State::Greeting | State::Closed => {}
        }
    }

    fn revision(&self) -> Revision {
        self.handle.revision().unwrap_or(Revision::LATEST_STATEFUL)
    }

    fn refuse(&self, request: &Request, message: &'static str) -> RequestVerdict {
        let name = request.method.as_str();
        tracing::debug!(name, reason = message, "refused a request");
        let meaning = Meaning::InvalidRequest;
        RequestVerdict::Refuse(error::with_message(&meaning, self.revision(), message))
    }
}

impl Protocol for ClientSession {
    fn request(&mut self, request: &Request, _arrival: Arrival) -> RequestVerdict {
        let ping = request.method == Method::Ping.as_str();
        self.refresh();
        let talk = match &mut self.state {
            State::Closed => return self.refuse(request, "the conversation is over"),
            State::Greeting if ping => {
                return RequestVerdict::Serve(Extensions::on(Arc::clone(&self.base)));
            }
            State::Greeting => return self.refuse(request, "the handshake is not over"),
            State::Operating(talk) => talk,
        };
        let name = request.method.as_str();
        let profile = self.handle.profile();
        let (revision, ours) = (talk.negotiated.revision, Declared::Client(&profile.capabilities));
        match admit_request(name, revision, ours) {
            Ok(method) => {
                if ours.runs_as_task(method, revision) && asks_for_task(request.params.as_ref()) {
                    talk.augmented.add(request.id.clone());
                }
            }
            Err(Refusal::Unknown) if profile.unknown_methods == UnknownMethods::Serve => {}
            Err(refusal) => {
                tracing::debug!(name, %refusal, "refused a request");
                return RequestVerdict::Refuse(refusal.to_error(name, revision));
            }
        }
        RequestVerdict::Serve(Extensions::on(Arc::clone(&talk.shared)))
    }

    fn notification(
        &mut self,
        notification: &Notification,
        _arrival: Arrival,
    ) -> NotificationVerdict {
        let name = notification.method.as_str();
        let method = Method::from_name(name);
        self.refresh();
        match (&self.state, method) {
            (State::Closed, _) => NotificationVerdict::Drop,
            (State::Greeting, Some(Method::NotificationsCancelled)) => {
                cancel::verdict(notification.params.as_ref(), |_| false)
            }
            (State::Operating(talk), Some(Method::NotificationsCancelled)) => {
                let params = notification.params.as_ref();
                cancel::verdict(params, |id| talk.augmented.contains(id))
            }
            (State::Greeting, Some(Method::NotificationsMessage)) => {
                NotificationVerdict::Serve(Extensions::on(Arc::clone(&self.base)))
            }
            (State::Greeting, _) => {
                tracing::debug!(name, "ignored a notification during the handshake");
                NotificationVerdict::Drop
            }
            (State::Operating(talk), _) => {
                let profile = self.handle.profile();
                let ours = Declared::Client(&profile.capabilities);
                let theirs = Declared::Server(&talk.negotiated.capabilities);
                match admit_notification(name, talk.negotiated.revision, ours, theirs) {
                    Ok(_) => {}
                    Err(Refusal::Unknown) if profile.unknown_methods == UnknownMethods::Serve => {}
                    Err(refusal) => {
                        tracing::debug!(name, %refusal, "ignored a notification");
                        return NotificationVerdict::Drop;
                    }
                }
                NotificationVerdict::Serve(Extensions::on(Arc::clone(&talk.shared)))
            }
        }
    }

    fn answered(&mut self, id: &RequestId, _method: &Name, _reply: &Reply) {
        self.forget(id);
    }

    /// A frame without an id gets no answer: it may be anything that a noisy server printed.
    fn malformed(&mut self, fault: &Fault) -> Option<Outgoing> {
        tracing::warn!(kind = %fault.kind, id = ?fault.id, "the server sent what is no message");
        if !fault.is_answered() {
            return None;
        }
        let id = fault.id.clone()?;
        Some(Outgoing::error(Some(id), &fault.to_error()))
    }

    fn batches(&self) -> bool {
        self.handle.revision().is_some_and(Revision::has_batches)
    }

    fn abandon(&mut self, id: &RequestId, method: &Name, reason: Option<&str>) -> Option<Outgoing> {
        self.abandon_noted(id, method, &Extensions::new(), reason)
    }

    fn abandon_noted(
        &mut self,
        id: &RequestId,
        method: &Name,
        notes: &Extensions,
        reason: Option<&str>,
    ) -> Option<Outgoing> {
        cancel::notice(id, method, notes, reason)
    }

    fn observe(&mut self, event: &Event<'_>) {
        match event {
            Event::Ended { .. } => self.handle.close(),
            Event::UnknownResponse { id } => {
                tracing::debug!(?id, "dropped a response that nobody waits for");
            }
            Event::NotificationDropped { method } => {
                tracing::warn!(%method, "dropped a notification: too many exchanges are open");
            }
            Event::Canceled { id } => {
                tracing::debug!(%id, "a request was canceled");
                self.forget(id);
            }
            Event::PeerError { error } => {
                error::log_unasked(error);
                if let Some(OnError(callback)) = &self.on_error {
                    callback(error);
                }
            }
            Event::Panicked { method } => tracing::error!(%method, "a handler panicked"),
            _ => {}
        }
    }
}
