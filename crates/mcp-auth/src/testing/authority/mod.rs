//! An authorization server in memory, which behaves as well or as badly as a test wants.

mod authorize;
mod behavior;
mod client;
mod token;
pub use self::behavior::{Behavior, ResponseIssuer, TokenFault};

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method, StatusCode};
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

use super::ScriptedFetch;
use super::fetch::json as answer;
use crate::jose::{KeySet, PrivateKey};
use crate::server::ClientDocuments;
use crate::{FetchRequest, FetchResponse, Issuer, ScopeSet, Secret};

use self::authorize::CodeGrant;
use self::client::Client;
use self::token::RefreshGrant;

/// An authorization server in memory: code with PKCE, refresh tokens that rotate, dynamic
/// registration, client metadata documents, client credentials, identity assertions, workload
/// assertions, DPoP, key set, introspection, revocation.
///
/// It asks nobody for consent. For tests and development; it keeps everything in memory and
/// trusts whoever reaches it. Cheap to clone; clones are one.
#[derive(Clone)]
pub struct Authority {
    shared: Arc<Shared>,
}

struct Shared {
    issuer: Issuer,
    base: Url,
    documents: Option<ClientDocuments>,
    state: Mutex<State>,
}

struct State {
    behavior: Behavior,
    key: PrivateKey,
    clients: HashMap<String, Client>,
    codes: HashMap<String, CodeGrant>,
    refresh: HashMap<String, RefreshGrant>,
    /// Access tokens that were given, for introspection.
    issued: HashMap<String, Issued>,
    revoked: HashSet<String>,
    /// Proofs that were seen.
    proofs: HashSet<String>,
    nonce: u64,
    /// Whose assertions are taken.
    trusted: Vec<(Issuer, KeySet)>,
    count: u64,
    now: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

/// An access token that was given.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Issued {
    /// To whom.
    pub client_id: String,
    /// For whom.
    pub audience: Option<String>,
    /// For what.
    pub scopes: ScopeSet,
    /// Until when.
    pub expires_at: SystemTime,
    /// The key that it is bound to.
    pub bound_to: Option<String>,
    family: String,
}

/// A request that was taken apart.
struct Asked<'r> {
    method: &'r Method,
    url: &'r Url,
    headers: &'r HeaderMap,
    params: HashMap<String, String>,
    body: &'r [u8],
}

impl Asked<'_> {
    fn param(&self, name: &str) -> Option<&str> {
        self.params.get(name).map(|value| &**value).filter(|value| !value.is_empty())
    }

    fn scopes(&self) -> ScopeSet {
        self.param("scope").map(ScopeSet::parse).unwrap_or_default()
    }
}

/// A refusal: status, error code.
type Refused = (StatusCode, &'static str);

const BAD: StatusCode = StatusCode::BAD_REQUEST;

impl Authority {
    /// A server that is `issuer`, and behaves well.
    ///
    /// # Errors
    ///
    /// When `issuer` is none, or no key can be made.
    pub fn new(issuer: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Self::with_documents(issuer, None)
    }

    /// As [`new`](Self::new), with client metadata documents.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_documents(
        issuer: &str,
        documents: Option<ClientDocuments>,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let state = State {
            behavior: Behavior::default(),
            key: PrivateKey::generate()?.with_id("k1"),
            clients: HashMap::new(),
            codes: HashMap::new(),
            refresh: HashMap::new(),
            issued: HashMap::new(),
            revoked: HashSet::new(),
            proofs: HashSet::new(),
            nonce: 1,
            trusted: Vec::new(),
            count: 0,
            now: Arc::new(SystemTime::now),
        };
        let shared = Shared {
            base: Url::parse(issuer)?,
            issuer: Issuer::new(issuer)?,
            documents,
            state: Mutex::new(state),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Its issuer.
    #[must_use]
    pub fn issuer(&self) -> &Issuer {
        &self.shared.issuer
    }

    /// Changes how it behaves from now on.
    pub fn behave(&self, change: impl FnOnce(&mut Behavior)) {
        change(&mut self.lock().behavior);
    }

    /// Has it tell the time by `now`.
    pub fn set_clock(&self, now: impl Fn() -> SystemTime + Send + Sync + 'static) {
        self.lock().now = Arc::new(now);
    }

    /// Registers a client beforehand.
    pub fn register(&self, client_id: &str, secret: Option<&Secret>, redirect_uris: &[&str]) {
        let client = Client::beforehand(secret, redirect_uris);
        self.lock().clients.insert(client_id.to_owned(), client);
    }

    /// Registers a client beforehand that authenticates with a key.
    pub fn register_key(&self, client_id: &str, keys: KeySet) {
        self.lock().clients.insert(client_id.to_owned(), Client::with_keys(keys));
    }

    /// Forgets all clients, codes and refresh tokens, as some servers do.
    pub fn forget_clients(&self) {
        let mut state = self.lock();
        state.clients.clear();
        state.codes.clear();
        state.refresh.clear();
    }

    /// Takes assertions that `issuer` signed with `keys`.
    pub fn trust(&self, issuer: Issuer, keys: KeySet) {
        self.lock().trusted.push((issuer, keys));
    }

    /// Its public keys.
    #[must_use]
    pub fn keys(&self) -> KeySet {
        KeySet::new([self.lock().key.public().clone()])
    }

    /// Changes its key.
    ///
    /// # Errors
    ///
    /// When no key can be made.
    pub fn rotate_key(&self, id: &str) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.lock().key = PrivateKey::generate()?.with_id(id);
        Ok(())
    }

    /// Signs a token of its own with any header and claims.
    ///
    /// # Errors
    ///
    /// When it can't be signed.
    pub fn sign(&self, header: &Value, claims: &Value) -> Result<String, crate::jose::SignError> {
        let key = self.lock().key.clone();
        let mut header = header.clone();
        if let Some(members) = header.as_object_mut() {
            members.entry("alg").or_insert_with(|| key.algorithm().name().into());
            members.entry("kid").or_insert_with(|| key.public().id().into());
        }
        key.sign_token(&header, claims)
    }

    /// What is known about an access token, if it is good.
    #[must_use]
    pub fn issued(&self, token: &str) -> Option<Issued> {
        let state = self.lock();
        let issued = state.issued.get(token)?;
        let good = !state.revoked.contains(&issued.family)
            && !state.revoked.contains(token)
            && (state.now)() < issued.expires_at;
        good.then(|| issued.clone())
    }

    /// Has it answer at its origin in a script.
    pub fn serve(&self, fetch: &ScriptedFetch) {
        let authority = self.clone();
        let origin = self.shared.base.origin().ascii_serialization();
        fetch.serve_later(&origin, move |request| {
            let authority = authority.clone();
            Box::pin(async move { Ok(authority.answer(&request).await) })
        });
    }

    /// Answers a request.
    pub async fn answer(&self, request: &FetchRequest) -> FetchResponse {
        let url = &request.url;
        let query = url.query().unwrap_or_default().as_bytes();
        let mut params: HashMap<String, String> =
            form_urlencoded::parse(query).into_owned().collect();
        let is_form = request.method == Method::POST
            && request
                .headers
                .get(CONTENT_TYPE)
                .is_some_and(|kind| kind.as_bytes().starts_with(b"application/x-www-form"));
        if is_form {
            params.extend(form_urlencoded::parse(&request.body).into_owned());
        }
        let asked = Asked {
            method: &request.method,
            url,
            headers: &request.headers,
            params,
            body: &request.body,
        };
        let prefix = self.shared.base.path().trim_end_matches('/').to_owned();
        let path = url.path();
        if self.metadata_paths(&prefix).iter().any(|known| known == path) {
            return self.metadata();
        }
        let Some(endpoint) = path.strip_prefix(&*prefix) else { return not_found() };
        match (request.method.as_str(), endpoint) {
            ("GET", "/authorize") => self.authorize(&asked).await,
            ("POST", "/token") => self.token(&asked).await,
            ("POST", "/register") => self.register_dynamically(&asked),
            ("POST", "/revoke") => self.revoke(&asked),
            ("POST", "/introspect") => self.introspect(&asked),
            ("GET", "/jwks") => answer(StatusCode::OK, &self.keys().to_jwks()),
            _ => not_found(),
        }
    }

    fn metadata_paths(&self, prefix: &str) -> Vec<String> {
        let state = self.lock();
        let mut paths = Vec::new();
        if state.behavior.oauth_metadata {
            paths.push(format!("/.well-known/oauth-authorization-server{prefix}"));
        }
        if state.behavior.openid_metadata {
            paths.push(format!("{prefix}/.well-known/openid-configuration"));
        }
        paths
    }

    fn metadata(&self) -> FetchResponse {
        let state = self.lock();
        let behavior = &state.behavior;
        let issuer = self.shared.issuer.as_str();
        let base = self.shared.base.as_str().trim_end_matches('/');
        let mut document = json!({
            "issuer": behavior.metadata_issuer.as_deref().unwrap_or(issuer),
            "authorization_endpoint": format!("{base}/authorize"),
            "token_endpoint": format!("{base}/token"),
            "revocation_endpoint": format!("{base}/revoke"),
            "introspection_endpoint": format!("{base}/introspect"),
            "jwks_uri": format!("{base}/jwks"),
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
            "token_endpoint_auth_methods_supported": behavior.auth_methods,
            "client_id_metadata_document_supported": behavior.client_documents,
            "authorization_response_iss_parameter_supported": behavior.announces_iss,
        });
        if let Some(members) = document.as_object_mut() {
            if behavior.announces_s256 {
                members.insert("code_challenge_methods_supported".into(), json!(["S256"]));
            }
            if behavior.dynamic_registration {
                members.insert("registration_endpoint".into(), format!("{base}/register").into());
            }
            if let Some(scopes) = &behavior.scopes_supported {
                let scopes: Vec<&str> = scopes.iter().collect();
                members.insert("scopes_supported".into(), json!(scopes));
            }
            if behavior.dpop {
                members.insert("dpop_signing_alg_values_supported".into(), json!(["ES256"]));
            }
        }
        answer(StatusCode::OK, &document)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn seconds(&self) -> u64 {
        (self.now)().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
    }

    fn after(&self, life: Duration) -> SystemTime {
        (self.now)() + life
    }

    /// A name that was not given before; its random part makes it fit for a secret.
    fn fresh(&mut self, kind: &str) -> String {
        self.count += 1;
        let random = crate::crypto::random_id().unwrap_or_default();
        format!("{kind}-{}-{random}", self.count)
    }
}

fn refused((status, error): Refused) -> FetchResponse {
    answer(status, &json!({ "error": error }))
}

fn not_found() -> FetchResponse {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html"));
    FetchResponse::new(StatusCode::NOT_FOUND, headers, "<h1>Not Found</h1>")
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Authority").field(&self.shared.issuer).finish()
    }
}
