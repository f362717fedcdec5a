use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use url::Url;
use zeroize::Zeroizing;

use super::ClientAuthMethod;
use crate::json::{self, Object};
use crate::{ScopeSet, Secret};

/// The version of the stored form. A newer one is not read.
const FORMAT: u64 = 1;

/// One login, as it is stored: everything that is needed to go on after a restart.
///
/// Opaque to stores, which keep its [bytes](Self::to_bytes).
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// As whom the tokens were asked for.
    pub(crate) client_id: String,
    pub(crate) method: ClientAuthMethod,
    /// A client identity that the server gave us.
    pub(crate) registration: Option<StoredClient>,
    pub(crate) tokens: Option<Tokens>,
    /// What was asked for so far.
    pub(crate) requested: ScopeSet,
    pub(crate) token_endpoint: Url,
    pub(crate) revocation_endpoint: Option<Url>,
    /// The private key that the tokens are bound to.
    pub(crate) proof_key: Option<Secret>,
    /// Made anew by each authorization of a person, kept by refreshes.
    pub(crate) login_id: String,
    pub(crate) last_used: SystemTime,
}

/// A client identity that an authorization server gave us.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredClient {
    pub(crate) client_id: String,
    pub(crate) secret: Option<Secret>,
    pub(crate) secret_expires_at: Option<SystemTime>,
    pub(crate) method: ClientAuthMethod,
    pub(crate) redirect_uris: Vec<String>,
}

/// How a token is presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenScheme {
    /// RFC 6750.
    Bearer,
    /// RFC 9449, with a proof.
    Dpop,
}

/// The tokens of a login.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tokens {
    pub(crate) access: Secret,
    pub(crate) scheme: TokenScheme,
    pub(crate) refresh: Option<Secret>,
    pub(crate) granted: ScopeSet,
    pub(crate) issued_at: SystemTime,
    pub(crate) expires_at: Option<SystemTime>,
}

impl Record {
    /// The stored form. It holds every secret of the login: write it where nobody else reads.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let secret = |secret: &Option<Secret>| secret.as_ref().map(|s| s.expose().to_owned());
        let value = json!({
            "format": FORMAT,
            "client_id": self.client_id,
            "method": self.method.name(),
            "registration": self.registration.as_ref().map(|client| json!({
                "client_id": client.client_id,
                "secret": secret(&client.secret),
                "secret_expires_at": client.secret_expires_at.map(seconds),
                "method": client.method.name(),
                "redirect_uris": client.redirect_uris,
            })),
            "tokens": self.tokens.as_ref().map(|tokens| json!({
                "access": tokens.access.expose(),
                "dpop": tokens.scheme == TokenScheme::Dpop,
                "refresh": secret(&tokens.refresh),
                "granted": tokens.granted.to_string(),
                "issued_at": seconds(tokens.issued_at),
                "expires_at": tokens.expires_at.map(seconds),
            })),
            "requested": self.requested.to_string(),
            "token_endpoint": self.token_endpoint.as_str(),
            "revocation_endpoint": self.revocation_endpoint.as_ref().map(Url::as_str),
            "proof_key": secret(&self.proof_key),
            "login_id": self.login_id,
            "last_used": seconds(self.last_used),
        });
        Zeroizing::new(value.to_string().into_bytes())
    }

    /// Reads the stored form.
    ///
    /// # Errors
    ///
    /// When it is not one, or one of a newer version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, UnreadableRecord> {
        let object = json::object(bytes).ok_or(UnreadableRecord::Damaged)?;
        match object.get("format").and_then(Value::as_u64) {
            Some(FORMAT) => Self::read(&object).ok_or(UnreadableRecord::Damaged),
            Some(format) if format > FORMAT => Err(UnreadableRecord::Newer { format }),
            _ => Err(UnreadableRecord::Damaged),
        }
    }

    fn read(object: &Object) -> Option<Self> {
        let url = |name| json::text(object, name).and_then(|text| Url::parse(text).ok());
        let registration = match object.get("registration") {
            Some(Value::Object(client)) => Some(StoredClient {
                client_id: json::text(client, "client_id")?.to_owned(),
                secret: json::text(client, "secret").map(Secret::from),
                secret_expires_at: time(client, "secret_expires_at"),
                method: ClientAuthMethod::from_name(json::text(client, "method")?)?,
                redirect_uris: json::texts(client, "redirect_uris")?,
            }),
            _ => None,
        };
        let tokens = match object.get("tokens") {
            Some(Value::Object(tokens)) => Some(Tokens {
                access: Secret::from(json::text(tokens, "access")?),
                scheme: match json::flag(tokens, "dpop") {
                    true => TokenScheme::Dpop,
                    false => TokenScheme::Bearer,
                },
                refresh: json::text(tokens, "refresh").map(Secret::from),
                granted: scopes(tokens, "granted"),
                issued_at: time(tokens, "issued_at")?,
                expires_at: time(tokens, "expires_at"),
            }),
            _ => None,
        };
        Some(Self {
            client_id: object.get("client_id")?.as_str()?.to_owned(),
            method: ClientAuthMethod::from_name(json::text(object, "method")?)?,
            registration,
            tokens,
            requested: scopes(object, "requested"),
            token_endpoint: url("token_endpoint")?,
            revocation_endpoint: url("revocation_endpoint"),
            proof_key: json::text(object, "proof_key").map(Secret::from),
            login_id: json::text(object, "login_id")?.to_owned(),
            last_used: time(object, "last_used")?,
        })
    }
}

fn scopes(object: &Object, name: &str) -> ScopeSet {
    json::text(object, name).map(ScopeSet::parse).unwrap_or_default()
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn time(object: &Object, name: &str) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_secs(object.get(name)?.as_u64()?))
}

/// A stored record can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnreadableRecord {
    /// It is not a record.
    #[error("the stored login is damaged")]
    Damaged,
    /// A newer version wrote it.
    #[error("the stored login has format {format}, which is newer than this version reads")]
    Newer {
        /// Its format.
        format: u64,
    },
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn record(access: &str) -> Record {
        let at = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        Record {
            client_id: "client".to_owned(),
            method: ClientAuthMethod::Basic,
            registration: Some(StoredClient {
                client_id: "client".to_owned(),
                secret: Some(Secret::new("client-secret")),
                secret_expires_at: None,
                method: ClientAuthMethod::Basic,
                redirect_uris: vec!["http://127.0.0.1:1/callback".to_owned()],
            }),
            tokens: Some(Tokens {
                access: Secret::new(access),
                scheme: TokenScheme::Bearer,
                refresh: Some(Secret::new("refresh-token")),
                granted: ScopeSet::parse("a b"),
                issued_at: at,
                expires_at: Some(at),
            }),
            requested: ScopeSet::parse("a b c"),
            token_endpoint: Url::parse("https://as.example/token").unwrap(),
            revocation_endpoint: None,
            proof_key: None,
            login_id: "login".to_owned(),
            last_used: at,
        }
    }

    // Shows: CL-ST-2, CL-ST-6
    #[test]
    fn a_stored_record_is_the_same_record() {
        let record = record("access-token");
        assert_eq!(Record::from_bytes(&record.to_bytes()), Ok(record.clone()));
        let printed = format!("{record:?}");
        for secret in ["access-token", "refresh-token", "client-secret"] {
            assert!(!printed.contains(secret), "{printed}");
        }
    }

    // Shows: CL-ST-5
    #[test]
    fn a_damaged_or_newer_record_is_an_error() {
        assert_eq!(Record::from_bytes(b"{}"), Err(UnreadableRecord::Damaged));
        assert_eq!(Record::from_bytes(b"{\"format\":1}"), Err(UnreadableRecord::Damaged));
        assert_eq!(
            Record::from_bytes(b"{\"format\":9}"),
            Err(UnreadableRecord::Newer { format: 9 })
        );
    }
}
