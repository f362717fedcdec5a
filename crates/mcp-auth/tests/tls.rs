//! The guarded fetcher over TLS, with a server that has a certificate of its own making.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests may panic like tests"
)]

use std::net::Ipv4Addr;
use std::sync::Arc;

use mcp_auth::v1::Fetch as _;
use mcp_auth::{FetchError, FetchPolicy, FetchRequest, GuardedFetcher, Reach, Roots};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

// For `localhost`, trusted by nobody else.
const CERTIFICATE: &[u8] = include_bytes!("../../mcp-transport-http/tests/data/localhost.pem");
const KEY: &[u8] = include_bytes!("../../mcp-transport-http/tests/data/localhost.key");

fn certificate() -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(CERTIFICATE).unwrap()
}

/// Serves one document to whoever completes a handshake; gives the port.
async fn serve() -> u16 {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate()], PrivateKeyDer::from_pem_slice(KEY).unwrap())
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => break,
                }
            }
            let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\
                          Content-Length: 2\r\nConnection: close\r\n\r\n{}";
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    port
}

async fn fetch(fetcher: &GuardedFetcher, url: &str) -> Result<Vec<u8>, FetchError> {
    let request = FetchRequest::get(url.parse().unwrap(), Reach::Loopback);
    fetcher.fetch(request).await.map(|answer| answer.body.to_vec())
}

// Shows: CL-FT-8
#[tokio::test]
async fn a_certificate_is_checked_against_the_roots_that_were_chosen_and_the_name() {
    let port = serve().await;
    let policy = FetchPolicy::default;
    let own = Roots::Only(vec![certificate().to_vec()]);
    let trusting = GuardedFetcher::with_roots(policy(), &own).unwrap();
    let url = format!("https://localhost:{port}/");
    assert_eq!(fetch(&trusting, &url).await.unwrap(), b"{}");
    // Another name than the certificate's, though it leads to the same place.
    let by_address = format!("https://127.0.0.2:{port}/");
    assert!(fetch(&trusting, &by_address).await.is_err());
    // Nobody but us trusts it.
    let usual = GuardedFetcher::new(policy()).unwrap();
    let error = fetch(&usual, &url).await.unwrap_err();
    assert!(matches!(error, FetchError::Connect { .. }), "{error:?}");
    let nobody = GuardedFetcher::with_roots(policy(), &Roots::Only(Vec::new())).unwrap();
    assert!(fetch(&nobody, &url).await.is_err());
}
