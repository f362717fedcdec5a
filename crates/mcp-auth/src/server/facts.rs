use std::time::SystemTime;

use mcp_jsonrpc::Extensions;
use mcp_transport_http::v1::Principal;
use serde::de::DeserializeOwned;

use crate::v1::Verified;

/// What a token says, beyond who is calling: found in the
/// [facts](Principal::facts) of a principal.
///
/// It holds no token, and none can be had from it: the token of a client is for this server
/// and may not be passed on
/// ([token handling](https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#token-handling)).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TokenFacts {
    /// When the token ends.
    pub expires_at: Option<SystemTime>,
    claims: serde_json::Map<String, serde_json::Value>,
}

impl TokenFacts {
    /// A claim, if it is there and of that type.
    #[must_use]
    pub fn claim<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        T::deserialize(self.claims.get(name)?).ok()
    }
}

/// The principal that a verified token speaks for; `None` if it speaks for nobody.
pub(super) fn principal_of(verified: Verified, mut facts: Extensions) -> Option<Principal> {
    // A client in its own name is its own subject (RFC 9068, section 2.2).
    let subject = verified.subject.or_else(|| verified.client_id.clone())?;
    facts.insert(TokenFacts { expires_at: verified.expires_at, claims: verified.claims });
    let mut principal = Principal::new(verified.issuer.as_str(), subject)
        .with_scopes(verified.scopes.iter())
        .with_facts(facts);
    if let Some(client) = verified.client_id {
        principal = principal.with_client(client);
    }
    Some(principal)
}
