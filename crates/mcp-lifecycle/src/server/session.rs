use std::sync::Arc;

use mcp_jsonrpc::peer::{Arrival, Event, NotificationVerdict, Protocol, RequestVerdict};
use mcp_jsonrpc::service::v1::{PeerOutlet, Reply};
use mcp_jsonrpc::{
    ErrorObject, Extensions, Fault, Head, Name, Notification, Outgoing, RawJson, Request, RequestId,
};
use mcp_types::error_code::Meaning;
use mcp_types::{InitializeRequestParams, LoggingLevel, Method, Revision};

use crate::augmented::{Augmented, asks_for_task};
use crate::gate::{Declared, Refusal, admit_notification, admit_request};
use crate::{
    Admission, Caller, PeerFacts, Profile, Session, TraceContext, UnknownMethods, admit, cancel,
    error, negotiate,
};

/// The server's side of a conversation with one client of the stateful era.
///
/// It decides what is to be done with whatever the client sends, and does none of it: on a pipe
/// a [`Driver`](mcp_jsonrpc::peer::Driver) owns it, over HTTP whoever keeps the session calls
/// it message by message.
///
/// ```text
///           initialize                     result sent                initialized
/// Fresh ───────────────▶ Initializing ───────────────▶ Initializing ───────────────▶ Initialized
///   ▲                     (answering)                   (answered)
///   └── error sent ────────────┘
///                                any ── close, or the client is gone ──▶ Closed
/// ```
///
/// | phase | requests served | notifications served |
/// |---|---|---|
/// | fresh | `ping`, `initialize` | none |
/// | initializing | `ping` | `initialized`, `progress` |
/// | initialized | what the gate admits | what the gate admits |
/// | closed | none | none |
///
/// What comes too early, a second `initialize`, and one in a batch are answered by `-32600`.
/// Cancellations are heard in every phase, but for `initialize` and for requests that run as
/// tasks. `initialized` before its time does no harm: while `initialize` is being answered it
/// counts from the answer on, and before that it is ignored, as is a second one.
///
/// A server that speaks a revision without a handshake, too, serves its requests in every phase
/// but the last, by what each says about itself; see [`admit()`](crate::admit()).
///
/// Specification: [lifecycle](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle).
#[derive(Debug)]
pub struct ServerSession {
    profile: Arc<Profile>,
    id: Option<Arc<str>>,
    /// What is known about the client before it has said anything.
    base: Arc<Extensions>,
    state: State,
}

/// Where a [`ServerSession`] stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// The client has not introduced itself.
    Fresh,
    /// It has, and has not said yet that it is ready.
    Initializing,
    /// Everything is allowed that was agreed on.
    Initialized,
    /// The conversation is over.
    Closed,
}

#[derive(Debug)]
enum State {
    Fresh,
    Initializing(Talk, Step),
    Initialized(Talk),
    Closed,
}

#[derive(Debug)]
enum Step {
    /// The service is answering `initialize`, which is request `id`.
    Answering {
        id: RequestId,
        /// The client has said that it is ready without waiting for the answer.
        ready: bool,
    },
    Answered,
}

/// What was agreed on.
#[derive(Debug)]
struct Talk {
    session: Arc<Session>,
    /// What every exchange gets to know.
    shared: Arc<Extensions>,
    /// The level that `shared` tells of. The session knows the one in force.
    log_level: Option<LoggingLevel>,
    augmented: Augmented,
}

/// What moves the state on.
enum Input {
    /// `initialize` came, and is being answered.
    Begin(Talk, RequestId),
    /// It was answered: by a result, or by an error.
    Answered { well: bool },
    /// `notifications/initialized` came.
    Ready,
    /// The conversation is over.
    End,
}

impl State {
    fn next(self, input: Input) -> Self {
        match (self, input) {
            (Self::Fresh, Input::Begin(talk, id)) => {
                Self::Initializing(talk, Step::Answering { id, ready: false })
            }
            // Nothing to be ready for yet; the client says it again when there is.
            (Self::Fresh, Input::Ready | Input::Answered { .. }) => Self::Fresh,

            (Self::Initializing(_, Step::Answering { .. }), Input::Answered { well: false }) => {
                Self::Fresh
            }
            (
                Self::Initializing(talk, Step::Answering { ready, .. }),
                Input::Answered { well: true },
            ) => {
                if ready {
                    Self::initialized(talk)
                } else {
                    Self::Initializing(talk, Step::Answered)
                }
            }
            // It crosses the answer on the wire, and won't come again.
            (Self::Initializing(talk, Step::Answering { id, .. }), Input::Ready) => {
                Self::Initializing(talk, Step::Answering { id, ready: true })
            }
            (Self::Initializing(talk, Step::Answered), Input::Ready) => Self::initialized(talk),
            (Self::Initializing(talk, Step::Answered), Input::Answered { .. }) => {
                Self::Initializing(talk, Step::Answered)
            }
            (Self::Initialized(talk), Input::Ready | Input::Answered { .. }) => {
                Self::Initialized(talk)
            }
            // The first agreement stands.
            (state @ (Self::Initializing(..) | Self::Initialized(_)), Input::Begin(..)) => state,

            (
                Self::Fresh | Self::Initializing(..) | Self::Initialized(_) | Self::Closed,
                Input::End,
            )
            | (Self::Closed, Input::Begin(..) | Input::Answered { .. } | Input::Ready) => {
                Self::Closed
            }
        }
    }

    fn initialized(talk: Talk) -> Self {
        talk.session.set_initialized();
        Self::Initialized(talk)
    }

    fn talk_mut(&mut self) -> Option<&mut Talk> {
        match self {
            Self::Initializing(talk, _) | Self::Initialized(talk) => Some(talk),
            Self::Fresh | Self::Closed => None,
        }
    }

    fn talk(&self) -> Option<&Talk> {
        match self {
            Self::Initializing(talk, _) | Self::Initialized(talk) => Some(talk),
            Self::Fresh | Self::Closed => None,
        }
    }
}

impl ServerSession {
    /// A conversation that has not begun.
    ///
    /// `outlet` reaches the client outside of exchanges, where that can be done; `id` is the
    /// session's name, where the medium has one; `known` is what else every exchange gets to
    /// know, such as a principal.
    #[must_use]
    pub fn new(
        profile: Arc<Profile>,
        outlet: Option<PeerOutlet>,
        id: Option<Arc<str>>,
        known: Extensions,
    ) -> Self {
        let mut base = known;
        if let Some(outlet) = outlet {
            base.insert(outlet);
        }
        Self { profile, id, base: Arc::new(base), state: State::Fresh }
    }

    /// Ends the conversation: whatever comes from here on is refused, or ignored.
    pub fn close(&mut self) {
        self.step(Input::End);
    }

    /// Where the conversation stands.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        match self.state {
            State::Fresh => Phase::Fresh,
            State::Initializing(..) => Phase::Initializing,
            State::Initialized(_) => Phase::Initialized,
            State::Closed => Phase::Closed,
        }
    }

    /// What is remembered about the client, from `initialize` on until the end.
    #[must_use]
    pub fn session(&self) -> Option<&Arc<Session>> {
        self.state.talk().map(|talk| &talk.session)
    }

    /// The revision that was negotiated, from `initialize` on until the end.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.session().map(|session| session.revision())
    }

    /// What is offered.
    #[must_use]
    pub const fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    fn step(&mut self, input: Input) {
        let state = std::mem::replace(&mut self.state, State::Closed);
        self.state = state.next(input);
    }

    /// The revision whose rules hold: the agreed one, or the one that would be offered.
    fn rules(&self) -> Revision {
        self.revision()
            .or_else(|| self.profile.revisions.latest_stateful())
            .unwrap_or(Revision::LATEST_STATEFUL)
    }

    fn refuse(&self, meaning: &Meaning, message: impl Into<String>) -> RequestVerdict {
        RequestVerdict::Refuse(error::with_message(meaning, self.rules(), message))
    }

    fn ping(&mut self, params: Option<&RawJson>) -> RequestVerdict {
        match &mut self.state {
            State::Fresh => RequestVerdict::Serve(Extensions::on(Arc::clone(&self.base))),
            State::Initializing(talk, _) | State::Initialized(talk) => {
                RequestVerdict::Serve(talk.known(params))
            }
            State::Closed => self.refuse(&Meaning::InvalidRequest, "the session is over"),
        }
    }

    fn initialize(&mut self, request: &Request, arrival: Arrival) -> RequestVerdict {
        let message = match self.state {
            State::Closed => "the session is over",
            _ if arrival.in_batch => "`initialize` can't be part of a batch",
            State::Fresh => {
                return match self.begin(request.params.as_ref()) {
                    Ok(talk) => {
                        let known = Extensions::on(Arc::clone(&talk.shared));
                        self.step(Input::Begin(talk, request.id.clone()));
                        RequestVerdict::Serve(known)
                    }
                    Err(error) => RequestVerdict::Refuse(error),
                };
            }
            State::Initializing(..) | State::Initialized(_) => {
                "`initialize` comes once in a session"
            }
        };
        self.refuse(&Meaning::InvalidRequest, message)
    }

    fn begin(&self, params: Option<&RawJson>) -> Result<Talk, ErrorObject> {
        let invalid =
            |message: String| error::with_message(&Meaning::InvalidParams, self.rules(), message);
        let Some(params) = params else {
            return Err(invalid("`initialize` takes params".to_owned()));
        };
        let params: InitializeRequestParams =
            params.parse().map_err(|error| invalid(format!("params of `initialize`: {error}")))?;
        let requested = params.protocol_version;
        let Some(revision) = negotiate::negotiate(&requested, self.profile.revisions) else {
            let supported = self.profile.revisions.iter().collect();
            let meaning = Meaning::VersionUnsupported { requested, supported };
            // Who serves no revision with a handshake speaks as the first without one.
            return Err(error::to_error(&meaning, Revision::V2026_07_28));
        };
        tracing::debug!(requested, %revision, client = %params.client_info.name, "initialize");
        let caller = Caller::new(revision, params.capabilities).with_client(params.client_info);
        let session = Arc::new(Session::new(self.id.clone(), Arc::new(caller)));
        Ok(Talk::new(session, &self.base))
    }

    fn operate(&mut self, request: &Request) -> RequestVerdict {
        let message = match &mut self.state {
            State::Initialized(talk) => return talk.request(&self.profile, request),
            State::Fresh => "`initialize` has to come first",
            State::Initializing(_, Step::Answering { .. }) => "`initialize` has not been answered",
            State::Initializing(_, Step::Answered) => {
                "`notifications/initialized` has to come first"
            }
            State::Closed => "the session is over",
        };
        let name = request.method.as_str();
        tracing::debug!(name, phase = ?self.phase(), "refused a request");
        self.refuse(&Meaning::InvalidRequest, message)
    }

    fn ready(&mut self, params: Option<&RawJson>) -> NotificationVerdict {
        let expected = matches!(self.state, State::Initializing(_, Step::Answered));
        if !expected {
            tracing::debug!(phase = ?self.phase(), "`initialized` out of turn");
        }
        self.step(Input::Ready);
        match self.state.talk_mut() {
            Some(talk) if expected => NotificationVerdict::Serve(talk.known(params)),
            Some(_) | None => NotificationVerdict::Drop,
        }
    }
}

impl Talk {
    fn new(session: Arc<Session>, base: &Arc<Extensions>) -> Self {
        let mut shared = Extensions::on(Arc::clone(base));
        shared.insert(PeerFacts::new(Arc::clone(session.caller())));
        shared.insert_arc(Arc::clone(&session));
        let shared = Arc::new(shared);
        Self { session, shared, log_level: None, augmented: Augmented::default() }
    }

    /// What an exchange gets to know: nothing that has to be made for it, unless it is traced.
    fn known(&mut self, params: Option<&RawJson>) -> Extensions {
        let log_level = self.session.log_level();
        let facts = || PeerFacts::new(Arc::clone(self.session.caller())).with_log_level(log_level);
        if log_level != self.log_level {
            let mut shared = (*self.shared).clone();
            shared.insert(facts());
            self.shared = Arc::new(shared);
            self.log_level = log_level;
        }
        let mut known = Extensions::on(Arc::clone(&self.shared));
        let trace = TraceContext::peek(params);
        if !trace.is_empty() {
            known.insert(facts().with_trace(trace));
        }
        known
    }

    fn request(&mut self, profile: &Profile, request: &Request) -> RequestVerdict {
        let revision = self.session.revision();
        let ours = Declared::Server(&profile.capabilities);
        match admit_request(&request.method, revision, ours) {
            Ok(method) => {
                if ours.runs_as_task(method, revision) && asks_for_task(request.params.as_ref()) {
                    self.augmented.add(request.id.clone());
                }
            }
            Err(Refusal::Unknown) if profile.unknown_methods == UnknownMethods::Serve => {}
            Err(refusal) => {
                let name = request.method.as_str();
                tracing::debug!(name, %refusal, "refused a request");
                return RequestVerdict::Refuse(refusal.to_error(name, revision));
            }
        }
        RequestVerdict::Serve(self.known(request.params.as_ref()))
    }

    fn notification(
        &mut self,
        profile: &Profile,
        notification: &Notification,
    ) -> NotificationVerdict {
        let caller = Arc::clone(self.session.caller());
        let ours = Declared::Server(&profile.capabilities);
        let theirs = Declared::Client(&caller.capabilities);
        match admit_notification(&notification.method, caller.revision, ours, theirs) {
            Ok(_) => {}
            Err(Refusal::Unknown) if profile.unknown_methods == UnknownMethods::Serve => {}
            Err(refusal) => {
                let name = notification.method.as_str();
                tracing::debug!(name, %refusal, "ignored a notification");
                return NotificationVerdict::Drop;
            }
        }
        NotificationVerdict::Serve(self.known(notification.params.as_ref()))
    }
}

impl Protocol for ServerSession {
    fn request(&mut self, request: &Request, arrival: Arrival) -> RequestVerdict {
        if self.phase() != Phase::Closed {
            match admit(&self.profile, request) {
                Admission::Stateful => {}
                Admission::Alone(_) if arrival.in_batch => {
                    let message = "this revision has no batches";
                    return self.refuse(&Meaning::InvalidRequest, message);
                }
                Admission::Alone(facts) => {
                    let mut known = Extensions::on(Arc::clone(&self.base));
                    known.insert(*facts);
                    return RequestVerdict::Serve(known);
                }
                Admission::Refuse(error) => return RequestVerdict::Refuse(error),
            }
        }
        match Method::from_bytes(request.method.as_bytes()) {
            Some(Method::Ping) => self.ping(request.params.as_ref()),
            Some(Method::Initialize) => self.initialize(request, arrival),
            _ => self.operate(request),
        }
    }

    fn notification(
        &mut self,
        notification: &Notification,
        _arrival: Arrival,
    ) -> NotificationVerdict {
        let params = notification.params.as_ref();
        let method = Method::from_bytes(notification.method.as_bytes());
        match (&mut self.state, method) {
            (State::Closed, _) => NotificationVerdict::Drop,
            (
                State::Fresh | State::Initializing(..) | State::Initialized(_),
                Some(Method::NotificationsInitialized),
            ) => self.ready(params),
            (State::Fresh, Some(Method::NotificationsCancelled)) => {
                cancel::verdict(params, |_| false)
            }
            (State::Initializing(_, step), Some(Method::NotificationsCancelled)) => {
                cancel::verdict(params, |id| step.is_answering(id))
            }
            (State::Initialized(talk), Some(Method::NotificationsCancelled)) => {
                cancel::verdict(params, |id| talk.augmented.contains(id))
            }
            (State::Initializing(talk, _), Some(Method::NotificationsProgress)) => {
                NotificationVerdict::Serve(talk.known(params))
            }
            (State::Initialized(talk), _) => talk.notification(&self.profile, notification),
            (State::Fresh | State::Initializing(..), _) => {
                let name = notification.method.as_str();
                tracing::debug!(name, "ignored a notification before `initialized`");
                NotificationVerdict::Drop
            }
        }
    }

    fn answered(&mut self, id: &RequestId, _method: &Name, reply: &Reply) {
        match &mut self.state {
            State::Initializing(_, step) if step.is_answering(id) => {
                let well = matches!(
                    reply,
                    Reply::Response(response) if matches!(response.head(), Head::Result { .. })
                );
                self.step(Input::Answered { well });
            }
            State::Initialized(talk) => talk.augmented.remove(id),
            State::Fresh | State::Initializing(..) | State::Closed => {}
        }
    }

    fn malformed(&mut self, fault: &Fault) -> Option<Outgoing> {
        tracing::debug!(kind = %fault.kind, id = ?fault.id, "a frame that is no message");
        if !fault.is_answered() {
            return None;
        }
        Some(match &fault.id {
            None if !self.rules().error_id_may_be_absent() => {
                Outgoing::error_with_null_id(&fault.to_error())
            }
            id => Outgoing::error(id.clone(), &fault.to_error()),
        })
    }

    fn batches(&self) -> bool {
        match &self.state {
            State::Initializing(talk, Step::Answered) | State::Initialized(talk) => {
                talk.session.revision().has_batches()
            }
            State::Initializing(_, Step::Answering { .. }) | State::Fresh | State::Closed => false,
        }
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
            Event::Ended { .. } => self.close(),
            Event::UnknownResponse { id } => {
                tracing::debug!(?id, "dropped a response that nobody waits for");
            }
            Event::NotificationDropped { method } => {
                tracing::warn!(%method, "dropped a notification: too many exchanges are open");
            }
            Event::Canceled { id } => {
                tracing::debug!(%id, "a request was canceled");
                if let Some(talk) = self.state.talk_mut() {
                    talk.augmented.remove(id);
                }
            }
            Event::PeerError { error } => error::log_unasked(error),
            Event::Panicked { method } => tracing::error!(%method, "a handler panicked"),
            _ => {}
        }
    }
}

impl Step {
    fn is_answering(&self, request: &RequestId) -> bool {
        match self {
            Self::Answering { id, .. } => id == request,
            Self::Answered => false,
        }
    }
}
