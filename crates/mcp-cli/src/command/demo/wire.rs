//! Stands between a client and a server, and shows the HTTP that passes.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Body, Frame, Incoming};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use mcp_transport_http::header::{LAST_EVENT_ID, MCP_PROTOCOL_VERSION, MCP_SESSION_ID};
use mcp_transport_http::sse::Decoder;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use super::tap::Way;

/// Bytes of a message that pass, at most.
const MESSAGE: usize = 4 << 20;
/// Connections at once, at most; the demo needs three.
const CONNECTIONS: usize = 32;
/// The headers that are worth a look, the first time that they say something.
const SHOWN: [HeaderName; 4] = [ACCEPT, MCP_SESSION_ID, MCP_PROTOCOL_VERSION, LAST_EVENT_ID];

/// What passes.
pub(super) enum Seen {
    /// The first line of a request or an answer, and headers.
    Head { line: String, headers: Vec<Header> },
    /// A message, and the id of the event that carries it.
    Message { event: Option<String>, text: String },
}

/// A header as it is shown.
pub(super) type Header = (HeaderName, String);

type Show = Arc<dyn Fn(Way, &Seen) + Send + Sync>;
type Error = Box<dyn std::error::Error + Send + Sync>;

/// The listener in between. It ends when it is dropped.
pub(super) struct Wire {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Wire {
    /// Listens on loopback, and hands everything on to `server`.
    pub(super) async fn to(
        server: SocketAddr,
        show: impl Fn(Way, &Seen) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let show: Show = Arc::new(show);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                while connections.try_join_next().is_some() {}
                if connections.len() < CONNECTIONS {
                    connections.spawn(serve(stream, server, Arc::clone(&show)));
                }
            }
        });
        Ok(Self { address, task })
    }

    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(stream: TcpStream, server: SocketAddr, show: Show) {
    // As every MCP server should: an event is small, and is to go out at once.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let show = Arc::clone(&show);
        async move { Ok::<_, Infallible>(pass(request, server, &show).await) }
    });
    // A connection that breaks is the client's business.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn pass(request: Request<Incoming>, server: SocketAddr, show: &Show) -> Response<Passing> {
    forward(request, server, show).await.unwrap_or_else(|error| {
        let mut response = Response::new(Passing::text(error.to_string()));
        *response.status_mut() = StatusCode::BAD_GATEWAY;
        response
    })
}

async fn forward(
    request: Request<Incoming>,
    server: SocketAddr,
    show: &Show,
) -> Result<Response<Passing>, Error> {
    let (head, body) = request.into_parts();
    show(Way::Sent, &seen(format!("{} {}", head.method, head.uri), &head.headers));
    let body = Limited::new(body, MESSAGE).collect().await?.to_bytes();
    if !body.is_empty() {
        show(Way::Sent, &Seen::Message { event: None, text: text(&body) });
    }
    let stream = TcpStream::connect(server).await?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    // It ends with its one answer.
    tokio::spawn(connection);
    let answer = sender.send_request(Request::from_parts(head, Full::new(body))).await?;
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let line = match kind {
        Some(kind) => format!("{} {kind}", answer.status()),
        None => answer.status().to_string(),
    };
    let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
    show(Way::Received, &seen(line, answer.headers()));
    let reader = if is_stream { Reader::events() } else { Reader::Whole(BytesMut::new()) };
    let show = Arc::clone(show);
    Ok(answer.map(|body| Passing::Through { body, reader, show }))
}

fn seen(line: String, headers: &HeaderMap) -> Seen {
    let shown = |name: HeaderName| {
        let value: &HeaderValue = headers.get(&name)?;
        Some((name, String::from_utf8_lossy(value.as_bytes()).into_owned()))
    };
    Seen::Head { line, headers: SHOWN.into_iter().filter_map(shown).collect() }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The body of an answer on its way through.
enum Passing {
    Through { body: Incoming, reader: Reader, show: Show },
    Text(Option<Bytes>),
}

impl Passing {
    fn text(text: String) -> Self {
        Self::Text(Some(text.into()))
    }
}

impl Body for Passing {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let (body, reader, show) = match self.get_mut() {
            Self::Through { body, reader, show } => (body, reader, show),
            Self::Text(text) => return Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
        };
        let frame = ready!(Pin::new(&mut *body).poll_frame(cx));
        if let Some(Ok(frame)) = &frame {
            reader.read(frame.data_ref(), show);
        }
        // Of a body whose length is known nobody asks for more than that.
        if frame.is_none() || body.is_end_stream() {
            reader.end(show);
        }
        Poll::Ready(frame)
    }
}

/// Reads messages out of the body of an answer.
enum Reader {
    Whole(BytesMut),
    Events(Box<Decoder>),
}

impl Reader {
    fn events() -> Self {
        Self::Events(Box::new(Decoder::new(MESSAGE)))
    }

    fn read(&mut self, data: Option<&Bytes>, show: &Show) {
        let Some(data) = data else { return };
        match self {
            Self::Whole(whole) if whole.len() < MESSAGE => whole.extend_from_slice(data),
            Self::Whole(_) => {}
            Self::Events(decoder) => {
                let mut chunk = data.clone();
                while let Ok(Some(event)) = decoder.feed(&mut chunk) {
                    let id = event.id.as_deref().map(text);
                    let message = Seen::Message { event: id, text: text(&event.data) };
                    show(Way::Received, &message);
                }
            }
        }
    }

    fn end(&mut self, show: &Show) {
        if let Self::Whole(whole) = self
            && !whole.is_empty()
        {
            let message = Seen::Message { event: None, text: text(whole) };
            whole.clear();
            show(Way::Received, &message);
        }
    }
}
