use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use hyper::Request;
use hyper::header::{AUTHORIZATION, HeaderValue};
use url::Url;

use crate::client::{AuthErrorKind, ClientAuthentication, Exchange};
use crate::v1::Fetch;
use crate::{Issuer, Resource, Secret};

/// The token of the caller, closed: only [`Downstream`] opens it, and only to exchange it for
/// a token that is meant for somebody else. Found in the facts of a principal where the server
/// was built [for it](super::ResourceServerBuilder::for_downstream).
#[derive(Clone)]
pub struct Caller(Arc<Secret>);

impl Caller {
    pub(super) fn new(token: Secret) -> Self {
        Self(Arc::new(token))
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Caller(<redacted>)")
    }
}

/// Calls other services in the name of a caller, with tokens of their own
/// ([RFC 8693](https://www.rfc-editor.org/rfc/rfc8693)). The caller's token is for this server
/// and never passed on.
#[derive(Clone)]
pub struct Downstream {
    issuer: Issuer,
    token_endpoint: Url,
    client_id: String,
    authentication: ClientAuthentication,
    fetch: Arc<dyn Fetch>,
}

impl Downstream {
    /// Exchanges tokens at `token_endpoint` of `issuer`, as the client `client_id`.
    pub fn exchange(
        issuer: Issuer,
        token_endpoint: Url,
        client_id: impl Into<String>,
        authentication: ClientAuthentication,
        fetch: impl Fetch,
    ) -> Self {
        let (client_id, fetch) = (client_id.into(), Arc::new(fetch));
        Self { issuer, token_endpoint, client_id, authentication, fetch }
    }

    /// A token for `target`, in the name of `caller`.
    ///
    /// # Errors
    ///
    /// When the authorization server gives none, or `target` is no web URL.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives the token up.
    pub async fn token_for(
        &self,
        caller: &Caller,
        target: &Resource,
    ) -> Result<DownstreamToken, ExchangeError> {
        let origin = Url::parse(target.as_str()).map_err(|_| ExchangeError::Target)?.origin();
        let exchange = Exchange {
            fetch: &*self.fetch,
            issuer: &self.issuer,
            token_endpoint: &self.token_endpoint,
            client_id: &self.client_id,
            authentication: &self.authentication,
            now: SystemTime::now(),
        };
        let token = exchange.run(&caller.0, target).await.map_err(ExchangeError::Refused)?;
        Ok(DownstreamToken { origin, token })
    }
}

impl fmt::Debug for Downstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Downstream").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

/// A token that goes to its target's origin and nowhere else.
pub struct DownstreamToken {
    origin: url::Origin,
    token: Secret,
}

impl DownstreamToken {
    /// Puts the token into a request to its target.
    ///
    /// # Errors
    ///
    /// When the request goes to another origin; it is then left as it was.
    pub fn attach<B>(&self, request: &mut Request<B>) -> Result<(), WrongTarget> {
        let url = Url::parse(&request.uri().to_string()).map_err(|_| WrongTarget)?;
        if url.origin() != self.origin {
            return Err(WrongTarget);
        }
        let value = format!("Bearer {}", self.token.expose());
        let mut value = HeaderValue::try_from(value).map_err(|_| WrongTarget)?;
        value.set_sensitive(true);
        request.headers_mut().insert(AUTHORIZATION, value);
        Ok(())
    }
}

impl fmt::Debug for DownstreamToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DownstreamToken(<redacted>)")
    }
}

/// A token is for another origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the token is for another origin")]
#[non_exhaustive]
pub struct WrongTarget;

/// A token could not be exchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The target is no web URL.
    #[error("the target is not a web URL")]
    Target,
    /// The authorization server gave none.
    #[error("the token was not exchanged")]
    Refused(#[source] AuthErrorKind),
}
