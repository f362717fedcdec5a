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

/// What the fuzz bodies can't reach.
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing {
    use std::time::SystemTime;

    use super::config::Quirks;
    use super::flow::Attempt;
    use super::token::TokenAnswer;
    use crate::v1::CallbackUrl;
    use crate::{FetchResponse, Issuer};

    pub(crate) fn token_answer(response: &FetchResponse, now: SystemTime) {
        if let Ok(answer) = TokenAnswer::read("as.example", response, &[], now) {
            assert!(!answer.access.is_empty());
        }
    }

    /// Nobody guesses a state.
    pub(crate) fn callback(query: &str) {
        let attempt = Issuer::new("https://as.example").ok().and_then(|issuer| {
            Attempt::new(issuer, true, "http://127.0.0.1:1/cb".to_owned(), &Quirks::default()).ok()
        });
        if let Some(attempt) = attempt {
            assert!(attempt.check(&CallbackUrl::new(format!("/cb?{query}"))).is_err());
        }
    }
}
