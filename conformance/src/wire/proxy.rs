use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::net::Ipv4Addr;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use super::report::{Report, Side};
use super::watch::Watch;

const INITIALIZE: &[u8] = b"\"initialize\"";
const MESSAGE: &str = "event: message";

type Failure = Box<dyn Error + Send + Sync>;

/// Listens on loopback, says on stderr where, and passes everything on to the server at `url`,
/// until it is ended.
///
/// # Errors
///
/// When it can't listen, or the report not be opened.
#[expect(clippy::print_stderr, reason = "whoever starts it waits for that line")]
pub async fn run(report: &Path, url: &str) -> Result<Infallible, Failure> {
    let rest = url.strip_prefix("http://").ok_or("an http URL is wanted")?;
    let (server, path) = rest.split_once('/').unwrap_or((rest, ""));
    let wire = Arc::new(Wire {
        server: server.to_owned(),
        path: format!("/{path}"),
        report: Report::open(report)?,
        watches: Mutex::default(),
    });
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    eprintln!("listening on http://{}/{path}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let wire = Arc::clone(&wire);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let wire = Arc::clone(&wire);
                async move {
                    let answer = wire.pass(request).await;
                    Ok::<_, Infallible>(answer.unwrap_or_else(|error| broken(&*error)))
                }
            });
            let io = TokioIo::new(stream);
            // A connection that breaks is its client's business.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(io, service).await;
        });
    }
}

fn broken(error: &(dyn Error + Send + Sync)) -> Response<Passing> {
    let mut response = Response::new(Passing::Text(Some(error.to_string().into())));
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    response
}

struct Wire {
    server: String,
    path: String,
    report: Report,
    /// One for each session; one for all that have none.
    watches: Mutex<HashMap<String, Arc<Mutex<Watch>>>>,
}

impl Wire {
    fn watch(&self, session: &str) -> Arc<Mutex<Watch>> {
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(watches.entry(session.to_owned()).or_default())
    }

    fn keep(&self, session: &str, watch: &Arc<Mutex<Watch>>) {
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        watches.insert(session.to_owned(), Arc::clone(watch));
    }

    async fn pass(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Passing>, Failure> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let begins = match head.method {
            // The older transport: all that is said on either side belongs to this stream.
            Method::GET => true,
            // A handshake begins a conversation of its own.
            _ => *self.path == *head.uri.path() && body.windows(12).any(|w| w == INITIALIZE),
        };
        let watch = match session(&head.headers) {
            Some(session) => self.watch(&session),
            None if begins => {
                let new = Arc::default();
                self.keep("", &new);
                new
            }
            None => self.watch(""),
        };
        if !body.is_empty() {
            look(&watch, Side::Client, &body, &self.report);
        }
        let stream = TcpStream::connect(&*self.server).await?;
        stream.set_nodelay(true)?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let answer = sender.send_request(Request::from_parts(head, Full::new(body))).await?;
        if let Some(session) = session(answer.headers()) {
            self.keep(&session, &watch);
        }
        let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        // The body of a refusal may be an error without an id, whatever a schema says.
        let reader = match kind.filter(|_| answer.status().is_success()) {
            Some(kind) if kind.starts_with("text/event-stream") => Reader::Events,
            Some(kind) if kind.starts_with("application/json") => Reader::Whole,
            _ => Reader::Nothing,
        };
        let wire = Arc::clone(&self);
        Ok(answer.map(|body| Passing::Through {
            body,
            seen: Seen { reader, text: Vec::new(), watch, wire },
        }))
    }
}

fn session(headers: &HeaderMap) -> Option<String> {
    Some(headers.get("mcp-session-id")?.to_str().ok()?.to_owned())
}

fn look(watch: &Mutex<Watch>, from: Side, text: &[u8], report: &Report) {
    let text = String::from_utf8_lossy(text);
    watch.lock().unwrap_or_else(PoisonError::into_inner).frame(from, text.trim(), report);
}

enum Reader {
    Whole,
    Events,
    Nothing,
}

/// What has come of an answer and is not looked at yet.
struct Seen {
    reader: Reader,
    text: Vec<u8>,
    watch: Arc<Mutex<Watch>>,
    wire: Arc<Wire>,
}

impl Seen {
    fn more(&mut self, data: &[u8]) {
        self.text.extend_from_slice(data);
        if !matches!(self.reader, Reader::Events) {
            return;
        }
        // As simple as can be: a blank line ends an event, whichever line ends there are.
        loop {
            let end = ["\n\n", "\r\n\r\n", "\r\r"].iter().filter_map(|end| {
                let at = self.text.windows(end.len()).position(|w| w == end.as_bytes())?;
                Some((at, at + end.len()))
            });
            let Some((at, next)) = end.min() else { return };
            let event = String::from_utf8_lossy(self.text.get(..at).unwrap_or_default());
            let other = |line: &str| line.starts_with("event:") && line.trim_end() != MESSAGE;
            if event.lines().any(other) {
                // Where to post, for example.
                self.text.drain(..next);
                continue;
            }
            let data: Vec<&str> = event
                .lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .map(|line| line.strip_prefix(' ').unwrap_or(line))
                .collect();
            let data = data.join("\n");
            if !data.trim().is_empty() {
                look(&self.watch, Side::Server, data.as_bytes(), &self.wire.report);
            }
            self.text.drain(..next);
        }
    }

    fn end(&mut self) {
        if matches!(self.reader, Reader::Whole) && !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            look(&self.watch, Side::Server, &text, &self.wire.report);
        }
    }
}

/// The body of an answer on its way through.
enum Passing {
    Through { body: Incoming, seen: Seen },
    Text(Option<Bytes>),
}

impl Body for Passing {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let (body, seen) = match self.get_mut() {
            Self::Through { body, seen } => (body, seen),
            Self::Text(text) => return Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
        };
        let frame = ready!(Pin::new(&mut *body).poll_frame(cx));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            seen.more(data);
        }
        if frame.is_none() || body.is_end_stream() {
            seen.end();
        }
        Poll::Ready(frame)
    }
}
