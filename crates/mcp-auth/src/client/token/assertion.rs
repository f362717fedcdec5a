use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::client::AuthErrorKind;
use crate::v1::Signer;
use crate::{Issuer, Secret, crypto, jose};

/// How long a client assertion is good for, in seconds.
const LIFE: u64 = 120;

/// A fresh assertion that we are `client_id`, for `audience` alone
/// ([RFC 7523, section 3](https://www.rfc-editor.org/rfc/rfc7523#section-3)).
pub(super) async fn client_assertion(
    signer: &dyn Signer,
    client_id: &str,
    audience: &Issuer,
    now: SystemTime,
) -> Result<Secret, AuthErrorKind> {
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
        "jti": crypto::random_id()?,
        "iat": now,
        "exp": now.saturating_add(LIFE),
    });
    let mut token = jose::encode(&header, &claims);
    let signature = signer.sign(token.clone().into_bytes()).await?;
    token.push('.');
    token.push_str(&crypto::base64url(&signature));
    Ok(Secret::new(token))
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
}
