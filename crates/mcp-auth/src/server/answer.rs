use std::time::Duration;

use hyper::header::{CACHE_CONTROL, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{HeaderMap, StatusCode};
use mcp_jsonrpc::ErrorObject;
use mcp_transport_http::v1::Refusal;

use crate::ScopeSet;
use crate::challenge::{ChallengeWriter, Scheme};
use crate::v1::Unverified;

/// Writes the answers to requests that may not go on.
///
/// What they say comes from a fixed list: nothing of the token, no audience, no key id.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    /// Where the metadata document is, absolute.
    pub(super) metadata: String,
    /// The scopes that a request without a usable token is told.
    pub(super) scopes: ScopeSet,
    /// The algorithms for proofs, where DPoP is on, and whether it must be used.
    pub(super) dpop: Option<(String, bool)>,
}

impl Answers {
    /// 401 for a request without a credential: no error, that is how a client learns what to
    /// do.
    pub(super) fn no_credential(&self) -> Refusal {
        self.unauthorized(None, None, None)
    }

    /// 400 for a credential that is no credential.
    pub(super) fn malformed(&self, scheme: Scheme) -> Refusal {
        let challenge = begin(scheme).param("error", "invalid_request").finish();
        refusal(StatusCode::BAD_REQUEST, "the credential is malformed", [challenge])
    }

    /// 401 for a token that is no good, or 503 for one that can't be checked.
    pub(super) fn unverified(&self, scheme: Scheme, reason: &Unverified) -> Refusal {
        match reason {
            Unverified::Unavailable { retry_after, .. } => unavailable(*retry_after),
            Unverified::Expired => self.invalid(scheme, "the token has expired"),
            Unverified::NotYetValid => self.invalid(scheme, "the token is not valid yet"),
            _ => self.invalid(scheme, "the token is not valid here"),
        }
    }

    /// 401 for a token that is no good.
    pub(super) fn invalid(&self, scheme: Scheme, description: &'static str) -> Refusal {
        self.unauthorized(Some(scheme), Some("invalid_token"), Some(description))
    }

    /// 403 for a token without the scopes.
    pub(super) fn insufficient(&self, scheme: Scheme, scopes: &ScopeSet) -> Refusal {
        let challenge = begin(scheme)
            .param("error", "insufficient_scope")
            .scopes(scopes)
            .param("resource_metadata", &self.metadata)
            .param("error_description", "the operation needs more scopes")
            .finish();
        refusal(StatusCode::FORBIDDEN, "the operation needs more scopes", [challenge])
    }

    /// 503: nothing can be said about the request now.
    pub(super) fn unavailable(&self) -> Refusal {
        unavailable(Duration::from_secs(5))
    }

    /// 403 for a reason that has nothing to do with scopes.
    pub(super) fn forbidden(&self) -> Refusal {
        refusal(StatusCode::FORBIDDEN, "forbidden", [])
    }

    /// 401 for a proof that is no good, or lacks a nonce.
    pub(super) fn proof(&self, error: &'static str, nonce: Option<HeaderValue>) -> Refusal {
        let algorithms = self.dpop.as_ref().map_or("ES256", |(names, _)| names);
        let challenge =
            ChallengeWriter::dpop().param("error", error).param("algs", algorithms).finish();
        let mut refusal =
            refusal(StatusCode::UNAUTHORIZED, "the proof of possession is not valid", [challenge]);
        refusal.headers.extend(nonce.map(|nonce| (DPOP_NONCE, nonce)));
        refusal
    }

    fn unauthorized(
        &self,
        scheme: Option<Scheme>,
        error: Option<&str>,
        description: Option<&'static str>,
    ) -> Refusal {
        let challenge = |writer: ChallengeWriter| {
            let mut writer = writer;
            if let Some(error) = error {
                writer = writer.param("error", error);
            }
            if let Some(description) = description {
                writer = writer.param("error_description", description);
            }
            writer.param("resource_metadata", &self.metadata).scopes(&self.scopes)
        };
        let bearer = || challenge(ChallengeWriter::bearer()).finish();
        let dpop = |algorithms: &str| {
            challenge(ChallengeWriter::dpop()).param("algs", algorithms).finish()
        };
        let challenges = match (&self.dpop, scheme) {
            (Some((algorithms, true)), _) | (Some((algorithms, false)), Some(Scheme::Dpop)) => {
                vec![dpop(algorithms)]
            }
            // Several clients read the first one only.
            (Some((algorithms, false)), _) => vec![bearer(), dpop(algorithms)],
            (None, _) => vec![bearer()],
        };
        refusal(
            StatusCode::UNAUTHORIZED,
            description.unwrap_or("authorization is needed"),
            challenges,
        )
    }
}

pub(super) const DPOP_NONCE: hyper::header::HeaderName =
    hyper::header::HeaderName::from_static("dpop-nonce");

fn begin(scheme: Scheme) -> ChallengeWriter {
    match scheme {
        Scheme::Bearer => ChallengeWriter::bearer(),
        Scheme::Dpop => ChallengeWriter::dpop(),
    }
}

/// 503: a 401 would send every client into a login.
pub(super) fn unavailable(retry_after: Duration) -> Refusal {
    let mut refusal =
        refusal(StatusCode::SERVICE_UNAVAILABLE, "the token can't be checked now", []);
    refusal.headers.insert(RETRY_AFTER, HeaderValue::from(retry_after.as_secs().max(1)));
    refusal
}

fn refusal(
    status: StatusCode,
    message: &'static str,
    challenges: impl IntoIterator<Item = HeaderValue>,
) -> Refusal {
    let mut headers = HeaderMap::new();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for challenge in challenges {
        headers.append(WWW_AUTHENTICATE, challenge);
    }
    Refusal::new(status, ErrorObject::invalid_request(message)).with_headers(headers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::challenge::{Challenges, Demand};

    fn answers(dpop: Option<bool>) -> Answers {
        Answers {
            metadata: "https://h.example/.well-known/oauth-protected-resource/mcp".to_owned(),
            scopes: ScopeSet::parse("mcp:use"),
            dpop: dpop.map(|required| ("ES256 EdDSA".to_owned(), required)),
        }
    }

    fn lines(refusal: &Refusal) -> Vec<String> {
        let lines = refusal.headers.get_all(WWW_AUTHENTICATE).iter();
        lines.map(|line| line.to_str().unwrap().to_owned()).collect()
    }

    // Shows: FC-084, AUTH-SERVER-004, AUTH-SERVER-005, AUTH-SERVER-008, AUTH-SERVER-017,
    // AUTH-SERVER-019, RS-WA-4
    #[test]
    fn challenges_say_what_to_do_and_nothing_about_the_token() {
        let answers = answers(None);
        let refusal = answers.no_credential();
        assert_eq!(refusal.status, StatusCode::UNAUTHORIZED);
        assert_eq!(
            lines(&refusal),
            [
                "Bearer resource_metadata=\"https://h.example/.well-known/oauth-protected-resource/mcp\", scope=\"mcp:use\""
            ]
        );
        let refusal = answers.unverified(Scheme::Bearer, &Unverified::Expired);
        assert!(lines(&refusal)[0].starts_with("Bearer error=\"invalid_token\", error_description=\"the token has expired\", resource_metadata="));
        let refusal = answers.malformed(Scheme::Bearer);
        assert_eq!(refusal.status, StatusCode::BAD_REQUEST);
        assert_eq!(lines(&refusal), ["Bearer error=\"invalid_request\""]);
        let refusal = answers.unverified(Scheme::Bearer, &Unverified::unavailable("down"));
        assert_eq!(refusal.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(lines(&refusal).is_empty() && refusal.headers.contains_key(RETRY_AFTER));
    }

    // Shows: AUTH-SERVER-020, AUTH-SERVER-021, AUTH-SERVER-022, AUTH-SERVER-023,
    // AUTH-SERVER-024, AUTH-SERVER-025, RS-WA-2
    #[test]
    fn our_own_client_understands_our_challenges() {
        let refusal = answers(None).insufficient(Scheme::Bearer, &ScopeSet::parse("a b"));
        assert_eq!(refusal.status, StatusCode::FORBIDDEN);
        let demand = Demand::of(refusal.status, &Challenges::read(&refusal.headers));
        assert!(demand.lacks_scope());
        assert_eq!(demand.scopes, ScopeSet::parse("a b"));
        assert!(demand.resource_metadata.is_some() && demand.error_description.is_some());
    }

    // Shows: RS-WA-1
    #[test]
    fn a_refusal_names_the_schemes_that_would_do() {
        let schemes = |refusal: &Refusal| -> Vec<String> {
            Challenges::read(&refusal.headers).iter().map(|c| c.scheme().to_owned()).collect()
        };
        assert_eq!(schemes(&answers(Some(false)).no_credential()), ["Bearer", "DPoP"]);
        assert_eq!(schemes(&answers(Some(true)).no_credential()), ["DPoP"]);
        assert_eq!(schemes(&answers(Some(false)).invalid(Scheme::Dpop, "x")), ["DPoP"]);
    }
}
