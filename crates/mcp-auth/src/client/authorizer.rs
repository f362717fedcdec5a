use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use hyper::header::{AUTHORIZATION, HeaderValue};
use hyper::{HeaderMap, StatusCode};
use mcp_transport_http::v1::{
    AnswerHead, AuthorizeError, Authorizer, Credentials, Departure, Operation, Partition, Stamp,
    Step, Verdict,
};
use tokio::sync::watch;
use tokio::time::Instant;
use url::Url;

use super::config::Dpop;
use super::engine::{Endpoint, Engine};
use super::error::{AuthError, AuthErrorKind, FlowStep};
use super::login::{Login, LoginReport};
use super::record::TokenScheme;
use super::renew::{self, Live, Origin, Work};
use crate::challenge::{Challenges, Demand, Scheme};
use crate::crypto;
use crate::dpop::{self, Role};
use crate::jose::PrivateKey;

/// How many operations' step-ups are counted.
const MAX_OPERATIONS: usize = 1000;
/// How often in a row a server may ask for another nonce.
const MAX_NONCE_STREAK: u8 = 4;
/// Nonces are counted in the lower bits of a stamp, tokens in the upper ones.
const NONCE_BITS: u32 = 20;

/// The credentials of one MCP endpoint: the [`Authorizer`] to hand to the HTTP transport.
///
/// The first call that the server turns away logs in, an expired token is renewed, a call that
/// lacks scopes asks for them. However many calls wait, there is one renewal at a time. Cheap
/// to clone.
#[derive(Clone)]
pub struct OAuthAuthorizer {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) endpoint: Endpoint,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    live: Option<Live>,
    /// Grows with each new token.
    generation: u64,
    /// Grows with each new nonce of the server.
    nonce: u64,
    nonce_streak: u8,
    /// Whether the store was looked into.
    looked: bool,
    renewal: Option<Weak<watch::Sender<Outcome>>>,
    /// A permanent failure, and when it happened.
    failed: Option<(Instant, AuthError)>,
    step_ups: HashMap<Operation, u8>,
}

/// What became of a renewal; none while it is under way.
type Outcome = Option<Result<(), AuthError>>;
type Waiting = watch::Receiver<Outcome>;

impl State {
    fn stamp(&self) -> Stamp {
        let nonce = self.nonce & ((1 << NONCE_BITS) - 1);
        Stamp::new((self.generation << NONCE_BITS) | nonce)
    }

    fn generation_of(stamp: Stamp) -> u64 {
        stamp.generation() >> NONCE_BITS
    }

    fn failing(&self, engine: &Engine) -> Option<AuthError> {
        let (at, cause) = self.failed.as_ref()?;
        let since = at.elapsed();
        (since < engine.limits.fail_fast).then(|| {
            AuthError::new(
                FlowStep::Use,
                AuthErrorKind::FailingFast { since, cause: cause.clone() },
            )
        })
    }
}

impl OAuthAuthorizer {
    pub(crate) fn new(engine: Arc<Engine>, url: Url) -> Self {
        let endpoint = Endpoint::new(engine, url);
        Self { shared: Arc::new(Shared { endpoint, state: Mutex::default() }) }
    }

    pub(crate) fn downgrade(&self) -> Weak<Shared> {
        Arc::downgrade(&self.shared)
    }

    pub(crate) fn of_shared(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Logs in ahead of the first call, whatever is stored.
    ///
    /// # Errors
    ///
    /// When there is no login in the end; [`AuthError::kind`] says why.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the login, unless others wait for it.
    pub async fn login(&self, login: Login) -> Result<LoginReport, AuthError> {
        let waiting = {
            let mut state = self.shared.lock();
            state.failed = None;
            state.step_ups.clear();
            self.shared.endpoint.forget_logins();
            self.start(&mut state, Work::Login(login))
        };
        wait(waiting).await?;
        self.shared.report().ok_or_else(|| lost(FlowStep::Token))
    }

    /// The login that is in use, if one is. Nothing is asked or renewed.
    #[must_use]
    pub fn current(&self) -> Option<LoginReport> {
        self.shared.report()
    }

    /// Joins the renewal that is under way, or starts one.
    fn start(&self, state: &mut State, work: Work) -> Waiting {
        if let Some(sender) = state.renewal.as_ref().and_then(Weak::upgrade) {
            return sender.subscribe();
        }
        let (sender, receiver) = watch::channel(None);
        let sender = Arc::new(sender);
        state.renewal = Some(Arc::downgrade(&sender));
        let shared = Arc::clone(&self.shared);
        let live = state.live.clone();
        tokio::spawn(async move { shared.renew(live, work, &sender).await });
        receiver
    }

    /// What to do about a 401.
    fn on_401(
        &self,
        request: &Departure,
        stamp: Stamp,
        answer: &AnswerHead,
    ) -> Result<Waiting, Verdict> {
        let engine = &self.shared.endpoint.engine;
        let challenges = Challenges::read(&answer.headers);
        let demand = Demand::of(answer.status, &challenges);
        let mut state = self.shared.lock();
        if demand.scheme == Some(Scheme::Dpop) && demand.error.as_deref() == Some("use_dpop_nonce")
        {
            return Err(self.on_nonce(&mut state, stamp, answer));
        }
        if State::generation_of(stamp) != state.generation {
            return Err(Verdict::Retry);
        }
        if state.renewal.as_ref().is_some_and(|renewal| renewal.strong_count() > 0) {
            return Ok(self.start(&mut state, Work::Ensure));
        }
        if state.live.is_some() && demand.lacks_scope() {
            return self.on_lack(&mut state, request, demand);
        }
        if let Some(live) = state.live.as_ref().filter(|l| l.origin == Origin::Login && !l.accepted)
        {
            let error = AuthError::new(
                FlowStep::Use,
                AuthErrorKind::TokenNotAccepted {
                    issuer: live.key.issuer.clone(),
                    resource: live.key.resource.clone(),
                    error: demand.error,
                    description: demand.error_description,
                },
            );
            state.failed = Some((Instant::now(), error.clone()));
            return Err(fail(error));
        }
        if let Some(error) = state.failing(engine) {
            return Err(fail(error));
        }
        let bearer = challenges.iter().any(|challenge| challenge.is("bearer"));
        if demand.scheme == Some(Scheme::Dpop) && !bearer && engine.dpop == Dpop::Never {
            return Err(fail(AuthError::new(FlowStep::Use, AuthErrorKind::NeedsDpop)));
        }
        Ok(self.start(&mut state, Work::Renew(demand)))
    }

    /// What to do about a 403.
    fn on_403(
        &self,
        request: &Departure,
        stamp: Stamp,
        answer: &AnswerHead,
    ) -> Result<Waiting, Verdict> {
        let demand = Demand::of(answer.status, &Challenges::read(&answer.headers));
        let mut state = self.shared.lock();
        if let Some(live) = &mut state.live {
            // Whoever is forbidden something was recognized.
            live.accepted = true;
        }
        if !demand.lacks_scope() || state.live.is_none() {
            return Err(Verdict::NotMine);
        }
        if State::generation_of(stamp) != state.generation {
            return Err(Verdict::Retry);
        }
        if state.renewal.as_ref().is_some_and(|renewal| renewal.strong_count() > 0) {
            return Ok(self.start(&mut state, Work::Ensure));
        }
        self.on_lack(&mut state, request, demand)
    }

    /// Starts a step-up, unless the operation has had its share.
    fn on_lack(
        &self,
        state: &mut State,
        request: &Departure,
        demand: Demand,
    ) -> Result<Waiting, Verdict> {
        let limit = self.shared.endpoint.engine.limits.step_ups;
        let operation =
            request.operation.clone().unwrap_or_else(|| Operation::new(request.method.as_str()));
        if state.step_ups.len() >= MAX_OPERATIONS && !state.step_ups.contains_key(&operation) {
            state.step_ups.clear();
        }
        let count = state.step_ups.entry(operation).or_default();
        if *count >= limit {
            let missing = demand.scopes;
            return Err(fail(AuthError::new(
                FlowStep::StepUp,
                AuthErrorKind::StepUpExhausted { missing },
            )));
        }
        *count += 1;
        tracing::info!(asked = %demand.scopes, "the server asks for more scopes");
        Ok(self.start(state, Work::StepUp(demand)))
    }

    /// A server wants a nonce in the proof: that is no renewal, and changes no token.
    fn on_nonce(&self, state: &mut State, stamp: Stamp, answer: &AnswerHead) -> Verdict {
        let url = &self.shared.endpoint.url;
        let learned = self.shared.endpoint.nonces.learn(url, Role::Resource, &answer.headers);
        let seen_before = stamp != state.stamp();
        if learned {
            state.nonce += 1;
        }
        if seen_before {
            return Verdict::Retry;
        }
        state.nonce_streak = state.nonce_streak.saturating_add(1);
        if !learned || state.nonce_streak > MAX_NONCE_STREAK {
            return fail(AuthError::new(FlowStep::Use, AuthErrorKind::NonceLoop));
        }
        Verdict::Retry
    }
}

impl Authorizer for OAuthAuthorizer {
    fn authorize(&self, request: &Departure) -> Step<Result<Credentials, AuthorizeError>> {
        let shared = &self.shared;
        let Some(url) = shared.url_of(request) else {
            let endpoint = shared.endpoint.canonical.clone();
            let kind = AuthErrorKind::OtherOrigin { endpoint };
            return Step::now(Err(wrap(AuthError::new(FlowStep::Use, kind))));
        };
        let waiting = {
            let mut state = shared.lock();
            let limits = &shared.endpoint.engine.limits;
            let now = shared.endpoint.engine.now();
            let due = state.live.as_ref().is_some_and(|live| live.is_due(now, limits.refresh_skew));
            if state.looked && !due {
                let credentials = match state.failing(&shared.endpoint.engine) {
                    Some(error) if state.live.is_none() => Err(error),
                    _ => shared.credentials(&state, request, &url),
                };
                return Step::now(credentials.map_err(wrap));
            }
            self.start(&mut state, Work::Ensure)
        };
        let (shared, request) = (Arc::clone(shared), request.clone());
        Step::later(async move {
            wait(waiting).await.map_err(wrap)?;
            shared.credentials(&shared.lock(), &request, &url).map_err(wrap)
        })
    }

    fn challenged(&self, request: &Departure, stamp: Stamp, answer: &AnswerHead) -> Step<Verdict> {
        self.shared.learn_nonce(answer, request);
        let waiting = match answer.status {
            StatusCode::UNAUTHORIZED => self.on_401(request, stamp, answer),
            StatusCode::FORBIDDEN => self.on_403(request, stamp, answer),
            _ => Err(Verdict::NotMine),
        };
        match waiting {
            Err(verdict) => Step::now(verdict),
            Ok(waiting) => Step::later(async move {
                match wait(waiting).await {
                    Ok(()) => Verdict::Retry,
                    Err(error) => fail(error),
                }
            }),
        }
    }

    fn observe(&self, request: &Departure, answer: &AnswerHead) {
        self.shared.learn_nonce(answer, request);
        if answer.status == StatusCode::UNAUTHORIZED || answer.status == StatusCode::FORBIDDEN {
            return;
        }
        let mut state = self.shared.lock();
        state.nonce_streak = 0;
        if let Some(live) = &mut state.live {
            live.accepted = true;
        }
        if answer.status.is_success()
            && let Some(operation) = &request.operation
        {
            state.step_ups.remove(operation);
        }
    }

    fn partition(&self) -> Option<Partition> {
        let state = self.shared.lock();
        let live = state.live.as_ref()?;
        let parts = [
            live.key.issuer.as_str(),
            live.record.client_id.as_str(),
            live.record.login_id.as_str(),
        ];
        Some(Partition::new(crypto::sha256_parts(parts.map(str::as_bytes))))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The URL of a request, if our credentials may go there.
    fn url_of(&self, request: &Departure) -> Option<Url> {
        let url = Url::parse(&request.uri.to_string()).ok()?;
        (url.origin() == self.endpoint.url.origin()).then_some(url)
    }

    fn learn_nonce(&self, answer: &AnswerHead, request: &Departure) {
        // A challenge for a nonce is counted where it is handled.
        if answer.status == StatusCode::UNAUTHORIZED {
            return;
        }
        if let Some(url) = self.url_of(request)
            && self.endpoint.nonces.learn(&url, Role::Resource, &answer.headers)
        {
            self.lock().nonce += 1;
        }
    }

    /// The headers for a request, as things stand.
    fn credentials(
        &self,
        state: &State,
        request: &Departure,
        url: &Url,
    ) -> Result<Credentials, AuthError> {
        let step = |kind| AuthError::new(FlowStep::Use, kind);
        let mut headers = HeaderMap::new();
        let Some((live, tokens)) =
            state.live.as_ref().and_then(|live| Some((live, live.tokens()?)))
        else {
            return Ok(Credentials::new(headers, state.stamp()));
        };
        let sensitive = |text: String| {
            let mut value =
                HeaderValue::try_from(text).map_err(|_| AuthErrorKind::TokenCharacters)?;
            value.set_sensitive(true);
            Ok(value)
        };
        let scheme = match tokens.scheme {
            TokenScheme::Bearer => "Bearer",
            TokenScheme::Dpop => {
                let stored = live.record.proof_key.as_ref();
                let stored = stored.ok_or_else(|| step(AuthErrorKind::Downgraded))?;
                let key = PrivateKey::from_stored(stored).map_err(|e| step(e.into()))?;
                let nonce = self.endpoint.nonces.newest(url, Role::Resource);
                let proof = dpop::proof(
                    &key,
                    request.method.as_str(),
                    url,
                    Some(&tokens.access),
                    nonce.as_deref(),
                    self.endpoint.engine.now(),
                )
                .map_err(|error| step(error.into()))?;
                headers.insert("dpop", sensitive(proof).map_err(step)?);
                "DPoP"
            }
        };
        let value = sensitive(format!("{scheme} {}", tokens.access.expose())).map_err(step)?;
        headers.insert(AUTHORIZATION, value);
        Ok(Credentials::new(headers, state.stamp()))
    }

    /// Does one piece of work in a task of its own, and tells everybody who waits.
    async fn renew(&self, live: Option<Live>, work: Work, sender: &watch::Sender<Outcome>) {
        let before = live.as_ref().and_then(|live| live.tokens().map(|t| t.access.clone()));
        let keeps = matches!(work, Work::Ensure | Work::StepUp(_));
        let (live, result) = renew::run(&self.endpoint, live, work, sender.closed()).await;
        {
            let mut state = self.lock();
            let after = live.as_ref().and_then(|live| live.tokens().map(|t| t.access.clone()));
            if after != before {
                state.generation += 1;
            }
            state.live = live;
            state.looked = true;
            state.renewal = None;
            match &result {
                Ok(()) => state.failed = None,
                // A step-up concerns its operation only, and counts itself.
                Err(error) if !keeps && is_permanent(error) => {
                    state.failed = Some((Instant::now(), error.clone()));
                }
                Err(_) => {}
            }
        }
        if let Err(error) = &result {
            tracing::warn!(step = %error.step(), cause = %error.kind(), "no new credentials");
        }
        sender.send_replace(Some(result));
    }

    fn report(&self) -> Option<LoginReport> {
        let state = self.lock();
        let live = state.live.as_ref()?;
        let tokens = live.tokens()?;
        let quirks = self.endpoint.engine.quirks(&live.key.issuer);
        Some(LoginReport {
            resource: live.key.resource.clone(),
            issuer: live.key.issuer.clone(),
            client_id: live.record.client_id.clone(),
            scopes: tokens.granted.clone(),
            expires_at: tokens.expires_at,
            legacy: live.document.is_none() && live.origin == Origin::Login,
            resource_changed: quirks.omit_resource || quirks.resource.is_some(),
        })
    }

    /// Drops what is in use, for a logout: it was removed from the store.
    pub(crate) fn forget(&self) {
        let mut state = self.lock();
        state.live = None;
        state.generation += 1;
        state.failed = None;
    }
}

async fn wait(mut waiting: Waiting) -> Result<(), AuthError> {
    match waiting.wait_for(Option::is_some).await {
        Ok(result) => result.clone().unwrap_or_else(|| Err(lost(FlowStep::Token))),
        Err(_) => Err(lost(FlowStep::Token)),
    }
}

fn lost(step: FlowStep) -> AuthError {
    AuthError::new(step, AuthErrorKind::RenewalLost)
}

/// Whether trying again at once is of no use.
fn is_permanent(error: &AuthError) -> bool {
    !error.is_retryable()
        && !matches!(
            error.kind(),
            AuthErrorKind::Abandoned
                | AuthErrorKind::NeedsPerson
                | AuthErrorKind::Store(_)
                | AuthErrorKind::FailingFast { .. }
        )
}

fn wrap(error: AuthError) -> AuthorizeError {
    let retryable = error.is_retryable();
    AuthorizeError::new(error, retryable)
}

fn fail(error: AuthError) -> Verdict {
    Verdict::Fail(wrap(error))
}

impl fmt::Debug for OAuthAuthorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OAuthAuthorizer").field(&self.shared.endpoint.canonical).finish()
    }
}
