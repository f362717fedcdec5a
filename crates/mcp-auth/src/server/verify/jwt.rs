use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::claims::{self, TimeRules};
use super::keys::{KeySetSource, Keys};
use super::known::Known;
use crate::jose::{Algorithm, Compact, MalformedToken};
use crate::v1::{BoxFuture, Fetch, PresentedToken, TokenVerifier, Unverified, Verified};
use crate::{Issuer, crypto, json};

/// The most leeway that clocks are given.
const MAX_LEEWAY: Duration = Duration::from_secs(300);

/// How the signed tokens of an issuer are verified.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JwtRules {
    /// The algorithms that are taken. All have a public key, by type.
    pub algorithms: Vec<Algorithm>,
    /// Where the keys come from.
    pub key_set: KeySetSource,
    /// How far clocks may differ; at most 5 minutes.
    pub leeway: Duration,
    /// Whether a token has to say that it is an access token (RFC 9068).
    pub require_at_jwt: bool,
    /// How long a token may live.
    pub max_lifetime: Option<Duration>,
    /// The claims in which scopes are looked for, in that order.
    pub scope_claims: Vec<String>,
    /// How many verified tokens are remembered, so that the next request with the same one
    /// costs no signature; none by default. A token is remembered for a minute, and never
    /// past its end: that long a key that was withdrawn may still count.
    pub remembered: usize,
}

impl Default for JwtRules {
    fn default() -> Self {
        Self {
            algorithms: vec![
                Algorithm::Es256,
                Algorithm::EdDsa,
                Algorithm::Ps256,
                Algorithm::Rs256,
            ],
            key_set: KeySetSource::Discover,
            leeway: Duration::from_secs(60),
            require_at_jwt: false,
            max_lifetime: None,
            scope_claims: ["scope", "scp", "scopes"].map(str::to_owned).to_vec(),
            remembered: 0,
        }
    }
}

impl JwtRules {
    /// Changes where the keys come from.
    #[must_use]
    pub fn with_key_set(mut self, source: KeySetSource) -> Self {
        self.key_set = source;
        self
    }
}

/// Verifies signed tokens of one issuer with its published keys.
///
/// A token's own `jwk`, `jku`, `x5u` and `x5c` are never used; ID tokens, proofs and other
/// JWTs that are no access tokens are refused.
pub struct JwtVerifier {
    issuer: Issuer,
    rules: JwtRules,
    times: TimeRules,
    keys: Keys,
    known: Option<Known>,
    now: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl JwtVerifier {
    /// A verifier for the tokens of `issuer`; keys are fetched by `fetch`, `now` tells the
    /// time.
    pub fn new(
        issuer: Issuer,
        rules: JwtRules,
        fetch: Arc<dyn Fetch>,
        now: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    ) -> Self {
        let times = TimeRules {
            leeway: rules.leeway.min(MAX_LEEWAY),
            max_lifetime: rules.max_lifetime,
            needs_expiry: true,
        };
        let keys = Keys::new(issuer.clone(), rules.key_set.clone(), fetch);
        let known = Some(rules.remembered).filter(|count| *count > 0).map(Known::new);
        Self { issuer, rules, times, keys, known, now }
    }

    /// As [`check`](Self::check), but not twice within a minute for one token.
    async fn check_once(&self, token: &str) -> Result<Verified, Unverified> {
        let Some(known) = &self.known else { return self.check(token).await };
        let (digest, now) = (crypto::sha256(token.as_bytes()), (self.now)());
        if let Some(verified) = known.find(&digest, now) {
            return Ok(verified);
        }
        let verified = self.check(token).await?;
        known.keep(digest, &verified, now);
        Ok(verified)
    }

    async fn check(&self, token: &str) -> Result<Verified, Unverified> {
        let token = Compact::read(token).map_err(|error| match error {
            MalformedToken::Algorithm | MalformedToken::Critical => Unverified::NotGenuine,
            _ => Unverified::Malformed,
        })?;
        if !self.rules.algorithms.contains(&token.algorithm()) {
            return Err(Unverified::NotGenuine);
        }
        match token.kind().as_deref() {
            Some("at+jwt") => {}
            Some("jwt") | None if !self.rules.require_at_jwt => {}
            _ => return Err(Unverified::NotGenuine),
        }
        let claims = token.unverified_claims();
        // What only ID tokens have.
        if claims.contains_key("at_hash") || claims.contains_key("c_hash") {
            return Err(Unverified::NotGenuine);
        }
        if json::text(claims, "iss") != Some(self.issuer.as_str()) {
            return Err(Unverified::OtherIssuer);
        }
        let candidates = self.keys.candidates(token.key_id(), token.algorithm()).await?;
        if !candidates.iter().any(|key| token.verify(key)) {
            return Err(Unverified::NotGenuine);
        }
        let claims = token.into_claims();
        let scope_claims = &self.rules.scope_claims;
        claims::read(claims, &self.issuer, &self.times, scope_claims, (self.now)())
    }
}

impl TokenVerifier for JwtVerifier {
    fn verify<'a>(
        &'a self,
        token: PresentedToken<'a>,
    ) -> BoxFuture<'a, Result<Verified, Unverified>> {
        Box::pin(self.check_once(token.expose()))
    }
}

impl fmt::Debug for JwtVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JwtVerifier")
            .field("issuer", &self.issuer)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}
