use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{HeaderName, HeaderValue};
use url::Url;

use super::engine::Engine;
use super::error::{AuthError, AuthErrorKind, FlowStep};
use super::token::read_error;
use crate::metadata::{ResourceMetadata, ServerMetadata, UnusableServerMetadata};
use crate::{
    FetchError, FetchRequest, FetchResponse, Issuer, Reach, Resource, crypto, text, well_known,
};

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// Which servers are in charge of an endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// What is sent as `resource`, byte for byte as the document has it.
    pub(crate) resource: Resource,
    /// Under whose name the login is stored.
    pub(crate) issuer: Issuer,
    pub(crate) metadata: ServerMetadata,
    /// The document of the resource; none in the fallback of 2025-03-26.
    pub(crate) document: Option<ResourceMetadata>,
}

/// Finds out about the servers of one endpoint.
pub(crate) struct Discovery<'e> {
    pub(crate) engine: &'e Engine,
    pub(crate) endpoint: &'e Url,
    pub(crate) reach: Reach,
}

impl Discovery<'_> {
    /// The metadata of the resource: where the challenge says, else at the well-known places.
    /// `None` when there is none anywhere.
    pub(crate) async fn resource(
        &self,
        named: Option<&str>,
    ) -> Result<Option<ResourceMetadata>, AuthError> {
        let step = |kind| AuthError::new(FlowStep::ResourceMetadata, kind);
        let mut places = Vec::new();
        if let Some(named) = named {
            match self.endpoint.join(named) {
                Ok(url) => places.push(url),
                Err(_) => tracing::warn!("the challenge names metadata at what is no URL"),
            }
        }
        for place in well_known::protected_resource(self.endpoint) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        for place in places {
            let Some(answer) = self.get(place, None).await.map_err(step)? else { continue };
            let Ok(document) = ResourceMetadata::read(&answer.body) else { continue };
            self.check_resource(&document.resource).map_err(step)?;
            return Ok(Some(document));
        }
        Ok(None)
    }

    /// Whether a document's resource is the endpoint. If it isn't, somebody wants tokens for
    /// another server, and nothing may be sent anywhere.
    fn check_resource(&self, named: &str) -> Result<(), AuthErrorKind> {
        let expected = self.engine.expected_resource.as_deref();
        let covers = match expected {
            Some(expected) => expected == named,
            None => self.engine.resource_match.covers(named, self.endpoint),
        };
        if covers && Resource::new(named).is_ok() {
            return Ok(());
        }
        Err(AuthErrorKind::ResourceMismatch {
            named: text::clean(named),
            endpoint: Resource::canonical(self.endpoint),
        })
    }

    /// The servers in charge, with their metadata. `preferred` is an issuer that a login is
    /// stored for.
    pub(crate) async fn target(
        &self,
        document: Option<ResourceMetadata>,
        preferred: Option<&Issuer>,
    ) -> Result<Target, AuthError> {
        let Some(document) = document else { return self.legacy().await };
        let issuers: Vec<Issuer> = document
            .authorization_servers
            .iter()
            .filter_map(|server| Issuer::new(&**server).ok())
            .collect();
        let issuer = self
            .engine
            .choose(&issuers, preferred)
            .ok_or_else(|| {
                AuthError::new(FlowStep::ServerChoice, AuthErrorKind::NoAuthorizationServer)
            })?
            .clone();
        let resource = Resource::new(&*document.resource)
            .map_err(|error| AuthError::new(FlowStep::ResourceMetadata, error))?;
        let others = issuers.iter().filter(|other| **other != issuer);
        let mut failed: Vec<AuthError> = Vec::new();
        for issuer in std::iter::once(&issuer).chain(others).take(MAX_SERVERS) {
            match self.server(issuer).await {
                Ok(metadata) => {
                    let issuer = issuer.clone();
                    return Ok(Target { resource, issuer, metadata, document: Some(document) });
                }
                // Nothing but a document was asked for, so nothing is given away by going on.
                Err(error) if is_unfit(error.kind()) => {
                    tracing::warn!(%issuer, error = %error.kind(), "can't be logged in to");
                    failed.push(error);
                }
                Err(error) => return Err(error),
            }
        }
        match failed.len() {
            1 => Err(failed.remove(0)),
            _ => Err(AuthError::new(
                FlowStep::ServerMetadata,
                AuthErrorKind::NoUsableServer { failed },
            )),
        }
    }

    /// The metadata of an authorization server.
    pub(crate) async fn server(&self, issuer: &Issuer) -> Result<ServerMetadata, AuthError> {
        let quirks = self.engine.quirks(issuer);
        self.server_at(well_known::authorization_server(issuer), issuer, |document| {
            if quirks.root_slash_issuer {
                ServerMetadata::read_forgiving_root_slash(document, issuer)
            } else {
                ServerMetadata::read(document, issuer)
            }
        })
        .await
    }

    async fn server_at(
        &self,
        places: Vec<Url>,
        issuer: &Issuer,
        read: impl Fn(&[u8]) -> Result<ServerMetadata, UnusableServerMetadata>,
    ) -> Result<ServerMetadata, AuthError> {
        let step = |kind| AuthError::new(FlowStep::ServerMetadata, kind);
        let tried = places.len();
        let mut last = None;
        for place in places {
            let version = Some("2025-03-26").filter(|_| self.engine.legacy);
            let Some(answer) = self.get(place, version).await.map_err(step)? else { continue };
            match read(&answer.body).and_then(|metadata| self.suffices(issuer, metadata)) {
                Ok(metadata) => return Ok(metadata),
                // What is most telling is kept: a document that is there but no use.
                Err(UnusableServerMetadata::NotAnObject) if last.is_some() => {}
                Err(unusable) => last = Some(unusable),
            }
        }
        Err(step(match last {
            Some(UnusableServerMetadata::NoS256) => {
                AuthErrorKind::PkceNotSupported { issuer: issuer.clone() }
            }
            last => AuthErrorKind::NoServerMetadata { issuer: issuer.clone(), tried, last },
        }))
    }

    fn suffices(
        &self,
        issuer: &Issuer,
        metadata: ServerMetadata,
    ) -> Result<ServerMetadata, UnusableServerMetadata> {
        if !self.engine.grant.needs_browser() {
            return Ok(metadata);
        }
        if metadata.authorization_endpoint.is_none() {
            return Err(UnusableServerMetadata::NoAuthorizationEndpoint);
        }
        if !metadata.does_s256() && !self.engine.quirks(issuer).trust_s256 {
            return Err(UnusableServerMetadata::NoS256);
        }
        Ok(metadata)
    }

    /// The fallback of revision 2025-03-26: the server's origin is the issuer.
    async fn legacy(&self) -> Result<Target, AuthError> {
        let step = |kind| AuthError::new(FlowStep::ResourceMetadata, kind);
        if !self.engine.legacy {
            return Err(step(AuthErrorKind::NoResourceMetadata { last: None }));
        }
        let origin = self.endpoint.origin().ascii_serialization();
        let issuer = Issuer::new(origin).map_err(|error| step(error.into()))?;
        let resource = Resource::canonical(self.endpoint);
        // The issuer was derived, nobody wrote it: a slash at its end makes no difference. It
        // has to be the origin all the same, or a server could claim somebody else's login.
        let found = self
            .server_at(well_known::authorization_server(&issuer), &issuer, |document| {
                ServerMetadata::read_forgiving_root_slash(document, &issuer)
            })
            .await;
        let (metadata, guessed) = match found {
            Ok(metadata) => (metadata, false),
            Err(error) => match error.kind() {
                AuthErrorKind::NoServerMetadata { last: None, .. } => (self.guess(&issuer), true),
                _ => return Err(error),
            },
        };
        tracing::info!(%issuer, guessed, "no resource metadata: falling back to 2025-03-26");
        Ok(Target { resource, issuer, metadata, document: None })
    }

    /// The endpoints that 2025-03-26 names for servers without any metadata.
    fn guess(&self, issuer: &Issuer) -> ServerMetadata {
        let at = |path| well_known::legacy_endpoint(self.endpoint, path);
        ServerMetadata {
            issuer: issuer.clone(),
            authorization_endpoint: Some(at("/authorize")),
            token_endpoint: at("/token"),
            registration_endpoint: Some(at("/register")),
            revocation_endpoint: None,
            introspection_endpoint: None,
            jwks_uri: None,
            scopes_supported: None,
            token_endpoint_auth_methods: None,
            token_endpoint_auth_algorithms: None,
            code_challenge_methods: None,
            dpop_algorithms: None,
            client_id_metadata_document_supported: false,
            iss_parameter_supported: false,
        }
    }

    /// Fetches a document; `None` for whatever is no usable one. Trouble of the server or the
    /// network ends everything, after one more try: going on could choose a wrong authority.
    async fn get(
        &self,
        url: Url,
        version: Option<&'static str>,
    ) -> Result<Option<FetchResponse>, AuthErrorKind> {
        let mut request = FetchRequest::get(url, self.reach);
        if let Some(version) = version {
            request = request.with_header(PROTOCOL_VERSION, HeaderValue::from_static(version));
        }
        let host = request.url.host_str().unwrap_or_default().to_owned();
        let mut tried_before = false;
        loop {
            let fault = match self.engine.fetch.fetch(request.clone()).await {
                Ok(answer) if answer.status == StatusCode::OK => {
                    return Ok((!answer.is_html()).then_some(answer));
                }
                Ok(answer) if answer.status.is_server_error() => read_error(&host, &answer, &[]),
                Ok(_) => return Ok(None),
                Err(error) if error.is_retryable() => error.into(),
                Err(error) => {
                    tracing::warn!(host, %error, "metadata can't be fetched");
                    return match error {
                        // A place that may not be asked is no place; what names one is odd.
                        FetchError::Refused { .. }
                        | FetchError::TooLarge { .. }
                        | FetchError::Redirected { .. } => Ok(None),
                        error => Err(error.into()),
                    };
                }
            };
            if tried_before {
                return Err(fault);
            }
            tried_before = true;
            tokio::time::sleep(short_pause()).await;
        }
    }
}

/// Of how many authorization servers the metadata is looked at.
const MAX_SERVERS: usize = 4;

/// Whether a server says by its metadata, or the lack of it, that it can't be used. Trouble of
/// the network is none of that.
fn is_unfit(kind: &AuthErrorKind) -> bool {
    matches!(kind, AuthErrorKind::NoServerMetadata { .. } | AuthErrorKind::PkceNotSupported { .. })
}

/// Between 100 and 356 ms, so that many clients don't come back at one moment.
fn short_pause() -> Duration {
    let mut random = [0];
    // Without random bytes the shortest pause does.
    let _ = crypto::fill_random(&mut random);
    Duration::from_millis(100 + u64::from(random[0]))
}
