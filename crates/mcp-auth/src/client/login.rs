//! A login: a person's, or one that needs none.

use std::future::Future;
use std::time::SystemTime;

use super::config::{LoopbackHost, PinnedClient, Redirect, Registration};
use super::discover::Target;
use super::engine::{Endpoint, Engine, GrantKind};
use super::error::{AuthError, AuthErrorKind, FlowStep};
use super::flow::{AskedScopes, Attempt, Refusal, judge_visit};
use super::identity::ClientIdentity;
use super::record::{Record, StoredClient, TokenScheme, Tokens};
use super::redirect::{Judgement, RedirectListener};
use super::register;
use super::token::{Grant, TokenAnswer, TokenEndpoint, refused_with};
use crate::jose::PrivateKey;
use crate::metadata::ServerMetadata;
use crate::v1::{Browser, CallbackUrl, Visit, Visited};
use crate::{Issuer, Reach, Resource, ScopeSet, Secret, crypto};

/// What an explicit login asks for.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Login {
    /// Scopes to ask for in place of those that the server names.
    pub scopes: Option<ScopeSet>,
    /// Whether a stored registration is dropped: for servers that have forgotten the client.
    pub fresh_registration: bool,
}

impl Login {
    /// A login with the scopes that the server names.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for these scopes.
    #[must_use]
    pub fn with_scopes(mut self, scopes: ScopeSet) -> Self {
        self.scopes = Some(scopes);
        self
    }

    /// Drops a stored registration.
    #[must_use]
    pub fn with_fresh_registration(mut self) -> Self {
        self.fresh_registration = true;
        self
    }
}

/// What came of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoginReport {
    /// The resource that the tokens are for.
    pub resource: Resource,
    /// The issuer that they come from.
    pub issuer: Issuer,
    /// The client id that was used.
    pub client_id: String,
    /// The scopes that were granted.
    pub scopes: ScopeSet,
    /// When the token expires, if that is known.
    pub expires_at: Option<SystemTime>,
    /// Whether the fallback for servers of revision 2025-03-26 was used.
    pub legacy: bool,
    /// Whether `resource` was left out or replaced, by the host's wish: then the token's
    /// audience is the authorization server's own choice.
    pub resource_changed: bool,
}

/// A token with what belongs to it.
pub(crate) struct Obtained {
    pub(crate) identity: ClientIdentity,
    pub(crate) answer: TokenAnswer,
    pub(crate) scheme: TokenScheme,
    /// The key that it may be bound to.
    pub(crate) key: Option<PrivateKey>,
    pub(crate) asked: ScopeSet,
}

impl Obtained {
    /// The login as it is stored.
    pub(crate) fn into_record(
        self,
        target: &Target,
        requested: ScopeSet,
        now: SystemTime,
    ) -> Result<Record, AuthError> {
        let bound = self.scheme == TokenScheme::Dpop;
        let stored = self.key.filter(|_| bound).and_then(|key| key.stored().cloned());
        Ok(Record {
            client_id: self.identity.client_id,
            method: self.identity.method,
            registration: self.identity.dynamic,
            tokens: Some(Tokens {
                access: self.answer.access,
                scheme: self.scheme,
                refresh: self.answer.refresh,
                granted: self.answer.scopes.unwrap_or(self.asked),
                issued_at: now,
                expires_at: self.answer.expires_at,
            }),
            requested,
            token_endpoint: target.metadata.token_endpoint.clone(),
            revocation_endpoint: target.metadata.revocation_endpoint.clone(),
            proof_key: stored,
            login_id: crypto::random_id().map_err(|e| AuthError::new(FlowStep::Token, e))?,
            last_used: now,
        })
    }
}

/// Whether a token is to be bound to a key, and to which.
pub(crate) struct Binding {
    key: Option<PrivateKey>,
}

impl Binding {
    pub(crate) fn new(engine: &Engine, metadata: &ServerMetadata) -> Result<Self, AuthError> {
        let key = match engine.binds(metadata) {
            true => {
                let key = PrivateKey::generate();
                Some(key.map_err(|error| AuthError::new(FlowStep::Token, error))?)
            }
            false => None,
        };
        Ok(Self { key })
    }

    pub(crate) fn key(&self) -> Option<&PrivateKey> {
        self.key.as_ref()
    }

    /// Whether a token of `scheme` will do.
    pub(crate) fn check(&self, engine: &Engine, scheme: TokenScheme) -> Result<(), AuthErrorKind> {
        if self.key.is_none() || scheme == TokenScheme::Dpop {
            return Ok(());
        }
        if engine.dpop == super::config::Dpop::Always {
            return Err(AuthErrorKind::Downgraded);
        }
        tracing::warn!("the authorization server announced DPoP and gave a bearer token");
        Ok(())
    }
}

/// What is sent as `resource`.
pub(crate) fn sent_resource(engine: &Engine, target: &Target) -> Option<String> {
    let quirks = engine.quirks(&target.issuer);
    match quirks.resource {
        Some(resource) => Some(resource),
        None if quirks.omit_resource => None,
        None => Some(target.resource.as_str().to_owned()),
    }
}

/// A person's login, with everything that it needs.
pub(crate) struct PersonalLogin<'l> {
    pub(crate) endpoint: &'l Endpoint,
    pub(crate) target: &'l Target,
    pub(crate) reach: Reach,
    /// A registration from an earlier login.
    pub(crate) registered: Option<StoredClient>,
    /// Whether the server takes no address in a redirect, and `localhost` is tried.
    pub(crate) by_name: bool,
}

impl PersonalLogin<'_> {
    /// Sends a person to the authorization server and asks for a token. `abandoned` ends the
    /// interactive part: nobody waits any more.
    pub(crate) async fn run(
        mut self,
        mut asked: AskedScopes,
        abandoned: impl Future<Output = ()>,
    ) -> Result<Obtained, AuthError> {
        let engine = &*self.endpoint.engine;
        let GrantKind::Interactive { registration, redirect } = &engine.grant else {
            return Err(AuthError::new(FlowStep::Authorization, AuthErrorKind::NeedsPerson));
        };
        let browser = engine
            .browser
            .as_deref()
            .ok_or_else(|| AuthError::new(FlowStep::Authorization, AuthErrorKind::NeedsPerson))?;
        tokio::pin!(abandoned);
        let mut registered_anew = false;
        loop {
            let (listener, redirect_uri) = self.redirect(redirect).await?;
            let identity = match self.identify(registration, &redirect_uri).await {
                Ok(identity) => identity,
                Err(error) if !self.by_name && wants_name(&error, redirect) => {
                    self.by_name = true;
                    continue;
                }
                Err(error) => return Err(error),
            };
            self.endpoint
                .count_login()
                .map_err(|kind| AuthError::new(FlowStep::Authorization, kind))?;
            let visit = self.visit(browser, listener, redirect_uri, &identity, &asked.scopes);
            let limit = engine.limits.login;
            let outcome = tokio::select! {
                outcome = tokio::time::timeout(limit, visit) => outcome.unwrap_or_else(|_| {
                    Err(AuthError::new(
                        FlowStep::Callback,
                        AuthErrorKind::NobodyCame { waited: limit },
                    ))
                }),
                () = &mut abandoned => {
                    Err(AuthError::new(FlowStep::Callback, AuthErrorKind::Abandoned))
                }
            };
            let outcome = match outcome {
                Ok((attempt, code)) => {
                    self.exchange(&identity, &attempt, &code, &asked.scopes).await
                }
                Err(error) => Err(error),
            };
            let error = match outcome {
                Ok(obtained) => return Ok(obtained),
                Err(error) => error,
            };
            match error.kind() {
                // What we added on our own we take out again.
                kind if asked.added_offline && is_invalid_scope(kind) => {
                    asked = asked.without_offline();
                }
                // The server has forgotten a client that it registered itself.
                kind if identity.dynamic.is_some()
                    && !registered_anew
                    && refused_with(kind) == Some("invalid_client") =>
                {
                    registered_anew = true;
                    self.registered = None;
                }
                _ => return Err(error),
            }
        }
    }

    /// Opens the way back, before anything is registered: one URI is used everywhere.
    async fn redirect(
        &mut self,
        redirect: &Redirect,
    ) -> Result<(Option<RedirectListener>, String), AuthError> {
        let (host, port, path) = match redirect {
            Redirect::Own(uri) => return Ok((None, uri.clone())),
            Redirect::Loopback { port, path, .. } if self.by_name => {
                (LoopbackHost::Name, *port, path)
            }
            Redirect::Loopback { host, port, path } => (*host, *port, path),
        };
        // A registration may be good for the port only that it was made with.
        let earlier = self.registered.as_ref().and_then(|client| {
            client.redirect_uris.iter().find_map(|uri| url::Url::parse(uri).ok()?.port())
        });
        if let (None, Some(earlier)) = (port, earlier) {
            if let Ok(listener) = RedirectListener::bind(host, Some(earlier), path).await {
                let uri = listener.uri();
                return Ok((Some(listener), uri));
            }
            self.registered = None;
        }
        let listener = RedirectListener::bind(host, port, path).await.map_err(|error| {
            let kind = match (error.kind(), port) {
                (std::io::ErrorKind::AddrInUse, Some(port)) => AuthErrorKind::PortInUse { port },
                _ => AuthErrorKind::Listen(error),
            };
            AuthError::new(FlowStep::Authorization, kind)
        })?;
        let uri = listener.uri();
        Ok((Some(listener), uri))
    }

    /// Finds out as whom to ask: a client registered beforehand, a document, a dynamic
    /// registration, the host.
    async fn identify(
        &mut self,
        registration: &Registration,
        redirect_uri: &str,
    ) -> Result<ClientIdentity, AuthError> {
        let step = |kind| AuthError::new(FlowStep::Registration, kind);
        let engine = &self.endpoint.engine;
        let Target { issuer, metadata, .. } = self.target;
        if let Some(client) = registration.configured.iter().find(|client| client.is_for(issuer)) {
            return ClientIdentity::new(&client.client_id, &client.authentication, metadata)
                .map_err(step);
        }
        if let Some(document) = &registration.document
            && metadata.client_id_metadata_document_supported
        {
            let authentication =
                document.key.as_ref().unwrap_or(&super::config::ClientAuthentication::None);
            return ClientIdentity::new(&document.url, authentication, metadata).map_err(step);
        }
        let now = engine.now();
        if let Some(client) = self.registered.take_if(|client| {
            !register::still_serves(client, now)
                || !client.redirect_uris.iter().any(|uri| uri == redirect_uri)
        }) {
            tracing::info!(client_id = client.client_id, "the stored registration is no use");
        }
        if let Some(client) = &self.registered {
            return Ok(ClientIdentity::dynamic(client.clone()));
        }
        if let (Some(endpoint), Some(dynamic)) =
            (&metadata.registration_endpoint, &registration.dynamic)
        {
            let refreshable = true;
            let client = register::register(
                &*engine.fetch,
                self.reach,
                endpoint,
                dynamic,
                metadata,
                redirect_uri,
                refreshable,
            )
            .await
            .map_err(step)?;
            tracing::info!(%issuer, client_id = client.client_id, "registered");
            self.registered = Some(client.clone());
            return Ok(ClientIdentity::dynamic(client));
        }
        if let Some(client) = registration.ask.as_ref().and_then(|ask| ask(issuer)) {
            if !client.is_for(issuer) {
                return Err(step(not_pinned(&client, self.target)));
            }
            return ClientIdentity::new(&client.client_id, &client.authentication, metadata)
                .map_err(step);
        }
        Err(step(no_way(registration, self.target)))
    }

    /// Opens the browser and waits for the answer.
    async fn visit(
        &self,
        browser: &dyn Browser,
        listener: Option<RedirectListener>,
        redirect_uri: String,
        identity: &ClientIdentity,
        scopes: &ScopeSet,
    ) -> Result<(Attempt, Secret), AuthError> {
        let step = |kind| AuthError::new(FlowStep::Authorization, kind);
        let engine = &self.endpoint.engine;
        let Target { issuer, metadata, resource, .. } = self.target;
        let quirks = engine.quirks(issuer);
        let attempt = Attempt::new(
            metadata.issuer.clone(),
            metadata.iss_parameter_supported,
            redirect_uri.clone(),
            &quirks,
        )
        .map_err(|error| step(error.into()))?;
        let page = metadata.authorization_endpoint.as_ref().ok_or_else(|| {
            step(AuthErrorKind::NoServerMetadata { issuer: issuer.clone(), tried: 0, last: None })
        })?;
        let sent = sent_resource(engine, self.target);
        let url = attempt
            .url(page, &identity.client_id, scopes, sent.as_deref(), &quirks)
            .map_err(step)?;
        judge_visit(&url, self.reach).map_err(|rule| {
            let host = url.host_str().unwrap_or_default().to_owned();
            tracing::warn!(scheme = url.scheme(), host, %rule, "an authorization page was refused");
            step(AuthErrorKind::UrlRefused { host, rule })
        })?;
        tracing::info!(%issuer, %resource, client_id = identity.client_id, %scopes, "asking for authorization");
        let visit =
            Visit::new(url, issuer.clone(), resource.clone(), scopes.clone(), redirect_uri.clone());
        let visited = browser.open(&visit).await.map_err(|error| step(error.into()))?;
        let code = match (visited, listener) {
            (Visited::Returned(callback), _) => returned(&attempt, &callback, &redirect_uri),
            (Visited::Opened | Visited::Shown, Some(listener)) => {
                let resource = resource.clone();
                listener
                    .wait(|callback| judge(&attempt, callback, &resource))
                    .await
                    .map_err(AuthErrorKind::Listen)
                    .and_then(|outcome| outcome)
            }
            // The host's own page has to catch the answer, and nobody did.
            (Visited::Opened | Visited::Shown, None) => Err(AuthErrorKind::StateMismatch),
        };
        let code = code.map_err(|kind| AuthError::new(FlowStep::Callback, kind))?;
        Ok((attempt, code))
    }

    async fn exchange(
        &self,
        identity: &ClientIdentity,
        attempt: &Attempt,
        code: &Secret,
        scopes: &ScopeSet,
    ) -> Result<Obtained, AuthError> {
        let step = |kind| AuthError::new(FlowStep::Token, kind);
        let engine = &self.endpoint.engine;
        let metadata = &self.target.metadata;
        let bound = Binding::new(engine, metadata)?;
        let token = TokenEndpoint {
            fetch: &*engine.fetch,
            reach: self.reach,
            url: &metadata.token_endpoint,
            issuer: &metadata.issuer,
            client: identity,
            proof_key: bound.key(),
            nonces: &self.endpoint.nonces,
            now: engine.now(),
        };
        let grant =
            Grant::Code { code, redirect_uri: &attempt.redirect_uri, verifier: &attempt.verifier };
        let sent = sent_resource(engine, self.target);
        let answer = token.request(&grant, sent.as_deref()).await.map_err(step)?;
        let scheme = answer.scheme(&token.host(), bound.key().is_some()).map_err(step)?;
        bound.check(engine, scheme).map_err(step)?;
        Ok(Obtained {
            identity: identity.clone(),
            answer,
            scheme,
            key: bound.key,
            asked: scopes.clone(),
        })
    }
}

/// Judges what the browser came back with, and says so to the person.
fn judge(
    attempt: &Attempt,
    callback: &CallbackUrl,
    resource: &Resource,
) -> Judgement<Result<Secret, AuthErrorKind>> {
    match attempt.check(callback) {
        Err(Refusal::KeepWaiting) => Judgement::KeepWaiting,
        Ok(code) => Judgement::Done {
            title: "Logged in",
            text: format!("You have logged in to {resource}. You can close this window."),
            value: Ok(code),
        },
        Err(Refusal::End(kind)) => Judgement::Done {
            title: "Not logged in",
            text: format!("The login to {resource} did not succeed: {kind}."),
            value: Err(*kind),
        },
    }
}

/// Checks an answer that the host caught itself: it can't be waited for a second time.
fn returned(
    attempt: &Attempt,
    callback: &CallbackUrl,
    redirect_uri: &str,
) -> Result<Secret, AuthErrorKind> {
    // A path alone will do; a whole URL has to be the one that was asked for.
    if callback.base().contains("://") && callback.base() != redirect_uri {
        return Err(AuthErrorKind::StateMismatch);
    }
    attempt.check(callback).map_err(|refusal| match refusal {
        Refusal::KeepWaiting => AuthErrorKind::StateMismatch,
        Refusal::End(kind) => *kind,
    })
}

/// Whether a registration was refused for the address in its redirect.
fn wants_name(error: &AuthError, redirect: &Redirect) -> bool {
    let by_address = matches!(redirect, Redirect::Loopback { host: LoopbackHost::V4, .. });
    by_address
        && matches!(
            error.kind(),
            AuthErrorKind::RegistrationRefused { code: Some(code), .. }
                if code == "invalid_redirect_uri"
        )
}

fn is_invalid_scope(kind: &AuthErrorKind) -> bool {
    let code = match kind {
        AuthErrorKind::AuthorizationRefused { code, .. }
        | AuthErrorKind::TokenRefused { code, .. } => code.as_deref(),
        _ => None,
    };
    code == Some("invalid_scope")
}

pub(crate) fn not_pinned(client: &PinnedClient, target: &Target) -> AuthErrorKind {
    let configured = match &client.issuer {
        super::config::IssuerPin::Only(issuer) => issuer.clone(),
        _ => target.issuer.clone(),
    };
    AuthErrorKind::IssuerNotPinned { configured, discovered: target.issuer.clone() }
}

fn no_way(registration: &Registration, target: &Target) -> AuthErrorKind {
    // A client for somebody else is the likeliest mistake, and the most telling.
    if let Some(client) = registration.configured.first() {
        return not_pinned(client, target);
    }
    let metadata = &target.metadata;
    let offered = match (
        metadata.client_id_metadata_document_supported,
        metadata.registration_endpoint.is_some(),
    ) {
        (true, true) => "client metadata documents, dynamic registration",
        (true, false) => "client metadata documents",
        (false, true) => "dynamic registration",
        (false, false) => "nothing but registration beforehand",
    };
    let configured = match (registration.document.is_some(), registration.dynamic.is_some()) {
        (true, true) => "a client metadata document, dynamic registration",
        (true, false) => "a client metadata document",
        (false, true) => "dynamic registration",
        (false, false) => "nothing",
    };
    AuthErrorKind::NoRegistration { issuer: target.issuer.clone(), offered, configured }
}
