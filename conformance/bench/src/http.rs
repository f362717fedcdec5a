//! Echo calls over HTTP, and a client for them that costs little: one connection, one request at
//! a time, every answer checked.

use std::time::Instant;

use anyhow::{Context, bail, ensure};
use memchr::memmem;
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::child::Listening;
use crate::load::Sample;

/// Calls over some connections, each with a session of its own.
#[derive(Clone, Copy)]
pub(crate) struct HttpLoad {
    pub(crate) calls: usize,
    pub(crate) connections: usize,
    pub(crate) bytes: usize,
}

impl HttpLoad {
    pub(crate) async fn run(&self, command: &str) -> anyhow::Result<Sample> {
        let server = Listening::spawn(command).await?;
        let mut connections = Vec::new();
        for _ in 0..self.connections.max(1) {
            let mut connection = Connection::open(&server.url).await?;
            connection.initialize().await?;
            connections.push(connection);
        }
        let text = "x".repeat(self.bytes);
        // Once around, so that what happens only once is behind us.
        connections = call(connections, 1000.min(self.calls), &text).await?;
        let (cpu, start) = (server.cpu()?, Instant::now());
        call(connections, self.calls, &text).await?;
        let (took, spent) = (start.elapsed().as_secs_f64(), server.cpu()? - cpu);
        server.end().await?;
        #[expect(clippy::cast_precision_loss, reason = "counts of calls are small")]
        let calls = self.calls as f64;
        Ok(Sample { cpu: spent * 100_000.0 / calls, rate: calls / took })
    }
}

/// Makes exactly `calls` calls over one connection to a server that is there.
pub(crate) async fn calls(url: &str, calls: usize) -> anyhow::Result<()> {
    let mut connection = Connection::open(url).await?;
    connection.initialize().await?;
    call(vec![connection], calls, "xxxxxxxxxxxxxxxx").await?;
    Ok(())
}

async fn call(
    connections: Vec<Connection>,
    calls: usize,
    text: &str,
) -> anyhow::Result<Vec<Connection>> {
    let share = calls.div_ceil(connections.len().max(1));
    let mut running = tokio::task::JoinSet::new();
    for mut connection in connections {
        let text = text.to_owned();
        running.spawn(async move {
            for _ in 0..share {
                connection.next += 1;
                connection.echo(connection.next, &text).await?;
            }
            anyhow::Ok(connection)
        });
    }
    let mut connections = Vec::new();
    while let Some(connection) = running.join_next().await {
        connections.push(connection??);
    }
    Ok(connections)
}

/// A connection to an MCP endpoint.
pub(crate) struct Connection {
    stream: TcpStream,
    host: String,
    path: String,
    session: String,
    next: usize,
    input: Vec<u8>,
    body: Vec<u8>,
}

#[derive(Deserialize)]
struct Answer<'a> {
    id: u64,
    #[serde(borrow)]
    result: Option<ResultMembers<'a>>,
}

#[derive(Deserialize)]
struct ResultMembers<'a> {
    #[serde(borrow, default)]
    content: Vec<Block<'a>>,
}

#[derive(Deserialize)]
struct Block<'a> {
    text: std::borrow::Cow<'a, str>,
}

const HELLO: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"mcp-bench","version":"0"}}}"#,
);
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

impl Connection {
    /// Connects, without a session.
    pub(crate) async fn open(url: &str) -> anyhow::Result<Self> {
        let rest = url.strip_prefix("http://").context("an http URL is wanted")?;
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let stream = TcpStream::connect(host).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            host: host.to_owned(),
            path: format!("/{path}"),
            session: String::new(),
            next: 0,
            input: Vec::with_capacity(1 << 14),
            body: Vec::with_capacity(1 << 14),
        })
    }

    /// Opens a session, where the server has sessions.
    pub(crate) async fn initialize(&mut self) -> anyhow::Result<()> {
        self.session.clear();
        let head = self.post(HELLO).await?;
        ensure!(head.status == 200, "initialize was answered by {}", head.status);
        ensure!(memmem::find(&self.body, b"protocolVersion").is_some(), "no handshake");
        self.session = match &head.session {
            Some(id) => {
                format!("Mcp-Session-Id: {id}\r\nMcp-Protocol-Version: 2025-11-25\r\n")
            }
            None => String::new(),
        };
        let head = self.post(READY).await?;
        ensure!(head.status == 202, "initialized was answered by {}", head.status);
        Ok(())
    }

    /// Makes one echo call, and checks the answer.
    pub(crate) async fn echo(&mut self, id: usize, text: &str) -> anyhow::Result<()> {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{text}"}}}}}}"#
        );
        let head = self.post(&call).await?;
        ensure!(head.status == 200, "a call was answered by {}", head.status);
        let message = if head.events { last_event(&self.body)? } else { &self.body[..] };
        let answer: Answer<'_> = serde_json::from_slice(message)
            .with_context(|| String::from_utf8_lossy(message).into_owned())?;
        ensure!(answer.id == u64::try_from(id)?, "an answer to {}", answer.id);
        let content = answer.result.context("an error")?.content;
        ensure!(content.first().is_some_and(|block| block.text == text), "not the echo");
        Ok(())
    }

    /// Opens the stream of the session, and leaves it open.
    pub(crate) async fn listen(&mut self) -> anyhow::Result<()> {
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\n{}\r\n",
            self.path, self.host, self.session
        );
        self.stream.write_all(request.as_bytes()).await?;
        self.input.clear();
        let head = self.head().await?;
        ensure!(head.status == 200 && head.events, "GET was answered by {}", head.status);
        Ok(())
    }

    async fn post(&mut self, body: &str) -> anyhow::Result<Head> {
        let Self { path, host, session, .. } = self;
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{session}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await?;
        self.input.clear();
        let head = self.head().await?;
        self.body.clear();
        match head.length {
            Some(length) => {
                while self.input.len() < length {
                    self.more().await?;
                }
                self.body.extend_from_slice(self.input.get(..length).unwrap_or_default());
            }
            None if head.chunked => self.chunks().await?,
            None => {}
        }
        Ok(head)
    }

    /// Reads up to the end of the head; what comes behind it stays in `input`.
    async fn head(&mut self) -> anyhow::Result<Head> {
        let mut seen = 0;
        let end = loop {
            let from = usize::saturating_sub(seen, 3);
            let rest = self.input.get(from..).unwrap_or_default();
            if let Some(at) = memmem::find(rest, b"\r\n\r\n") {
                break from + at;
            }
            seen = self.input.len();
            self.more().await?;
        };
        let head = Head::read(self.input.get(..end).unwrap_or_default())?;
        self.input.drain(..end + 4);
        Ok(head)
    }

    async fn chunks(&mut self) -> anyhow::Result<()> {
        loop {
            let end = loop {
                match memmem::find(&self.input, b"\r\n") {
                    Some(end) => break end,
                    None => self.more().await?,
                }
            };
            let size = std::str::from_utf8(self.input.get(..end).unwrap_or_default())?;
            let size = usize::from_str_radix(size, 16).context("no size of a chunk")?;
            while self.input.len() < end + 4 + size {
                self.more().await?;
            }
            self.body
                .extend_from_slice(self.input.get(end + 2..end + 2 + size).unwrap_or_default());
            self.input.drain(..end + 4 + size);
            if size == 0 {
                return Ok(());
            }
        }
    }

    async fn more(&mut self) -> anyhow::Result<()> {
        if self.stream.read_buf(&mut self.input).await? == 0 {
            bail!("the server has closed the connection");
        }
        Ok(())
    }
}

/// What counts of the head of an answer.
struct Head {
    status: u16,
    length: Option<usize>,
    chunked: bool,
    events: bool,
    session: Option<String>,
}

impl Head {
    fn read(bytes: &[u8]) -> anyhow::Result<Self> {
        let text = std::str::from_utf8(bytes)?;
        let mut lines = text.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).context("no status")?;
        let mut head = Self {
            status: status.parse()?,
            length: None,
            chunked: false,
            events: false,
            session: None,
        };
        for line in lines {
            let (name, value) = line.split_once(':').context("no header")?;
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                head.length = Some(value.parse()?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                head.chunked = value.eq_ignore_ascii_case("chunked");
            } else if name.eq_ignore_ascii_case("content-type") {
                head.events = value.starts_with("text/event-stream");
            } else if name.eq_ignore_ascii_case("mcp-session-id") {
                head.session = Some(value.to_owned());
            }
        }
        Ok(head)
    }
}

/// The data of the last event of a body that ends with it.
fn last_event(body: &[u8]) -> anyhow::Result<&[u8]> {
    let at = memmem::rfind(body, b"data: ").context("no event")?;
    let data = body.get(at + 6..).unwrap_or_default();
    Ok(data.trim_ascii_end())
}
