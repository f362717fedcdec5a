use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::StatusCode;
use hyper::header::AUTHORIZATION;
use serde_json::{Value, json};
use url::form_urlencoded;

use super::{Asked, Authority, BAD, Refused, answer, refused};
use crate::jose::{self, Compact, KeySet};
use crate::metadata::same_redirect;
use crate::{FetchResponse, Secret, json as read};

/// A client that the server knows.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) method: String,
    secret: Option<Secret>,
    keys: KeySet,
    redirect_uris: Vec<String>,
}

impl Client {
    pub(super) fn beforehand(secret: Option<&Secret>, redirect_uris: &[&str]) -> Self {
        let method = if secret.is_some() { "client_secret_basic" } else { "none" };
        Self {
            method: method.to_owned(),
            secret: secret.cloned(),
            keys: KeySet::default(),
            redirect_uris: redirect_uris.iter().map(|&uri| uri.to_owned()).collect(),
        }
    }

    pub(super) fn with_keys(keys: KeySet) -> Self {
        Self { method: "private_key_jwt".to_owned(), keys, ..Self::beforehand(None, &[]) }
    }

    pub(super) fn allows(&self, redirect_uri: &str) -> bool {
        self.redirect_uris.iter().any(|known| same_redirect(known, redirect_uri))
    }
}

impl Authority {
    pub(super) fn register_dynamically(&self, asked: &Asked<'_>) -> FetchResponse {
        let Some(request) = read::object(asked.body) else {
            return refused((BAD, "invalid_client_metadata"));
        };
        let uris = read::texts(&request, "redirect_uris").unwrap_or_default();
        if uris.is_empty() {
            return refused((BAD, "invalid_redirect_uri"));
        }
        let mut state = self.lock();
        if !state.behavior.dynamic_registration {
            return refused((StatusCode::NOT_FOUND, "invalid_request"));
        }
        if state.behavior.names_only && uris.iter().any(|uri| uri.contains("127.0.0.1")) {
            return refused((BAD, "invalid_redirect_uri"));
        }
        let method =
            read::text(&request, "token_endpoint_auth_method").unwrap_or("client_secret_basic");
        let id = state.fresh("client");
        let secret = (method != "none").then(|| Secret::new(state.fresh("secret")));
        let mut document = json!({
            "client_id": id,
            "redirect_uris": uris,
            "token_endpoint_auth_method": method,
            "application_type": request.get("application_type"),
        });
        if let (Some(secret), Some(members)) = (&secret, document.as_object_mut()) {
            members.insert("client_secret".into(), secret.expose().into());
            let expires = state.behavior.secret_expires_at.unwrap_or(0);
            members.insert("client_secret_expires_at".into(), expires.into());
        }
        let client = Client {
            method: method.to_owned(),
            secret,
            keys: KeySet::default(),
            redirect_uris: uris,
        };
        state.clients.insert(id, client);
        answer(StatusCode::CREATED, &document)
    }

    /// The client with that id: one that is registered, or one with a document.
    pub(super) async fn client(&self, id: &str) -> Option<Client> {
        let (known, documents) = {
            let state = self.lock();
            (state.clients.get(id).cloned(), state.behavior.client_documents)
        };
        if known.is_some() || !documents {
            return known;
        }
        let document = self.shared.documents.as_ref()?.get(id).await.ok()?;
        let keys = document
            .jwks
            .as_ref()
            .and_then(|jwks| KeySet::read(Value::Object(jwks.clone()).to_string().as_bytes()));
        Some(Client {
            method: document.token_endpoint_auth_method.clone(),
            secret: None,
            keys: keys.unwrap_or_default(),
            redirect_uris: document.redirect_uris.clone(),
        })
    }

    /// Who asks, by whichever method the client registered for, and by that one only.
    pub(super) async fn authenticate(
        &self,
        asked: &Asked<'_>,
    ) -> Result<(String, Client), Refused> {
        const NO: Refused = (StatusCode::UNAUTHORIZED, "invalid_client");
        let basic = asked.headers.get(AUTHORIZATION).map(|value| basic_of(value.as_bytes()));
        let assertion = asked.param("client_assertion");
        let (method, id, secret) = match (basic, assertion) {
            (Some(Some((id, secret))), None) => ("client_secret_basic", id, Some(secret)),
            (Some(_), _) => return Err(NO),
            (None, Some(assertion)) => {
                let (_, claims) = jose::peek(assertion).ok_or(NO)?;
                let id = read::text(&claims, "sub").ok_or(NO)?;
                ("private_key_jwt", id.to_owned(), None)
            }
            (None, None) => {
                let id = asked.param("client_id").ok_or(NO)?.to_owned();
                match asked.param("client_secret") {
                    Some(secret) => ("client_secret_post", id, Some(secret.to_owned())),
                    None => ("none", id, None),
                }
            }
        };
        let client = self.client(&id).await.ok_or(NO)?;
        let post_for_basic =
            method == "client_secret_post" && client.method == "client_secret_basic";
        if client.method != method && !post_for_basic {
            return Err(NO);
        }
        let listed = self.lock().behavior.auth_methods.iter().any(|known| known == method);
        if post_for_basic && !listed {
            return Err(NO);
        }
        let proven = match (&client.secret, secret, assertion) {
            (Some(known), Some(shown), _) => *known == *shown,
            (None, None, Some(assertion)) => self.assertion_holds(&client, &id, assertion),
            (None, None, None) => method == "none",
            _ => false,
        };
        if proven { Ok((id, client)) } else { Err(NO) }
    }

    fn assertion_holds(&self, client: &Client, id: &str, assertion: &str) -> bool {
        let Ok(token) = Compact::read(assertion) else { return false };
        let mut candidates = client.keys.candidates(token.key_id(), token.algorithm());
        let genuine = candidates.any(|key| token.verify(key));
        let claims = token.unverified_claims();
        let mut state = self.lock();
        let now = state.seconds();
        let alive = claims.get("exp").and_then(Value::as_u64).is_some_and(|exp| now < exp);
        let right = read::text(claims, "iss") == Some(id)
            && claims.get("aud") == Some(&self.shared.issuer.as_str().into());
        let first =
            read::text(claims, "jti").is_some_and(|jti| state.proofs.insert(jti.to_owned()));
        genuine && alive && right && first
    }
}

fn basic_of(field: &[u8]) -> Option<(String, String)> {
    let text = std::str::from_utf8(field).ok()?.strip_prefix("Basic ")?;
    let pair = String::from_utf8(STANDARD.decode(text).ok()?).ok()?;
    let (id, secret) = pair.split_once(':')?;
    // A form of one name without a value is that name, decoded.
    let decode = |text: &str| {
        let mut parsed = form_urlencoded::parse(text.as_bytes());
        parsed.next().map(|(name, _)| name.into_owned()).unwrap_or_default()
    };
    Some((decode(id), decode(secret)))
}
