use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::metadata::{UnusableResourceMetadata, UnusableServerMetadata};
use crate::v1::{AssertionError, BrowserError, StoreError};
use crate::{FetchError, InvalidIdentifier, Issuer, NoRandomness, Resource, ScopeSet};

/// A client can't get or keep its credentials. Cheap to clone.
///
/// What it shows holds no token, code, verifier, state, secret, assertion or key. Text of
/// others is cleaned and bounded.
#[derive(Clone)]
pub struct AuthError(Arc<Inner>);

struct Inner {
    step: FlowStep,
    kind: AuthErrorKind,
}

impl AuthError {
    pub(crate) fn new(step: FlowStep, kind: impl Into<AuthErrorKind>) -> Self {
        Self(Arc::new(Inner { step, kind: kind.into() }))
    }

    /// What was being done.
    #[must_use]
    pub fn step(&self) -> FlowStep {
        self.0.step
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &AuthErrorKind {
        &self.0.kind
    }

    /// Whose fault it is.
    #[must_use]
    pub fn fault(&self) -> Fault {
        self.0.kind.fault()
    }

    /// Whether the same call may succeed if made again later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self.kind() {
            AuthErrorKind::Fetch(error) => error.is_retryable(),
            AuthErrorKind::ServerTrouble { .. } | AuthErrorKind::RefreshBusy { .. } => true,
            _ => false,
        }
    }

    /// Whether a person has to do something: log in, or decide.
    #[must_use]
    pub fn needs_person(&self) -> bool {
        matches!(
            self.kind(),
            AuthErrorKind::NeedsPerson
                | AuthErrorKind::Denied
                | AuthErrorKind::NobodyCame { .. }
                | AuthErrorKind::NoRegistration { .. }
                | AuthErrorKind::IssuerNotPinned { .. }
        )
    }
}

impl fmt::Debug for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthError").field("step", &self.0.step).field("kind", &self.0.kind).finish()
    }
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} did not succeed", self.0.step)
    }
}

impl std::error::Error for AuthError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0.kind)
    }
}

/// What is wrong with each, for one line.
fn each(errors: &[AuthError]) -> String {
    errors.iter().map(|error| format!("; {}", error.kind())).collect()
}

/// Whose fault something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The host program's configuration.
    Host,
    /// A person's decision, or absence.
    Person,
    /// The MCP server.
    ResourceServer,
    /// The authorization server.
    AuthorizationServer,
    /// The network.
    Network,
    /// A rule of this client.
    Policy,
}

/// A step of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlowStep {
    /// Reading the metadata of the MCP server.
    ResourceMetadata,
    /// Choosing an authorization server.
    ServerChoice,
    /// Reading the metadata of the authorization server.
    ServerMetadata,
    /// Finding a client identity.
    Registration,
    /// Sending a person to the authorization server.
    Authorization,
    /// Reading its answer.
    Callback,
    /// Asking for a token.
    Token,
    /// Renewing a token.
    Refresh,
    /// Using a token.
    Use,
    /// Asking for more scopes.
    StepUp,
    /// Reading or writing the stored login.
    Storage,
    /// Giving tokens back.
    Revocation,
}

impl fmt::Display for FlowStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ResourceMetadata => "reading the metadata of the MCP server",
            Self::ServerChoice => "choosing an authorization server",
            Self::ServerMetadata => "reading the metadata of the authorization server",
            Self::Registration => "registering at the authorization server",
            Self::Authorization => "the authorization request",
            Self::Callback => "reading the authorization response",
            Self::Token => "the token request",
            Self::Refresh => "renewing the token",
            Self::Use => "using the token",
            Self::StepUp => "asking for more scopes",
            Self::Storage => "reading or writing the stored login",
            Self::Revocation => "giving the tokens back",
        })
    }
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthErrorKind {
    /// A request could not be made, or got no answer.
    #[error("a request could not be made")]
    Fetch(#[from] FetchError),
    /// A server is in trouble: try again later.
    #[error("{host} answered with status {status}; try again later")]
    ServerTrouble {
        /// Its host.
        host: String,
        /// The status.
        status: u16,
        /// How long to wait, where the server says so.
        retry_after: Option<Duration>,
    },
    /// Finding out about the servers took too long.
    #[error("finding out about the servers took longer than {} s", limit.as_secs())]
    DiscoveryTimedOut {
        /// The limit that was in force.
        limit: Duration,
    },
    /// The metadata is about another resource than the endpoint: an attack, or a mistake of the
    /// server's.
    #[error("the metadata names resource {named}, which is not {endpoint}")]
    ResourceMismatch {
        /// The resource that the document names: foreign text, cleaned and bounded.
        named: String,
        /// The endpoint.
        endpoint: Resource,
    },
    /// There is no metadata of the resource, and the fallback of 2025-03-26 is off.
    #[error("the server has no usable resource metadata")]
    NoResourceMetadata {
        /// Why the last document was no use, if there was one.
        #[source]
        last: Option<UnusableResourceMetadata>,
    },
    /// The metadata names no authorization server that could be used.
    #[error("the metadata of the resource names no usable authorization server")]
    NoAuthorizationServer,
    /// No usable metadata of the authorization server.
    #[error("{issuer} has no usable metadata (asked at {tried} places)")]
    NoServerMetadata {
        /// The issuer.
        issuer: Issuer,
        /// At how many places.
        tried: usize,
        /// Why the document that came closest was no use.
        #[source]
        last: Option<UnusableServerMetadata>,
    },
    /// None of the resource's authorization servers can be used.
    #[error("none of {} authorization servers can be used{}", failed.len(), each(failed))]
    NoUsableServer {
        /// What is wrong with each, in the order in which they were tried.
        failed: Vec<AuthError>,
    },
    /// The authorization server doesn't announce PKCE with S256.
    #[error("{issuer} does not announce PKCE with S256")]
    PkceNotSupported {
        /// The issuer.
        issuer: Issuer,
    },
    /// There is no client identity for the issuer.
    #[error(
        "there is no way to register at {issuer} (it offers: {offered}; configured: {configured})"
    )]
    NoRegistration {
        /// The issuer.
        issuer: Issuer,
        /// The ways that it offers.
        offered: &'static str,
        /// The ways that the host has.
        configured: &'static str,
    },
    /// The authorization server refused to register the client.
    #[error(
        "{host} refused to register the client (status {status}{}); a client registered beforehand or a client metadata document may do",
        Said(code, description)
    )]
    RegistrationRefused {
        /// Its host.
        host: String,
        /// The status.
        status: u16,
        /// The error code.
        code: Option<String>,
        /// The error in words: foreign text, cleaned and bounded.
        description: Option<String>,
    },
    /// The answer to a registration is no use.
    #[error("the answer of {host} to the registration can't be used: {why}")]
    RegistrationUnusable {
        /// Its host.
        host: String,
        /// Why.
        why: &'static str,
    },
    /// A client was configured for another issuer than the server wants.
    #[error("the client is configured for {configured}, but the server wants {discovered}")]
    IssuerNotPinned {
        /// The issuer that a client is configured for.
        configured: Issuer,
        /// The issuer that the server names.
        discovered: Issuer,
    },
    /// None of the ways in which the server lets clients authenticate is possible.
    #[error("the client can authenticate in none of the ways that the server lists ({offered})")]
    NoAuthMethod {
        /// What it lists: foreign text, cleaned and bounded.
        offered: String,
    },
    /// The authorization page may not be opened.
    #[error("the authorization page at {host} may not be opened")]
    UrlRefused {
        /// Its host.
        host: String,
        /// The rule that it breaks.
        #[source]
        rule: crate::Rule,
    },
    /// The authorization page can't be opened or shown.
    #[error("no browser")]
    BrowserUnavailable(#[from] BrowserError),
    /// The redirect listener can't be opened.
    #[error("the address for the redirect can't be listened on")]
    Listen(#[source] std::io::Error),
    /// The port for the redirect is taken.
    #[error("port {port} is in use")]
    PortInUse {
        /// The port.
        port: u16,
    },
    /// Nobody came back from the authorization server. If its page said that the client is
    /// unknown, log in with a fresh registration.
    #[error("nobody came back from the authorization server within {} s; if its page said that the client is unknown, log in with a fresh registration", waited.as_secs())]
    NobodyCame {
        /// How long it was waited.
        waited: Duration,
    },
    /// Nobody waits for the login any more.
    #[error("the login was given up")]
    Abandoned,
    /// The person, or the server, said no.
    #[error("access was denied")]
    Denied,
    /// The authorization server refused.
    #[error("the authorization server refused{}", Said(code, description))]
    AuthorizationRefused {
        /// The error code.
        code: Option<String>,
        /// The error in words: foreign text, cleaned and bounded.
        description: Option<String>,
    },
    /// The response belongs to another request, or to none.
    #[error("the authorization response does not belong to the request")]
    StateMismatch,
    /// The response comes from another authorization server: the sign of a mix-up attack.
    #[error("the authorization response is from {found}, not from {expected}")]
    ResponseIssuerMismatch {
        /// The issuer that was asked.
        expected: Issuer,
        /// The one that answered: foreign text, cleaned and bounded.
        found: String,
    },
    /// The server promised to say who it is, and did not.
    #[error(
        "the authorization response of {expected} does not say who sent it, though that was promised"
    )]
    ResponseIssuerMissing {
        /// The issuer that was asked.
        expected: Issuer,
    },
    /// The response has no code, or an unusable one.
    #[error("the authorization response holds no code")]
    NoCode,
    /// The token endpoint refused.
    #[error("{host} refused the token request (status {status}{})", Said(code, description))]
    TokenRefused {
        /// Its host.
        host: String,
        /// The status.
        status: u16,
        /// The error code.
        code: Option<String>,
        /// The error in words, or the beginning of a body that is no standard error: foreign
        /// text, cleaned and bounded.
        description: Option<String>,
    },
    /// The token endpoint's answer is no use.
    #[error("the token answer of {host} can't be used: {why}")]
    TokenUnusable {
        /// Its host.
        host: String,
        /// Why.
        why: &'static str,
    },
    /// Another process renews the token and does not come to an end.
    #[error("another process has been renewing the token for {} s", waited.as_secs())]
    RefreshBusy {
        /// How long it was waited.
        waited: Duration,
    },
    /// The server refuses a token that its authorization server has just issued.
    #[error(
        "the server does not accept a token that {issuer} has just issued for {resource}{}",
        Said(error, description)
    )]
    TokenNotAccepted {
        /// The issuer.
        issuer: Issuer,
        /// What the token was asked for.
        resource: Resource,
        /// The error of the challenge.
        error: Option<String>,
        /// The challenge in words: foreign text, cleaned and bounded.
        description: Option<String>,
    },
    /// The token lacks scopes that were demanded.
    #[error("the scopes {missing} were not granted")]
    ScopesNotGranted {
        /// The scopes.
        missing: ScopeSet,
    },
    /// The operation was refused again after its scopes were asked for.
    #[error("the operation still lacks scopes after asking for {missing}")]
    StepUpExhausted {
        /// The scopes.
        missing: ScopeSet,
    },
    /// There were too many logins in a short time.
    #[error("there were {limit} logins within {} s", window.as_secs())]
    TooManyLogins {
        /// The limit that was in force.
        limit: u8,
        /// Its window.
        window: Duration,
    },
    /// A person is needed, and the host configured no browser.
    #[error("somebody has to log in, and there is no browser")]
    NeedsPerson,
    /// The server wants tokens that are bound to a key, and that is off.
    #[error("the server wants DPoP, which is turned off")]
    NeedsDpop,
    /// A plain token came where a bound one was demanded, or the other way round.
    #[error("the token that came is not bound to the key")]
    Downgraded,
    /// A server demands a nonce again and again.
    #[error("the server demands a new nonce for each nonce")]
    NonceLoop,
    /// The assertion is not one for this issuer, so it isn't sent to it.
    #[error("the assertion is not meant for {issuer}")]
    AssertionNotForIssuer {
        /// The issuer.
        issuer: Issuer,
    },
    /// There is no assertion to be had.
    #[error("there is no assertion")]
    Assertion(#[from] AssertionError),
    /// A signature can't be made.
    #[error("no signature")]
    Sign(#[from] crate::jose::SignError),
    /// A stored or configured key can't be used.
    #[error("the key can't be used")]
    Key(#[from] crate::jose::InvalidKey),
    /// The stored login can't be read or written.
    #[error("the stored login can't be read or written")]
    Store(#[from] StoreError),
    /// An identifier can't be used.
    #[error("an identifier can't be used")]
    Identifier(#[from] InvalidIdentifier),
    /// There is no randomness.
    #[error("no randomness")]
    NoRandomness(#[from] NoRandomness),
    /// A URL outside of the endpoint's origin was asked for.
    #[error("credentials for {endpoint} are not for another origin")]
    OtherOrigin {
        /// The endpoint.
        endpoint: Resource,
    },
    /// A header can't hold the token.
    #[error("the token does not fit into a header")]
    TokenCharacters,
    /// A permanent failure a short while ago.
    #[error("it failed {} s ago; log in to try again at once", since.as_secs())]
    FailingFast {
        /// How long ago.
        since: Duration,
        /// That failure.
        #[source]
        cause: AuthError,
    },
    /// The task that renewed the token ended without an answer.
    #[error("the renewal ended without an answer")]
    RenewalLost,
}

impl AuthErrorKind {
    fn fault(&self) -> Fault {
        match self {
            Self::Fetch(FetchError::Refused { .. })
            | Self::UrlRefused { .. }
            | Self::OtherOrigin { .. }
            | Self::TooManyLogins { .. }
            | Self::AssertionNotForIssuer { .. } => Fault::Policy,
            Self::FailingFast { cause, .. } => cause.fault(),
            Self::Fetch(_) | Self::ServerTrouble { .. } | Self::DiscoveryTimedOut { .. } => {
                Fault::Network
            }
            Self::ResourceMismatch { .. }
            | Self::NoResourceMetadata { .. }
            | Self::NoAuthorizationServer
            | Self::TokenNotAccepted { .. }
            | Self::StepUpExhausted { .. } => Fault::ResourceServer,
            Self::NoServerMetadata { .. }
            | Self::NoUsableServer { .. }
            | Self::PkceNotSupported { .. }
            | Self::RegistrationRefused { .. }
            | Self::RegistrationUnusable { .. }
            | Self::AuthorizationRefused { .. }
            | Self::ResponseIssuerMismatch { .. }
            | Self::ResponseIssuerMissing { .. }
            | Self::StateMismatch
            | Self::NoCode
            | Self::TokenRefused { .. }
            | Self::TokenUnusable { .. }
            | Self::ScopesNotGranted { .. }
            | Self::Downgraded
            | Self::NonceLoop
            | Self::TokenCharacters
            | Self::NoAuthMethod { .. } => Fault::AuthorizationServer,
            Self::Denied | Self::NobodyCame { .. } | Self::Abandoned | Self::NeedsPerson => {
                Fault::Person
            }
            Self::NoRegistration { .. }
            | Self::IssuerNotPinned { .. }
            | Self::BrowserUnavailable(_)
            | Self::Listen(_)
            | Self::PortInUse { .. }
            | Self::RefreshBusy { .. }
            | Self::NeedsDpop
            | Self::Assertion(_)
            | Self::Sign(_)
            | Self::Key(_)
            | Self::Store(_)
            | Self::Identifier(_)
            | Self::NoRandomness(_)
            | Self::RenewalLost => Fault::Host,
        }
    }
}

/// Prints what a server said, if it said something.
struct Said<'s>(&'s Option<String>, &'s Option<String>);

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, self.1) {
            (Some(code), Some(description)) => write!(f, ", {code}: {description}"),
            (Some(text), None) | (None, Some(text)) => write!(f, ", {text}"),
            (None, None) => Ok(()),
        }
    }
}
