//! Connections, redirects, proxies, credentials, TLS.

use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use mcp_jsonrpc::link::v1::LinkExt;
use mcp_transport_http::client::{
    ConfigError, ConnectError, HttpConnector, HttpError, Phase, ProxyConfig,
};
use mcp_transport_http::v1::{
    AnswerHead, AuthorizeError, Authorizer, Credentials, Departure, Stamp, Step, Verdict,
};
use serde_json::json;

use crate::host::{
    ask, connect, link_to, meanwhile, notification, quick, request, result_of, tool, why, within,
};
use crate::script::{Reply, Request, Script};

// Shows: FC-070
#[tokio::test]
async fn connections_are_used_again_and_streams_have_their_own() {
    let script =
        Script::start(async |request: Request, mut reply: Reply| match &*request.title() {
            "GET" => {
                reply.stream().await;
                reply.gone().await;
                reply
            }
            "tools/call" => {
                reply.stream().await;
                let result = json!({"jsonrpc": "2.0", "id": request.id(), "result": {}});
                reply.message(&result).await;
                reply.end().await;
                reply
            }
            _ => reply.usual(&request, Some("s")).await,
        })
        .await;
    let mut link = connect(&script.url(), quick()).await;
    for id in 0..20 {
        ask(&mut link, tool(id, "x")).await.unwrap();
        ask(&mut link, request(100 + id, "tools/list", &json!({}))).await.unwrap();
    }
    assert_eq!(script.connections(), 2);
}

// Shows: FC-070
#[tokio::test]
async fn a_stream_that_the_server_leaves_open_after_the_response_is_closed_after_a_grace() {
    let script = Script::start(async |request: Request, mut reply: Reply| {
        if request.rpc() != "tools/call" {
            return reply.usual(&request, None).await;
        }
        reply.stream().await;
        reply.message(&json!({"jsonrpc": "2.0", "id": request.id(), "result": {}})).await;
        reply.gone().await;
        reply
    })
    .await;
    let mut link = connect(&script.url(), quick()).await;
    ask(&mut link, tool(1, "x")).await.unwrap();
    let mut kept = Vec::new();
    let closed = script.until("the stream is closed", |script| script.open_connections() <= 1);
    meanwhile(&mut link, &mut kept, closed).await;
    assert_eq!(kept, []);
}

// Shows: FC-069
#[tokio::test]
async fn a_request_on_a_connection_that_turns_out_to_be_gone_is_repeated_only_where_it_is_safe() {
    // Answers one request on each connection, and resets the connection at the second.
    let script = Script::start(async |request: Request, mut reply: Reply| {
        if request.connection > 0 && request.rpc() == "ping" {
            reply.cut();
        }
        if request.connection == 0 && request.rpc().starts_with("tools/") {
            reply.cut();
            return reply;
        }
        reply.usual(&request, None).await
    })
    .await;
    let mut config = quick();
    config.listen = false;
    let mut link = link_to(&script.url(), config.clone());
    ask(&mut link, request(1, "ping", &json!({}))).await.unwrap();
    // It was written, and cut before any answer: repeated over a new connection.
    ask(&mut link, request(2, "tools/list", &json!({}))).await.unwrap();
    assert_eq!((script.count("tools/list"), script.connections()), (2, 2));

    let script = Script::start(async |request: Request, mut reply: Reply| {
        if request.rpc() == "tools/call" {
            reply.cut();
            return reply;
        }
        reply.usual(&request, None).await
    })
    .await;
    let mut link = link_to(&script.url(), config);
    ask(&mut link, request(1, "ping", &json!({}))).await.unwrap();
    let cause = ask(&mut link, tool(2, "x")).await.unwrap_err();
    assert!(matches!(why(&cause), HttpError::Broken(_)));
    assert_eq!(script.count("tools/call"), 1);
}

#[tokio::test]
async fn a_connection_that_the_server_has_closed_is_not_used() {
    let script = Script::start(async |request: Request, mut reply: Reply| {
        // Closes without having said so.
        reply.cut();
        reply.usual(&request, None).await
    })
    .await;
    let mut config = quick();
    config.listen = false;
    let mut link = link_to(&script.url(), config);
    for id in 0..10 {
        ask(&mut link, tool(id, "x")).await.unwrap();
        let mut kept = Vec::new();
        let closed = script.until("it is closed", |script| script.open_connections() == 0);
        meanwhile(&mut link, &mut kept, closed).await;
    }
    assert_eq!((script.count("tools/call"), script.connections()), (10, 10));
}

// Shows: TRANSPORT-SESSION-004
#[tokio::test]
async fn a_redirect_within_the_origin_that_keeps_the_request_is_followed() {
    for status in [307, 308] {
        let script = Script::start(move |request: Request, mut reply: Reply| async move {
            if request.target == "/mcp" {
                reply.answer(status, &[("Location", "new/mcp?x=1")], "").await;
                return reply;
            }
            assert_eq!(request.target, "/new/mcp?x=1");
            reply.usual(&request, Some("s")).await
        })
        .await;
        let mut link = connect(&script.url(), quick()).await;
        ask(&mut link, tool(1, "x")).await.unwrap();
        within(link.close()).await.unwrap();
        // Twice each.
        assert_eq!((script.count("tools/call"), script.count("DELETE")), (2, 2));
        let body =
            script.requests().iter().filter(|r| r.rpc() == "tools/call").all(|r| r.id() == 1);
        assert!(body);
    }
}

#[tokio::test]
async fn no_other_redirect_is_followed() {
    let other = Script::start(async |_: Request, reply: Reply| -> Reply {
        drop(reply);
        panic!("asked")
    })
    .await;
    let away = format!("http://localhost:{}/mcp", other.addr.port());
    for (status, location, expected) in [
        (307, away.as_str(), format!(": {away}")),
        (308, "https://127.0.0.1/mcp", ": https://127.0.0.1/mcp".to_owned()),
        (301, "/new", ": /new".to_owned()),
        (302, "/new", ": /new".to_owned()),
        (303, "/new", ": /new".to_owned()),
        (307, "", String::new()),
        // In circles.
        (307, "/mcp", ": /mcp".to_owned()),
    ] {
        let place: &'static str = location.to_owned().leak();
        let script = Script::start(move |_: Request, mut reply: Reply| async move {
            reply.answer(status, &[("Location", place)], "").await;
            reply
        })
        .await;
        let mut link = link_to(&script.url(), quick());
        let cause = ask(&mut link, tool(1, "x")).await.unwrap_err();
        let HttpError::Redirected { status: by, to } = why(&cause) else { panic!("{cause:?}") };
        assert_eq!((by.as_u16(), to.to_string()), (status, expected));
        assert_eq!(script.requests().len(), if location == "/mcp" { 6 } else { 1 });
    }
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn a_server_that_is_not_there_fails_each_request_and_not_the_link() {
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = gone.local_addr().unwrap();
    drop(gone);
    let mut link = link_to(&format!("http://{addr}/mcp"), quick());
    for id in 0..3 {
        let cause = ask(&mut link, tool(id, "x")).await.unwrap_err();
        let HttpError::Connect { to, source: ConnectError::Tcp(_) } = why(&cause) else {
            panic!("{cause:?}")
        };
        assert_eq!(**to, *addr.to_string());
        assert!(why(&cause).is_retryable() && why(&cause).is_unsent());
    }
    let listener = tokio::net::TcpListener::bind(addr).await.unwrap();
    let _script = Script::on(listener, async |request: Request, reply: Reply| {
        reply.usual(&request, None).await
    });
    ask(&mut link, tool(9, "x")).await.unwrap();
}

#[tokio::test]
async fn each_phase_has_its_limit() {
    // Takes the connection, and says nothing.
    let script = Script::start(async |request: Request, mut reply: Reply| {
        if request.rpc() == "tools/call" && request.id() == 2 {
            reply.raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{").await;
        }
        reply.gone().await;
        reply
    })
    .await;
    let mut config = quick();
    config.times.answer = Some(Duration::from_millis(30));
    config.times.head = Duration::from_millis(30);
    config.times.close = Duration::from_secs(10);
    let mut link = link_to(&script.url(), config);
    for (id, expected) in [(1, Phase::Head), (2, Phase::Body)] {
        let cause = ask(&mut link, tool(id, "x")).await.unwrap_err();
        let HttpError::TimedOut { phase, limit } = why(&cause) else { panic!("{cause:?}") };
        assert_eq!((*phase, *limit), (expected, Duration::from_millis(30)));
    }
    // A notification that isn't taken doesn't hold up the next for ever.
    link.send(notification("notifications/a")).await.unwrap();
    link.send(notification("notifications/b")).await.unwrap();
    within(link.close()).await.unwrap();
    assert_eq!(script.count("notifications/b"), 1);
}

#[tokio::test]
async fn a_connection_that_does_not_come_about_has_a_limit() {
    // A listener that nobody accepts from completes the handshake of TCP; TLS never comes.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = quick();
    config.times.connect = Duration::from_millis(30);
    let url = format!("https://{}/mcp", silent.local_addr().unwrap());
    let mut link = link_to(&url, config);
    let cause = ask(&mut link, tool(1, "x")).await.unwrap_err();
    assert!(
        matches!(why(&cause), HttpError::Connect { source: ConnectError::TimedOut(_), .. }),
        "{cause:?}"
    );
}

#[tokio::test]
async fn headers_of_the_host_are_on_every_request() {
    let script = Script::start(async |request: Request, reply: Reply| {
        assert_eq!(request.header("x-api-key"), Some("secret"));
        assert_eq!(request.header("user-agent"), Some("host/1"));
        reply.usual(&request, Some("s")).await
    })
    .await;
    let mut config = quick();
    config.headers.insert("x-api-key", HeaderValue::from_static("secret"));
    config.headers.insert("user-agent", HeaderValue::from_static("host/1"));
    let mut link = connect(&script.url(), config).await;
    ask(&mut link, tool(1, "x")).await.unwrap();
    within(link.close()).await.unwrap();
    assert_eq!(script.requests().len(), 5);
}

#[test]
fn an_address_that_cannot_be_spoken_to_is_refused() {
    let error = |url: &str| HttpConnector::new(url, quick()).unwrap_err();
    for url in ["", "localhost:8080/mcp", "/mcp", "ftp://h.example/", "http://", "http://a b/"] {
        assert!(matches!(error(url), ConfigError::Url), "{url}");
    }
    assert!(matches!(error("http://user:password@h.example/"), ConfigError::Credentials));
    assert!(HttpConnector::new(" http://[::1]:8080/mcp?x=1 ", quick()).is_ok());
}

/// Gives out tokens `t1`, `t2`, …; a challenge to the newest makes the next.
#[derive(Default)]
struct Tokens {
    generation: AtomicU64,
    most: u64,
    asked: Mutex<Vec<String>>,
    observed: AtomicUsize,
}

#[derive(Debug)]
struct NoToken;

impl fmt::Display for NoToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no token")
    }
}

impl Error for NoToken {}

impl Authorizer for Tokens {
    fn authorize(&self, departure: &Departure) -> Step<Result<Credentials, AuthorizeError>> {
        let operation = departure.operation.as_ref().map_or(String::new(), |operation| {
            format!("{} {}", operation.method, operation.name.as_deref().unwrap_or("-"))
        });
        let title = format!("{} {operation}", departure.method);
        self.asked.lock().unwrap().push(title.trim().to_owned());
        let generation = self.generation.load(Ordering::SeqCst);
        let mut headers = HeaderMap::new();
        if generation > 0 {
            let token = format!("Bearer t{generation}");
            headers.insert(AUTHORIZATION, HeaderValue::try_from(token).unwrap());
        }
        // As if it had to be fetched.
        Step::later(async move {
            tokio::task::yield_now().await;
            Ok(Credentials::new(headers, Stamp::new(generation)))
        })
    }

    fn challenged(&self, _: &Departure, stamp: Stamp, answer: &AnswerHead) -> Step<Verdict> {
        Step::now(if answer.status == StatusCode::FORBIDDEN {
            Verdict::NotMine
        } else if stamp.generation() >= self.most {
            Verdict::Fail(AuthorizeError::new(NoToken, false))
        } else {
            let next = stamp.generation() + 1;
            self.generation.fetch_max(next, Ordering::SeqCst);
            Verdict::Retry
        })
    }

    fn observe(&self, _: &Departure, _: &AnswerHead) {
        self.observed.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn an_authorizer_is_asked_before_each_request_and_told_of_each_challenge() {
    let script = Script::start(async |request: Request, mut reply: Reply| {
        if request.header("authorization") != Some("Bearer t2") {
            reply.answer(401, &[("WWW-Authenticate", "Bearer")], "").await;
            return reply;
        }
        if request.rpc() == "tools/call" {
            reply.answer(403, &[("Content-Type", "text/plain")], "not yours").await;
            return reply;
        }
        reply.usual(&request, Some("s")).await
    })
    .await;
    let tokens = Arc::new(Tokens { most: 2, ..Tokens::default() });
    let mut config = quick();
    config.authorizer = Some(Arc::<Tokens>::clone(&tokens));
    let mut link = connect(&script.url(), config).await;
    let cause = ask(&mut link, tool(1, "x")).await.unwrap_err();
    assert_eq!(why(&cause).to_string(), "the server answered 403 Forbidden: not yours");
    within(link.close()).await.unwrap();
    assert_eq!(
        *tokens.asked.lock().unwrap(),
        [
            "POST initialize -",
            "POST initialize -",
            "POST initialize -",
            "POST",
            "GET",
            "POST tools/call x",
            "DELETE"
        ]
    );
    // All but the two challenges and the refusal.
    assert_eq!(tokens.observed.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn an_authorizer_that_has_nothing_ends_the_request_with_its_own_error() {
    let script = Script::start(async |_: Request, mut reply: Reply| {
        reply.status(401).await;
        reply
    })
    .await;
    let mut config = quick();
    config.authorizer = Some(Arc::new(Tokens { most: 3, ..Tokens::default() }));
    let mut link = link_to(&script.url(), config);
    let cause = ask(&mut link, tool(1, "x")).await.unwrap_err();
    let HttpError::Authorize(error) = why(&cause) else { panic!("{cause:?}") };
    assert_eq!(error.source().unwrap().to_string(), "no token");
    assert_eq!(script.requests().len(), 4);

    // One that never gives up is stopped.
    let mut config = quick();
    config.authorizer = Some(Arc::new(Tokens { most: u64::MAX, ..Tokens::default() }));
    let mut link = link_to(&script.url(), config);
    let cause = ask(&mut link, tool(1, "x")).await.unwrap_err();
    assert_eq!(why(&cause).status(), Some(StatusCode::UNAUTHORIZED));
    assert_eq!(script.requests().len(), 4 + 9);
}

#[tokio::test]
async fn a_plain_server_is_reached_through_a_proxy_that_forwards() {
    let proxy = Script::start(async |request: Request, reply: Reply| {
        assert!(request.target.starts_with("http://server.example:8080/mcp"), "{}", request.target);
        assert_eq!(request.header("host"), Some("server.example:8080"));
        assert_eq!(request.header("proxy-authorization"), Some("Basic dTpw"));
        reply.usual(&request, Some("s")).await
    })
    .await;
    let mut config = quick();
    config.proxy = ProxyConfig::new().http(&format!("http://u:p@{}", proxy.addr)).unwrap();
    let mut link = connect("http://server.example:8080/mcp", config).await;
    ask(&mut link, tool(1, "x")).await.unwrap();
    assert_eq!(proxy.count("tools/call"), 1);
}

#[tokio::test]
async fn a_proxy_that_opens_no_tunnel_says_why() {
    let proxy = Script::start(async |request: Request, mut reply: Reply| {
        assert_eq!((&*request.method, &*request.target), ("CONNECT", "server.example:443"));
        reply.answer(407, &[], "").await;
        reply.cut();
        reply
    })
    .await;
    let mut config = quick();
    config.proxy = ProxyConfig::new().https(&format!("http://{}", proxy.addr)).unwrap();
    let mut link = link_to("https://server.example/mcp", config);
    let cause = ask(&mut link, tool(1, "x")).await.unwrap_err();
    assert!(
        matches!(why(&cause), HttpError::Connect { source: ConnectError::ProxyRefused(407), .. }),
        "{cause:?}"
    );
}

#[cfg(all(feature = "tls", feature = "http2"))]
mod tls {
    use std::net::SocketAddr;

    use mcp_transport_http::client::{Config, Tls};
    use mcp_transport_http::server::{ListenerConfig, rustls};
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::support::Server;

    const CERTIFICATE: &[u8] = include_bytes!("../data/localhost.pem");
    /// Made for these tests, trusted by nobody else.
    const KEY: &[u8] = include_bytes!("../data/localhost.key");

    fn certificate() -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(CERTIFICATE).unwrap()
    }

    async fn server(protocols: &[&[u8]]) -> Server {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate()], PrivateKeyDer::from_pem_slice(KEY).unwrap())
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Server::listen_with(
            |builder| builder,
            |listener| listener.with_config(ListenerConfig::new()).with_tls(config),
        )
        .await
    }

    fn trusting() -> Config {
        let mut config = quick();
        config.tls = Some(Tls::with_roots([certificate()]).unwrap());
        config
    }

    async fn talk(url: &str, config: Config) {
        let mut link = connect(url, config).await;
        for id in 1..=150 {
            link.send(request(id, "tools/call", &json!({"name": "count", "arguments": {}})))
                .await
                .unwrap();
        }
        // Streams of their own, more than one connection takes.
        let mut open: Vec<i64> = (1..=150).collect();
        while !open.is_empty() {
            let incoming = within(link.recv()).await.unwrap();
            if let crate::host::Came::Result(id, _) = crate::host::came(&incoming) {
                open.retain(|open| Some(*open) != id.as_i64());
            }
        }
        within(link.close()).await.unwrap();
    }

    #[tokio::test]
    async fn https_is_spoken_over_http1_and_http2_as_the_server_chooses() {
        for protocols in [&[&b"h2"[..], b"http/1.1"][..], &[b"http/1.1"], &[]] {
            let server = server(protocols).await;
            let mut config = trusting();
            config.limits.requests = 150;
            talk(&format!("https://localhost:{}/mcp", server.addr.port()), config).await;
        }
    }

    #[tokio::test]
    async fn a_certificate_that_is_not_trusted_is_refused_and_not_tried_again() {
        let server = server(&[]).await;
        let url = format!("https://localhost:{}/mcp", server.addr.port());
        let mut link = link_to(&url, quick());
        let cause = ask(&mut link, tool(1, "x")).await.unwrap_err();
        let HttpError::Connect { source: ConnectError::Tls(_), .. } = why(&cause) else {
            panic!("{cause:?}")
        };
        assert!(!why(&cause).is_retryable());
    }

    /// A proxy that opens tunnels to one server, whatever it is asked for.
    async fn tunnels(to: SocketAddr) -> (SocketAddr, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let opened = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&opened);
        tokio::spawn(async move {
            loop {
                let (mut near, _) = listener.accept().await.unwrap();
                let count = Arc::clone(&count);
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        assert!(near.read_buf(&mut head).await.unwrap() > 0);
                    }
                    assert!(head.starts_with(b"CONNECT server.example:4433 HTTP/1.1\r\n"));
                    count.fetch_add(1, Ordering::SeqCst);
                    let mut far = TcpStream::connect(to).await.unwrap();
                    // In pieces, as networks do.
                    for piece in
                        [&b"HTTP/1.1 200 Connection"[..], b" established\r\nVia: x\r\n\r", b"\n"]
                    {
                        near.write_all(piece).await.unwrap();
                        near.flush().await.unwrap();
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                    let _ = copy_bidirectional(&mut near, &mut far).await;
                });
            }
        });
        (addr, opened)
    }

    #[tokio::test]
    async fn tls_goes_through_a_tunnel_to_the_name_that_was_asked_for() {
        let server = server(&[b"h2"]).await;
        let (proxy, opened) = tunnels(server.addr).await;
        let mut config = trusting();
        config.proxy = ProxyConfig::new().https(&format!("http://{proxy}")).unwrap();
        // The server behind the tunnel is not the one that was asked for, and found out.
        let mut link = link_to("https://server.example:4433/mcp", config.clone());
        let cause = ask(&mut link, tool(1, "x")).await.unwrap_err();
        let HttpError::Connect { source: ConnectError::Tls(error), .. } = why(&cause) else {
            panic!("{cause:?}")
        };
        assert!(error.to_string().contains("server.example"), "{error}");
        assert_eq!(opened.load(Ordering::SeqCst), 1);
        // What is within this machine never goes through a proxy.
        let url = format!("https://localhost:{}/mcp", server.addr.port());
        connect(&url, config).await;
        assert_eq!(opened.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_call_in_flight_survives_the_loss_of_other_connections() {
    let script =
        Script::start(async |request: Request, mut reply: Reply| match &*request.title() {
            "tools/call" => {
                reply.stream().await;
                tokio::time::sleep(Duration::from_millis(50)).await;
                let result = json!({"jsonrpc": "2.0", "id": request.id(), "result": {}});
                reply.message(&result).await;
                reply.end().await;
                reply
            }
            "tools/list" if request.connection < 3 => {
                reply.cut();
                reply
            }
            _ => reply.usual(&request, None).await,
        })
        .await;
    let mut config = quick();
    config.listen = false;
    let mut link = connect(&script.url(), config).await;
    link.send(tool(1, "x")).await.unwrap();
    link.send(request(2, "tools/list", &json!({}))).await.unwrap();
    let incoming = within(link.recv()).await.unwrap();
    let early = crate::host::came(&incoming);
    result_of(&mut link, 1).await.unwrap();
    assert!(!matches!(early, crate::host::Came::Result(ref id, _) if id.as_i64() == Some(1)));
}
