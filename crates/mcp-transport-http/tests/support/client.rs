//! An HTTP client that shows everything and decides nothing.

use std::collections::VecDeque;
use std::net::SocketAddr;

use bytes::Bytes;
use mcp_transport_http::sse::{Decoder, Event};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub const BOTH: &str = "application/json, text/event-stream";

#[derive(Clone)]
pub struct Client {
    pub addr: SocketAddr,
    pub session: Option<String>,
    pub version: Option<String>,
    /// Added to every request.
    pub headers: Vec<(String, String)>,
}

/// A connection that carries what a test writes.
pub struct Raw {
    pub stream: TcpStream,
    pub read: Vec<u8>,
}

/// An answer whose head has come.
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    raw: Raw,
    length: Length,
    decoder: Decoder,
    events: VecDeque<Event>,
}

#[derive(Clone, Copy, PartialEq)]
enum Length {
    Fixed(usize),
    Chunked,
    Over,
}

impl Client {
    pub fn new(addr: SocketAddr) -> Self {
        Self { addr, session: None, version: None, headers: Vec::new() }
    }

    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Writes a request, and leaves reading to the caller.
    pub async fn send(&self, method: &str, headers: &[(&str, &str)], body: &[u8]) -> Raw {
        let mut raw = Raw::open(self.addr).await;
        raw.send(&self.head(method, headers, body.len()), body).await;
        raw
    }

    pub fn head(&self, method: &str, headers: &[(&str, &str)], length: usize) -> String {
        let mut head = format!("{method} /mcp HTTP/1.1\r\n");
        let has = |name: &str| headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
        let mut add = |name: &str, value: &str| head += &format!("{name}: {value}\r\n");
        if !has("host") {
            add("Host", &self.addr.to_string());
        }
        if let Some(session) = self.session.as_ref().filter(|_| !has("mcp-session-id")) {
            add("Mcp-Session-Id", session);
        }
        if let Some(version) = self.version.as_ref().filter(|_| !has("mcp-protocol-version")) {
            add("MCP-Protocol-Version", version);
        }
        if !has("content-length") && !has("transfer-encoding") && method == "POST" {
            add("Content-Length", &length.to_string());
        }
        for (name, value) in &self.headers {
            add(name, value);
        }
        for (name, value) in headers {
            add(name, value);
        }
        head + "\r\n"
    }

    pub async fn post_with(&self, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut all = headers.to_vec();
        for (name, value) in [("Content-Type", "application/json"), ("Accept", BOTH)] {
            if !all.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                all.push((name, value));
            }
        }
        all.retain(|(_, value)| *value != "(none)");
        self.send("POST", &all, body.as_bytes()).await.answer().await
    }

    pub async fn post(&self, message: &Value) -> Answer {
        self.post_with(&[], &message.to_string()).await
    }

    pub async fn request(&self, id: i64, method: &str, params: Value) -> Answer {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.post(&message).await
    }

    pub async fn tool(&self, id: i64, name: &str, arguments: Value) -> Answer {
        self.request(id, "tools/call", json!({"name": name, "arguments": arguments})).await
    }

    pub async fn notify(&self, method: &str, params: Value) -> Answer {
        self.post(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await
    }

    pub async fn get(&self, last_event_id: Option<&str>) -> Answer {
        let mut headers = vec![("Accept", "text/event-stream")];
        headers.extend(last_event_id.map(|id| ("Last-Event-ID", id)));
        self.send("GET", &headers, b"").await.answer().await
    }

    pub async fn delete(&self) -> Answer {
        self.send("DELETE", &[], b"").await.answer().await
    }

    pub fn hello(version: &str, name: &str) -> Value {
        json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {
                "protocolVersion": version,
                "capabilities": {"sampling": {}, "roots": {"listChanged": true}},
                "clientInfo": {"name": name, "version": "1"},
            },
        })
    }

    /// Goes through the handshake.
    pub async fn initialize(&mut self, version: &str) {
        let answer = self.post(&Self::hello(version, "client")).await;
        assert_eq!(answer.status, 200, "{:?}", answer.headers);
        self.session = answer.header("mcp-session-id").map(str::to_owned);
        let result = answer.json().await;
        let agreed = result["result"]["protocolVersion"].as_str().expect("a revision");
        self.version = Some(agreed.to_owned());
        let ready = self.notify("notifications/initialized", json!({})).await;
        assert_eq!(ready.status, 202);
    }
}

impl Raw {
    pub async fn open(addr: SocketAddr) -> Self {
        let stream = TcpStream::connect(addr).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, read: Vec::new() }
    }

    pub async fn send(&mut self, head: &str, body: &[u8]) {
        let bytes = [head.as_bytes(), body].concat();
        // The server may refuse before it has read everything.
        let _ = self.stream.write_all(&bytes).await;
    }

    /// Reads more; answers whether there was any.
    pub async fn more(&mut self) -> bool {
        self.read.reserve(16 << 10);
        matches!(self.stream.read_buf(&mut self.read).await, Ok(1..))
    }

    /// Reads exactly `count` bytes from the start of the answer, or all there are.
    pub async fn exactly(mut self, count: usize) -> Vec<u8> {
        while self.read.len() < count {
            let mut buffer = vec![0; count - self.read.len()];
            match self.stream.read(&mut buffer).await {
                Ok(0) | Err(_) => break,
                Ok(count) => self.read.extend_from_slice(&buffer[..count]),
            }
        }
        self.read
    }

    /// Reads the head of an answer.
    pub async fn answer(mut self) -> Answer {
        let end = loop {
            if let Some(end) = self.read.windows(4).position(|w| w == b"\r\n\r\n") {
                break end;
            }
            assert!(self.more().await, "the connection ended before the head: {:?}", self.read);
        };
        let head = String::from_utf8(self.read.drain(..end + 4).collect()).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let header =
            |name: &str| headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
        let length = if header("transfer-encoding") == Some("chunked") {
            Length::Chunked
        } else {
            Length::Fixed(header("content-length").map_or(0, |length| length.parse().unwrap()))
        };
        let decoder = Decoder::new(64 << 20);
        Answer { status, headers, raw: self, length, decoder, events: VecDeque::new() }
    }
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    pub fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    /// The next piece of the body; `None` at its end, and when the connection is cut.
    pub async fn piece(&mut self) -> Option<Bytes> {
        loop {
            match self.length {
                Length::Over => return None,
                Length::Fixed(0) => {
                    self.length = Length::Over;
                    return None;
                }
                Length::Fixed(left) if !self.raw.read.is_empty() => {
                    let take = left.min(self.raw.read.len());
                    self.length = Length::Fixed(left - take);
                    return Some(self.raw.read.drain(..take).collect());
                }
                Length::Fixed(_) => {}
                Length::Chunked => {
                    if let Some(line) = self.raw.read.windows(2).position(|w| w == b"\r\n") {
                        let size = std::str::from_utf8(&self.raw.read[..line]).unwrap();
                        let size = usize::from_str_radix(size, 16).unwrap();
                        if line + 2 + size + 2 <= self.raw.read.len() {
                            let chunk: Vec<u8> =
                                self.raw.read.drain(..line + 2 + size + 2).collect();
                            if size == 0 {
                                self.length = Length::Over;
                                return None;
                            }
                            return Some(Bytes::copy_from_slice(&chunk[line + 2..line + 2 + size]));
                        }
                    }
                }
            }
            if !self.raw.more().await {
                self.length = Length::Over;
                return None;
            }
        }
    }

    pub async fn bytes(mut self) -> Vec<u8> {
        let mut all = Vec::new();
        while let Some(piece) = self.piece().await {
            all.extend_from_slice(&piece);
        }
        all
    }

    pub async fn text(self) -> String {
        String::from_utf8(self.bytes().await).unwrap()
    }

    /// The body as one JSON value.
    pub async fn json(self) -> Value {
        let text = self.text().await;
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"))
    }

    /// The next event of a stream; `None` at its end.
    pub async fn event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            let mut piece = self.piece().await?;
            while let Some(event) = self.decoder.feed(&mut piece).unwrap() {
                self.events.push_back(event);
            }
        }
    }

    /// The next event that has data, as JSON, and its id.
    pub async fn message(&mut self) -> Option<(Value, Option<String>)> {
        loop {
            let event = self.event().await?;
            if !event.data.is_empty() {
                let id = event.id.map(|id| String::from_utf8(id.to_vec()).unwrap());
                return Some((serde_json::from_slice(&event.data).unwrap(), id));
            }
        }
    }

    /// All messages up to the end of the stream.
    pub async fn messages(mut self) -> Vec<Value> {
        let mut all = Vec::new();
        while let Some((message, _)) = self.message().await {
            all.push(message);
        }
        all
    }

    pub fn retry(&self) -> Option<std::time::Duration> {
        self.decoder.retry()
    }

    pub fn last_event_id(&self) -> Option<String> {
        self.decoder.last_event_id().map(|id| String::from_utf8(id.to_vec()).unwrap())
    }
}
