use std::time::SystemTime;

use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use oauth2::basic::{
    BasicErrorResponse, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse,
    BasicTokenResponse,
};
use oauth2::{
    AuthType, AuthorizationCode, Client, ClientId, ClientSecret, EndpointNotSet, EndpointSet,
    HttpRequest, PkceCodeVerifier, RedirectUrl, RefreshToken, RequestTokenError, Scope,
    StandardRevocableToken, TokenUrl,
};
use url::Url;
use url::form_urlencoded::Serializer;

use super::answer::TokenAnswer;
use super::carrier::{Carried, Carrier};
use crate::client::identity::ClientIdentity;
use crate::client::{AuthErrorKind, ClientAuthMethod};
use crate::client_auth::{ASSERTION_TYPE, basic, client_assertion};
use crate::dpop::{self, Nonces, Role};
use crate::jose::PrivateKey;
use crate::v1::Fetch;
use crate::{FetchResponse, Issuer, Reach, ScopeSet, Secret};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
/// The type of an identity assertion JWT authorization grant.
pub(crate) const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// What a token is asked for with.
pub(crate) enum Grant<'g> {
    Code {
        code: &'g Secret,
        redirect_uri: &'g str,
        verifier: &'g Secret,
    },
    Refresh {
        token: &'g Secret,
        scopes: Option<&'g ScopeSet>,
    },
    ClientCredentials {
        scopes: &'g ScopeSet,
    },
    JwtBearer {
        assertion: &'g Secret,
        scopes: &'g ScopeSet,
    },
    /// Asks an identity provider for an assertion for `audience` (RFC 8693).
    Exchange {
        subject: &'g Secret,
        subject_type: &'g str,
        audience: &'g Issuer,
        scopes: &'g ScopeSet,
    },
    /// Asks for a token that a server may use in the name of its caller (RFC 8693).
    #[cfg(feature = "server")]
    OnBehalf {
        subject: &'g Secret,
    },
}

impl Grant<'_> {
    fn secrets(&self) -> Vec<&Secret> {
        match self {
            Self::Code { code, verifier, .. } => vec![code, verifier],
            Self::Refresh { token, .. } => vec![token],
            Self::ClientCredentials { .. } => Vec::new(),
            Self::JwtBearer { assertion, .. } => vec![assertion],
            Self::Exchange { subject, .. } => vec![subject],
            #[cfg(feature = "server")]
            Self::OnBehalf { subject } => vec![subject],
        }
    }
}

/// The token endpoint of an authorization server, as one client sees it.
pub(crate) struct TokenEndpoint<'e> {
    pub(crate) fetch: &'e dyn Fetch,
    pub(crate) reach: Reach,
    pub(crate) url: &'e Url,
    /// For whom client assertions are made.
    pub(crate) issuer: &'e Issuer,
    pub(crate) client: &'e ClientIdentity,
    pub(crate) proof_key: Option<&'e PrivateKey>,
    pub(crate) nonces: &'e Nonces,
    pub(crate) now: SystemTime,
}

/// The `oauth2` crate's client, with a token endpoint and nothing else.
type Requests = Client<
    BasicErrorResponse,
    BasicTokenResponse,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointSet,
>;

impl TokenEndpoint<'_> {
    /// Asks for a token. A server that wants a nonce in the proof is asked once more with it,
    /// and so is one whose clock turns out to differ from ours.
    pub(crate) async fn request(
        &self,
        grant: &Grant<'_>,
        resource: Option<&str>,
    ) -> Result<TokenAnswer, AuthErrorKind> {
        let host = self.host();
        let mut secrets = grant.secrets();
        secrets.extend(&self.client.secret);
        let mut response = self.send(grant, resource).await?;
        if self.proof_key.is_some() {
            let made_at = self.nonces.time_at(self.url, self.now);
            let off = refuses_with(&response, "invalid_dpop_proof")
                && self.nonces.learn_clock(self.url, &response.headers, made_at, self.now);
            if off {
                response = self.send(grant, resource).await?;
            }
        }
        let learned = self.nonces.learn(self.url, Role::Authorization, &response.headers);
        if self.proof_key.is_some() && learned && refuses_with(&response, "use_dpop_nonce") {
            response = self.send(grant, resource).await?;
            self.nonces.learn(self.url, Role::Authorization, &response.headers);
            if refuses_with(&response, "use_dpop_nonce") {
                return Err(AuthErrorKind::NonceLoop);
            }
        }
        TokenAnswer::read(&host, &response, &secrets, self.now)
    }

    /// Gives a token back (RFC 7009), at `url`.
    pub(crate) async fn revoke(
        &self,
        token: &Secret,
        hint: &'static str,
    ) -> Result<FetchResponse, AuthErrorKind> {
        let pairs = vec![("token", token.expose()), ("token_type_hint", hint)];
        let assertion = self.assertion().await?;
        let request = self.form(pairs, assertion.as_ref())?;
        self.outcome(self.carrier()?.carry(request).await)
    }

    async fn send(
        &self,
        grant: &Grant<'_>,
        resource: Option<&str>,
    ) -> Result<FetchResponse, AuthErrorKind> {
        let carrier = self.carrier()?;
        // Fresh for each request, so for a repeated one, too.
        let assertion = self.assertion().await?;
        let assertion = assertion.as_ref();
        let mut extra: Vec<(&str, &str)> = Vec::new();
        extra.extend(resource.map(|resource| ("resource", resource)));
        if let Some(assertion) = assertion {
            extra.push(("client_assertion_type", ASSERTION_TYPE));
            extra.push(("client_assertion", assertion.expose()));
        }
        let lost = |_| AuthErrorKind::TokenUnusable { host: self.host(), why: "it was not asked" };
        let carried = match grant {
            Grant::Code { code, redirect_uri, verifier } => {
                let redirect_uri = RedirectUrl::new((*redirect_uri).to_owned()).map_err(lost)?;
                let requests = self.requests().set_redirect_uri(redirect_uri);
                let mut request = requests
                    .exchange_code(AuthorizationCode::new(code.expose().to_owned()))
                    .set_pkce_verifier(PkceCodeVerifier::new(verifier.expose().to_owned()));
                for (name, value) in extra {
                    request = request.add_extra_param(name, value);
                }
                carried(request.request_async(&carrier).await)
            }
            Grant::Refresh { token, scopes } => {
                let (requests, token) =
                    (self.requests(), RefreshToken::new(token.expose().to_owned()));
                let mut request = requests.exchange_refresh_token(&token);
                for (name, value) in extra {
                    request = request.add_extra_param(name, value);
                }
                for scope in scopes.iter().flat_map(|scopes| scopes.iter()) {
                    request = request.add_scope(Scope::new(scope.to_owned()));
                }
                carried(request.request_async(&carrier).await)
            }
            Grant::ClientCredentials { scopes } => {
                let requests = self.requests();
                let mut request = requests.exchange_client_credentials();
                for (name, value) in extra {
                    request = request.add_extra_param(name, value);
                }
                for scope in scopes.iter() {
                    request = request.add_scope(Scope::new(scope.to_owned()));
                }
                carried(request.request_async(&carrier).await)
            }
            // The crate has no requests for the other two.
            Grant::JwtBearer { assertion: identity, scopes } => {
                let scopes = scopes.to_string();
                let mut pairs = vec![("grant_type", JWT_BEARER), ("assertion", identity.expose())];
                pairs.extend(resource.map(|resource| ("resource", resource)));
                pairs.extend((!scopes.is_empty()).then_some(("scope", &*scopes)));
                carrier.carry(self.form(pairs, assertion)?).await
            }
            Grant::Exchange { subject, subject_type, audience, scopes } => {
                let scopes = scopes.to_string();
                let mut pairs = vec![
                    ("grant_type", TOKEN_EXCHANGE),
                    ("requested_token_type", ID_JAG),
                    ("audience", audience.as_str()),
                    ("subject_token", subject.expose()),
                    ("subject_token_type", subject_type),
                ];
                pairs.extend(resource.map(|resource| ("resource", resource)));
                pairs.extend((!scopes.is_empty()).then_some(("scope", &*scopes)));
                carrier.carry(self.form(pairs, assertion)?).await
            }
            #[cfg(feature = "server")]
            Grant::OnBehalf { subject } => {
                const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
                let mut pairs = vec![
                    ("grant_type", TOKEN_EXCHANGE),
                    ("requested_token_type", ACCESS_TOKEN),
                    ("subject_token", subject.expose()),
                    ("subject_token_type", ACCESS_TOKEN),
                ];
                pairs.extend(resource.map(|resource| ("resource", resource)));
                carrier.carry(self.form(pairs, assertion)?).await
            }
        };
        self.outcome(carried)
    }

    fn requests(&self) -> Requests {
        let mut requests = Client::new(ClientId::new(self.client.client_id.clone()))
            .set_auth_type(match self.client.method {
                ClientAuthMethod::Basic => AuthType::BasicAuth,
                _ => AuthType::RequestBody,
            })
            .set_token_uri(TokenUrl::from_url(self.url.clone()));
        if let Some(secret) = self.secret() {
            requests = requests.set_client_secret(ClientSecret::new(secret.expose().to_owned()));
        }
        requests
    }

    /// The secret, where the method is one for secrets.
    fn secret(&self) -> Option<&Secret> {
        match self.client.method {
            ClientAuthMethod::Basic | ClientAuthMethod::Post => self.client.secret.as_ref(),
            ClientAuthMethod::None | ClientAuthMethod::PrivateKeyJwt => None,
        }
    }

    async fn assertion(&self) -> Result<Option<Secret>, AuthErrorKind> {
        match (&self.client.signer, self.client.method) {
            (Some(signer), ClientAuthMethod::PrivateKeyJwt) => {
                client_assertion(&**signer, &self.client.client_id, self.issuer, self.now)
                    .await
                    .map(Some)
                    .map_err(AuthErrorKind::Sign)
            }
            _ => Ok(None),
        }
    }

    fn carrier(&self) -> Result<Carrier<'_>, AuthErrorKind> {
        let proof = match self.proof_key {
            Some(key) => {
                let nonce = self.nonces.newest(self.url, Role::Authorization);
                let now = self.nonces.time_at(self.url, self.now);
                Some(dpop::proof(key, "POST", self.url, None, nonce.as_deref(), now)?)
            }
            None => None,
        };
        Ok(Carrier { fetch: self.fetch, reach: self.reach, proof })
    }

    /// A form of our own, with the client's authentication.
    fn form<'a>(
        &'a self,
        mut pairs: Vec<(&'a str, &'a str)>,
        assertion: Option<&'a Secret>,
    ) -> Result<HttpRequest, AuthErrorKind> {
        let mut authorization = None;
        match (self.client.method, self.secret()) {
            (ClientAuthMethod::Basic, Some(secret)) => {
                let value = basic(&self.client.client_id, secret);
                authorization = Some(value.map_err(|_| AuthErrorKind::TokenCharacters)?);
            }
            (_, secret) => {
                // A client without an id of its own is known by its assertion alone.
                if !self.client.client_id.is_empty() {
                    pairs.push(("client_id", &self.client.client_id));
                }
                pairs.extend(secret.map(|secret| ("client_secret", secret.expose())));
            }
        }
        if let Some(assertion) = assertion {
            pairs.push(("client_assertion_type", ASSERTION_TYPE));
            pairs.push(("client_assertion", assertion.expose()));
        }
        let body = Serializer::new(String::new()).extend_pairs(pairs).finish();
        let mut request = HttpRequest::new(body.into_bytes());
        *request.method_mut() = hyper::Method::POST;
        // A URL that was fetched from before is a URI, too.
        *request.uri_mut() = self.url.as_str().parse().unwrap_or_default();
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        headers.extend(authorization.map(|value| (AUTHORIZATION, value)));
        Ok(request)
    }

    fn outcome(&self, carried: Carried) -> Result<FetchResponse, AuthErrorKind> {
        match carried {
            Carried::Answer(answer) => Ok(answer),
            Carried::Failed(error) => Err(error.into()),
            Carried::Lost => {
                Err(AuthErrorKind::TokenUnusable { host: self.host(), why: "it was not asked" })
            }
        }
    }

    pub(crate) fn host(&self) -> String {
        self.url.host_str().unwrap_or_default().to_owned()
    }
}

fn carried<T>(result: Result<T, RequestTokenError<Carried, BasicErrorResponse>>) -> Carried {
    match result {
        Err(RequestTokenError::Request(carried)) => carried,
        // Nothing else comes out: the carrier gives the crate no answer to read.
        _ => Carried::Lost,
    }
}

fn refuses_with(response: &FetchResponse, code: &str) -> bool {
    response.status.is_client_error()
        && crate::json::object(&response.body)
            .is_some_and(|body| crate::json::text(&body, "error") == Some(code))
}

/// The code with which a token endpoint refused, if that is what happened.
pub(crate) fn refused_with(error: &AuthErrorKind) -> Option<&str> {
    match error {
        AuthErrorKind::TokenRefused { code, .. } => code.as_deref(),
        _ => None,
    }
}
