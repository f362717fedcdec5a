//! Conversations over HTTP/1.1, one on each connection. Written by hand, so that the driver costs
//! less than any server.

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::work::{Book, Came, INITIALIZE, INITIALIZED, Work};

/// How long opening a stream may take.
const WAIT: Duration = Duration::from_secs(60);
/// Connections that open idle sessions.
const OPENERS: usize = 16;

/// Where a server is.
#[derive(Clone)]
pub(crate) struct Origin {
    authority: String,
    path: String,
}

/// Clients that are ready, each with a session and a connection of its own.
pub(crate) struct Clients(Vec<Client>);

/// A client with a session.
pub(crate) struct Client {
    connection: Connection,
    /// The session's header lines.
    session: String,
}

impl Origin {
    pub(crate) fn parse(address: &str) -> anyhow::Result<Self> {
        let rest = address.strip_prefix("http://").context("not an http:// address")?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        Ok(Self { authority: authority.to_owned(), path: format!("/{path}") })
    }

    async fn connect(&self) -> anyhow::Result<Connection> {
        let stream = TcpStream::connect(&self.authority).await?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, origin: self.clone(), input: Vec::new(), taken: 0 })
    }

    /// Opens sessions, each on a connection of its own.
    pub(crate) async fn open(&self, count: usize) -> anyhow::Result<Clients> {
        let mut clients = Vec::new();
        for _ in 0..count {
            clients.push(Client::open(self.connect().await?).await?);
        }
        Ok(Clients(clients))
    }

    /// Opens sessions and lets go of their connections; answers with their header lines.
    pub(crate) async fn open_idle(&self, count: usize) -> anyhow::Result<Vec<String>> {
        let mut openers = JoinSet::new();
        for opener in 0..OPENERS {
            let origin = self.clone();
            openers.spawn(async move {
                let mut connection = origin.connect().await?;
                let mut sessions = Vec::new();
                for _ in (opener..count).step_by(OPENERS) {
                    let client = Client::open(connection).await?;
                    sessions.push(client.session);
                    connection = client.connection;
                }
                anyhow::Ok(sessions)
            });
        }
        let mut sessions = Vec::new();
        while let Some(opened) = openers.join_next().await {
            sessions.extend(opened??);
        }
        Ok(sessions)
    }

    /// Opens the GET stream of a session; it stays open until it is dropped.
    pub(crate) async fn listen(&self, session: &str) -> anyhow::Result<TcpStream> {
        let mut connection = self.connect().await?;
        let Self { authority, path } = self;
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {authority}\r\nAccept: text/event-stream\r\n{session}\r\n"
        );
        connection.stream.write_all(request.as_bytes()).await?;
        let head = tokio::time::timeout(WAIT, connection.head()).await??;
        ensure!(head.status == 200 && head.events, "no stream: {}", head.status);
        Ok(connection.stream)
    }

    /// Ends a session.
    pub(crate) async fn close(&self, session: &str) -> anyhow::Result<()> {
        let mut connection = self.connect().await?;
        let Self { authority, path } = self;
        let request = format!("DELETE {path} HTTP/1.1\r\nHost: {authority}\r\n{session}\r\n");
        connection.stream.write_all(request.as_bytes()).await?;
        let head = connection.head().await?;
        ensure!((200..300).contains(&head.status), "a session that does not end: {}", head.status);
        Ok(())
    }
}

impl Clients {
    /// Sends `calls` requests, or a few more, on all connections at once; answers with how long
    /// each took.
    pub(crate) async fn calls(
        &mut self,
        work: &Work,
        first: u64,
        calls: usize,
    ) -> anyhow::Result<Vec<u32>> {
        let each = calls.div_ceil(self.0.len().max(1));
        let mut running: Vec<_> = self
            .0
            .iter_mut()
            .map(|client| Box::pin(client.calls(work, first, each)))
            .map(Some)
            .collect();
        let mut times = Vec::with_capacity(calls);
        // All of them in one task: each wake-up polls them all, which costs the driver little
        // next to a task for each, and borrows the work.
        std::future::poll_fn(|cx| {
            let mut open = false;
            for slot in &mut running {
                let Some(client) = slot else { continue };
                match client.as_mut().poll(cx) {
                    std::task::Poll::Pending => open = true,
                    std::task::Poll::Ready(done) => {
                        *slot = None;
                        match done {
                            Ok(took) => times.extend(took),
                            Err(error) => return std::task::Poll::Ready(Err(error)),
                        }
                    }
                }
            }
            if open { std::task::Poll::Pending } else { std::task::Poll::Ready(Ok(())) }
        })
        .await?;
        Ok(times)
    }
}

impl Client {
    async fn open(mut connection: Connection) -> anyhow::Result<Self> {
        connection.post(INITIALIZE.as_bytes(), "").await?;
        let head = connection.head().await?;
        ensure!(head.status == 200, "initialize was answered by {}", head.status);
        let mut body = Vec::new();
        connection.whole(&head, &mut body).await?;
        ensure!(memmem::find(&body, b"\"protocolVersion\"").is_some(), "no result of initialize");
        let mut session = "MCP-Protocol-Version: 2025-11-25\r\n".to_owned();
        if let Some(id) = &head.session {
            session.push_str(&format!("Mcp-Session-Id: {id}\r\n"));
        }
        connection.tell(INITIALIZED.as_bytes(), &session).await?;
        Ok(Self { connection, session })
    }

    async fn calls(&mut self, work: &Work, first: u64, calls: usize) -> anyhow::Result<Vec<u32>> {
        let mut book = Book::new(first, calls);
        let (mut request, mut body) = (Vec::new(), Vec::new());
        for _ in 0..calls {
            request.clear();
            book.send(work, &mut request);
            self.connection.post(&request, &self.session).await?;
            let head = self.connection.head().await?;
            ensure!(head.status == 200, "a call was answered by {}", head.status);
            body.clear();
            if !head.events {
                self.connection.whole(&head, &mut body).await?;
                ensure!(book.take(work, &body)? == Came::Answer, "not an answer");
                continue;
            }
            self.stream(&head, work, &mut book, &mut body).await?;
        }
        Ok(book.times().collect())
    }

    /// Reads an answer that is a stream of events.
    async fn stream(
        &mut self,
        head: &Head,
        work: &Work,
        book: &mut Book,
        body: &mut Vec<u8>,
    ) -> anyhow::Result<()> {
        let mut framing = head.framing;
        let (mut answered, mut done) = (false, 0);
        let mut second = None;
        loop {
            let more = self.connection.piece(&mut framing, body).await?;
            while let Some(end) = body.get(done..).and_then(|rest| memmem::find(rest, b"\n\n")) {
                let event = body.get(done..done + end).unwrap_or_default();
                done += end + 2;
                let Some(data) = data(event) else { continue };
                match book.take(work, data)? {
                    Came::Answer => answered = true,
                    Came::Note => {}
                    Came::Asked(reply) => {
                        // The stream is still open, so the reply takes another connection.
                        if second.is_none() {
                            second = Some(self.connection.origin.clone().connect().await?);
                        }
                        if let Some(second) = &mut second {
                            second.tell(&reply, &self.session).await?;
                        }
                    }
                }
            }
            if !more {
                break;
            }
        }
        ensure!(answered, "a stream without the answer");
        Ok(())
    }
}

/// The data of an event, where there is any. All servers send JSON on one line.
fn data(event: &[u8]) -> Option<&[u8]> {
    let line = event.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"data:"))?;
    let line = line.trim_ascii();
    (!line.is_empty()).then_some(line)
}

struct Connection {
    stream: TcpStream,
    origin: Origin,
    input: Vec<u8>,
    /// Bytes of `input` that were taken.
    taken: usize,
}

#[derive(Debug)]
struct Head {
    status: u16,
    events: bool,
    session: Option<String>,
    framing: Framing,
}

/// How much of a body is left.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Framing {
    Length(usize),
    /// So much of this chunk; before its size has come, nothing.
    Chunk(Option<usize>),
    Over,
}

impl Connection {
    async fn post(&mut self, message: &[u8], session: &str) -> anyhow::Result<()> {
        let Origin { authority, path } = &self.origin;
        let length = message.len();
        let mut request = format!(
            "POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{session}Content-Length: {length}\r\n\r\n"
        )
        .into_bytes();
        request.extend_from_slice(message);
        self.stream.write_all(&request).await?;
        Ok(())
    }

    /// Sends what has no answer.
    async fn tell(&mut self, message: &[u8], session: &str) -> anyhow::Result<()> {
        self.post(message, session).await?;
        let head = self.head().await?;
        ensure!(head.status == 202, "a notification was answered by {}", head.status);
        self.whole(&head, &mut Vec::new()).await
    }

    async fn head(&mut self) -> anyhow::Result<Head> {
        let mut searched = self.taken;
        let end = loop {
            let unread = self.input.get(searched..).unwrap_or_default();
            if let Some(at) = memmem::find(unread, b"\r\n\r\n") {
                break searched + at;
            }
            searched = self.input.len().saturating_sub(3).max(self.taken);
            self.fill().await?;
        };
        let head = self.input.get(self.taken..end).unwrap_or_default();
        let head = Head::parse(std::str::from_utf8(head)?)?;
        self.taken = end + 4;
        Ok(head)
    }

    /// Reads more. Offsets into the input stay what they are.
    async fn fill(&mut self) -> anyhow::Result<()> {
        self.input.reserve(1 << 14);
        if self.stream.read_buf(&mut self.input).await? == 0 {
            bail!("the server has closed the connection");
        }
        Ok(())
    }

    /// Forgets what was taken.
    fn compact(&mut self) {
        self.input.drain(..self.taken);
        self.taken = 0;
    }

    /// Appends the whole body.
    async fn whole(&mut self, head: &Head, body: &mut Vec<u8>) -> anyhow::Result<()> {
        let mut framing = head.framing;
        while self.piece(&mut framing, body).await? {}
        Ok(())
    }

    /// Appends what is there of a body, or comes next; answers whether there may be more.
    async fn piece(&mut self, framing: &mut Framing, body: &mut Vec<u8>) -> anyhow::Result<bool> {
        loop {
            let ready = self.input.get(self.taken..).unwrap_or_default();
            match framing {
                Framing::Over => {
                    self.compact();
                    return Ok(false);
                }
                Framing::Length(0) => *framing = Framing::Over,
                Framing::Chunk(None) => {
                    let Some(end) = memmem::find(ready, b"\r\n") else {
                        self.fill().await?;
                        continue;
                    };
                    let size = std::str::from_utf8(ready.get(..end).unwrap_or_default())?;
                    let size = size.split(';').next().unwrap_or_default().trim();
                    let size = usize::from_str_radix(size, 16).context("not a chunk's size")?;
                    self.taken += end + 2;
                    // The end of the chunk's line is read with it.
                    *framing = Framing::Chunk(Some(size + 2));
                    if size == 0 {
                        while self.input.len() < self.taken + 2 {
                            self.fill().await?;
                        }
                        self.taken += 2;
                        *framing = Framing::Over;
                    }
                }
                Framing::Length(left) | Framing::Chunk(Some(left)) => {
                    if ready.is_empty() {
                        self.compact();
                        self.fill().await?;
                        continue;
                    }
                    let count = ready.len().min(*left);
                    let in_chunk = matches!(framing, Framing::Chunk(_));
                    let (Framing::Length(left) | Framing::Chunk(Some(left))) = framing else {
                        continue;
                    };
                    let tail = if in_chunk { 2 } else { 0 };
                    let content = count.min(left.saturating_sub(tail));
                    body.extend_from_slice(ready.get(..content).unwrap_or_default());
                    self.taken += count;
                    *left -= count;
                    if *left == 0 && in_chunk {
                        *framing = Framing::Chunk(None);
                    }
                    if content > 0 {
                        // What has come with it is handed out at once, the end above all.
                        if *framing == Framing::Length(0) {
                            continue;
                        }
                        if matches!(framing, Framing::Chunk(None)) && self.taken < self.input.len()
                        {
                            continue;
                        }
                        return Ok(true);
                    }
                }
            }
        }
    }
}

impl Head {
    fn parse(head: &str) -> anyhow::Result<Self> {
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).context("no status")?;
        let mut parsed =
            Self { status: status.parse()?, events: false, session: None, framing: Framing::Over };
        for line in lines {
            let (name, value) = line.split_once(':').context("not a header")?;
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                parsed.framing = Framing::Length(value.parse()?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                ensure!(value.eq_ignore_ascii_case("chunked"), "encoded as {value}");
                parsed.framing = Framing::Chunk(None);
            } else if name.eq_ignore_ascii_case("content-type") {
                parsed.events = value.starts_with("text/event-stream");
            } else if name.eq_ignore_ascii_case("mcp-session-id") {
                parsed.session = Some(value.to_owned());
            }
        }
        Ok(parsed)
    }
}
