use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use hyper::{Method, Response};
use serde_json::json;
use url::Url;

use super::answer::Answers;
use super::guard::{Entry, Inner};
use super::metadata::DocumentRoute;
use super::policy::ScopePolicy;
use super::proof::{DpopRules, Proofs};
use super::verify::{
    IntrospectionClient, IntrospectionVerifier, JwtRules, JwtVerifier, StaticTokens,
};
use crate::v1::{Fetch, TokenVerifier};
use crate::{
    FetchError, FetchPolicy, GuardedFetcher, InvalidIdentifier, Issuer, NoRandomness, Resource,
    well_known,
};

type Now = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// A protected MCP endpoint: the [`Guard`](mcp_transport_http::v1::Guard) to hand to the HTTP
/// transport, and the metadata documents beside it. Cheap to clone.
#[derive(Clone)]
pub struct ResourceServer {
    pub(super) inner: Arc<Inner>,
}

impl ResourceServer {
    /// Begins to protect the endpoint whose public URL is `resource`, as clients type it.
    pub fn builder(resource: Resource) -> ResourceServerBuilder<WantsIssuer> {
        ResourceServerBuilder { options: Options::new(resource), state: WantsIssuer(()) }
    }

    /// The answer for a well-known location of this endpoint's metadata, or `None` for every
    /// other path. Needs no credential and no session.
    #[must_use]
    pub fn metadata(&self, method: &Method, path: &str) -> Option<Response<Bytes>> {
        self.inner.route.answer(method, path)
    }

    /// The URL of the metadata document, as challenges name it.
    #[must_use]
    pub fn metadata_url(&self) -> &str {
        &self.inner.answers.metadata
    }
}

impl fmt::Debug for ResourceServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ResourceServer").field(&self.inner.resource).finish()
    }
}

/// Builds a [`ResourceServer`].
#[must_use = "a builder does nothing until it builds"]
pub struct ResourceServerBuilder<S> {
    options: Options,
    state: S,
}

/// The builder has to be told whose tokens are taken.
#[derive(Debug)]
pub struct WantsIssuer(());

/// The builder has all that it must have.
pub struct Ready {
    issuers: Vec<Plan>,
}

enum Plan {
    Jwt(Issuer, Box<JwtRules>),
    Introspection(Issuer, Url, IntrospectionClient),
    Verifier(Issuer, Arc<dyn TokenVerifier>),
    Static(StaticTokens),
}

struct Options {
    resource: Resource,
    audiences: Vec<String>,
    policy: ScopePolicy,
    name: Option<String>,
    documentation: Option<Url>,
    at_root: bool,
    dpop: Option<DpopRules>,
    fetch: Option<Arc<dyn Fetch>>,
    fetch_policy: FetchPolicy,
    now: Now,
    open_methods: Vec<Box<str>>,
    ends_streams: bool,
    #[cfg(feature = "client")]
    lends_tokens: bool,
}

impl Options {
    fn new(resource: Resource) -> Self {
        Self {
            resource,
            audiences: Vec::new(),
            policy: ScopePolicy::default(),
            name: None,
            documentation: None,
            at_root: true,
            dpop: None,
            fetch: None,
            fetch_policy: FetchPolicy::default(),
            now: Arc::new(SystemTime::now),
            open_methods: Vec::new(),
            ends_streams: true,
            #[cfg(feature = "client")]
            lends_tokens: false,
        }
    }
}

impl ResourceServerBuilder<WantsIssuer> {
    /// Takes signed tokens of `issuer`.
    pub fn jwt(self, issuer: Issuer, rules: JwtRules) -> ResourceServerBuilder<Ready> {
        self.with(Plan::Jwt(issuer, Box::new(rules)))
    }

    /// Asks `endpoint` about each token of `issuer`.
    pub fn introspection(
        self,
        issuer: Issuer,
        endpoint: Url,
        client: IntrospectionClient,
    ) -> ResourceServerBuilder<Ready> {
        self.with(Plan::Introspection(issuer, endpoint, client))
    }

    /// Takes tokens of `issuer` that `verifier` finds good. Whether they are meant for this
    /// server is checked all the same.
    pub fn verifier(
        self,
        issuer: Issuer,
        verifier: impl TokenVerifier,
    ) -> ResourceServerBuilder<Ready> {
        self.with(Plan::Verifier(issuer, Arc::new(verifier)))
    }

    /// Takes tokens that are written down here: for development.
    pub fn static_tokens(self, tokens: StaticTokens) -> ResourceServerBuilder<Ready> {
        self.with(Plan::Static(tokens))
    }

    fn with(self, plan: Plan) -> ResourceServerBuilder<Ready> {
        ResourceServerBuilder { options: self.options, state: Ready { issuers: vec![plan] } }
    }
}

impl ResourceServerBuilder<Ready> {
    /// Takes signed tokens of another issuer, too.
    pub fn and_jwt(mut self, issuer: Issuer, rules: JwtRules) -> Self {
        self.state.issuers.push(Plan::Jwt(issuer, Box::new(rules)));
        self
    }

    /// Takes tokens of another issuer, too, that `verifier` finds good.
    pub fn and_verifier(mut self, issuer: Issuer, verifier: impl TokenVerifier) -> Self {
        self.state.issuers.push(Plan::Verifier(issuer, Arc::new(verifier)));
        self
    }

    /// Takes tokens for `audience`, too: for providers that can't issue the URL of this server
    /// as audience. There is no way not to check it.
    pub fn accept_audience(mut self, audience: impl Into<String>) -> Self {
        self.options.audiences.push(audience.into());
        self
    }

    /// Which scopes are needed for what.
    pub fn policy(mut self, policy: ScopePolicy) -> Self {
        self.options.policy = policy;
        self
    }

    /// A name of the server for people.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.options.name = Some(name.into());
        self
    }

    /// A page about the server for developers.
    pub fn documentation(mut self, url: Url) -> Self {
        self.options.documentation = Some(url);
        self
    }

    /// Leaves the root form of the well-known location to another endpoint of this origin.
    pub fn not_at_root(mut self) -> Self {
        self.options.at_root = false;
        self
    }

    /// Takes tokens that are bound to a key, or demands them.
    #[cfg(feature = "unstable-dpop")]
    pub fn proof_of_possession(mut self, rules: DpopRules) -> Self {
        self.options.dpop = Some(rules);
        self
    }

    /// Lets handlers have tokens for other services in the name of their caller, by way of
    /// [`Downstream`](super::Downstream). The caller's own token stays out of reach.
    #[cfg(feature = "client")]
    pub fn for_downstream(mut self) -> Self {
        self.options.lends_tokens = true;
        self
    }

    /// Serves these methods to whoever has no token, such as `initialize`, for servers that
    /// want to be found. None by default.
    ///
    /// It means that bodies of strangers are read, within the limits of the transport, and
    /// that sessions are opened for them, in nobody's name. A token that *is* sent is judged
    /// there as well, and one that speaks for nobody is then refused, so that no session of
    /// a stranger is shared with it. Streams and the end of a session need a token.
    pub fn open_methods<M: Into<Box<str>>>(mut self, methods: impl IntoIterator<Item = M>) -> Self {
        self.options.open_methods = methods.into_iter().map(Into::into).collect();
        self
    }

    /// Lets a stream outlive the token of the request that opened it. By default it is closed
    /// a minute after the token ends, so that the client comes back with another.
    pub fn streams_outlive_tokens(mut self) -> Self {
        self.options.ends_streams = false;
        self
    }

    /// What may be fetched for keys and introspection.
    pub fn fetch_policy(mut self, policy: FetchPolicy) -> Self {
        self.options.fetch_policy = policy;
        self
    }

    /// Makes all requests through `fetch`; its policy is its own.
    pub fn fetcher(mut self, fetch: impl Fetch) -> Self {
        self.options.fetch = Some(Arc::new(fetch));
        self
    }

    /// Tells the time in place of the system, for tests.
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.options.now = Arc::new(now);
        self
    }

    /// Builds the server.
    ///
    /// # Errors
    ///
    /// When the resource is no web URL, or `http` off loopback; when static tokens are to be
    /// used off loopback; when the roots of trust can't be read.
    pub fn build(self) -> Result<ResourceServer, ConfigError> {
        let Self { options, state } = self;
        let url = Url::parse(options.resource.as_str())
            .map_err(|error| ConfigError::Resource(InvalidIdentifier::NotAUrl(error)))?;
        let local = is_loopback(&url);
        match url.scheme() {
            "https" => {}
            "http" if local => {}
            "http" => return Err(ConfigError::Insecure),
            _ => return Err(ConfigError::Resource(InvalidIdentifier::Scheme)),
        }
        let fetch = match options.fetch {
            Some(fetch) => fetch,
            None => Arc::new(GuardedFetcher::new(options.fetch_policy)?),
        };
        let mut entries = Vec::new();
        for plan in state.issuers {
            entries.push(entry(plan, &options.resource, &url, local, &fetch, &options.now)?);
        }
        let proofs = options.dpop.map(Proofs::new).transpose()?;
        let place = well_known::protected_resource(&url).into_iter().next();
        let answers = Answers {
            metadata: place.map(String::from).unwrap_or_default(),
            scopes: options.policy.first_challenge(),
            dpop: proofs.as_ref().map(|proofs| (proofs.names(), proofs.rules.required)),
        };
        let mut document = json!({
            "resource": options.resource.as_str(),
            "authorization_servers":
                entries.iter().map(|entry| entry.issuer.as_str()).collect::<Vec<_>>(),
            "bearer_methods_supported": ["header"],
        });
        if let Some(members) = document.as_object_mut() {
            let scopes = options.policy.all();
            if !scopes.is_empty() {
                let scopes: Vec<&str> = scopes.iter().collect();
                members.insert("scopes_supported".to_owned(), json!(scopes));
            }
            if let Some(name) = options.name {
                members.insert("resource_name".to_owned(), name.into());
            }
            if let Some(url) = options.documentation {
                members.insert("resource_documentation".to_owned(), url.as_str().into());
            }
            if let Some(proofs) = &proofs {
                let names: Vec<&str> = proofs.rules.algorithms.iter().map(|a| a.name()).collect();
                members.insert("dpop_signing_alg_values_supported".to_owned(), json!(names));
                members.insert(
                    "dpop_bound_access_tokens_required".to_owned(),
                    proofs.rules.required.into(),
                );
            }
        }
        let mut audiences = vec![options.resource.as_str().to_owned()];
        audiences.extend(options.audiences);
        let inner = Inner {
            route: DocumentRoute::new(&url, options.at_root, &document),
            resource: options.resource,
            url,
            audiences,
            entries,
            policy: options.policy,
            answers,
            proofs,
            now: options.now,
            open_methods: options.open_methods,
            ends_streams: options.ends_streams,
            warned: std::sync::Mutex::default(),
            #[cfg(feature = "client")]
            lends_tokens: options.lends_tokens,
        };
        Ok(ResourceServer { inner: Arc::new(inner) })
    }
}

fn entry(
    plan: Plan,
    resource: &Resource,
    url: &Url,
    local: bool,
    fetch: &Arc<dyn Fetch>,
    now: &Now,
) -> Result<Entry, ConfigError> {
    let (fetch, now) = (Arc::clone(fetch), Arc::clone(now));
    Ok(match plan {
        Plan::Jwt(issuer, rules) => {
            let verifier = JwtVerifier::new(issuer.clone(), *rules, fetch, now);
            Entry { issuer, verifier: Arc::new(verifier), takes_opaque: false }
        }
        Plan::Introspection(issuer, endpoint, client) => {
            let verifier = IntrospectionVerifier::new(issuer.clone(), endpoint, client, fetch, now);
            Entry { issuer, verifier: Arc::new(verifier), takes_opaque: true }
        }
        Plan::Verifier(issuer, verifier) => Entry { issuer, verifier, takes_opaque: true },
        Plan::Static(tokens) => {
            if !local && !tokens.anywhere {
                return Err(ConfigError::StaticTokens);
            }
            let issuer =
                Issuer::new(url.origin().ascii_serialization()).map_err(ConfigError::Resource)?;
            let verifier = tokens.for_resource(issuer.clone(), resource);
            Entry { issuer, verifier: Arc::new(verifier), takes_opaque: true }
        }
    })
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

impl<S> fmt::Debug for ResourceServerBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ResourceServerBuilder").field(&self.options.resource).finish()
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ready")
    }
}

/// A server can't be protected like this.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The resource is no web URL.
    #[error("the resource is not the URL of a server")]
    Resource(#[source] InvalidIdentifier),
    /// Tokens would travel in the clear.
    #[error("the resource is http, and not on loopback")]
    Insecure,
    /// Tokens that never end would be taken from anywhere.
    #[error("static tokens are for loopback")]
    StaticTokens,
    /// The roots of trust can't be read.
    #[error("keys can't be fetched")]
    Fetch(#[from] FetchError),
    /// The system has no random bytes to give.
    #[error("no nonces can be made")]
    NoRandomness(#[from] NoRandomness),
}
