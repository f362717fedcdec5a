//! Token exchange for a server that calls others in the name of its caller.

use std::time::SystemTime;

use url::Url;

use super::config::ClientAuthentication;
use super::error::AuthErrorKind;
use super::identity::ClientIdentity;
use super::token::{Grant, TokenEndpoint};
use crate::dpop::Nonces;
use crate::v1::Fetch;
use crate::{Issuer, Resource, Secret};

/// An exchange of one access token for another (RFC 8693).
pub(crate) struct Exchange<'e> {
    pub(crate) fetch: &'e dyn Fetch,
    pub(crate) issuer: &'e Issuer,
    pub(crate) token_endpoint: &'e Url,
    pub(crate) client_id: &'e str,
    pub(crate) authentication: &'e ClientAuthentication,
    pub(crate) now: SystemTime,
}

impl Exchange<'_> {
    pub(crate) async fn run(
        &self,
        subject: &Secret,
        target: &Resource,
    ) -> Result<Secret, AuthErrorKind> {
        let identity = ClientIdentity::unlisted(self.client_id, self.authentication);
        let nonces = Nonces::default();
        let endpoint = TokenEndpoint {
            fetch: self.fetch,
            reach: self.fetch.reach(self.token_endpoint).await?,
            url: self.token_endpoint,
            issuer: self.issuer,
            client: &identity,
            proof_key: None,
            nonces: &nonces,
            now: self.now,
        };
        let answer = endpoint.request(&Grant::OnBehalf { subject }, Some(target.as_str())).await?;
        answer.scheme(&endpoint.host(), false)?;
        if answer.access == *subject {
            // A token of the caller's must not leave by the back door.
            return Err(AuthErrorKind::TokenUnusable {
                host: endpoint.host(),
                why: "it is the token that was to be exchanged",
            });
        }
        Ok(answer.access)
    }
}
