//! How a client proves at an authorization server who it is.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use hyper::header::{HeaderValue, InvalidHeaderValue};

use crate::jose::SignError;
use crate::v1::Signer;
use crate::{Issuer, Secret, crypto, jose};

/// The type of client assertion that there is.
pub(crate) const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// How long a client assertion is good for, in seconds.
const LIFE: u64 = 120;

/// A fresh assertion that we are `client_id`, for `audience` alone
/// ([RFC 7523, section 3](https://www.rfc-editor.org/rfc/rfc7523#section-3)).
pub(crate) async fn client_assertion(
    signer: &dyn Signer,
    client_id: &str,
    audience: &Issuer,
    now: SystemTime,
) -> Result<Secret, SignError> {
    let mut header = json!({ "typ": "JWT", "alg": signer.algorithm().name() });
    let key_id = signer.public_key().and_then(|key| key.id().map(str::to_owned));
    if let (Some(id), Some(members)) = (key_id, header.as_object_mut()) {
        members.insert("kid".to_owned(), id.into());
    }
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let claims = json!({
        "iss": client_id,
        "sub": client_id,
        "aud": audience.as_str(),
        "jti": crypto::random_id().map_err(SignError::new)?,
        "iat": now,
        "exp": now.saturating_add(LIFE),
    });
    let mut token = jose::encode(&header, &claims);
    let signature = signer.sign(token.clone().into_bytes()).await?;
    token.push('.');
    token.push_str(&crypto::base64url(&signature));
    Ok(Secret::new(token))
}

/// `client_secret_basic`: both parts form-encoded before they are joined
/// ([RFC 6749, section 2.3.1](https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1)).
pub(crate) fn basic(client_id: &str, secret: &Secret) -> Result<HeaderValue, InvalidHeaderValue> {
    let encode =
        |text: &str| -> String { url::form_urlencoded::byte_serialize(text.as_bytes()).collect() };
    let pair = format!("{}:{}", encode(client_id), encode(secret.expose()));
    let value = format!("Basic {}", crypto::base64_standard(pair.as_bytes()));
    let mut value = HeaderValue::try_from(value)?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jose::{Compact, PrivateKey};

    // Shows: CL-TK-4
    #[tokio::test]
    async fn an_assertion_is_short_lived_and_for_the_issuer_alone() {
        let key = PrivateKey::generate().unwrap().with_id("k1");
        let issuer = Issuer::new("https://as.example/t").unwrap();
        let token = client_assertion(&key, "me", &issuer, UNIX_EPOCH).await.unwrap();
        let read = Compact::read(token.expose()).unwrap();
        assert!(read.verify(key.public()));
        assert_eq!((read.kind().as_deref(), read.key_id()), (Some("jwt"), Some("k1")));
        let claims = read.unverified_claims();
        assert_eq!((&claims["iss"], &claims["sub"]), (&"me".into(), &"me".into()));
        assert_eq!(claims["aud"], "https://as.example/t");
        assert!(claims["exp"].as_u64().unwrap() <= 300);
    }

    // Shows: CL-TK-3
    #[test]
    fn basic_leaves_unreserved_characters_alone_and_encodes_the_others() {
        let decoded = |id: &str, secret: &str| {
            use base64::Engine as _;
            let value = basic(id, &secret.into()).unwrap();
            assert!(value.is_sensitive());
            let text = value.to_str().unwrap().strip_prefix("Basic ").unwrap().to_owned();
            let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        assert_eq!(
            decoded("pre-registered_client.1", "a-b_c.d"),
            "pre-registered_client.1:a-b_c.d"
        );
        assert_eq!(decoded("https://c/x", "p:q r%"), "https%3A%2F%2Fc%2Fx:p%3Aq+r%25");
    }
}
