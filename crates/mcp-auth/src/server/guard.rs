use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use hyper::header::HeaderValue;
use hyper::http::request::Parts;
use hyper::{Method, Response};
use mcp_jsonrpc::Extensions;
use mcp_transport_http::v1::{Admission, Guard, Operation, Principal, Refusal, Step};
use tokio::time::Instant;
use url::Url;

use super::answer::Answers;
use super::builder::ResourceServer;
use super::credential::Credential;
use super::facts::principal_of;
use super::metadata::DocumentRoute;
use super::policy::{Ruling, ScopePolicy};
use super::proof::{Proofs, Unproven};
use crate::challenge::Scheme;
use crate::v1::{PresentedToken, TokenVerifier, Unverified, Verified};
use crate::{Issuer, Resource, ScopeSet, Secret, crypto, json, text};

/// How often a misconfigured audience is logged.
const WARN_EVERY: Duration = Duration::from_secs(60);
/// How long a stream may go on after the token that opened it has ended.
const STREAM_LEEWAY: Duration = Duration::from_secs(60);
/// How many pairs of issuer and audience that log knows.
const MAX_WARNED: usize = 1000;

/// What a protected endpoint is made of.
pub(super) struct Inner {
    pub(super) resource: Resource,
    pub(super) url: Url,
    pub(super) audiences: Vec<String>,
    pub(super) entries: Vec<Entry>,
    pub(super) policy: ScopePolicy,
    pub(super) answers: Answers,
    pub(super) route: DocumentRoute,
    pub(super) proofs: Option<Proofs>,
    pub(super) now: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    pub(super) open_methods: Vec<Box<str>>,
    pub(super) ends_streams: bool,
    pub(super) warned: Mutex<HashMap<String, Instant>>,
    #[cfg(feature = "client")]
    pub(super) lends_tokens: bool,
}

/// An issuer and who verifies its tokens.
pub(super) struct Entry {
    pub(super) issuer: Issuer,
    pub(super) verifier: Arc<dyn TokenVerifier>,
    /// Whether tokens that don't name their issuer may be this one's.
    pub(super) takes_opaque: bool,
}

/// How a request was presented; kept beside the principal for its later judgement.
#[derive(Clone, Copy, Debug)]
struct PresentedAs(Scheme);

impl ResourceServer {
    /// Judges one operation of an admitted request, before anything is answered.
    ///
    /// # Errors
    ///
    /// The answer in place of a result: 403 with the scopes that the operation needs.
    #[expect(clippy::result_large_err, reason = "the refusal is the transport's type")]
    pub fn permit(&self, principal: &Principal, operation: &Operation) -> Result<(), Refusal> {
        let granted: ScopeSet = principal.scopes().collect();
        let scheme = principal.facts().get::<PresentedAs>().map_or(Scheme::Bearer, |how| how.0);
        match self.inner.policy.judge(operation, &granted) {
            Ruling::Allowed => Ok(()),
            Ruling::Denied => Err(self.inner.answers.forbidden()),
            Ruling::Lacking(scopes) => {
                let id = crypto::random_id().unwrap_or_default();
                tracing::info!(
                    correlation = id,
                    issuer = principal.issuer(),
                    client = principal.client(),
                    method = &*operation.method,
                    asked = %scopes,
                    %granted,
                    "an operation lacks scopes"
                );
                Err(self.inner.answers.insufficient(scheme, &scopes))
            }
        }
    }
}

impl Guard for ResourceServer {
    fn admit(&self, head: &Parts) -> Step<Result<Admission, Refusal>> {
        let answers = &self.inner.answers;
        match Credential::read(&head.headers) {
            Credential::None if head.method == Method::POST && self.inner.is_open() => {
                Step::now(Ok(Admission::anonymous()))
            }
            Credential::None => Step::now(Err(answers.no_credential())),
            Credential::Malformed(scheme) => Step::now(Err(answers.malformed(scheme))),
            Credential::Presented(scheme, token) => {
                let (inner, head) = (Arc::clone(&self.inner), copy_for_proof(head));
                Step::later(async move { inner.admit(&head, scheme, token).await })
            }
        }
    }

    fn document(&self, head: &Parts) -> Option<Response<Bytes>> {
        self.metadata(&head.method, head.uri.path())
    }

    fn permit(&self, who: &Admission, operation: &Operation) -> Step<Result<(), Refusal>> {
        Step::now(match &who.principal {
            Some(principal) => Self::permit(self, principal, operation),
            None if self.inner.is_open() => self.inner.permit_stranger(operation),
            // It speaks for nobody, so it may do what needs no scope.
            None => match self.inner.policy.judge(operation, &ScopeSet::new()) {
                Ruling::Allowed => Ok(()),
                Ruling::Denied | Ruling::Lacking(_) => Err(self.inner.answers.forbidden()),
            },
        })
    }
}

/// As much of a head as a proof is checked against; the body of the request is elsewhere.
fn copy_for_proof(head: &Parts) -> Parts {
    let (mut copy, ()) = hyper::Request::new(()).into_parts();
    copy.method = head.method.clone();
    for proof in head.headers.get_all("dpop") {
        copy.headers.append("dpop", proof.clone());
    }
    copy
}

impl Inner {
    async fn admit(
        &self,
        head: &Parts,
        scheme: Scheme,
        token: Secret,
    ) -> Result<Admission, Refusal> {
        let verified = match self.verify(&token).await {
            Ok(verified) => verified,
            Err(reason) => {
                tracing::info!(%reason, "a token was turned away");
                return Err(self.answers.unverified(scheme, &reason));
            }
        };
        self.check_binding(head, scheme, &token, &verified).await?;
        let ruling = self.policy.judge_baseline(&verified.scopes);
        if let Ruling::Lacking(scopes) = ruling {
            return Err(self.answers.insufficient(scheme, &scopes));
        }
        let streams_for = verified.expires_at.filter(|_| self.ends_streams).map(|at| {
            let left = at.duration_since((self.now)()).unwrap_or_default();
            left + STREAM_LEEWAY
        });
        let mut facts = Extensions::new();
        facts.insert(PresentedAs(scheme));
        #[cfg(feature = "client")]
        if self.lends_tokens {
            facts.insert(super::downstream::Caller::new(token));
        }
        let mut admission = match principal_of(verified, facts) {
            Some(principal) => Admission::of(principal),
            // A token that speaks for nobody can own nothing, and strangers may share it.
            None if self.is_open() => {
                return Err(self.answers.invalid(scheme, "the token is not valid here"));
            }
            None => Admission::anonymous(),
        };
        admission.streams_for = streams_for;
        Ok(admission)
    }

    /// Whether anything is served to those who have no token.
    fn is_open(&self) -> bool {
        !self.open_methods.is_empty()
    }

    #[expect(clippy::result_large_err, reason = "the refusal is the transport's type")]
    fn permit_stranger(&self, operation: &Operation) -> Result<(), Refusal> {
        if self.open_methods.contains(&operation.method) {
            Ok(())
        } else {
            Err(self.answers.no_credential())
        }
    }

    async fn verify(&self, token: &Secret) -> Result<Verified, Unverified> {
        let entry = self.route(token)?;
        let verified = entry.verifier.verify(PresentedToken::new(token)).await?;
        if verified.issuer != entry.issuer {
            return Err(Unverified::OtherIssuer);
        }
        match verified.expires_at {
            None if !verified.alive_by_word => return Err(Unverified::Malformed),
            // Verifiers give clocks some leeway; beyond that they must have said so.
            Some(at) if at + Duration::from_secs(300) <= (self.now)() => {
                return Err(Unverified::Expired);
            }
            Some(_) | None => {}
        }
        if !verified.audiences.iter().any(|audience| self.audiences.contains(audience)) {
            self.warn_of_audience(&verified);
            return Err(Unverified::NotGenuine);
        }
        Ok(verified)
    }

    /// Who verifies a token. One that names its issuer goes to that one's verifier, and to no
    /// other: the key of one issuer must never vouch for another.
    fn route(&self, token: &Secret) -> Result<&Entry, Unverified> {
        let claims = token.expose().split('.').nth(1).and_then(crypto::from_base64url);
        let claims = claims.and_then(|bytes| json::object(&bytes));
        let named = claims.as_ref().and_then(|claims| json::text(claims, "iss"));
        match named {
            Some(named) => self.entries.iter().find(|entry| entry.issuer.as_str() == named),
            None => self.entries.iter().find(|entry| entry.takes_opaque),
        }
        .ok_or(Unverified::OtherIssuer)
    }

    /// Whether a bound token came with its proof, and an unbound one without the claim to be.
    async fn check_binding(
        &self,
        head: &Parts,
        scheme: Scheme,
        token: &Secret,
        verified: &Verified,
    ) -> Result<(), Refusal> {
        let broken = || self.answers.invalid(scheme, "the token is not valid here");
        match (&self.proofs, scheme, &verified.bound_to) {
            // Ignoring a binding would make it a bearer token.
            (_, Scheme::Bearer, Some(_)) | (None, _, Some(_)) | (_, Scheme::Dpop, None) => {
                Err(broken())
            }
            (Some(proofs), Scheme::Bearer, None) if proofs.rules.required => Err(broken()),
            (_, Scheme::Bearer, None) => Ok(()),
            (Some(proofs), Scheme::Dpop, Some(bound_to)) => {
                let now = (self.now)();
                let checked = proofs.check(head, &self.url, token, bound_to, now).await;
                checked.map_err(|unproven| match unproven {
                    Unproven::Token => broken(),
                    Unproven::Proof => self.answers.proof("invalid_dpop_proof", None),
                    Unproven::Unavailable => self.answers.unavailable(),
                    Unproven::Nonce => {
                        let nonce = proofs.nonce(now).map(HeaderValue::try_from);
                        self.answers.proof("use_dpop_nonce", nonce.and_then(Result::ok))
                    }
                })
            }
        }
    }

    /// The misconfiguration that operators meet first; the client is told nothing of it.
    fn warn_of_audience(&self, verified: &Verified) {
        let found = text::clean(&verified.audiences.join(" "));
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.len() >= MAX_WARNED {
            warned.clear();
        }
        let key = format!("{} {found}", verified.issuer);
        let now = Instant::now();
        if warned.get(&key).is_none_or(|at| now.duration_since(*at) >= WARN_EVERY) {
            warned.insert(key, now);
            tracing::warn!(
                issuer = %verified.issuer,
                found,
                expected = %self.resource,
                "a token is meant for somebody else"
            );
        }
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").field("resource", &self.resource).finish_non_exhaustive()
    }
}
