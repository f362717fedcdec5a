use std::time::Duration;

use serde_json::Value;

use crate::ScopeSet;

/// How an [`Authority`](super::Authority) behaves. The default is what a good server does;
/// everything else is a fault to be tested against, or a choice that servers have.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Behavior {
    /// Publishes RFC 8414 metadata.
    pub oauth_metadata: bool,
    /// Publishes OpenID metadata, with the well-known part behind the issuer's path.
    pub openid_metadata: bool,
    /// Names this issuer in its metadata in place of its own.
    pub metadata_issuer: Option<String>,
    /// Announces PKCE with S256.
    pub announces_s256: bool,
    /// Announces `iss` in authorization responses.
    pub announces_iss: bool,
    /// What it sends as `iss`.
    pub response_issuer: ResponseIssuer,
    /// Registers clients on the spot.
    pub dynamic_registration: bool,
    /// Takes no redirect URI with an address in it, only names.
    pub names_only: bool,
    /// When the secrets of such clients expire, in seconds since 1970.
    pub secret_expires_at: Option<u64>,
    /// Takes client metadata documents.
    pub client_documents: bool,
    /// How clients may authenticate.
    pub auth_methods: Vec<String>,
    /// The scopes that it announces.
    pub scopes_supported: Option<ScopeSet>,
    /// Refuses requests with these scopes.
    pub refused_scopes: ScopeSet,
    /// Grants only these of what is asked for.
    pub grants_only: Option<ScopeSet>,
    /// Denies every authorization.
    pub denies: bool,
    /// Gives refresh tokens.
    pub refresh_tokens: bool,
    /// Gives a new refresh token with each refresh. If not, none is in the answer.
    pub rotates: bool,
    /// How long access tokens live.
    pub token_life: Duration,
    /// What it writes as `expires_in` in place of that.
    pub expires_in: Option<Value>,
    /// Demands that tokens be bound to a key.
    pub dpop: bool,
    /// Demands nonces in proofs.
    pub dpop_nonces: bool,
    /// Finds fault with every proof.
    pub distrusts_proofs: bool,
    /// Gives bearer tokens although a proof came.
    pub downgrades: bool,
    /// Gives access tokens for this audience, whatever was asked.
    pub audience: Option<String>,
    /// What is wrong with its token endpoint.
    pub token_fault: Option<TokenFault>,
    /// Has the identity assertions that it gives name this client.
    pub assertion_client: Option<String>,
}

impl Default for Behavior {
    fn default() -> Self {
        Self {
            oauth_metadata: true,
            openid_metadata: false,
            metadata_issuer: None,
            announces_s256: true,
            announces_iss: true,
            response_issuer: ResponseIssuer::Own,
            dynamic_registration: true,
            names_only: false,
            secret_expires_at: None,
            client_documents: false,
            auth_methods: vec!["none".to_owned()],
            scopes_supported: None,
            refused_scopes: ScopeSet::new(),
            grants_only: None,
            denies: false,
            refresh_tokens: true,
            rotates: true,
            token_life: Duration::from_secs(3600),
            expires_in: None,
            dpop: false,
            dpop_nonces: false,
            distrusts_proofs: false,
            downgrades: false,
            audience: None,
            token_fault: None,
            assertion_client: None,
        }
    }
}

/// What is sent as `iss` in authorization responses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResponseIssuer {
    /// Its own issuer.
    Own,
    /// Nothing.
    Missing,
    /// Something else.
    Other(String),
}

/// A fault of a token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenFault {
    /// A web page with status 400.
    Html,
    /// An error in an answer with status 200.
    ErrorIn200,
    /// A redirect to another host.
    Redirect,
    /// Status 503.
    Unavailable,
    /// `invalid_request`.
    InvalidRequest,
}
