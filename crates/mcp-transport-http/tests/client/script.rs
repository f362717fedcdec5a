//! A server that does what a test says, byte by byte.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

/// A request as it came in.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Which connection, counted from 0.
    pub connection: usize,
    pub at: Instant,
}

/// The connection that a request came on.
pub struct Reply {
    stream: TcpStream,
    open: bool,
}

pub struct Script {
    pub addr: SocketAddr,
    seen: Arc<Seen>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<Request>>,
    connections: AtomicUsize,
    open: AtomicUsize,
    changed: Notify,
}

impl Script {
    /// Serves every request with `handle`, which gives the connection back.
    pub async fn start<F, Fut>(handle: F) -> Self
    where
        F: Fn(Request, Reply) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Reply> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::on(listener, handle)
    }

    pub fn on<F, Fut>(listener: TcpListener, handle: F) -> Self
    where
        F: Fn(Request, Reply) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Reply> + Send + 'static,
    {
        let addr = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let known = Arc::clone(&seen);
        let handle = Arc::new(handle);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                let number = known.connections.fetch_add(1, Ordering::Relaxed);
                known.open.fetch_add(1, Ordering::Relaxed);
                let (known, handle) = (Arc::clone(&known), Arc::clone(&handle));
                connections.spawn(async move {
                    let mut reply = Reply { stream, open: true };
                    while reply.open
                        && let Some(request) = read(&mut reply.stream, number).await
                    {
                        known.requests.lock().unwrap().push(request.clone());
                        known.changed.notify_waiters();
                        reply = handle(request, reply).await;
                    }
                    drop(reply);
                    known.open.fetch_sub(1, Ordering::Relaxed);
                    known.changed.notify_waiters();
                });
            }
        });
        Self { addr, seen, task }
    }

    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.addr)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.seen.requests.lock().unwrap().clone()
    }

    /// The HTTP methods and JSON-RPC methods of all requests.
    pub fn story(&self) -> Vec<String> {
        self.requests().iter().map(Request::title).collect()
    }

    pub fn count(&self, title: &str) -> usize {
        self.story().iter().filter(|story| *story == title).count()
    }

    pub fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::Relaxed)
    }

    pub fn open_connections(&self) -> usize {
        self.seen.open.load(Ordering::Relaxed)
    }

    /// Waits until something holds of this server.
    pub async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let wait = async {
            loop {
                let changed = self.seen.changed.notified();
                if holds(self) {
                    return;
                }
                changed.await;
            }
        };
        let limit = Duration::from_secs(20);
        let story = || self.story();
        assert!(tokio::time::timeout(limit, wait).await.is_ok(), "never: {what}; {:?}", story());
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values =
            self.headers.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str());
        let first = values.next();
        assert_eq!(values.next(), None, "{name} stands twice");
        first
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    pub fn id(&self) -> Value {
        self.json()["id"].clone()
    }

    /// The JSON-RPC method; empty for responses.
    pub fn rpc(&self) -> String {
        self.json()["method"].as_str().unwrap_or_default().to_owned()
    }

    pub fn title(&self) -> String {
        match &*self.rpc() {
            "" if self.method == "POST" => "POST response".to_owned(),
            "" => self.method.clone(),
            rpc => rpc.to_owned(),
        }
    }
}

impl Reply {
    pub async fn raw(&mut self, bytes: impl AsRef<[u8]>) {
        // The client may be gone.
        let _ = self.stream.write_all(bytes.as_ref()).await;
    }

    pub async fn answer(&mut self, status: u16, headers: &[(&str, &str)], body: &str) {
        let mut head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        self.raw(head + "\r\n" + body).await;
    }

    pub async fn json(&mut self, body: &Value) {
        self.answer(200, &[("Content-Type", "application/json")], &body.to_string()).await;
    }

    pub async fn result(&mut self, request: &Request, result: Value) {
        self.json(&json!({"jsonrpc": "2.0", "id": request.id(), "result": result})).await;
    }

    pub async fn status(&mut self, status: u16) {
        self.answer(status, &[], "").await;
    }

    /// Begins a stream of events.
    pub async fn stream(&mut self) {
        self.raw(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
             Transfer-Encoding: chunked\r\n\r\n",
        )
        .await;
    }

    /// Sends bytes of a stream.
    pub async fn chunk(&mut self, text: &str) {
        self.raw(format!("{:x}\r\n{text}\r\n", text.len())).await;
    }

    pub async fn message(&mut self, message: &Value) {
        self.chunk(&format!("data: {message}\n\n")).await;
    }

    pub async fn event(&mut self, id: &str, message: &Value) {
        self.chunk(&format!("id: {id}\ndata: {message}\n\n")).await;
    }

    /// Ends a stream of events in good order.
    pub async fn end(&mut self) {
        self.raw("0\r\n\r\n").await;
    }

    /// The connection is closed after this.
    pub fn cut(&mut self) {
        self.open = false;
    }

    /// Waits until the client has closed the connection.
    pub async fn gone(&mut self) {
        let mut buffer = [0; 64];
        while matches!(self.stream.read(&mut buffer).await, Ok(1..)) {}
        self.open = false;
    }

    /// Does what most servers do, with a session that is named `session`, if any.
    pub async fn usual(mut self, request: &Request, session: Option<&str>) -> Self {
        match (&*request.method, &*request.rpc()) {
            ("POST", "initialize") => {
                let body = hello(request, "2025-11-25").to_string();
                let mut headers = vec![("Content-Type", "application/json")];
                headers.extend(session.map(|session| ("Mcp-Session-Id", session)));
                self.answer(200, &headers, &body).await;
            }
            ("POST", method) if method.is_empty() || method.starts_with("notifications/") => {
                self.status(202).await;
            }
            ("POST", method) => {
                let method = method.to_owned();
                self.result(request, json!({"method": method})).await;
            }
            ("DELETE", _) => self.status(200).await,
            _ => self.status(405).await,
        }
        self
    }
}

/// The answer to `initialize`.
pub fn hello(request: &Request, version: &str) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": request.id(),
        "result": {
            "protocolVersion": version,
            "capabilities": {},
            "serverInfo": {"name": "script", "version": "1"},
        },
    })
}

async fn read(stream: &mut TcpStream, connection: usize) -> Option<Request> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            break end + 4;
        }
        if !matches!(stream.read_buf(&mut bytes).await, Ok(1..)) {
            assert!(bytes.is_empty() || bytes.len() > 1, "half a request");
            return None;
        }
    };
    let at = Instant::now();
    let mut body = bytes.split_off(end);
    let head = String::from_utf8(bytes).unwrap();
    let mut lines = head.lines();
    let mut first = lines.next().unwrap().split(' ');
    let (method, target) = (first.next().unwrap().to_owned(), first.next().unwrap().to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, length)| length.parse().unwrap());
    while body.len() < length {
        if !matches!(stream.read_buf(&mut body).await, Ok(1..)) {
            return None;
        }
    }
    assert_eq!(body.len(), length, "more than one request at once");
    Some(Request { method, target, headers, body, connection, at })
}
