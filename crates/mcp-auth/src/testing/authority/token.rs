use std::time::Duration;

use hyper::header::{DATE, HeaderName, HeaderValue, LOCATION};
use hyper::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::{Asked, Authority, BAD, Issued, Refused, TokenFault, answer, not_found, refused};
use crate::jose::{Compact, PublicKey};
use crate::{FetchResponse, ScopeSet, crypto, json as read};

const NONCE: HeaderName = HeaderName::from_static("dpop-nonce");
/// How old a proof may be, in seconds, or how far ahead.
const PROOF_AGE: u64 = 300;
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// What a refresh token stands for.
#[derive(Clone, Debug)]
pub(super) struct RefreshGrant {
    client_id: String,
    scopes: ScopeSet,
    resource: Option<String>,
    bound_to: Option<String>,
    /// All tokens that came from one authorization.
    family: String,
    used: bool,
}

/// What an access token is made of.
struct Wanted {
    client_id: String,
    subject: Option<String>,
    scopes: ScopeSet,
    resource: Option<String>,
    bound_to: Option<String>,
    family: String,
    refreshable: bool,
}

impl Authority {
    pub(super) async fn token(&self, asked: &Asked<'_>) -> FetchResponse {
        let fault = self.lock().behavior.token_fault;
        if let Some(fault) = fault {
            return broken(fault);
        }
        let bound_to = match self.proof(asked) {
            Ok(bound_to) => bound_to,
            Err(error) => {
                let mut response = refused((BAD, error));
                self.add_headers(&mut response);
                return response;
            }
        };
        let outcome = match asked.param("grant_type") {
            Some("authorization_code") => self.by_code(asked, bound_to).await,
            Some("refresh_token") => self.by_refresh(asked, bound_to).await,
            Some("client_credentials") => self.by_credentials(asked, bound_to).await,
            Some(JWT_BEARER) => self.by_assertion(asked, bound_to).await,
            Some(TOKEN_EXCHANGE) => self.by_exchange(asked).await,
            _ => Err((BAD, "unsupported_grant_type")),
        };
        let mut response = match outcome {
            Ok(body) => answer(StatusCode::OK, &body),
            Err(refusal) => refused(refusal),
        };
        self.add_headers(&mut response);
        response
    }

    async fn by_code(&self, asked: &Asked<'_>, bound_to: Option<String>) -> Result<Value, Refused> {
        let (client_id, _) = self.authenticate(asked).await?;
        let mut state = self.lock();
        let code = asked.param("code").unwrap_or_default();
        let now = (state.now)();
        let grant = state.codes.get(code).cloned().ok_or((BAD, "invalid_grant"))?;
        if let Some(family) = grant.used {
            // Somebody has the code who should not: what it gave is called back.
            state.revoked.insert(family);
            return Err((BAD, "invalid_grant"));
        }
        let verifier = asked.param("code_verifier").unwrap_or_default();
        let challenge = crypto::base64url(&crypto::sha256(verifier.as_bytes()));
        let fits = grant.client_id == client_id
            && asked.param("redirect_uri") == Some(&grant.redirect_uri)
            && grant.challenge == challenge
            && asked.param("resource") == grant.resource.as_deref()
            && now < grant.until;
        if !fits {
            return Err((BAD, "invalid_grant"));
        }
        let family = state.fresh("family");
        if let Some(known) = state.codes.get_mut(code) {
            known.used = Some(family.clone());
        }
        drop(state);
        Ok(self.give(Wanted {
            client_id,
            subject: Some("alice".to_owned()),
            scopes: grant.scopes,
            resource: grant.resource,
            bound_to,
            family,
            refreshable: true,
        }))
    }

    async fn by_refresh(
        &self,
        asked: &Asked<'_>,
        bound_to: Option<String>,
    ) -> Result<Value, Refused> {
        let (client_id, _) = self.authenticate(asked).await?;
        let mut state = self.lock();
        let rotates = state.behavior.rotates;
        let token = asked.param("refresh_token").unwrap_or_default();
        let grant = state.refresh.get(token).cloned().ok_or((BAD, "invalid_grant"))?;
        let asks = asked.scopes();
        if state.revoked.contains(&grant.family) {
            return Err((BAD, "invalid_grant"));
        }
        if grant.used {
            // A token that rotates is used once: a second time it is stolen.
            state.revoked.insert(grant.family);
            return Err((BAD, "invalid_grant"));
        }
        if grant.client_id != client_id || grant.bound_to != bound_to {
            return Err((BAD, "invalid_grant"));
        }
        if !grant.scopes.contains_all(&asks) {
            return Err((BAD, "invalid_scope"));
        }
        if asked.param("resource") != grant.resource.as_deref() {
            return Err((BAD, "invalid_target"));
        }
        if rotates && let Some(known) = state.refresh.get_mut(token) {
            known.used = true;
        }
        drop(state);
        Ok(self.give(Wanted {
            client_id,
            subject: Some("alice".to_owned()),
            scopes: if asks.is_empty() { grant.scopes } else { asks },
            resource: grant.resource,
            bound_to,
            family: grant.family,
            refreshable: rotates,
        }))
    }

    async fn by_credentials(
        &self,
        asked: &Asked<'_>,
        bound_to: Option<String>,
    ) -> Result<Value, Refused> {
        let (client_id, client) = self.authenticate(asked).await?;
        if client.method == "none" {
            return Err((BAD, "unauthorized_client"));
        }
        let family = self.lock().fresh("family");
        Ok(self.give(Wanted {
            client_id,
            subject: None,
            scopes: asked.scopes(),
            resource: asked.param("resource").map(str::to_owned),
            bound_to,
            family,
            refreshable: false,
        }))
    }

    /// An assertion that somebody trusted made: for a person (ID-JAG) or for a workload.
    async fn by_assertion(
        &self,
        asked: &Asked<'_>,
        bound_to: Option<String>,
    ) -> Result<Value, Refused> {
        const NO: Refused = (BAD, "invalid_grant");
        let token = Compact::read(asked.param("assertion").ok_or((BAD, "invalid_request"))?)
            .map_err(|_| NO)?;
        let personal = token.kind().as_deref() == Some("oauth-id-jag+jwt");
        let claims = token.unverified_claims().clone();
        {
            let state = self.lock();
            let named = read::text(&claims, "iss").unwrap_or_default();
            let trusted = state.trusted.iter().find(|(issuer, _)| issuer.as_str() == named);
            let (_, keys) = trusted.ok_or(NO)?;
            let now = state.seconds();
            let genuine =
                keys.candidates(token.key_id(), token.algorithm()).any(|key| token.verify(key));
            let alive = claims.get("exp").and_then(Value::as_u64).is_some_and(|exp| now < exp);
            let meant = crate::jose::is_for(&claims, self.shared.issuer.as_str());
            if !(genuine && alive && meant) {
                return Err(NO);
            }
        }
        let client_id = if personal {
            let (client_id, _) = self.authenticate(asked).await?;
            if read::text(&claims, "client_id") != Some(&client_id) {
                return Err(NO);
            }
            client_id
        } else {
            asked.param("client_id").unwrap_or("workload").to_owned()
        };
        let family = self.lock().fresh("family");
        Ok(self.give(Wanted {
            client_id,
            subject: read::text(&claims, "sub").map(str::to_owned),
            scopes: asked.scopes(),
            resource: asked.param("resource").map(str::to_owned),
            bound_to,
            family,
            refreshable: false,
        }))
    }

    /// As an identity provider: an assertion for another authorization server. As an
    /// authorization server: a token for another resource.
    async fn by_exchange(&self, asked: &Asked<'_>) -> Result<Value, Refused> {
        let (client_id, _) = self.authenticate(asked).await?;
        let subject = asked.param("subject_token").ok_or((BAD, "invalid_request"))?;
        if asked.param("requested_token_type") != Some(ID_JAG) {
            let known = self.issued(subject).ok_or((BAD, "invalid_grant"))?;
            let family = self.lock().fresh("family");
            let mut body = self.give(Wanted {
                client_id,
                subject: Some("alice".to_owned()),
                scopes: known.scopes,
                resource: asked.param("resource").map(str::to_owned),
                bound_to: None,
                family,
                refreshable: false,
            });
            if let Some(members) = body.as_object_mut() {
                let kind = "urn:ietf:params:oauth:token-type:access_token";
                members.insert("issued_token_type".into(), kind.into());
            }
            return Ok(body);
        }
        let subject = Compact::read(subject).map_err(|_| (BAD, "invalid_grant"))?;
        let (key, named, now) = {
            let state = self.lock();
            (state.key.clone(), state.behavior.assertion_client.clone(), state.seconds())
        };
        if !subject.verify(key.public()) {
            return Err((BAD, "invalid_grant"));
        }
        let audience = asked.param("audience").ok_or((BAD, "invalid_request"))?;
        let claims = json!({
            "iss": self.shared.issuer.as_str(),
            "sub": subject.unverified_claims().get("sub"),
            "aud": audience,
            "client_id": named.unwrap_or(client_id),
            "resource": asked.param("resource"),
            "jti": crypto::random_id().unwrap_or_default(),
            "iat": now,
            "exp": now + 300,
        });
        let assertion = self
            .sign(&json!({ "typ": "oauth-id-jag+jwt" }), &claims)
            .map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, "server_error"))?;
        Ok(json!({
            "issued_token_type": ID_JAG,
            "access_token": assertion,
            "token_type": "N_A",
            "expires_in": 300,
        }))
    }

    /// Makes the tokens.
    fn give(&self, wanted: Wanted) -> Value {
        let mut state = self.lock();
        let behavior = state.behavior.clone();
        let audience = behavior.audience.clone().or_else(|| wanted.resource.clone());
        let now = state.seconds();
        let bound_to = wanted.bound_to.filter(|_| !behavior.downgrades);
        let mut claims = json!({
            "iss": self.shared.issuer.as_str(),
            "sub": wanted.subject.as_deref().unwrap_or(&wanted.client_id),
            "client_id": wanted.client_id,
            "scope": wanted.scopes.to_string(),
            "iat": now,
            "exp": now + behavior.token_life.as_secs(),
            "jti": crypto::random_id().unwrap_or_default(),
        });
        if let Some(members) = claims.as_object_mut() {
            if let Some(audience) = &audience {
                members.insert("aud".into(), audience.as_str().into());
            }
            if let Some(thumbprint) = &bound_to {
                members.insert("cnf".into(), json!({ "jkt": thumbprint }));
            }
        }
        let header = json!({
            "typ": "at+jwt",
            "alg": state.key.algorithm().name(),
            "kid": state.key.public().id(),
        });
        let token = state.key.sign_token(&header, &claims).unwrap_or_default();
        let issued = Issued {
            client_id: wanted.client_id.clone(),
            audience,
            scopes: wanted.scopes.clone(),
            expires_at: state.after(behavior.token_life),
            bound_to: bound_to.clone(),
            family: wanted.family.clone(),
        };
        state.issued.insert(token.clone(), issued);
        let seconds = || Value::from(behavior.token_life.as_secs());
        let mut body = json!({
            "access_token": token,
            "token_type": if bound_to.is_some() { "DPoP" } else { "Bearer" },
            "expires_in": behavior.expires_in.clone().unwrap_or_else(seconds),
            "scope": wanted.scopes.to_string(),
        });
        if wanted.refreshable && behavior.refresh_tokens {
            let refresh = state.fresh("refresh");
            let grant = RefreshGrant {
                client_id: wanted.client_id,
                scopes: wanted.scopes,
                resource: wanted.resource,
                bound_to,
                family: wanted.family,
                used: false,
            };
            state.refresh.insert(refresh.clone(), grant);
            if let Some(members) = body.as_object_mut() {
                members.insert("refresh_token".into(), refresh.into());
            }
        }
        body
    }

    /// The key that a token is to be bound to.
    fn proof(&self, asked: &Asked<'_>) -> Result<Option<String>, &'static str> {
        const NO: &str = "invalid_dpop_proof";
        let mut state = self.lock();
        let mut fields = asked.headers.get_all("dpop").iter();
        let Some(field) = fields.next() else {
            return if state.behavior.dpop { Err(NO) } else { Ok(None) };
        };
        if fields.next().is_some() {
            return Err(NO);
        }
        let proof = field.to_str().ok().and_then(|text| Compact::read(text).ok()).ok_or(NO)?;
        let jwk = proof.header().get("jwk").and_then(Value::as_object).ok_or(NO)?;
        let key = PublicKey::from_jwk(jwk).map_err(|_| NO)?;
        let claims = proof.unverified_claims();
        let mut target = asked.url.clone();
        target.set_query(None);
        let holds = !state.behavior.distrusts_proofs
            && proof.kind().as_deref() == Some("dpop+jwt")
            && proof.verify(&key)
            && read::text(claims, "htm") == Some(asked.method.as_str())
            && read::text(claims, "htu") == Some(target.as_str())
            && claims
                .get("iat")
                .and_then(Value::as_u64)
                .is_some_and(|made| state.seconds().abs_diff(made) <= PROOF_AGE);
        if !holds {
            return Err(NO);
        }
        let nonce = format!("nonce-{}", state.nonce);
        if state.behavior.dpop_nonces && read::text(claims, "nonce") != Some(&nonce) {
            return Err("use_dpop_nonce");
        }
        let first =
            read::text(claims, "jti").is_some_and(|jti| state.proofs.insert(jti.to_owned()));
        if first { Ok(Some(key.thumbprint().as_str().to_owned())) } else { Err(NO) }
    }

    fn add_headers(&self, response: &mut FetchResponse) {
        let state = self.lock();
        if let Ok(date) = HeaderValue::try_from(httpdate::fmt_http_date((state.now)())) {
            response.headers.insert(DATE, date);
        }
        if state.behavior.dpop_nonces
            && let Ok(nonce) = HeaderValue::try_from(format!("nonce-{}", state.nonce))
        {
            response.headers.insert(NONCE, nonce);
        }
    }

    pub(super) fn revoke(&self, asked: &Asked<'_>) -> FetchResponse {
        let mut state = self.lock();
        let token = asked.param("token").unwrap_or_default().to_owned();
        if let Some(grant) = state.refresh.get(&token) {
            let family = grant.family.clone();
            state.revoked.insert(family);
        }
        state.revoked.insert(token);
        answer(StatusCode::OK, &json!({}))
    }

    pub(super) fn introspect(&self, asked: &Asked<'_>) -> FetchResponse {
        let token = asked.param("token").unwrap_or_default();
        let Some(issued) = self.issued(token) else {
            return answer(StatusCode::OK, &json!({ "active": false }));
        };
        let left = issued.expires_at.duration_since((self.lock().now)()).unwrap_or(Duration::ZERO);
        let now = self.lock().seconds();
        let mut body = json!({
            "active": true,
            "iss": self.shared.issuer.as_str(),
            "client_id": issued.client_id,
            "sub": "alice",
            "scope": issued.scopes.to_string(),
            "exp": now + left.as_secs(),
        });
        if let Some(members) = body.as_object_mut() {
            members.extend(issued.audience.map(|audience| ("aud".to_owned(), audience.into())));
        }
        answer(StatusCode::OK, &body)
    }
}

fn broken(fault: TokenFault) -> FetchResponse {
    match fault {
        TokenFault::Html => {
            FetchResponse::new(BAD, HeaderMap::new(), "<html><h1>Bad Request</h1></html>")
        }
        TokenFault::ErrorIn200 => answer(StatusCode::OK, &json!({ "error": "invalid_grant" })),
        TokenFault::Redirect => {
            let mut headers = HeaderMap::new();
            headers.insert(LOCATION, HeaderValue::from_static("https://evil.example/token"));
            FetchResponse::new(StatusCode::FOUND, headers, Vec::new())
        }
        TokenFault::Unavailable => {
            let mut response = not_found();
            response.status = StatusCode::SERVICE_UNAVAILABLE;
            response
        }
        TokenFault::InvalidRequest => refused((BAD, "invalid_request")),
    }
}
