use std::fmt;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::{BoxIo, Protocol};
use crate::client::error::{ConfigError, ConnectError};

/// Whom a client trusts.
///
/// TLS is [rustls](https://docs.rs/rustls) with its `ring` provider; TLS 1.2 and 1.3.
#[derive(Clone)]
pub struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Trusts the certificates of Mozilla's program, compiled in.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Tls`] when the provider offers nothing to speak.
    #[cfg(feature = "webpki-roots")]
    #[cfg_attr(docsrs, doc(cfg(feature = "webpki-roots")))]
    pub fn webpki_roots() -> Result<Self, ConfigError> {
        Self::with_store(with_webpki_roots(RootCertStore::empty()))
    }

    /// Trusts the certificates of the operating system. Those that can't be read are skipped.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Tls`] when there are none.
    #[cfg(feature = "native-roots")]
    #[cfg_attr(docsrs, doc(cfg(feature = "native-roots")))]
    pub fn native_roots() -> Result<Self, ConfigError> {
        Self::with_store(with_native_roots(RootCertStore::empty()))
    }

    /// Trusts these certificates, in DER, and no others.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Tls`] when one of them can't be read, or there are none.
    pub fn with_roots(
        roots: impl IntoIterator<Item = CertificateDer<'static>>,
    ) -> Result<Self, ConfigError> {
        let mut store = RootCertStore::empty();
        for root in roots {
            store.add(root).map_err(tls)?;
        }
        Self::with_store(store)
    }

    /// Uses this configuration, for client certificates and whatever else it can say. Where it
    /// names no protocols (ALPN), ours are put in.
    pub fn from_config(config: Arc<ClientConfig>) -> Self {
        if config.alpn_protocols.is_empty() {
            let mut config = ClientConfig::clone(&config);
            config.alpn_protocols = protocols();
            return Self(Arc::new(config));
        }
        Self(config)
    }

    /// Trusts what the features of this crate bring, all of it.
    pub(in crate::client) fn default_roots() -> Result<Self, ConfigError> {
        let store = RootCertStore::empty();
        #[cfg(feature = "native-roots")]
        let store = with_native_roots(store);
        #[cfg(feature = "webpki-roots")]
        let store = with_webpki_roots(store);
        if store.is_empty() {
            return Err(ConfigError::NoRoots);
        }
        Self::with_store(store)
    }

    fn with_store(store: RootCertStore) -> Result<Self, ConfigError> {
        let provider = Arc::new(ring::default_provider());
        let verifier =
            WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(&provider))
                .build()
                .map_err(tls)?;
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(tls)?
            .with_webpki_verifier(verifier)
            .with_no_client_auth();
        config.alpn_protocols = protocols();
        Ok(Self(Arc::new(config)))
    }

    /// `chooses` says whether HTTP/2 may come out.
    pub(super) async fn connect(
        &self,
        io: BoxIo,
        host: &str,
        chooses: bool,
    ) -> Result<(BoxIo, Protocol), ConnectError> {
        let name = ServerName::try_from(host.to_owned()).map_err(|error| {
            ConnectError::Tls(std::io::Error::new(std::io::ErrorKind::InvalidInput, error))
        })?;
        let mut config = Arc::clone(&self.0);
        if !chooses {
            Arc::make_mut(&mut config).alpn_protocols = vec![b"http/1.1".to_vec()];
        }
        let stream =
            TlsConnector::from(config).connect(name, io).await.map_err(ConnectError::Tls)?;
        #[cfg(feature = "http2")]
        if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            return Ok((Box::new(stream), Protocol::Http2));
        }
        Ok((Box::new(stream), Protocol::Http1))
    }
}

#[cfg(feature = "native-roots")]
fn with_native_roots(mut store: RootCertStore) -> RootCertStore {
    let found = rustls_native_certs::load_native_certs();
    for error in found.errors {
        tracing::debug!(
            error = &error as &dyn std::error::Error,
            "certificates of the system can't be read"
        );
    }
    store.add_parsable_certificates(found.certs);
    store
}

#[cfg(feature = "webpki-roots")]
fn with_webpki_roots(mut store: RootCertStore) -> RootCertStore {
    store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    store
}

fn protocols() -> Vec<Vec<u8>> {
    vec![
        #[cfg(feature = "http2")]
        b"h2".to_vec(),
        b"http/1.1".to_vec(),
    ]
}

fn tls(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ConfigError {
    ConfigError::Tls(error.into())
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}
