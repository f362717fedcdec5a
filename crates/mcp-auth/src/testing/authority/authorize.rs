use std::time::{Duration, SystemTime};

use hyper::header::{HeaderValue, LOCATION};
use hyper::{HeaderMap, StatusCode};
use url::Url;

use super::{Asked, Authority, BAD, ResponseIssuer, refused};
use crate::{FetchResponse, ScopeSet};

/// How long a code is good.
const CODE_LIFE: Duration = Duration::from_secs(60);

/// What a code stands for.
#[derive(Clone, Debug)]
pub(super) struct CodeGrant {
    pub(super) client_id: String,
    pub(super) redirect_uri: String,
    pub(super) challenge: String,
    pub(super) scopes: ScopeSet,
    pub(super) resource: Option<String>,
    pub(super) until: SystemTime,
    /// The tokens that it gave, once it was used.
    pub(super) used: Option<String>,
}

impl Authority {
    pub(super) async fn authorize(&self, asked: &Asked<'_>) -> FetchResponse {
        let client_id = asked.param("client_id").unwrap_or_default().to_owned();
        let Some(client) = self.client(&client_id).await else {
            // Nobody is sent anywhere in the name of a client that isn't known.
            return refused((BAD, "invalid_client"));
        };
        let Some(redirect_uri) = asked.param("redirect_uri").filter(|uri| client.allows(uri))
        else {
            return refused((BAD, "invalid_redirect_uri"));
        };
        let Ok(mut target) = Url::parse(redirect_uri) else {
            return refused((BAD, "invalid_redirect_uri"));
        };
        let mut state = self.lock();
        let behavior = state.behavior.clone();
        let scopes = asked.scopes();
        let s256 = asked.param("code_challenge_method") == Some("S256");
        let outcome = match asked.param("code_challenge") {
            _ if asked.param("response_type") != Some("code") => Err("unsupported_response_type"),
            _ if behavior.denies => Err("access_denied"),
            _ if scopes.iter().any(|s| behavior.refused_scopes.contains(s)) => Err("invalid_scope"),
            Some(challenge) if s256 => Ok(challenge.to_owned()),
            _ => Err("invalid_request"),
        };
        {
            let mut query = target.query_pairs_mut();
            match outcome {
                Err(error) => {
                    query.append_pair("error", error);
                }
                Ok(challenge) => {
                    let code = state.fresh("code");
                    query.append_pair("code", &code);
                    let granted = match &behavior.grants_only {
                        Some(only) => scopes.intersection(only),
                        None => scopes,
                    };
                    let grant = CodeGrant {
                        client_id,
                        redirect_uri: redirect_uri.to_owned(),
                        challenge,
                        scopes: granted,
                        resource: asked.param("resource").map(str::to_owned),
                        until: state.after(CODE_LIFE),
                        used: None,
                    };
                    state.codes.insert(code, grant);
                }
            }
            if let Some(value) = asked.param("state") {
                query.append_pair("state", value);
            }
            match &behavior.response_issuer {
                ResponseIssuer::Own => {
                    query.append_pair("iss", self.shared.issuer.as_str());
                }
                ResponseIssuer::Missing => {}
                ResponseIssuer::Other(other) => {
                    query.append_pair("iss", other);
                }
            }
        }
        let mut headers = HeaderMap::new();
        match HeaderValue::try_from(target.as_str()) {
            Ok(location) => headers.insert(LOCATION, location),
            Err(_) => return refused((BAD, "invalid_redirect_uri")),
        };
        FetchResponse::new(StatusCode::FOUND, headers, Vec::new())
    }
}
