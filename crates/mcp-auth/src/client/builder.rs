use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use url::Url;

use super::authorizer::{OAuthAuthorizer, Shared};
use super::config::{
    ClientAuthentication, Dpop, Limits, PinnedClient, Quirks, Redirect, Registration, Scopes,
};
use super::engine::{Engine, GrantKind};
use super::error::{AuthError, AuthErrorKind, FlowStep};
use super::login::{Login, LoginReport};
use super::logout::{LogoutReport, log_out};
use crate::v1::{AssertionSource, Browser, CredentialStore, Fetch};
use crate::{
    FetchPolicy, GuardedFetcher, InvalidIdentifier, Issuer, MemoryStore, Resource, ResourceMatch,
};

/// An OAuth 2.1 client for MCP endpoints: one for a host program, one
/// [authorizer](OAuthAuthorizer) for each endpoint. Cheap to clone.
#[derive(Clone)]
pub struct OAuthClient {
    engine: Arc<Engine>,
    endpoints: Arc<Mutex<HashMap<Resource, Weak<Shared>>>>,
}

impl OAuthClient {
    /// Begins to build one.
    pub fn builder() -> Builder<WantsGrant> {
        Builder { grant: WantsGrant(()), options: Options::default() }
    }

    /// The authorizer of one MCP endpoint; the same for each call with the same endpoint.
    ///
    /// # Errors
    ///
    /// When `endpoint` is no web URL without a user name.
    pub fn for_endpoint(&self, endpoint: Url) -> Result<OAuthAuthorizer, AuthError> {
        let invalid = |error| AuthError::new(FlowStep::Use, AuthErrorKind::Identifier(error));
        if !matches!(endpoint.scheme(), "https" | "http") || endpoint.host().is_none() {
            return Err(invalid(InvalidIdentifier::Scheme));
        }
        if !endpoint.username().is_empty() || endpoint.password().is_some() {
            return Err(invalid(InvalidIdentifier::User));
        }
        let canonical = Resource::canonical(&endpoint);
        let mut endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = endpoints.get(&canonical).and_then(Weak::upgrade) {
            return Ok(OAuthAuthorizer::of_shared(shared));
        }
        endpoints.retain(|_, shared| shared.strong_count() > 0);
        let authorizer = OAuthAuthorizer::new(Arc::clone(&self.engine), endpoint);
        endpoints.insert(canonical, authorizer.downgrade());
        Ok(authorizer)
    }

    /// Logs in ahead of the first call.
    ///
    /// # Errors
    ///
    /// When there is no login in the end; [`AuthError::kind`] says why.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the login, unless others wait for it.
    pub async fn login(&self, endpoint: Url, login: Login) -> Result<LoginReport, AuthError> {
        self.for_endpoint(endpoint)?.login(login).await
    }

    /// Removes all logins for an endpoint, and gives their tokens back where the authorization
    /// server takes them (RFC 7009).
    ///
    /// # Errors
    ///
    /// When the store can't be read or written. What the authorization server says is in the
    /// report.
    ///
    /// # Cancel safety
    ///
    /// Dropped in the middle, some logins may be removed and others not.
    pub async fn logout(&self, endpoint: &Url) -> Result<LogoutReport, AuthError> {
        let storage = |error| AuthError::new(FlowStep::Storage, AuthErrorKind::Store(error));
        let canonical = Resource::canonical(endpoint);
        let mut report = LogoutReport::default();
        for key in self.engine.store.keys(&canonical).await.map_err(storage)? {
            if key.account == self.engine.account {
                log_out(&self.engine, &key, &mut report).await?;
            }
        }
        let shared = {
            let endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
            endpoints.get(&canonical).and_then(Weak::upgrade)
        };
        if let Some(shared) = shared {
            shared.forget();
        }
        Ok(report)
    }
}

impl fmt::Debug for OAuthClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OAuthClient")
    }
}

/// Builds an [`OAuthClient`].
#[must_use = "a builder does nothing until it builds"]
pub struct Builder<G> {
    grant: G,
    options: Options,
}

/// The builder has to be told how tokens are got.
#[derive(Debug)]
pub struct WantsGrant(());

/// The builder has all that it must have.
pub struct Ready(GrantKind);

struct Options {
    fetch: Option<Arc<dyn Fetch>>,
    policy: FetchPolicy,
    store: Option<Arc<dyn CredentialStore>>,
    browser: Option<Arc<dyn Browser>>,
    scopes: Scopes,
    choose: Option<Arc<super::engine::ChooseServer>>,
    dpop: Dpop,
    limits: Limits,
    resource_match: ResourceMatch,
    expected_resource: Option<String>,
    quirks: Vec<(Issuer, Quirks)>,
    legacy: bool,
    account: Option<String>,
    clock: Arc<super::engine::Clock>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            fetch: None,
            policy: FetchPolicy::default(),
            store: None,
            browser: None,
            scopes: Scopes::default(),
            choose: None,
            dpop: Dpop::default(),
            limits: Limits::default(),
            resource_match: ResourceMatch::default(),
            expected_resource: None,
            quirks: Vec::new(),
            legacy: true,
            account: None,
            clock: Arc::new(SystemTime::now),
        }
    }
}

impl Builder<WantsGrant> {
    /// A person logs in, in a browser (authorization code with PKCE). Without a
    /// [browser](Builder::browser) each place where one would open is an error.
    pub fn interactive(self, registration: Registration, redirect: Redirect) -> Builder<Ready> {
        self.with(GrantKind::Interactive { registration, redirect })
    }

    /// The program acts in its own name (`client_credentials`).
    pub fn client_credentials(self, client: PinnedClient) -> Builder<Ready> {
        self.with(GrantKind::ClientCredentials(client))
    }

    /// A person who is logged in at an enterprise's identity provider: its ID token is
    /// exchanged for an assertion (ID-JAG), and that for a token.
    pub fn enterprise_managed(
        self,
        provider: IdentityProvider,
        client: PinnedClient,
    ) -> Builder<Ready> {
        self.with(GrantKind::Enterprise { provider, client })
    }

    /// The workload's platform vouches for it. Its assertion is shown only to the issuer that
    /// it is meant for, or to `pin`.
    #[cfg(feature = "unstable-workload-identity")]
    pub fn workload_identity(
        self,
        client_id: Option<String>,
        source: impl AssertionSource,
        pin: Option<Issuer>,
    ) -> Builder<Ready> {
        self.with(GrantKind::Workload { client_id, source: Arc::new(source), pin })
    }

    fn with(self, grant: GrantKind) -> Builder<Ready> {
        Builder { grant: Ready(grant), options: self.options }
    }
}

impl Builder<Ready> {
    /// Where logins are kept; in memory by default.
    pub fn store(mut self, store: impl CredentialStore) -> Self {
        self.options.store = Some(Arc::new(store));
        self
    }

    /// How a person is shown the way.
    pub fn browser(mut self, browser: impl Browser) -> Self {
        self.options.browser = Some(Arc::new(browser));
        self
    }

    /// Which scopes are asked for first.
    pub fn scopes(mut self, scopes: Scopes) -> Self {
        self.options.scopes = scopes;
        self
    }

    /// Chooses among several authorization servers of a resource; the first by default.
    pub fn choose_server(
        mut self,
        choose: impl Fn(&[Issuer]) -> Option<usize> + Send + Sync + 'static,
    ) -> Self {
        self.options.choose = Some(Arc::new(choose));
        self
    }

    /// Whether tokens are bound to a key.
    #[cfg(feature = "unstable-dpop")]
    pub fn proof_of_possession(mut self, mode: Dpop) -> Self {
        self.options.dpop = mode;
        self
    }

    /// What may be fetched.
    pub fn fetch_policy(mut self, policy: FetchPolicy) -> Self {
        self.options.policy = policy;
        self
    }

    /// Makes all requests through `fetch`; its policy is its own.
    pub fn fetcher(mut self, fetch: impl Fetch) -> Self {
        self.options.fetch = Some(Arc::new(fetch));
        self
    }

    /// The bounds.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = limits;
        self
    }

    /// When metadata is about the endpoint.
    pub fn resource_match(mut self, rule: ResourceMatch) -> Self {
        self.options.resource_match = rule;
        self
    }

    /// The resource identifier that a server's metadata has to name, for providers whose
    /// identifiers are no URLs.
    pub fn expect_resource(mut self, resource: impl Into<String>) -> Self {
        self.options.expected_resource = Some(resource.into());
        self
    }

    /// Deviations for one issuer.
    pub fn quirks(mut self, issuer: Issuer, quirks: Quirks) -> Self {
        self.options.quirks.push((issuer, quirks));
        self
    }

    /// Turns the fallback for servers of revision 2025-03-26 off: without resource metadata
    /// there is then no login.
    pub fn without_legacy_servers(mut self) -> Self {
        self.options.legacy = false;
        self
    }

    /// A label that keeps the logins of several accounts apart.
    pub fn account(mut self, label: impl Into<String>) -> Self {
        self.options.account = Some(label.into());
        self
    }

    /// Tells the time in place of the system, for tests.
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.options.clock = Arc::new(now);
        self
    }

    /// Builds the client.
    ///
    /// # Errors
    ///
    /// When the roots of trust can't be read.
    pub fn build(self) -> Result<OAuthClient, AuthError> {
        let Self { grant: Ready(grant), options } = self;
        let fetch = match options.fetch {
            Some(fetch) => fetch,
            None => Arc::new(
                GuardedFetcher::new(options.policy)
                    .map_err(|error| AuthError::new(FlowStep::ResourceMetadata, error))?,
            ),
        };
        let engine = Engine {
            fetch,
            store: options.store.unwrap_or_else(|| Arc::new(MemoryStore::new())),
            browser: options.browser,
            grant,
            scopes: options.scopes,
            choose: options.choose,
            dpop: options.dpop,
            limits: options.limits,
            resource_match: options.resource_match,
            expected_resource: options.expected_resource,
            quirks: options.quirks,
            legacy: options.legacy,
            account: options.account,
            clock: options.clock,
        };
        Ok(OAuthClient { engine: Arc::new(engine), endpoints: Arc::default() })
    }
}

impl<G> fmt::Debug for Builder<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Builder")
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ready")
    }
}

/// An enterprise's identity provider. It is configured, never discovered.
#[derive(Clone)]
#[non_exhaustive]
pub struct IdentityProvider {
    pub(crate) issuer: Issuer,
    pub(crate) token_endpoint: Option<Url>,
    pub(crate) client_id: String,
    pub(crate) authentication: ClientAuthentication,
    pub(crate) subject: Arc<dyn AssertionSource>,
    pub(crate) subject_type: String,
}

impl IdentityProvider {
    /// The provider `issuer`, where we are `client_id`, a public client. `subject` gives the
    /// person's ID token.
    pub fn new(
        issuer: Issuer,
        client_id: impl Into<String>,
        subject: impl AssertionSource,
    ) -> Self {
        Self {
            issuer,
            token_endpoint: None,
            client_id: client_id.into(),
            authentication: ClientAuthentication::None,
            subject: Arc::new(subject),
            subject_type: "urn:ietf:params:oauth:token-type:id_token".to_owned(),
        }
    }

    /// Names the token endpoint, which is found from the issuer's metadata otherwise.
    #[must_use]
    pub fn with_token_endpoint(mut self, url: Url) -> Self {
        self.token_endpoint = Some(url);
        self
    }

    /// Says how we authenticate there.
    #[must_use]
    pub fn with_authentication(mut self, authentication: ClientAuthentication) -> Self {
        self.authentication = authentication;
        self
    }

    /// Says what kind of token `subject` gives, such as
    /// `urn:ietf:params:oauth:token-type:saml2`.
    #[must_use]
    pub fn with_subject_type(mut self, kind: impl Into<String>) -> Self {
        self.subject_type = kind.into();
        self
    }
}

impl fmt::Debug for IdentityProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdentityProvider")
            .field("issuer", &self.issuer)
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}
