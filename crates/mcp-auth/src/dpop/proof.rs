use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use url::Url;

use crate::jose::{PrivateKey, SignError};
use crate::{Secret, crypto};

/// A fresh proof that we hold `key`, for one request
/// ([RFC 9449, section 4.2](https://www.rfc-editor.org/rfc/rfc9449#section-4.2)).
pub(crate) fn proof(
    key: &PrivateKey,
    method: &str,
    url: &Url,
    token: Option<&Secret>,
    nonce: Option<&str>,
    now: SystemTime,
) -> Result<String, SignError> {
    let mut target = url.clone();
    target.set_query(None);
    target.set_fragment(None);
    let mut claims = json!({
        "jti": crypto::random_id().map_err(SignError::new)?,
        "htm": method,
        "htu": target.as_str(),
        "iat": now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
    });
    if let Some(members) = claims.as_object_mut() {
        if let Some(token) = token {
            let hash = crypto::sha256(token.expose().as_bytes());
            members.insert("ath".to_owned(), crypto::base64url(&hash).into());
        }
        if let Some(nonce) = nonce {
            members.insert("nonce".to_owned(), nonce.into());
        }
    }
    // An id of the key has no business in a proof: the key itself is there.
    let mut jwk = key.public().to_jwk();
    if let Some(members) = jwk.as_object_mut() {
        members.retain(|name, _| name != "kid" && name != "alg");
    }
    let header = json!({ "typ": "dpop+jwt", "alg": key.algorithm().name(), "jwk": jwk });
    key.sign_token(&header, &claims)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jose::Compact;

    // Shows: CL-DP-3
    #[test]
    fn a_proof_names_method_and_url_and_shows_only_the_public_key() {
        let key = PrivateKey::generate().unwrap();
        let url = Url::parse("https://h.example/mcp?session=1#x").unwrap();
        let make =
            || proof(&key, "POST", &url, Some(&"token".into()), Some("n"), UNIX_EPOCH).unwrap();
        let text = make();
        let read = Compact::read(&text).unwrap();
        assert!(read.verify(key.public()));
        assert_eq!(read.kind().as_deref(), Some("dpop+jwt"));
        let claims = read.unverified_claims();
        assert_eq!(
            (&claims["htm"], &claims["htu"]),
            (&"POST".into(), &"https://h.example/mcp".into())
        );
        assert_eq!(claims["ath"], crypto::base64url(&crypto::sha256(b"token")));
        assert_eq!(claims["nonce"], "n");
        assert!(read.header()["jwk"].get("d").is_none());
        let again = make();
        assert_ne!(Compact::read(&again).unwrap().unverified_claims()["jti"], claims["jti"]);
    }
}
