use serde_json::Value;

use super::{Algorithm, PublicKey};
use crate::crypto;
use crate::json::{self, Object};

/// The longest token that is read, in bytes.
const MAX_LEN: usize = 16 * 1024;

/// A signed token that was taken apart. Nothing of it may be believed before
/// [`verify`](Self::verify).
#[derive(Clone)]
pub struct Compact<'t> {
    header: Object,
    claims: Object,
    algorithm: Algorithm,
    signed: &'t str,
    signature: Vec<u8>,
}

impl<'t> Compact<'t> {
    /// Takes a token apart.
    ///
    /// # Errors
    ///
    /// When it isn't three base64url parts of which the first two are JSON objects without
    /// duplicate members, when its algorithm isn't one of [`Algorithm`], or when its header
    /// lists extensions that must be understood.
    pub fn read(token: &'t str) -> Result<Self, MalformedToken> {
        if token.len() > MAX_LEN {
            return Err(MalformedToken::TooLong);
        }
        let mut parts = token.split('.');
        let (Some(header), Some(claims), Some(signature)) =
            (parts.next(), parts.next(), parts.next())
        else {
            return Err(MalformedToken::Parts);
        };
        match parts.count() {
            0 => {}
            2 => return Err(MalformedToken::Encrypted),
            _ => return Err(MalformedToken::Parts),
        }
        let object = |part: &str| {
            crypto::from_base64url(part)
                .and_then(|bytes| json::strict_object(&bytes))
                .ok_or(MalformedToken::Json)
        };
        let parsed = object(header)?;
        if parsed.contains_key("crit") {
            return Err(MalformedToken::Critical);
        }
        let algorithm = json::text(&parsed, "alg")
            .and_then(Algorithm::from_name)
            .ok_or(MalformedToken::Algorithm)?;
        let signed = token.get(..header.len() + 1 + claims.len()).unwrap_or_default();
        Ok(Self {
            header: parsed,
            claims: object(claims)?,
            algorithm,
            signed,
            signature: crypto::from_base64url(signature).ok_or(MalformedToken::Parts)?,
        })
    }

    /// The algorithm that the header names.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The header's `typ` in lower case, without `application/`.
    #[must_use]
    pub fn kind(&self) -> Option<String> {
        let kind = json::text(&self.header, "typ")?.to_ascii_lowercase();
        Some(kind.strip_prefix("application/").map(str::to_owned).unwrap_or(kind))
    }

    /// The header's `kid`.
    #[must_use]
    pub fn key_id(&self) -> Option<&str> {
        json::text(&self.header, "kid")
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &serde_json::Map<String, Value> {
        &self.header
    }

    /// The claims, which prove nothing yet.
    #[must_use]
    pub fn unverified_claims(&self) -> &serde_json::Map<String, Value> {
        &self.claims
    }

    /// Whether `key` made the signature, with the algorithm that the header names.
    #[must_use]
    pub fn verify(&self, key: &PublicKey) -> bool {
        key.verify(self.algorithm, self.signed.as_bytes(), &self.signature)
    }

    /// The claims, for whoever has verified.
    #[must_use]
    pub fn into_claims(self) -> serde_json::Map<String, Value> {
        self.claims
    }
}

impl std::fmt::Debug for Compact<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compact").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

/// Header and claims of a token that is for somebody else, whatever its algorithm. They prove
/// nothing.
#[cfg(feature = "client")]
pub(crate) fn peek(token: &str) -> Option<(Object, Object)> {
    let mut parts = token.split('.');
    let mut object = || json::object(&crypto::from_base64url(parts.next()?)?);
    Some((object()?, object()?))
}

/// Whether `claims` are for `audience`, among others perhaps.
pub(crate) fn is_for(claims: &Object, audience: &str) -> bool {
    match claims.get("aud") {
        Some(Value::String(one)) => one == audience,
        Some(Value::Array(many)) => many.iter().any(|one| one == audience),
        _ => false,
    }
}

/// Puts a token together, up to its signature: what is to be signed.
pub(crate) fn encode(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| crypto::base64url(value.to_string().as_bytes());
    format!("{}.{}", part(header), part(claims))
}

/// A token can't be taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MalformedToken {
    /// It is too long.
    #[error("the token is longer than {MAX_LEN} bytes")]
    TooLong,
    /// It isn't three base64url parts.
    #[error("the token is not a signed JWT")]
    Parts,
    /// It is encrypted.
    #[error("the token is encrypted")]
    Encrypted,
    /// Header or claims are no JSON object, or have a member twice.
    #[error("the token's header or claims are not JSON objects")]
    Json,
    /// It names no algorithm, or one without a public key.
    #[error("the token's algorithm is not an asymmetric one")]
    Algorithm,
    /// It demands that extensions be understood.
    #[error("the token demands extensions")]
    Critical,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(header: &str, claims: &str) -> String {
        let part = |text: &str| crypto::base64url(text.as_bytes());
        format!("{}.{}.{}", part(header), part(claims), part("signature"))
    }

    // Shows: RS-JW-1, RS-JW-3, RS-JW-4
    #[test]
    fn what_can_not_be_verified_safely_is_not_even_taken_apart() {
        let read = |token: &str| Compact::read(token).map(|_| ());
        assert_eq!(read(&token(r#"{"alg":"ES256"}"#, "{}")), Ok(()));
        for (header, why) in [
            (r#"{"alg":"none"}"#, MalformedToken::Algorithm),
            (r#"{"alg":"HS256"}"#, MalformedToken::Algorithm),
            (r#"{}"#, MalformedToken::Algorithm),
            (r#"{"alg":"ES256","crit":["exp"]}"#, MalformedToken::Critical),
            (r#"{"alg":"ES256","alg":"none"}"#, MalformedToken::Json),
            (r#"["ES256"]"#, MalformedToken::Json),
        ] {
            assert_eq!(read(&token(header, "{}")), Err(why), "{header}");
        }
        assert_eq!(
            read(&token(r#"{"alg":"ES256"}"#, r#"{"aud":1,"aud":2}"#)),
            Err(MalformedToken::Json)
        );
        assert_eq!(read("a.b.c.d.e"), Err(MalformedToken::Encrypted));
        assert_eq!(read("a.b"), Err(MalformedToken::Parts));
        assert_eq!(read(""), Err(MalformedToken::Parts));
        assert_eq!(read(&"a".repeat(MAX_LEN + 1)), Err(MalformedToken::TooLong));
    }

    #[test]
    fn the_kind_of_a_token_has_no_case_and_no_prefix() {
        let token = token(r#"{"alg":"ES256","typ":"application/AT+jwt"}"#, "{}");
        assert_eq!(Compact::read(&token).unwrap().kind().as_deref(), Some("at+jwt"));
    }
}
