use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use tokio::time::Instant;
use url::Url;
use url::form_urlencoded::Serializer;

use super::claims::{self, TimeRules};
use crate::client_auth::{ASSERTION_TYPE, basic, client_assertion};
use crate::v1::{BoxFuture, Fetch, PresentedToken, Signer, TokenVerifier, Unverified, Verified};
use crate::{FetchRequest, Issuer, Secret, crypto, json};

/// How long an answer is believed.
const ACTIVE: Duration = Duration::from_secs(30);
const INACTIVE: Duration = Duration::from_secs(10);
/// How many answers are kept.
const MAX_ANSWERS: usize = 10_000;

/// How this server authenticates at an introspection endpoint.
#[derive(Clone)]
pub struct IntrospectionClient {
    client_id: String,
    authentication: Authentication,
}

#[derive(Clone)]
enum Authentication {
    Basic(Secret),
    Post(Secret),
    Key(Arc<dyn Signer>),
}

impl IntrospectionClient {
    /// With a secret in the `Authorization` header.
    pub fn basic(client_id: impl Into<String>, secret: impl Into<Secret>) -> Self {
        let authentication = Authentication::Basic(secret.into());
        Self { client_id: client_id.into(), authentication }
    }

    /// With a secret in the form.
    pub fn post(client_id: impl Into<String>, secret: impl Into<Secret>) -> Self {
        let authentication = Authentication::Post(secret.into());
        Self { client_id: client_id.into(), authentication }
    }

    /// With signed assertions.
    pub fn with_key(client_id: impl Into<String>, key: impl Signer) -> Self {
        let authentication = Authentication::Key(Arc::new(key));
        Self { client_id: client_id.into(), authentication }
    }
}

impl fmt::Debug for IntrospectionClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntrospectionClient")
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

/// Asks the issuer about each token
/// ([RFC 7662](https://www.rfc-editor.org/rfc/rfc7662)).
///
/// Answers are believed for at most 30 seconds (10 for a "no"), never beyond the token's end,
/// and 10,000 of them are kept, by digest. Several questions about one token are one request.
pub struct IntrospectionVerifier {
    issuer: Issuer,
    endpoint: Url,
    client: IntrospectionClient,
    fetch: Arc<dyn Fetch>,
    now: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    answers: Mutex<HashMap<[u8; 32], Answer>>,
    asking: Mutex<HashMap<[u8; 32], Arc<tokio::sync::Mutex<()>>>>,
}

#[derive(Clone)]
struct Answer {
    until: Instant,
    /// `None`: not active.
    verified: Option<Box<Verified>>,
}

impl IntrospectionVerifier {
    /// A verifier that asks `endpoint` about the tokens of `issuer`.
    pub fn new(
        issuer: Issuer,
        endpoint: Url,
        client: IntrospectionClient,
        fetch: Arc<dyn Fetch>,
        now: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    ) -> Self {
        let (answers, asking) = (Mutex::default(), Mutex::default());
        Self { issuer, endpoint, client, fetch, now, answers, asking }
    }

    async fn check(&self, token: &str) -> Result<Verified, Unverified> {
        let digest = crypto::sha256(token.as_bytes());
        if let Some(answer) = self.known(&digest) {
            return answer.result();
        }
        let turn = {
            let mut asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
            asking.retain(|_, turn| Arc::strong_count(turn) > 1);
            Arc::clone(asking.entry(digest).or_default())
        };
        let _turn = turn.lock().await;
        // Somebody else may have asked in the meantime.
        if let Some(answer) = self.known(&digest) {
            return answer.result();
        }
        let verified = match self.ask(token).await {
            Ok(verified) => Some(Box::new(verified)),
            Err(Unverified::Inactive | Unverified::Expired) => None,
            Err(error) => return Err(error),
        };
        let life = match &verified {
            None => INACTIVE,
            Some(verified) => {
                let left = verified.expires_at.map(|at| at.duration_since((self.now)()));
                left.map_or(ACTIVE, |left| left.unwrap_or_default().min(ACTIVE))
            }
        };
        let answer = Answer { until: Instant::now() + life, verified };
        self.keep(digest, answer.clone());
        answer.result()
    }

    fn known(&self, digest: &[u8; 32]) -> Option<Answer> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.get(digest).filter(|answer| Instant::now() < answer.until).cloned()
    }

    fn keep(&self, digest: [u8; 32], answer: Answer) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() >= MAX_ANSWERS {
            let now = Instant::now();
            answers.retain(|_, answer| now < answer.until);
        }
        if answers.len() >= MAX_ANSWERS {
            // All are fresh: forgetting them costs one question each.
            answers.clear();
        }
        answers.insert(digest, answer);
    }

    async fn ask(&self, token: &str) -> Result<Verified, Unverified> {
        let reach = self.fetch.reach(&self.endpoint).await.map_err(Unverified::unavailable)?;
        let client_id = &*self.client.client_id;
        let mut pairs = vec![("token", token), ("token_type_hint", "access_token")];
        let (authorization, assertion);
        match &self.client.authentication {
            Authentication::Basic(secret) => {
                authorization = Some(basic(client_id, secret).map_err(Unverified::unavailable)?);
            }
            Authentication::Post(secret) => {
                authorization = None;
                pairs.extend([("client_id", client_id), ("client_secret", secret.expose())]);
            }
            Authentication::Key(signer) => {
                authorization = None;
                let made = client_assertion(&**signer, client_id, &self.issuer, (self.now)());
                assertion = made.await.map_err(Unverified::unavailable)?;
                pairs.extend([
                    ("client_id", client_id),
                    ("client_assertion_type", ASSERTION_TYPE),
                    ("client_assertion", assertion.expose()),
                ]);
            }
        }
        let body = Serializer::new(String::new()).extend_pairs(pairs).finish().into_bytes();
        let mut request = FetchRequest::post(self.endpoint.clone(), reach, body).with_header(
            CONTENT_TYPE,
            HeaderValue::from_static("application/x-www-form-urlencoded"),
        );
        request.headers.extend(authorization.map(|value| (AUTHORIZATION, value)));
        let answer = self.fetch.fetch(request).await.map_err(Unverified::unavailable)?;
        if answer.status != StatusCode::OK {
            // A refusal is about *our* authentication, and nothing that the client can mend.
            tracing::error!(issuer = %self.issuer, status = answer.status.as_u16(), "the introspection endpoint refused");
            return Err(Unverified::unavailable(Refused(answer.status)));
        }
        let object =
            json::strict_object(&answer.body).ok_or_else(|| Unverified::unavailable(NoAnswer))?;
        if !json::flag(&object, "active") {
            return Err(Unverified::Inactive);
        }
        if object.get("iss").is_some_and(|issuer| issuer != self.issuer.as_str()) {
            return Err(Unverified::OtherIssuer);
        }
        let rules =
            TimeRules { leeway: Duration::from_secs(60), max_lifetime: None, needs_expiry: false };
        let scopes = ["scope".to_owned()];
        let mut verified = claims::read(object, &self.issuer, &rules, &scopes, (self.now)())?;
        verified.alive_by_word = true;
        Ok(verified)
    }
}

impl Answer {
    fn result(self) -> Result<Verified, Unverified> {
        self.verified.map(|verified| *verified).ok_or(Unverified::Inactive)
    }
}

impl TokenVerifier for IntrospectionVerifier {
    fn verify<'a>(
        &'a self,
        token: PresentedToken<'a>,
    ) -> BoxFuture<'a, Result<Verified, Unverified>> {
        Box::pin(self.check(token.expose()))
    }
}

impl fmt::Debug for IntrospectionVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntrospectionVerifier")
            .field("issuer", &self.issuer)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the introspection endpoint answered with status {0}")]
struct Refused(StatusCode);

#[derive(Debug, thiserror::Error)]
#[error("the answer of the introspection endpoint is no JSON object")]
struct NoAnswer;
