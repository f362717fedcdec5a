//! HTTP/2, TLS, and other servers around the endpoint.

#![cfg(test)]
#![cfg(all(feature = "http2", feature = "tls", feature = "tower"))]

mod support;

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mcp_transport_http::server::{ListenerConfig, rustls};
use mcp_transport_http::sse::Decoder;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use serde_json::{Value, json};
use support::{Client, Server, bounded, eventually};
use tokio::net::TcpStream;

const CERTIFICATE: &[u8] = include_bytes!("data/localhost.pem");
/// Made for these tests, trusted by nobody else.
const KEY: &[u8] = include_bytes!("data/localhost.key");

fn certificate() -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(CERTIFICATE).unwrap()
}

fn server_config() -> rustls::ServerConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate()], PrivateKeyDer::from_pem_slice(KEY).unwrap())
        .unwrap()
}

async fn tls(server: &Server, alpn: &str) -> tokio_rustls::client::TlsStream<TcpStream> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let stream = TcpStream::connect(server.addr).await.unwrap();
    connector.connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap()
}

fn post(server: &Server, session: Option<&str>, message: &Value) -> Request<Full<Bytes>> {
    let mut request = Request::post(format!("http://localhost:{}/mcp", server.addr.port()))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    request.body(Full::new(message.to_string().into())).unwrap()
}

fn call(id: u64, name: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": name, "arguments": {"steps": 3}}})
}

async fn messages(response: Response<hyper::body::Incoming>) -> Vec<Value> {
    let mut body = response.into_body().collect().await.unwrap().to_bytes();
    let mut decoder = Decoder::new(1 << 20);
    let mut messages = Vec::new();
    while let Some(event) = decoder.feed(&mut body).unwrap() {
        if !event.data.is_empty() {
            messages.push(serde_json::from_slice(&event.data).unwrap());
        }
    }
    messages
}

type Sender = http2::SendRequest<Full<Bytes>>;

/// The handshake, over one connection of HTTP/2; answers with the session's id.
async fn open(server: &Server, sender: &mut Sender) -> String {
    let hello = post(server, None, &Client::hello("2025-11-25", "h2"));
    let response = sender.send_request(hello).await.unwrap();
    assert_eq!(response.status(), 200);
    let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    response.into_body().collect().await.unwrap();
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let response = sender.send_request(post(server, Some(&session), &ready)).await.unwrap();
    assert_eq!(response.status(), 202);
    session
}

async fn exercise(server: &Server, sender: &mut Sender) {
    let session = open(server, sender).await;
    // Side by side on one connection.
    let mut calls = Vec::new();
    for id in 0..20 {
        let request = post(server, Some(&session), &call(id, "spread"));
        calls.push(tokio::spawn(sender.send_request(request)));
    }
    for (id, call) in calls.into_iter().enumerate() {
        let response = call.await.unwrap().unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let messages = messages(response).await;
        assert_eq!(messages.len(), 4);
        assert_eq!(messages[3]["id"], id);
    }
    // A reset stream is a lost connection, and no cancellation.
    server.controls.open("step");
    let request = post(server, Some(&session), &call(100, "steps"));
    let response = sender.send_request(request).await.unwrap();
    drop(response);
    for _ in 0..2 {
        server.controls.open("step");
    }
    server.controls.open("answer");
    server.controls.noted("steps done").await;
    // A foreign authority.
    let mut foreign = post(server, Some(&session), &call(101, "echo"));
    *foreign.uri_mut() = "http://evil.example/mcp".parse().unwrap();
    assert_eq!(sender.send_request(foreign).await.unwrap().status(), 403);
    eventually("nothing runs", || server.endpoint.exchanges() == 0).await;
}

// Shows: FC-070
#[tokio::test]
async fn http2_by_prior_knowledge() {
    bounded(async {
        let mut config = ListenerConfig::new();
        config.h2c = true;
        let mut server = Server::listen(|builder| builder, config).await;
        // HTTP/1.1 as ever.
        let client = server.connect().await;
        assert_eq!(client.request(1, "ping", json!({})).await.status, 200);
        let stream = TokioIo::new(TcpStream::connect(server.addr).await.unwrap());
        let (mut sender, connection) =
            http2::handshake(TokioExecutor::new(), stream).await.unwrap();
        let connection = tokio::spawn(connection);
        exercise(&server, &mut sender).await;
        server.begin_shutdown();
        server.ended().await;
        let _ = connection.await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn tls_with_either_version_of_http() {
    bounded(async {
        let server = Server::listen_with(|builder| builder, |l| l.with_tls(server_config())).await;
        let stream = tls(&server, "h2").await;
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let (mut sender, connection) =
            http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(connection);
        exercise(&server, &mut sender).await;
        drop(sender);
        let _ = connection.await.unwrap();

        let stream = tls(&server, "http/1.1").await;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(connection);
        let mut hello = post(&server, None, &Client::hello("2025-11-25", "tls"));
        hello.headers_mut().insert("host", "localhost".parse().unwrap());
        let response = sender.send_request(hello).await.unwrap();
        assert_eq!(response.status(), 200);
        drop((sender, response));
        let _ = connection.await.unwrap();

        // What is no TLS is closed.
        let mut raw = server.client().send("GET", &[], b"").await;
        while raw.more().await {}
    })
    .await;
}

// Shows: SEC-073
#[cfg(unix)]
#[tokio::test]
async fn a_unix_socket_is_as_good() {
    use mcp_transport_http::server::Listener;

    bounded(async {
        let server = Server::start().await;
        let path = std::env::temp_dir().join(format!("mcp-http-{}.sock", std::process::id()));
        let listener = Listener::bind_unix(server.endpoint.clone(), &path).unwrap();
        let task = tokio::spawn(listener.run(std::future::pending()));
        let stream = tokio::net::UnixStream::connect(&path).await.unwrap();
        std::fs::remove_file(&path).unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(connection);
        let mut hello = post(&server, None, &Client::hello("2025-11-25", "unix"));
        hello.headers_mut().insert("host", "localhost".parse().unwrap());
        assert_eq!(sender.send_request(hello).await.unwrap().status(), 200);
        drop(sender);
        let _ = connection.await.unwrap();
        task.abort();
    })
    .await;
}

#[tokio::test]
async fn the_endpoint_mounts_in_axum() {
    bounded(async {
        let server = Server::start().await;
        let app = axum::Router::new()
            .route("/health", axum::routing::get(async || "fine"))
            .route_service("/mcp", server.endpoint.clone());
        let tcp = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = server.client();
        client.addr = tcp.local_addr().unwrap();
        let task = tokio::spawn(async move { axum::serve(tcp, app).await });
        client.initialize("2025-11-25").await;
        let messages = client.tool(1, "count", json!({"steps": 3})).await.messages().await;
        assert_eq!(messages.len(), 4);
        task.abort();
    })
    .await;
}
