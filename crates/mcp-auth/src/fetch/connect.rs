use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::address::{Target, place_of};
use super::{FetchError, FetchPolicy, Reach, Rule};
use crate::v1::BoxFuture;

/// Whose certificates are trusted. Nothing turns the check off.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Roots {
    /// Those that Mozilla's program lists, compiled in.
    #[cfg(feature = "webpki-roots")]
    Webpki,
    /// Those of the operating system.
    #[cfg(feature = "native-roots")]
    Native,
    /// These, as DER, and no others.
    Only(Vec<Vec<u8>>),
}

impl Default for Roots {
    /// The operating system's if the feature `native-roots` is on, else Mozilla's if the
    /// feature `webpki-roots` is, else none.
    fn default() -> Self {
        #[cfg(feature = "native-roots")]
        return Self::Native;
        #[cfg(all(feature = "webpki-roots", not(feature = "native-roots")))]
        return Self::Webpki;
        #[cfg(not(any(feature = "webpki-roots", feature = "native-roots")))]
        Self::Only(Vec::new())
    }
}

impl Roots {
    pub(super) fn client_config(&self) -> Result<Arc<ClientConfig>, FetchError> {
        let mut store = RootCertStore::empty();
        match self {
            #[cfg(feature = "webpki-roots")]
            Self::Webpki => store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
            #[cfg(feature = "native-roots")]
            Self::Native => {
                let found = rustls_native_certs::load_native_certs();
                // Odd certificates are common in a system's store; the others still count.
                store.add_parsable_certificates(found.certs);
            }
            Self::Only(certificates) => {
                for certificate in certificates {
                    store
                        .add(CertificateDer::from(certificate.clone()))
                        .map_err(|source| FetchError::Unmade { source: source.into() })?;
                }
            }
        }
        // The provider is named, so that nobody's process-wide choice is needed.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|source| FetchError::Unmade { source: source.into() })?
            .with_root_certificates(store)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

/// Finds the addresses of a name.
pub(super) trait Resolve: Send + Sync {
    fn resolve(&self, name: String) -> BoxFuture<'_, io::Result<Vec<IpAddr>>>;
}

/// The operating system's resolver.
pub(super) struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: String) -> BoxFuture<'_, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// The addresses of `target` that may be connected to: what was judged is what is returned, so
/// a name can't turn into something else in between.
pub(super) async fn judged_addresses(
    resolver: &dyn Resolve,
    policy: &FetchPolicy,
    url: &url::Url,
    target: &Target,
    reach: Reach,
) -> Result<Vec<IpAddr>, FetchError> {
    let host = || url.host_str().unwrap_or_default().to_owned();
    let addresses = match target {
        Target::Address(address) => vec![*address],
        // A resolver could answer anything for it.
        Target::Localhost => vec![
            IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
            IpAddr::V6(std::net::Ipv6Addr::LOCALHOST),
        ],
        Target::Name(name) => resolver
            .resolve(name.clone())
            .await
            .map_err(|source| FetchError::Resolve { host: host(), source })?,
    };
    let mut broken = Rule::Address;
    let mut allowed = Vec::new();
    for address in addresses {
        match policy.judge_place(url, place_of(address), reach) {
            Ok(()) => allowed.push(address),
            Err(rule) => broken = rule,
        }
    }
    if allowed.is_empty() {
        return Err(FetchError::Refused { host: host(), rule: broken });
    }
    Ok(allowed)
}

/// A connection, in the clear or encrypted.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Connects to one of `addresses`, the first that answers.
pub(super) async fn connect(
    tls: &Arc<ClientConfig>,
    policy: &FetchPolicy,
    url: &url::Url,
    addresses: &[IpAddr],
) -> Result<Box<dyn Stream>, FetchError> {
    let host = || url.host_str().unwrap_or_default().to_owned();
    let port = url.port_or_known_default().unwrap_or(443);
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        let opening = TcpStream::connect(SocketAddr::new(*address, port));
        let stream = match tokio::time::timeout(policy.connect_timeout, opening).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(source)) => {
                last = source;
                continue;
            }
            Err(_) => {
                last = io::ErrorKind::TimedOut.into();
                continue;
            }
        };
        if url.scheme() != "https" {
            return Ok(Box::new(stream));
        }
        let name = match url.host() {
            Some(url::Host::Domain(name)) => {
                ServerName::try_from(name.trim_end_matches('.').to_owned())
                    .map_err(|source| FetchError::Unmade { source: source.into() })?
            }
            _ => ServerName::IpAddress((*address).into()),
        };
        // Another address has the same certificate or a worse one: no second try.
        let connector = TlsConnector::from(Arc::clone(tls));
        return match connector.connect(name, stream).await {
            Ok(stream) => Ok(Box::new(stream)),
            Err(source) => Err(FetchError::Connect { host: host(), source }),
        };
    }
    Err(FetchError::Connect { host: host(), source: last })
}
