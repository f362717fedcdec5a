use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::HeaderMap;
use serde_json::Value;
use url::Url;

use crate::jose::{Algorithm, Compact, PublicKey, Thumbprint};
use crate::{Secret, crypto, json};

/// How far the time of a proof may be off, either way.
const WINDOW: Duration = Duration::from_secs(300);
/// The longest id of a proof, in bytes.
const MAX_ID: usize = 256;

/// What a proof has to be for.
pub(crate) struct Expected<'e> {
    pub(crate) method: &'e str,
    /// The public URL, not what the `Host` header says.
    pub(crate) url: &'e Url,
    pub(crate) token: &'e Secret,
    pub(crate) bound_to: &'e Thumbprint,
    pub(crate) algorithms: &'e [Algorithm],
    pub(crate) now: SystemTime,
}

/// A proof that holds.
#[derive(Debug)]
pub(crate) struct Proof {
    pub(crate) id: String,
    pub(crate) nonce: Option<String>,
    /// Until when the same proof could be shown again.
    pub(crate) until: SystemTime,
}

/// Why a proof doesn't hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProofFault {
    /// Missing, doubled, or wrong in itself.
    Invalid,
    /// It was made with another key than the token is bound to.
    OtherKey,
}

/// Checks the proof of a request
/// ([RFC 9449, section 4.3](https://www.rfc-editor.org/rfc/rfc9449#section-4.3)).
pub(crate) fn check(headers: &HeaderMap, expected: &Expected<'_>) -> Result<Proof, ProofFault> {
    let mut fields = headers.get_all("dpop").iter();
    let (Some(field), None) = (fields.next(), fields.next()) else {
        return Err(ProofFault::Invalid);
    };
    let text = field.to_str().map_err(|_| ProofFault::Invalid)?;
    let proof = Compact::read(text).map_err(|_| ProofFault::Invalid)?;
    let right_kind = proof.kind().as_deref() == Some("dpop+jwt");
    let jwk = proof.header().get("jwk").and_then(Value::as_object).ok_or(ProofFault::Invalid)?;
    // A key with private members is refused here, too.
    let key = PublicKey::from_jwk(jwk).map_err(|_| ProofFault::Invalid)?;
    if !right_kind || !expected.algorithms.contains(&proof.algorithm()) || !proof.verify(&key) {
        return Err(ProofFault::Invalid);
    }
    let claims = proof.unverified_claims();
    let text = |name| json::text(claims, name);
    let id = text("jti").filter(|id| id.len() <= MAX_ID).ok_or(ProofFault::Invalid)?;
    if text("htm") != Some(expected.method) || !same_url(text("htu"), expected.url) {
        return Err(ProofFault::Invalid);
    }
    let seconds = claims
        .get("iat")
        .and_then(Value::as_f64)
        .filter(|seconds| (0.0..1e12).contains(seconds))
        .ok_or(ProofFault::Invalid)?;
    let made = UNIX_EPOCH + Duration::from_secs_f64(seconds);
    if made > expected.now + WINDOW || made + WINDOW < expected.now {
        return Err(ProofFault::Invalid);
    }
    let hash = crypto::base64url(&crypto::sha256(expected.token.expose().as_bytes()));
    if text("ath") != Some(&hash) {
        return Err(ProofFault::Invalid);
    }
    if key.thumbprint() != *expected.bound_to {
        return Err(ProofFault::OtherKey);
    }
    Ok(Proof {
        id: id.to_owned(),
        nonce: text("nonce").map(str::to_owned),
        until: made + WINDOW + WINDOW,
    })
}

/// Whether a proof's URL is ours: case of scheme and host and a default port make no
/// difference, a query or a fragment does not belong there.
fn same_url(named: Option<&str>, ours: &Url) -> bool {
    let Some(named) = named.and_then(|named| Url::parse(named).ok()) else { return false };
    named.query().is_none()
        && named.fragment().is_none()
        && named.origin() == ours.origin()
        && named.path() == ours.path()
}
