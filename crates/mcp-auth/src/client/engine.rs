use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tokio::time::Instant;
use url::Url;

use super::builder::IdentityProvider;
use super::config::{Dpop, Limits, PinnedClient, Quirks, Redirect, Registration, Scopes};
use super::error::AuthErrorKind;
use crate::dpop::Nonces;
use crate::metadata::ServerMetadata;
use crate::v1::{AssertionSource, Browser, CredentialStore, Fetch};
use crate::{Issuer, Resource, ResourceMatch};

/// Chooses among the authorization servers of a resource.
pub(crate) type ChooseServer = dyn Fn(&[Issuer]) -> Option<usize> + Send + Sync;
/// Tells the time.
pub(crate) type Clock = dyn Fn() -> SystemTime + Send + Sync;

/// What all endpoints of one client share.
pub(crate) struct Engine {
    pub(crate) fetch: Arc<dyn Fetch>,
    pub(crate) store: Arc<dyn CredentialStore>,
    pub(crate) browser: Option<Arc<dyn Browser>>,
    pub(crate) grant: GrantKind,
    pub(crate) scopes: Scopes,
    pub(crate) choose: Option<Arc<ChooseServer>>,
    pub(crate) dpop: Dpop,
    pub(crate) limits: Limits,
    pub(crate) resource_match: ResourceMatch,
    /// A resource identifier that is demanded in place of one that covers the endpoint.
    pub(crate) expected_resource: Option<String>,
    pub(crate) quirks: Vec<(Issuer, Quirks)>,
    /// Whether servers of revision 2025-03-26 are served.
    pub(crate) legacy: bool,
    pub(crate) account: Option<String>,
    pub(crate) clock: Arc<Clock>,
}

/// In which way tokens are got.
pub(crate) enum GrantKind {
    Interactive {
        registration: Registration,
        redirect: Redirect,
    },
    ClientCredentials(PinnedClient),
    Enterprise {
        provider: IdentityProvider,
        client: PinnedClient,
    },
    #[cfg_attr(
        not(feature = "unstable-workload-identity"),
        expect(dead_code, reason = "off until the feature is on")
    )]
    Workload {
        client_id: Option<String>,
        source: Arc<dyn AssertionSource>,
        pin: Option<Issuer>,
    },
}

impl GrantKind {
    pub(crate) fn needs_browser(&self) -> bool {
        matches!(self, Self::Interactive { .. })
    }
}

impl Engine {
    pub(crate) fn now(&self) -> SystemTime {
        (self.clock)()
    }

    pub(crate) fn quirks(&self, issuer: &Issuer) -> Quirks {
        let known = self.quirks.iter().find(|(known, _)| known == issuer);
        known.map(|(_, quirks)| quirks.clone()).unwrap_or_default()
    }

    /// The server to use: one with a stored login, one that a client was configured for, the
    /// host's choice, the first.
    pub(crate) fn choose<'i>(
        &self,
        issuers: &'i [Issuer],
        preferred: Option<&Issuer>,
    ) -> Option<&'i Issuer> {
        let stored = issuers.iter().find(|issuer| Some(*issuer) == preferred);
        let configured = || issuers.iter().find(|issuer| self.has_client_for(issuer));
        let chosen = || {
            let index = self.choose.as_ref()?(issuers)?;
            issuers.get(index)
        };
        stored.or_else(configured).or_else(chosen).or_else(|| issuers.first())
    }

    fn has_client_for(&self, issuer: &Issuer) -> bool {
        match &self.grant {
            GrantKind::Interactive { registration, .. } => {
                registration.configured.iter().any(|client| client.is_for(issuer))
            }
            GrantKind::ClientCredentials(client) | GrantKind::Enterprise { client, .. } => {
                client.is_for(issuer)
            }
            GrantKind::Workload { pin, .. } => pin.as_ref() == Some(issuer),
        }
    }

    /// Whether tokens of a server with this metadata are to be bound to a key.
    pub(crate) fn binds(&self, metadata: &ServerMetadata) -> bool {
        match self.dpop {
            Dpop::Never => false,
            Dpop::Always => true,
            Dpop::WhenOffered => metadata
                .dpop_algorithms
                .as_deref()
                .is_some_and(|list| list.iter().any(|known| known == "ES256")),
        }
    }
}

/// One endpoint of one client.
pub(crate) struct Endpoint {
    pub(crate) engine: Arc<Engine>,
    pub(crate) url: Url,
    pub(crate) canonical: Resource,
    pub(crate) nonces: Nonces,
    /// When people were sent to a browser lately.
    logins: Mutex<VecDeque<Instant>>,
}

impl Endpoint {
    pub(crate) fn new(engine: Arc<Engine>, url: Url) -> Self {
        let canonical = Resource::canonical(&url);
        Self { engine, url, canonical, nonces: Nonces::default(), logins: Mutex::default() }
    }

    /// Counts a login, unless there were too many lately.
    pub(crate) fn count_login(&self) -> Result<(), AuthErrorKind> {
        let limits = &self.engine.limits;
        let mut logins = self.logins.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        while logins.front().is_some_and(|at| now.duration_since(*at) >= limits.window) {
            logins.pop_front();
        }
        if logins.len() >= usize::from(limits.logins_per_window) {
            return Err(AuthErrorKind::TooManyLogins {
                limit: limits.logins_per_window,
                window: limits.window,
            });
        }
        logins.push_back(now);
        Ok(())
    }

    pub(crate) fn forget_logins(&self) {
        self.logins.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&self.canonical).finish()
    }
}
