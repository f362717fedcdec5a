use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use crate::v1::Signer;
use crate::{Issuer, ScopeSet, Secret};

/// Sources of a client identity, tried in the order of the fields; each may be absent
/// ([registration](https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#client-registration-approaches)).
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Registration {
    /// Clients that were registered beforehand, each for its issuer.
    pub configured: Vec<PinnedClient>,
    /// A client id that is the URL of a document about the client.
    pub document: Option<DocumentClient>,
    /// What to say when a client is registered on the spot.
    pub dynamic: Option<DynamicClient>,
    /// Asks somebody.
    pub ask: Option<Arc<AskForClient>>,
}

/// Gives a client for an issuer that nothing else is known for.
pub type AskForClient = dyn Fn(&Issuer) -> Option<PinnedClient> + Send + Sync;

impl Registration {
    /// No source at all; add some.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a client that was registered beforehand.
    #[must_use]
    pub fn with_client(mut self, client: PinnedClient) -> Self {
        self.configured.push(client);
        self
    }

    /// Sets the client metadata document.
    #[must_use]
    pub fn with_document(mut self, document: DocumentClient) -> Self {
        self.document = Some(document);
        self
    }

    /// Allows dynamic registration.
    #[must_use]
    pub fn with_dynamic(mut self, client: DynamicClient) -> Self {
        self.dynamic = Some(client);
        self
    }

    /// Asks `ask` where nothing else is known.
    #[must_use]
    pub fn with_ask(
        mut self,
        ask: impl Fn(&Issuer) -> Option<PinnedClient> + Send + Sync + 'static,
    ) -> Self {
        self.ask = Some(Arc::new(ask));
        self
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("configured", &self.configured)
            .field("document", &self.document)
            .field("dynamic", &self.dynamic)
            .field("ask", &self.ask.is_some())
            .finish()
    }
}

/// A client id with its authentication, for one issuer and no other.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PinnedClient {
    /// The issuer that it may be shown to.
    pub issuer: IssuerPin,
    /// The client id.
    pub client_id: String,
    /// How it proves who it is.
    pub authentication: ClientAuthentication,
}

impl PinnedClient {
    /// A client of `issuer`.
    pub fn new(
        issuer: Issuer,
        client_id: impl Into<String>,
        authentication: ClientAuthentication,
    ) -> Self {
        Self { issuer: IssuerPin::Only(issuer), client_id: client_id.into(), authentication }
    }

    /// A client with a signing key, whose assertions name the issuer they are for and are
    /// worthless to any other: it needs no pin.
    pub fn with_key(client_id: impl Into<String>, key: impl Signer) -> Self {
        Self {
            issuer: IssuerPin::AnyWithKey,
            client_id: client_id.into(),
            authentication: ClientAuthentication::PrivateKey(Arc::new(key)),
        }
    }

    /// A client that is shown to whatever issuer a server names. A hostile server gets its
    /// secret: for tests and first tries only.
    pub fn dangerous_for_any_issuer(
        client_id: impl Into<String>,
        authentication: ClientAuthentication,
    ) -> Self {
        Self {
            issuer: IssuerPin::DangerouslyAnyDiscovered,
            client_id: client_id.into(),
            authentication,
        }
    }

    pub(crate) fn is_for(&self, issuer: &Issuer) -> bool {
        match &self.issuer {
            IssuerPin::Only(only) => only == issuer,
            IssuerPin::AnyWithKey => {
                matches!(self.authentication, ClientAuthentication::PrivateKey(_))
            }
            IssuerPin::DangerouslyAnyDiscovered => true,
        }
    }
}

/// Which issuers a client may be shown to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IssuerPin {
    /// This one.
    Only(Issuer),
    /// Any, since the client has a signing key and nothing else.
    AnyWithKey,
    /// Any, whatever the client has. A hostile server gets its secret.
    DangerouslyAnyDiscovered,
}

/// How a client proves who it is.
#[derive(Clone)]
#[non_exhaustive]
pub enum ClientAuthentication {
    /// Not at all: a public client.
    None,
    /// With a secret, by the method that is named, else by the server's choice.
    Secret {
        /// The secret.
        secret: Secret,
        /// [`ClientAuthMethod::Basic`] or [`ClientAuthMethod::Post`].
        method: Option<ClientAuthMethod>,
    },
    /// With signed assertions ([RFC 7523](https://www.rfc-editor.org/rfc/rfc7523)).
    PrivateKey(Arc<dyn Signer>),
}

impl ClientAuthentication {
    /// With a secret, by the method that the server prefers.
    pub fn secret(secret: impl Into<Secret>) -> Self {
        Self::Secret { secret: secret.into(), method: None }
    }
}

impl fmt::Debug for ClientAuthentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Secret { .. } => "Secret(<redacted>)",
            Self::PrivateKey(_) => "PrivateKey(<redacted>)",
        })
    }
}

/// How a client authenticates at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientAuthMethod {
    /// `none`.
    None,
    /// `client_secret_basic`.
    Basic,
    /// `client_secret_post`.
    Post,
    /// `private_key_jwt`.
    PrivateKeyJwt,
}

impl ClientAuthMethod {
    /// The name that it has in metadata.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }

    /// The method with that name, if it is one that we can do.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::None, Self::Basic, Self::Post, Self::PrivateKeyJwt]
            .into_iter()
            .find(|method| method.name() == name)
    }
}

/// A client id that is the URL of a document about the client
/// ([client id metadata documents](https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#client-id-metadata-documents)).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DocumentClient {
    pub(crate) url: String,
    pub(crate) key: Option<ClientAuthentication>,
}

impl DocumentClient {
    /// A public client whose document is at `url`. The URL is used as it is and never fetched.
    ///
    /// # Errors
    ///
    /// When it is not an `https` URL with a path, or has dot segments, a fragment or a user
    /// name.
    pub fn new(url: impl Into<String>) -> Result<Self, InvalidDocumentUrl> {
        let url = url.into();
        let parsed = Url::parse(&url).map_err(|_| InvalidDocumentUrl)?;
        let plain = parsed.scheme() == "https"
            && parsed.path() != "/"
            && parsed.fragment().is_none()
            && parsed.username().is_empty()
            && parsed.password().is_none()
            && parsed.as_str() == url;
        if plain { Ok(Self { url, key: None }) } else { Err(InvalidDocumentUrl) }
    }

    /// Authenticates with a key whose public half is in the document.
    #[must_use]
    pub fn with_key(mut self, key: impl Signer) -> Self {
        self.key = Some(ClientAuthentication::PrivateKey(Arc::new(key)));
        self
    }

    /// The document to be published, so that it can't disagree with what is sent.
    #[must_use]
    pub fn document(&self, client_name: &str, redirect_uris: &[&str]) -> serde_json::Value {
        let method = match self.key {
            Some(_) => ClientAuthMethod::PrivateKeyJwt,
            None => ClientAuthMethod::None,
        };
        let mut document = serde_json::json!({
            "client_id": self.url,
            "client_name": client_name,
            "redirect_uris": redirect_uris,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": method.name(),
        });
        if let (Some(ClientAuthentication::PrivateKey(signer)), Some(members)) =
            (&self.key, document.as_object_mut())
            && let Some(public) = signer.public_key()
        {
            members.insert("jwks".into(), crate::jose::KeySet::new([public]).to_jwks());
        }
        document
    }
}

/// A URL can't be that of a client metadata document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a client metadata document has a plain https URL with a path")]
#[non_exhaustive]
pub struct InvalidDocumentUrl;

/// What to say when a client is registered on the spot
/// ([RFC 7591](https://www.rfc-editor.org/rfc/rfc7591)).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DynamicClient {
    /// A name for people.
    pub client_name: String,
    /// A page about the client.
    pub client_uri: Option<Url>,
    /// What kind of program it is. By default `native` for loopback redirects, else `web`.
    pub application_type: Option<ApplicationType>,
    /// Scopes to register for. None by default: some servers refuse those they don't know.
    pub scopes: Option<ScopeSet>,
}

impl DynamicClient {
    /// A client with that name.
    pub fn new(client_name: impl Into<String>) -> Self {
        Self {
            client_name: client_name.into(),
            client_uri: None,
            application_type: None,
            scopes: None,
        }
    }
}

/// The kind of program that a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApplicationType {
    /// On somebody's machine.
    Native,
    /// On a server.
    Web,
}

impl ApplicationType {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Web => "web",
        }
    }

    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Native => Self::Web,
            Self::Web => Self::Native,
        }
    }
}

/// Where the authorization server sends the browser back to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Redirect {
    /// A listener of ours on this machine, for the time of one login.
    Loopback {
        /// Which loopback address.
        host: LoopbackHost,
        /// The port; a random one by default.
        port: Option<u16>,
        /// The path, with a slash in front.
        path: String,
    },
    /// A page of the host's. Its [`Browser`](crate::v1::Browser) has to catch the answer.
    Own(String),
}

impl Redirect {
    /// A listener on `127.0.0.1`, at a random port, with the path `/callback`.
    #[must_use]
    pub fn loopback() -> Self {
        Self::Loopback { host: LoopbackHost::V4, port: None, path: "/callback".to_owned() }
    }

    /// A page of the host's.
    ///
    /// # Errors
    ///
    /// When it is neither `https` nor on loopback, or has a fragment.
    pub fn own(url: impl Into<String>) -> Result<Self, InvalidRedirect> {
        let url = url.into();
        let parsed = Url::parse(&url).map_err(|_| InvalidRedirect)?;
        let local = parsed.scheme() == "http" && is_loopback(&parsed);
        if (parsed.scheme() == "https" || local) && parsed.fragment().is_none() {
            Ok(Self::Own(url))
        } else {
            Err(InvalidRedirect)
        }
    }

    /// A scheme of the host's own, such as `com.example.app:/callback`.
    ///
    /// The specification knows `https` and loopback only: any program can claim a scheme.
    #[must_use]
    pub fn dangerous_custom_scheme(uri: impl Into<String>) -> Self {
        Self::Own(uri.into())
    }
}

/// `localhost`, `127.0.0.1`, `[::1]`.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => {
            name.trim_end_matches('.').eq_ignore_ascii_case("localhost")
        }
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// A redirect URI can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a redirect URI is https or loopback, and has no fragment")]
#[non_exhaustive]
pub struct InvalidRedirect;

/// A loopback address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoopbackHost {
    /// `127.0.0.1`.
    V4,
    /// `[::1]`.
    V6,
    /// `localhost`, at both addresses where there are two.
    Name,
}

/// Which scopes are asked for first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scopes {
    /// Those that the server asks for, by the specification's
    /// [strategy](https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#scope-selection-strategy).
    Discovered {
        /// Whether `offline_access` is added where the server offers it.
        offline_access: bool,
    },
    /// These. More are asked for only on a step-up within them.
    Fixed(ScopeSet),
}

impl Default for Scopes {
    fn default() -> Self {
        Self::Discovered { offline_access: true }
    }
}

/// Whether tokens are bound to a key (RFC 9449).
#[cfg_attr(
    not(feature = "unstable-dpop"),
    expect(dead_code, unreachable_pub, reason = "public once the feature is on")
)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dpop {
    /// Never.
    #[default]
    Never,
    /// Where the authorization server announces an algorithm that we have.
    WhenOffered,
    /// Always: a server that answers with a plain token is refused.
    Always,
}

/// Bounds of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How long a login may take, from opening the browser.
    pub login: Duration,
    /// How long finding out about the servers may take in all.
    pub discovery: Duration,
    /// How many step-ups an operation may cause without a success in between.
    pub step_ups: u8,
    /// How many interactive logins there may be within [`window`](Self::window).
    pub logins_per_window: u8,
    /// The window of [`logins_per_window`](Self::logins_per_window).
    pub window: Duration,
    /// How long before its end a token is renewed, or a tenth of its life if that is less.
    pub refresh_skew: Duration,
    /// How long calls fail at once after a permanent failure.
    pub fail_fast: Duration,
    /// How long another process' refresh is waited for.
    pub refresh_wait: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            login: Duration::from_secs(300),
            discovery: Duration::from_secs(30),
            step_ups: 1,
            logins_per_window: 3,
            window: Duration::from_secs(600),
            refresh_skew: Duration::from_secs(30),
            fail_fast: Duration::from_secs(60),
            refresh_wait: Duration::from_secs(40),
        }
    }
}

/// Deviations for one issuer. All off by default; each gives something up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quirks {
    /// Leaves `resource` out: some large providers refuse it. The token's audience is then the
    /// provider's own choice.
    pub omit_resource: bool,
    /// Sends this as `resource` in place of the identifier.
    pub resource: Option<String>,
    /// Leaves `scope` out of refreshes.
    pub no_scope_on_refresh: bool,
    /// Trusts that PKCE with S256 is done though it isn't announced.
    pub trust_s256: bool,
    /// Forgives a lone slash at the end of an issuer with a root path.
    pub root_slash_issuer: bool,
    /// Forgives that a promised `iss` never comes. A wrong one is never forgiven.
    pub iss_may_be_missing: bool,
    /// Sends this as `prompt`.
    pub prompt: Option<String>,
    /// Sends these in the authorization request; never in place of ours.
    pub extra: Vec<(String, String)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: AUTH-CLIENT-071
    #[test]
    fn redirect_uris_are_https_or_loopback() {
        for good in [
            "https://app.example/cb",
            "http://localhost:3000/cb",
            "http://127.0.0.1/x",
            "http://[::1]:1/",
        ] {
            assert!(Redirect::own(good).is_ok(), "{good}");
        }
        for bad in [
            "http://app.example/cb",
            "https://app.example/cb#f",
            "app:/cb",
            "http://localhost.evil.example/",
        ] {
            assert_eq!(Redirect::own(bad), Err(InvalidRedirect), "{bad}");
        }
    }

    // Shows: CL-RG-3, AUTH-CLIENT-032, AUTH-CLIENT-033, AUTH-CLIENT-034, AUTH-CLIENT-030
    #[test]
    fn the_document_to_publish_agrees_with_what_is_sent() {
        let client = DocumentClient::new("https://app.example/client.json").unwrap();
        let document = client.document("App", &["http://127.0.0.1/callback"]);
        assert_eq!(document["client_id"], "https://app.example/client.json");
        assert_eq!(document["token_endpoint_auth_method"], "none");
        for bad in [
            "http://app.example/c",
            "https://app.example",
            "https://app.example/a/../b",
            "https://u@app.example/c",
        ] {
            assert!(DocumentClient::new(bad).is_err(), "{bad}");
        }
    }

    // Shows: CL-RG-2
    #[test]
    fn a_client_with_a_secret_is_for_its_issuer_only() {
        let issuer = |text: &str| Issuer::new(text).unwrap();
        let client = PinnedClient::new(
            issuer("https://as.example"),
            "id",
            ClientAuthentication::secret("s"),
        );
        assert!(client.is_for(&issuer("https://as.example")));
        assert!(!client.is_for(&issuer("https://as.example/")));
        assert!(!client.is_for(&issuer("https://evil.example")));
        assert!(!format!("{client:?}").contains("\"s\""));
    }
}
