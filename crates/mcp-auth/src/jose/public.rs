use std::fmt;

use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, UnparsedPublicKey,
};
use serde_json::{Value, json};
use subtle::ConstantTimeEq as _;

use super::Algorithm;
use crate::crypto;
use crate::json::{self, Object};

/// A public key that signatures can be verified with.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    material: Material,
    id: Option<Box<str>>,
    /// The one algorithm that the key's owner allows, where he names one.
    only: Option<Algorithm>,
}

#[derive(Clone, PartialEq, Eq)]
enum Material {
    /// The uncompressed point: 4, x, y.
    P256(Box<[u8]>),
    P384(Box<[u8]>),
    Ed25519(Box<[u8]>),
    Rsa {
        n: Box<[u8]>,
        e: Box<[u8]>,
    },
}

impl PublicKey {
    /// Reads a JSON Web Key ([RFC 7517](https://www.rfc-editor.org/rfc/rfc7517)).
    ///
    /// # Errors
    ///
    /// When it holds private members or a shared key, is not for signatures, is of a type that
    /// isn't known, names an algorithm that doesn't fit it, or is too weak (RSA below 2,048
    /// bits).
    pub fn from_jwk(jwk: &serde_json::Map<String, Value>) -> Result<Self, UnusableKey> {
        if ["d", "p", "q", "dp", "dq", "qi", "oth", "k"].iter().any(|m| jwk.contains_key(*m)) {
            return Err(UnusableKey::Private);
        }
        let material = match (json::text(jwk, "kty"), json::text(jwk, "crv")) {
            (Some("EC"), Some("P-256")) => Material::P256(point(jwk, 32)?),
            (Some("EC"), Some("P-384")) => Material::P384(point(jwk, 48)?),
            (Some("OKP"), Some("Ed25519")) => Material::Ed25519(number(jwk, "x", 32)?),
            (Some("RSA"), _) => rsa(jwk)?,
            _ => return Err(UnusableKey::Type),
        };
        let verifies = match jwk.get("key_ops").and_then(Value::as_array) {
            Some(operations) => operations.iter().any(|operation| operation == "verify"),
            None => true,
        };
        if json::text(jwk, "use").is_some_and(|purpose| purpose != "sig") || !verifies {
            return Err(UnusableKey::Purpose);
        }
        let only = match json::text(jwk, "alg") {
            Some(name) => Some(Algorithm::from_name(name).ok_or(UnusableKey::Purpose)?),
            None => None,
        };
        let id = json::text(jwk, "kid").map(Into::into);
        let key = Self { material, id, only: None };
        if only.is_some_and(|algorithm| !key.fits(algorithm)) {
            return Err(UnusableKey::Purpose);
        }
        Ok(Self { only, ..key })
    }

    pub(super) fn p256(point: &[u8]) -> Self {
        Self { material: Material::P256(point.into()), id: None, only: None }
    }

    pub(super) fn p384(point: &[u8]) -> Self {
        Self { material: Material::P384(point.into()), id: None, only: None }
    }

    pub(super) fn ed25519(point: &[u8]) -> Self {
        Self { material: Material::Ed25519(point.into()), id: None, only: None }
    }

    pub(super) fn rsa(n: &[u8], e: &[u8]) -> Self {
        Self { material: Material::Rsa { n: n.into(), e: e.into() }, id: None, only: None }
    }

    /// The key with an id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Box<str>>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Its id, if it has one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Whether signatures of `algorithm` can be verified with it.
    #[must_use]
    pub fn fits(&self, algorithm: Algorithm) -> bool {
        use Algorithm::{EdDsa, Es256, Es384, Ps256, Ps384, Ps512, Rs256, Rs384, Rs512};
        let by_type = match self.material {
            Material::P256(_) => algorithm == Es256,
            Material::P384(_) => algorithm == Es384,
            Material::Ed25519(_) => algorithm == EdDsa,
            Material::Rsa { .. } => {
                matches!(algorithm, Rs256 | Rs384 | Rs512 | Ps256 | Ps384 | Ps512)
            }
        };
        by_type && self.only.is_none_or(|only| only == algorithm)
    }

    /// Whether `signature` is one of `message`, made with `algorithm` and the private half.
    #[must_use]
    pub fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        if !self.fits(algorithm) {
            return false;
        }
        let verified =
            match &self.material {
                Material::P256(point) => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
                    .verify(message, signature),
                Material::P384(point) => UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point)
                    .verify(message, signature),
                Material::Ed25519(point) => {
                    UnparsedPublicKey::new(&ED25519, point).verify(message, signature)
                }
                Material::Rsa { n, e } => {
                    let parameters = match algorithm {
                        Algorithm::Rs384 => &RSA_PKCS1_2048_8192_SHA384,
                        Algorithm::Rs512 => &RSA_PKCS1_2048_8192_SHA512,
                        Algorithm::Ps256 => &RSA_PSS_2048_8192_SHA256,
                        Algorithm::Ps384 => &RSA_PSS_2048_8192_SHA384,
                        Algorithm::Ps512 => &RSA_PSS_2048_8192_SHA512,
                        // The other algorithms don't fit the key.
                        _ => &RSA_PKCS1_2048_8192_SHA256,
                    };
                    PublicKeyComponents { n, e }.verify(parameters, message, signature)
                }
            };
        verified.is_ok()
    }

    /// The key as a JSON Web Key.
    #[must_use]
    pub fn to_jwk(&self) -> Value {
        let mut jwk = self.required_members();
        if let Value::Object(members) = &mut jwk {
            if let Some(id) = self.id() {
                members.insert("kid".to_owned(), id.into());
            }
            if let Some(algorithm) = self.only {
                members.insert("alg".to_owned(), algorithm.name().into());
            }
        }
        jwk
    }

    /// The thumbprint of the key ([RFC 7638](https://www.rfc-editor.org/rfc/rfc7638)).
    #[must_use]
    pub fn thumbprint(&self) -> Thumbprint {
        // Members in lexical order, no blanks: what `serde_json`'s sorted map prints.
        let members = self.required_members();
        Thumbprint(crypto::base64url(&crypto::sha256(canonical(&members).as_bytes())))
    }

    fn required_members(&self) -> Value {
        let ec = |curve: &str, point: &[u8]| {
            let (x, y) = point.get(1..).unwrap_or_default().split_at(point.len() / 2);
            json!({
                "crv": curve, "kty": "EC", "x": crypto::base64url(x), "y": crypto::base64url(y),
            })
        };
        match &self.material {
            Material::P256(point) => ec("P-256", point),
            Material::P384(point) => ec("P-384", point),
            Material::Ed25519(point) => {
                json!({ "crv": "Ed25519", "kty": "OKP", "x": crypto::base64url(point) })
            }
            Material::Rsa { n, e } => {
                json!({ "e": crypto::base64url(e), "kty": "RSA", "n": crypto::base64url(n) })
            }
        }
    }
}

/// Prints a flat object with its members in lexical order, whatever order the map keeps.
fn canonical(members: &Value) -> String {
    let mut pairs: Vec<_> = members.as_object().into_iter().flatten().collect();
    pairs.sort_by(|a, b| a.0.cmp(b.0));
    let inner: Vec<_> =
        pairs.into_iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", inner.join(","))
}

fn point(jwk: &Object, len: usize) -> Result<Box<[u8]>, UnusableKey> {
    let (x, y) = (number(jwk, "x", len)?, number(jwk, "y", len)?);
    Ok([&[4], &*x, &*y].concat().into())
}

fn number(jwk: &Object, name: &str, len: usize) -> Result<Box<[u8]>, UnusableKey> {
    let bytes = json::text(jwk, name).and_then(crypto::from_base64url);
    bytes.filter(|bytes| bytes.len() == len).map(Into::into).ok_or(UnusableKey::Material)
}

fn rsa(jwk: &Object) -> Result<Material, UnusableKey> {
    let number = |name| {
        let bytes = json::text(jwk, name).and_then(crypto::from_base64url)?;
        // Some providers write leading zeros, which `ring` refuses.
        let start = bytes.iter().position(|byte| *byte != 0)?;
        bytes.get(start..).map(Box::<[u8]>::from)
    };
    let (n, e) = number("n").zip(number("e")).ok_or(UnusableKey::Material)?;
    if n.len() < 256 {
        return Err(UnusableKey::Weak);
    }
    Ok(Material::Rsa { n, e })
}

/// Shows the thumbprint: keys are public, but long.
impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey")
            .field("id", &self.id)
            .field("thumbprint", &self.thumbprint().0)
            .finish()
    }
}

/// The thumbprint of a key: a name that nobody else's key has.
#[derive(Clone, Debug)]
pub struct Thumbprint(String);

impl Thumbprint {
    /// A thumbprint in its base64url form.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Its base64url form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PartialEq for Thumbprint {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

impl Eq for Thumbprint {}

/// A key can't be used to verify signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableKey {
    /// It holds private members, or is a shared key.
    #[error("the key is not a public one")]
    Private,
    /// Its type or curve isn't known.
    #[error("the key's type is not known")]
    Type,
    /// It isn't for signatures, or for an algorithm that doesn't fit it.
    #[error("the key is not for signatures that fit it")]
    Purpose,
    /// A member is missing or has a wrong size.
    #[error("the key's members are incomplete")]
    Material,
    /// It is too short.
    #[error("the key is too weak")]
    Weak,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jwk(text: &str) -> Result<PublicKey, UnusableKey> {
        PublicKey::from_jwk(&json::object(text.as_bytes()).unwrap())
    }

    // Shows: RS-JW-2
    #[test]
    fn shared_private_weak_and_unknown_keys_are_not_taken() {
        let zeros = crypto::base64url(&[1; 32]);
        let short = crypto::base64url(&[1; 128]);
        let ec = format!(r#""kty":"EC","crv":"P-256","x":"{zeros}","y":"{zeros}""#);
        assert!(jwk(&format!("{{{ec}}}")).is_ok());
        for (text, why) in [
            (r#"{"kty":"oct","k":"AAAA"}"#.to_owned(), UnusableKey::Private),
            (r#"{"kty":"oct"}"#.to_owned(), UnusableKey::Type),
            (format!(r#"{{{ec},"d":"{zeros}"}}"#), UnusableKey::Private),
            (format!(r#"{{{ec},"use":"enc"}}"#), UnusableKey::Purpose),
            (format!(r#"{{{ec},"alg":"RS256"}}"#), UnusableKey::Purpose),
            (format!(r#"{{{ec},"alg":"HS256"}}"#), UnusableKey::Purpose),
            (format!(r#"{{{ec},"key_ops":["sign"]}}"#), UnusableKey::Purpose),
            (format!(r#"{{"kty":"RSA","n":"{short}","e":"AQAB"}}"#), UnusableKey::Weak),
            (format!(r#"{{"kty":"EC","crv":"P-256","x":"{zeros}"}}"#), UnusableKey::Material),
        ] {
            assert_eq!(jwk(&text), Err(why), "{text}");
        }
    }

    // The example of RFC 7638, section 3.1.
    #[test]
    fn the_thumbprint_is_the_one_of_the_standard() {
        let key = jwk(concat!(
            r#"{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu"#,
            "1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6",
            "Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbIS",
            "D08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awap",
            r#"JzKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-04-29"}"#,
        ))
        .unwrap();
        assert_eq!(key.thumbprint().as_str(), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
        assert!(key.fits(Algorithm::Rs256) && !key.fits(Algorithm::Ps256));
    }
}
