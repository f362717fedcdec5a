//! `floor-http ADDR [sse]`: the least that an HTTP server can be, bare hyper around
//! `mcp_bench::floor`. It looks at no header of a
//! POST, and knows no session but its number.
#![expect(clippy::print_stderr, reason = "a program says there where it listens")]

use std::cell::RefCell;
use std::collections::HashSet;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use mcp_bench::floor::{Answered, Floor};
use tokio::net::TcpListener;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

struct State {
    floor: Floor,
    events: bool,
    /// Their numbers, and the next one.
    sessions: RefCell<(HashSet<usize>, usize)>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let state = Rc::new(State {
        floor: Floor::new(),
        events: arguments.next().as_deref() == Some("sse"),
        sessions: RefCell::default(),
    });
    let listener = TcpListener::bind(address).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    tokio::task::LocalSet::new()
        .run_until(async move {
            loop {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                let state = Rc::clone(&state);
                let service = service_fn(move |request| answer(Rc::clone(&state), request));
                tokio::task::spawn_local(
                    http1::Builder::new().serve_connection(TokioIo::new(stream), service),
                );
            }
        })
        .await
}

async fn answer(
    state: Rc<State>,
    request: Request<Incoming>,
) -> Result<Response<Answer>, Infallible> {
    if request.method() == Method::GET {
        let mut response = Response::new(Answer::Open);
        response.headers_mut().insert(CONTENT_TYPE, EVENTS);
        return Ok(response);
    }
    if request.method() == Method::DELETE {
        let number = request.headers().get(SESSION).and_then(|id| id.to_str().ok()?.parse().ok());
        state.sessions.borrow_mut().0.remove(&number.unwrap_or(usize::MAX));
        return Ok(Response::new(Answer::Whole(Bytes::new())));
    }
    let Ok(body) = request.into_body().collect().await else { return Ok(bad()) };
    let body = body.to_bytes();
    let mut output = Vec::with_capacity(256);
    let (around, kind): ((&[u8], &[u8]), _) =
        if state.events { ((b"data: ", b"\n\n"), EVENTS) } else { ((b"", b""), JSON) };
    let Ok(answered) = state.floor.answer(&body, &mut output, around) else { return Ok(bad()) };
    drop(body);
    if answered == Answered::Nothing {
        let mut response = Response::new(Answer::Whole(Bytes::new()));
        *response.status_mut() = StatusCode::ACCEPTED;
        return Ok(response);
    }
    let mut response = Response::new(Answer::Whole(output.into()));
    response.headers_mut().insert(CONTENT_TYPE, kind);
    if answered == Answered::Initialized {
        let mut sessions = state.sessions.borrow_mut();
        let number = sessions.1;
        sessions.1 += 1;
        sessions.0.insert(number);
        response.headers_mut().insert(SESSION, number.into());
    }
    Ok(response)
}

fn bad() -> Response<Answer> {
    let mut response = Response::new(Answer::Whole(Bytes::new()));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}

enum Answer {
    Whole(Bytes),
    /// A stream on which nothing comes.
    Open,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Open => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Open => SizeHint::default(),
        }
    }
}
