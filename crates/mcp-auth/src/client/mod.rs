//! The client: logs in, renews, steps up.

mod config;
#[cfg(feature = "unstable-dpop")]
pub use self::config::Dpop;
pub use self::config::{
    ApplicationType, AskForClient, ClientAuthMethod, ClientAuthentication, DocumentClient,
    DynamicClient, InvalidDocumentUrl, InvalidRedirect, IssuerPin, Limits, LoopbackHost,
    PinnedClient, Quirks, Redirect, Registration, Scopes,
};

mod error;
pub use self::error::{AuthError, AuthErrorKind, Fault, FlowStep};

mod record;
pub use self::record::{Record, TokenScheme, UnreadableRecord};

mod builder;
pub use self::builder::{Builder, IdentityProvider, Ready, WantsGrant};

mod authorizer;
pub use self::authorizer::OAuthAuthorizer;

mod browser;
pub use self::browser::SystemBrowser;

mod discover;
mod engine;
#[cfg(feature = "server")]
mod exchange;
#[cfg(feature = "server")]
pub(crate) use self::exchange::Exchange;
mod flow;
mod grant;
mod identity;
mod login;
mod logout;
mod redirect;
mod register;
mod renew;
mod token;

pub use self::builder::OAuthClient;
pub use self::login::{Login, LoginReport};
pub use self::logout::LogoutReport;
