//! Grants without a person: client credentials, enterprise-managed, workload identity.

use url::Url;

use super::builder::IdentityProvider;
use super::config::{ClientAuthentication, PinnedClient};
use super::discover::{Discovery, Target};
use super::engine::{Endpoint, GrantKind};
use super::error::{AuthError, AuthErrorKind, FlowStep};
use super::identity::ClientIdentity;
use super::login::{Binding, Obtained};
use super::token::{Grant, ID_JAG, TokenEndpoint};
use crate::v1::AssertionSource;
use crate::{Issuer, Reach, ScopeSet, Secret, jose};

fn token_step(kind: impl Into<AuthErrorKind>) -> AuthError {
    AuthError::new(FlowStep::Token, kind)
}

/// Asks for a token in the configured way, as far as no person is needed.
pub(crate) async fn without_person(
    endpoint: &Endpoint,
    target: &Target,
    scopes: &ScopeSet,
    reach: Reach,
) -> Result<Obtained, AuthError> {
    let engine = &endpoint.engine;
    let bound = Binding::new(engine, &target.metadata)?;
    let resource = super::login::sent_resource(engine, target);
    let ask = async |identity: ClientIdentity, grant: Grant<'_>| {
        let token = TokenEndpoint {
            fetch: &*engine.fetch,
            reach,
            url: &target.metadata.token_endpoint,
            issuer: &target.metadata.issuer,
            client: &identity,
            proof_key: bound.key(),
            nonces: &endpoint.nonces,
            now: engine.now(),
        };
        let answer = token.request(&grant, resource.as_deref()).await.map_err(token_step)?;
        let scheme = answer.scheme(&token.host(), bound.key().is_some()).map_err(token_step)?;
        bound.check(engine, scheme).map_err(token_step)?;
        Ok(Obtained { identity, answer, scheme, key: bound.key().cloned(), asked: scopes.clone() })
    };
    match &engine.grant {
        // That one needs a person, and is done elsewhere.
        GrantKind::Interactive { .. } => Err(token_step(AuthErrorKind::NeedsPerson)),
        GrantKind::ClientCredentials(client) => {
            let identity = pinned(client, target)?;
            ask(identity, Grant::ClientCredentials { scopes }).await
        }
        GrantKind::Enterprise { provider, client } => {
            let identity = pinned(client, target)?;
            let assertion =
                identity_assertion(endpoint, target, scopes, provider, resource.as_deref()).await?;
            ask(identity, Grant::JwtBearer { assertion: &assertion, scopes }).await
        }
        GrantKind::Workload { client_id, source, pin } => {
            let assertion = workload_assertion(target, &**source, pin.as_ref()).await?;
            let id = client_id.as_deref().unwrap_or_default();
            let identity = ClientIdentity::new(id, &ClientAuthentication::None, &target.metadata)
                .map_err(token_step)?;
            ask(identity, Grant::JwtBearer { assertion: &assertion, scopes }).await
        }
    }
}

/// The identity of a pinned client. No person looks on here, so a hostile server would gain
/// most from a client that goes anywhere.
fn pinned(client: &PinnedClient, target: &Target) -> Result<ClientIdentity, AuthError> {
    if !client.is_for(&target.issuer) {
        return Err(AuthError::new(
            FlowStep::Registration,
            super::login::not_pinned(client, target),
        ));
    }
    ClientIdentity::new(&client.client_id, &client.authentication, &target.metadata)
        .map_err(token_step)
}

/// Asks the identity provider for an assertion that this client may act for the person at
/// that authorization server (RFC 8693, ID-JAG).
async fn identity_assertion(
    endpoint: &Endpoint,
    target: &Target,
    scopes: &ScopeSet,
    provider: &IdentityProvider,
    resource: Option<&str>,
) -> Result<Secret, AuthError> {
    let engine = &endpoint.engine;
    let reach_of = async |url: &Url| engine.fetch.reach(url).await.map_err(token_step);
    let (url, metadata) = match &provider.token_endpoint {
        Some(url) => (url.clone(), None),
        None => {
            let place = provider
                .issuer
                .to_url()
                .ok_or_else(|| token_step(AuthErrorKind::NoAuthorizationServer))?;
            let reach = reach_of(&place).await?;
            let discovery = Discovery { engine, endpoint: &place, reach };
            let metadata = discovery.server(&provider.issuer).await?;
            (metadata.token_endpoint.clone(), Some(metadata))
        }
    };
    let identity = match &metadata {
        Some(metadata) => {
            ClientIdentity::new(&provider.client_id, &provider.authentication, metadata)
                .map_err(token_step)?
        }
        None => ClientIdentity::unlisted(&provider.client_id, &provider.authentication),
    };
    let subject = provider.subject.assertion(&provider.issuer).await.map_err(token_step)?;
    let reach = reach_of(&url).await?;
    let token = TokenEndpoint {
        fetch: &*engine.fetch,
        reach,
        url: &url,
        issuer: &provider.issuer,
        client: &identity,
        proof_key: None,
        nonces: &endpoint.nonces,
        now: engine.now(),
    };
    let grant = Grant::Exchange {
        subject: &subject,
        subject_type: &provider.subject_type,
        audience: &target.metadata.issuer,
        scopes,
    };
    let answer = token.request(&grant, resource).await.map_err(token_step)?;
    let host = token.host();
    let unusable = |why| token_step(AuthErrorKind::TokenUnusable { host: host.clone(), why });
    if answer.issued_token_type.as_deref() != Some(ID_JAG) {
        return Err(unusable("it is not the identity assertion that was asked for"));
    }
    if answer.token_type.as_deref() != Some("n_a") {
        tracing::warn!(host, "the identity assertion came with a token type of its own");
    }
    let (header, claims) = jose::peek(answer.access.expose())
        .ok_or_else(|| unusable("the identity assertion is not a JWT"))?;
    let kind = crate::json::text(&header, "typ").map(str::to_ascii_lowercase);
    if kind.as_deref() != Some("oauth-id-jag+jwt") {
        return Err(unusable("the identity assertion is a JWT of another kind"));
    }
    if !jose::is_for(&claims, target.metadata.issuer.as_str()) {
        return Err(unusable("the identity assertion is for another authorization server"));
    }
    Ok(answer.access)
}

/// The platform's token, if it may be shown to this server: it is protected by its audience
/// only, and an MCP server names whatever authorization server it likes.
async fn workload_assertion(
    target: &Target,
    source: &dyn AssertionSource,
    pin: Option<&Issuer>,
) -> Result<Secret, AuthError> {
    let issuer = &target.metadata.issuer;
    let assertion = source.assertion(issuer).await.map_err(token_step)?;
    let claims = jose::peek(assertion.expose()).map(|(_, claims)| claims);
    let endpoint = &target.metadata.token_endpoint;
    let same_origin = issuer.to_url().is_some_and(|url| url.origin() == endpoint.origin());
    let meant = claims.is_some_and(|claims| {
        jose::is_for(&claims, issuer.as_str())
            || (same_origin && jose::is_for(&claims, endpoint.as_str()))
    });
    if meant || pin == Some(issuer) {
        return Ok(assertion);
    }
    Err(token_step(AuthErrorKind::AssertionNotForIssuer { issuer: issuer.clone() }))
}
