//! Renewal: one at a time for an endpoint, in this process and across others.

use std::future::Future;
use std::time::{Duration, SystemTime};

use url::Url;

use super::config::{ClientAuthMethod, ClientAuthentication, Scopes};
use super::discover::{Discovery, Target};
use super::engine::{Endpoint, Engine, GrantKind};
use super::error::{AuthError, AuthErrorKind, FlowStep};
use super::flow::{AskedScopes, step_up_scopes};
use super::grant;
use super::identity::ClientIdentity;
use super::login::{Login, PersonalLogin};
use super::record::{Record, Tokens};
use super::token::{Grant, TokenEndpoint, refused_with};
use crate::challenge::Demand;
use crate::jose::PrivateKey;
use crate::metadata::ResourceMetadata;
use crate::v1::{CredentialKey, Generation, LockPurpose, Saved, Stored};
use crate::{Issuer, Reach, ScopeSet};

/// A login that is in use.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub(crate) key: CredentialKey,
    pub(crate) record: Record,
    /// The stored version; none if writing it failed.
    pub(crate) stored: Option<Generation>,
    pub(crate) origin: Origin,
    /// Whether the server has taken the token at least once.
    pub(crate) accepted: bool,
    /// The document of the resource, where it was read in this process.
    pub(crate) document: Option<ResourceMetadata>,
}

/// Where a token comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Stored,
    Refreshed,
    Login,
}

impl Live {
    pub(crate) fn tokens(&self) -> Option<&Tokens> {
        self.record.tokens.as_ref()
    }

    /// Whether the token is over at `now`, or within `skew` of it.
    pub(crate) fn is_due(&self, now: SystemTime, skew: Duration) -> bool {
        let Some(tokens) = self.tokens() else { return true };
        let Some(expires_at) = tokens.expires_at else { return false };
        let life = expires_at.duration_since(tokens.issued_at).unwrap_or_default();
        now + skew.min(life / 10) >= expires_at
    }

    /// Whether the token is over at `now`.
    pub(crate) fn is_over(&self, now: SystemTime) -> bool {
        self.is_due(now, Duration::ZERO)
    }

    pub(crate) fn can_refresh(&self) -> bool {
        self.tokens().is_some_and(|tokens| tokens.refresh.is_some())
    }

    /// Whether it fits what the resource says now.
    fn fits(&self, document: Option<&ResourceMetadata>, endpoint: &Endpoint) -> bool {
        match document {
            Some(document) => {
                self.key.resource.as_str() == document.resource
                    && document.authorization_servers.iter().any(|s| s == self.key.issuer.as_str())
            }
            None => {
                let origin = endpoint.url.origin().ascii_serialization();
                endpoint.engine.legacy && self.key.issuer.as_str() == origin
            }
        }
    }
}

/// What is to be done, and what came of it.
pub(crate) enum Work {
    /// Look into the store, and refresh what is due.
    Ensure,
    /// A 401 came.
    Renew(Demand),
    /// Scopes are lacking.
    StepUp(Demand),
    /// Somebody asked for a login.
    Login(Login),
}

/// Does one piece of work. `live` is what is in use now; the answer is what is in use then.
/// With an error that keeps something in use, both come.
pub(crate) async fn run(
    endpoint: &Endpoint,
    live: Option<Live>,
    work: Work,
    abandoned: impl Future<Output = ()>,
) -> (Option<Live>, Result<(), AuthError>) {
    match work {
        Work::Ensure => ensure(endpoint, live).await,
        Work::Renew(demand) => renew(endpoint, live, demand, abandoned).await,
        Work::StepUp(demand) => step_up(endpoint, live, demand, abandoned).await,
        Work::Login(login) => log_in(endpoint, live, login, abandoned).await,
    }
}

type Outcome = (Option<Live>, Result<(), AuthError>);

async fn ensure(endpoint: &Endpoint, live: Option<Live>) -> Outcome {
    let live = match live {
        Some(live) => Some(live),
        None => match find(endpoint).await {
            Ok(found) => found,
            Err(error) => return (None, Err(error)),
        },
    };
    let Some(live) = live else { return (None, Ok(())) };
    if !live.is_due(endpoint.engine.now(), endpoint.engine.limits.refresh_skew) {
        return (Some(live), Ok(()));
    }
    if !live.can_refresh() {
        // Sent without a token the server says what it wants.
        return (None, Ok(()));
    }
    let over = live.is_over(endpoint.engine.now());
    match refresh(endpoint, live.clone(), reach(endpoint).await).await {
        Ok(renewed) => (renewed, Ok(())),
        // What is still good is used while the authorization server is in trouble.
        Err(error) if error.is_retryable() && !over => (Some(live), Ok(())),
        Err(error) => (Some(live), Err(error)),
    }
}

/// The login that was used last for the endpoint.
async fn find(endpoint: &Endpoint) -> Result<Option<Live>, AuthError> {
    let step = |error| AuthError::new(FlowStep::Storage, AuthErrorKind::Store(error));
    let engine = &endpoint.engine;
    let mut newest: Option<Live> = None;
    for key in engine.store.keys(&endpoint.canonical).await.map_err(step)? {
        if key.account != engine.account {
            continue;
        }
        let Some(stored) = engine.store.load(&key).await.map_err(step)? else { continue };
        let newer = newest.as_ref().is_none_or(|n| n.record.last_used < stored.record.last_used);
        if stored.record.tokens.is_some() && newer {
            newest = Some(of_store(key, stored, None));
        }
    }
    Ok(newest)
}

fn of_store(key: CredentialKey, stored: Stored, document: Option<ResourceMetadata>) -> Live {
    Live {
        key,
        record: stored.record,
        stored: Some(stored.generation),
        origin: Origin::Stored,
        accepted: false,
        document,
    }
}

async fn reach(endpoint: &Endpoint) -> Result<Reach, AuthError> {
    endpoint
        .engine
        .fetch
        .reach(&endpoint.url)
        .await
        .map_err(|error| AuthError::new(FlowStep::ResourceMetadata, error))
}

/// Runs the part that only reads, within its own bound.
async fn within<T>(
    engine: &Engine,
    work: impl Future<Output = Result<T, AuthError>>,
) -> Result<T, AuthError> {
    let limit = engine.limits.discovery;
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
        Err(AuthError::new(FlowStep::ServerMetadata, AuthErrorKind::DiscoveryTimedOut { limit }))
    })
}

async fn renew(
    endpoint: &Endpoint,
    live: Option<Live>,
    demand: Demand,
    abandoned: impl Future<Output = ()>,
) -> Outcome {
    let engine = &endpoint.engine;
    // Read anew at each 401: that is how a move to another server is noticed.
    let read = async {
        let reach = reach(endpoint).await?;
        let discovery = Discovery { engine, endpoint: &endpoint.url, reach };
        let document = discovery.resource(demand.resource_metadata.as_deref()).await?;
        Ok((reach, document))
    };
    let (reach, document) = match within(engine, read).await {
        Ok(read) => read,
        Err(error) => return (live, Err(error)),
    };
    // A login whose server isn't named any more is kept in the store and used no further.
    let live = live.filter(|live| live.fits(document.as_ref(), endpoint));
    if let Some(live) = live.clone() {
        let tried = live.origin == Origin::Refreshed && !live.accepted;
        if live.can_refresh() && !tried {
            match refresh(endpoint, live.clone(), Ok(reach)).await {
                Ok(Some(mut renewed)) => {
                    renewed.document = document;
                    return (Some(renewed), Ok(()));
                }
                Ok(None) => {}
                Err(error) => return (Some(live), Err(error)),
            }
        }
    }
    let preferred = live.as_ref().map(|live| live.key.issuer.clone());
    let asked = move |target: &Target| {
        Ok(AskedScopes::first(
            &engine.scopes,
            &demand.scopes,
            target.document.as_ref().and_then(|document| document.scopes_supported.as_ref()),
            target.metadata.scopes_supported.as_ref(),
        ))
    };
    let wanted = Wanted { document, preferred, fresh: false };
    match authorize(endpoint, reach, wanted, asked, abandoned).await {
        Ok((new, result)) => (Some(new), result),
        // The token that was refused is no use any more.
        Err(error) => (None, Err(error)),
    }
}

async fn step_up(
    endpoint: &Endpoint,
    live: Option<Live>,
    demand: Demand,
    abandoned: impl Future<Output = ()>,
) -> Outcome {
    let step = |kind: AuthErrorKind| AuthError::new(FlowStep::StepUp, kind);
    let Some(live) = live else { return (None, Ok(())) };
    let engine = &endpoint.engine;
    let known = live.document.clone();
    let read = async {
        let reach = reach(endpoint).await?;
        let discovery = Discovery { engine, endpoint: &endpoint.url, reach };
        let document = match known {
            Some(document) => Some(document),
            None => discovery.resource(demand.resource_metadata.as_deref()).await?,
        };
        Ok((reach, document))
    };
    let (reach, document) = match within(engine, read).await {
        Ok(read) => read,
        Err(error) => return (Some(live), Err(error)),
    };
    if !live.fits(document.as_ref(), endpoint) {
        return (Some(live), Err(step(AuthErrorKind::NoAuthorizationServer)));
    }
    let granted = live.tokens().map(|tokens| tokens.granted.clone()).unwrap_or_default();
    let listed = document.as_ref().and_then(|document| document.scopes_supported.clone());
    let Some(scopes) =
        step_up_scopes(&live.record.requested, &granted, &demand.scopes, listed.as_ref())
    else {
        let missing = demand.scopes.clone();
        return (Some(live), Err(step(AuthErrorKind::StepUpExhausted { missing })));
    };
    if let Scopes::Fixed(fixed) = &engine.scopes
        && !fixed.contains_all(&demand.scopes)
    {
        let missing = demand.scopes.without(fixed);
        return (Some(live), Err(step(AuthErrorKind::ScopesNotGranted { missing })));
    }
    let asked = |target: &Target| {
        let wanted = matches!(engine.scopes, Scopes::Discovered { offline_access: true });
        let server = target.metadata.scopes_supported.as_ref();
        Ok(AskedScopes::with_offline(scopes.clone(), wanted, server))
    };
    let wanted = Wanted { document, preferred: Some(live.key.issuer.clone()), fresh: false };
    match authorize(endpoint, reach, wanted, asked, abandoned).await {
        Ok((new, result)) => {
            let result = result.and_then(|()| {
                let got = new.tokens().map(|tokens| tokens.granted.clone()).unwrap_or_default();
                match demand.scopes.without(&got) {
                    missing if missing.is_empty() => Ok(()),
                    missing => Err(step(AuthErrorKind::ScopesNotGranted { missing })),
                }
            });
            (Some(new), result)
        }
        // Denied or given up: the old login stays as it was.
        Err(error) => (Some(live), Err(error)),
    }
}

async fn log_in(
    endpoint: &Endpoint,
    live: Option<Live>,
    login: Login,
    abandoned: impl Future<Output = ()>,
) -> Outcome {
    let engine = &endpoint.engine;
    let read = async {
        let reach = reach(endpoint).await?;
        let discovery = Discovery { engine, endpoint: &endpoint.url, reach };
        Ok((reach, discovery.resource(None).await?))
    };
    let (reach, document) = match within(engine, read).await {
        Ok(read) => read,
        Err(error) => return (live, Err(error)),
    };
    let asked = |target: &Target| {
        let first = AskedScopes::first(
            &engine.scopes,
            &login.scopes.clone().unwrap_or_default(),
            target.document.as_ref().and_then(|document| document.scopes_supported.as_ref()),
            target.metadata.scopes_supported.as_ref(),
        );
        Ok(first)
    };
    let preferred = live.as_ref().map(|live| live.key.issuer.clone());
    let wanted = Wanted { document, preferred, fresh: login.fresh_registration };
    match authorize(endpoint, reach, wanted, asked, abandoned).await {
        Ok((new, result)) => (Some(new), result),
        Err(error) => (live, Err(error)),
    }
}

/// What an authorization starts from.
struct Wanted {
    document: Option<ResourceMetadata>,
    preferred: Option<Issuer>,
    fresh: bool,
}

/// A whole authorization, up to its storing. An error beside a login says that it could not
/// be stored: it is good in this process all the same.
async fn authorize(
    endpoint: &Endpoint,
    reach: Reach,
    wanted: Wanted,
    asked: impl FnOnce(&Target) -> Result<AskedScopes, AuthError>,
    abandoned: impl Future<Output = ()>,
) -> Result<(Live, Result<(), AuthError>), AuthError> {
    let storage = |error| AuthError::new(FlowStep::Storage, AuthErrorKind::Store(error));
    let engine = &endpoint.engine;
    let discovery = Discovery { engine, endpoint: &endpoint.url, reach };
    let target =
        within(engine, discovery.target(wanted.document, wanted.preferred.as_ref())).await?;
    let key = CredentialKey::new(
        endpoint.canonical.clone(),
        target.resource.clone(),
        target.issuer.clone(),
    )
    .with_account(engine.account.clone());
    let asked = asked(&target)?;
    // One person is sent to one server once, however many processes want it.
    let before = engine.store.load(&key).await.map_err(storage)?.map(|stored| stored.generation);
    // Whoever can send nobody there doesn't wait for somebody else's person either.
    let lock = match engine.grant.needs_browser() && engine.browser.is_some() {
        true => engine
            .store
            .lock(&key, LockPurpose::Login, engine.limits.login)
            .await
            .map_err(storage)?,
        false => None,
    };
    let stored = engine.store.load(&key).await.map_err(storage)?;
    if let Some(stored) = stored.clone().filter(|stored| before != Some(stored.generation)) {
        let other = of_store(key.clone(), stored, target.document.clone());
        let serves =
            other.tokens().is_some_and(|tokens| tokens.granted.contains_all(&asked.scopes));
        if serves && !other.is_over(engine.now()) {
            // Another process logged in while this one waited.
            return Ok((Live { origin: Origin::Login, ..other }, Ok(())));
        }
    }
    let started = std::time::Instant::now();
    let obtained = if engine.grant.needs_browser() {
        let registered = stored.as_ref().and_then(|stored| stored.record.registration.clone());
        let login = PersonalLogin {
            endpoint,
            target: &target,
            reach,
            registered: registered.filter(|_| !wanted.fresh),
            by_name: false,
        };
        // A large future, and a rare one.
        Box::pin(login.run(asked.clone(), abandoned)).await?
    } else {
        Box::pin(grant::without_person(endpoint, &target, &asked.scopes, reach)).await?
    };
    let requested = obtained.asked.clone();
    let record = obtained.into_record(&target, requested, engine.now())?;
    tracing::info!(
        issuer = %target.issuer,
        resource = %target.resource,
        client_id = record.client_id,
        asked = %asked.scopes,
        granted = %record.tokens.as_ref().map(|t| t.granted.clone()).unwrap_or_default(),
        took = ?started.elapsed(),
        "authorized"
    );
    let mut live = Live {
        key,
        record,
        stored: stored.map(|stored| stored.generation),
        origin: Origin::Login,
        accepted: false,
        document: target.document,
    };
    let saved = save(endpoint, &mut live).await;
    drop(lock);
    Ok((live, saved))
}

/// Writes a login over whatever is there: it is the newest.
async fn save(endpoint: &Endpoint, live: &mut Live) -> Result<(), AuthError> {
    let step = |error| AuthError::new(FlowStep::Storage, AuthErrorKind::Store(error));
    let store = &endpoint.engine.store;
    for _ in 0..5 {
        match store.save(&live.key, &live.record, live.stored).await.map_err(step)? {
            Saved::Done(generation) => {
                live.stored = Some(generation);
                return Ok(());
            }
            Saved::Superseded => {
                let newer = store.load(&live.key).await.map_err(step)?;
                live.stored = newer.map(|stored| stored.generation);
            }
        }
    }
    // Others write all the time; the login is good in this process.
    live.stored = None;
    Ok(())
}

/// Renews a token with its refresh token. `None`: it is dead, and a login is needed.
async fn refresh(
    endpoint: &Endpoint,
    live: Live,
    reach: Result<Reach, AuthError>,
) -> Result<Option<Live>, AuthError> {
    let step = |kind: AuthErrorKind| AuthError::new(FlowStep::Refresh, kind);
    let storage = |error| AuthError::new(FlowStep::Storage, AuthErrorKind::Store(error));
    let (engine, reach) = (&endpoint.engine, reach?);
    let wait = engine.limits.refresh_wait;
    // Never two uses of one refresh token: servers take the second for theft.
    let lock = engine.store.lock(&live.key, LockPurpose::Renewal, wait).await.map_err(storage)?;
    let Some(_lock) = lock else {
        return Err(step(AuthErrorKind::RefreshBusy { waited: wait }));
    };
    match engine.store.load(&live.key).await.map_err(storage)? {
        Some(stored) if live.stored != Some(stored.generation) => {
            let newer = of_store(live.key.clone(), stored, live.document.clone());
            if newer.tokens().is_some() && !newer.is_over(engine.now()) {
                return Ok(Some(Live { origin: Origin::Refreshed, ..newer }));
            }
            return Box::pin(refresh_locked(endpoint, newer, reach)).await;
        }
        // Logged out elsewhere.
        None if live.stored.is_some() => return Ok(None),
        Some(_) | None => {}
    }
    Box::pin(refresh_locked(endpoint, live, reach)).await
}

async fn refresh_locked(
    endpoint: &Endpoint,
    mut live: Live,
    reach: Reach,
) -> Result<Option<Live>, AuthError> {
    let step = |kind: AuthErrorKind| AuthError::new(FlowStep::Refresh, kind);
    let engine = &endpoint.engine;
    let Some(tokens) = live.record.tokens.clone() else { return Ok(None) };
    let Some(refresh) = &tokens.refresh else { return Ok(None) };
    let Some(identity) = identity_of(engine, &live) else { return Ok(None) };
    let proof_key = match &live.record.proof_key {
        Some(stored) => Some(PrivateKey::from_stored(stored).map_err(|e| step(e.into()))?),
        None => None,
    };
    let quirks = engine.quirks(&live.key.issuer);
    let resource = match &quirks.resource {
        Some(resource) => Some(resource.clone()),
        None if quirks.omit_resource => None,
        None => Some(live.key.resource.as_str().to_owned()),
    };
    let ask = async |url: &Url, scopes: Option<&ScopeSet>| {
        let token = TokenEndpoint {
            fetch: &*engine.fetch,
            reach,
            url,
            issuer: &live.key.issuer,
            client: &identity,
            proof_key: proof_key.as_ref(),
            nonces: &endpoint.nonces,
            now: engine.now(),
        };
        let grant = Grant::Refresh { token: refresh, scopes };
        let answer = token.request(&grant, resource.as_deref()).await?;
        let scheme = answer.scheme(&token.host(), proof_key.is_some())?;
        if proof_key.is_some() && scheme != tokens.scheme {
            return Err(AuthErrorKind::Downgraded);
        }
        Ok(answer)
    };
    let scopes = Some(&tokens.granted).filter(|s| !s.is_empty() && !quirks.no_scope_on_refresh);
    let mut url = live.record.token_endpoint.clone();
    let mut outcome = ask(&url, scopes).await;
    if let Err(AuthErrorKind::TokenRefused { status: 404 | 405, code: None, .. }) = &outcome {
        // It has moved: read the metadata again, once.
        let discovery = Discovery { engine, endpoint: &endpoint.url, reach };
        url = discovery.server(&live.key.issuer).await?.token_endpoint;
        outcome = ask(&url, scopes).await;
    }
    if outcome.as_ref().err().and_then(refused_with) == Some("invalid_scope") && scopes.is_some() {
        outcome = ask(&url, None).await;
    }
    match outcome {
        Ok(answer) => {
            let now = engine.now();
            live.record.tokens = Some(Tokens {
                access: answer.access,
                scheme: tokens.scheme,
                // A server that sends none means that the old one stays good.
                refresh: answer.refresh.or(tokens.refresh),
                granted: answer.scopes.unwrap_or(tokens.granted),
                issued_at: now,
                expires_at: answer.expires_at,
            });
            live.record.token_endpoint = url;
            live.record.last_used = now;
            live.origin = Origin::Refreshed;
            live.accepted = false;
            tracing::info!(issuer = %live.key.issuer, resource = %live.key.resource, "refreshed");
            // Written before it is used: a lost refresh token is a lost login.
            if let Err(error) = save(endpoint, &mut live).await {
                tracing::warn!(%error, "the renewed login can't be stored");
                live.stored = None;
            }
            Ok(Some(live))
        }
        Err(kind) => dead(endpoint, live, kind).await,
    }
}

/// Decides what a failed refresh means.
async fn dead(
    endpoint: &Endpoint,
    mut live: Live,
    kind: AuthErrorKind,
) -> Result<Option<Live>, AuthError> {
    let step = |kind: AuthErrorKind| AuthError::new(FlowStep::Refresh, kind);
    match refused_with(&kind) {
        Some("invalid_grant") => {
            // Forgotten only if nobody has renewed it in the meantime.
            if let (Some(tokens), Some(generation)) = (&mut live.record.tokens, live.stored) {
                tokens.refresh = None;
                let store = &endpoint.engine.store;
                if let Err(error) = store.save(&live.key, &live.record, Some(generation)).await {
                    tracing::warn!(%error, "the dead refresh token can't be forgotten");
                }
            }
            Ok(None)
        }
        Some("invalid_client") if live.record.registration.is_some() => {
            live.record.registration = None;
            if let Some(tokens) = &mut live.record.tokens {
                tokens.refresh = None;
            }
            if let Some(generation) = live.stored {
                let store = &endpoint.engine.store;
                if let Err(error) = store.save(&live.key, &live.record, Some(generation)).await {
                    tracing::warn!(%error, "the dead registration can't be forgotten");
                }
            }
            Ok(None)
        }
        Some("invalid_client") => Err(step(kind)),
        _ => match kind {
            // This attempt is over and a login is offered; nothing is deleted.
            AuthErrorKind::TokenRefused { .. } | AuthErrorKind::TokenUnusable { .. } => {
                tracing::warn!(error = %kind, "the token can't be refreshed");
                Ok(None)
            }
            kind => Err(step(kind)),
        },
    }
}

/// As whom the tokens were asked for, so that they are renewed by the same.
pub(crate) fn identity_of(engine: &Engine, live: &Live) -> Option<ClientIdentity> {
    let record = &live.record;
    if let Some(client) = &record.registration {
        return Some(ClientIdentity::dynamic(client.clone()));
    }
    let authentication = match &engine.grant {
        GrantKind::Interactive { registration, .. } => {
            let configured = registration
                .configured
                .iter()
                .find(|c| c.client_id == record.client_id && c.is_for(&live.key.issuer))
                .map(|client| client.authentication.clone());
            let document = registration.document.as_ref().filter(|d| d.url == record.client_id);
            let document = || document.map(|d| d.key.clone().unwrap_or(ClientAuthentication::None));
            let asked = || {
                let client = registration.ask.as_ref()?(&live.key.issuer)?;
                let same = client.client_id == record.client_id && client.is_for(&live.key.issuer);
                same.then_some(client.authentication)
            };
            // A client without credentials is itself by its id alone.
            let public =
                || (record.method == ClientAuthMethod::None).then_some(ClientAuthentication::None);
            configured.or_else(document).or_else(asked).or_else(public)?
        }
        GrantKind::ClientCredentials(client) | GrantKind::Enterprise { client, .. } => {
            let same = client.client_id == record.client_id && client.is_for(&live.key.issuer);
            same.then(|| client.authentication.clone())?
        }
        GrantKind::Workload { .. } => ClientAuthentication::None,
    };
    let mut identity = ClientIdentity::unlisted(&record.client_id, &authentication);
    identity.method = record.method;
    Some(identity)
}
