//! `floor-http [--sse]`: the least that an HTTP server can do: hyper, a parser, and one write.
#![expect(clippy::print_stderr, reason = "whoever starts it waits for that line")]

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use mcp_bench::floor;
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let sse = std::env::args().nth(1).as_deref() == Some("--sse");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let service = service_fn(move |request| serve(request, sse));
            // A connection that breaks is the client's business.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn serve(request: Request<Incoming>, sse: bool) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let mut output = Vec::with_capacity(body.len() + 64);
    if sse {
        output.extend_from_slice(b"data: ");
    }
    let (status, kind) = match floor::answer(&body, &mut output) {
        Ok(true) if sse => (StatusCode::OK, "text/event-stream"),
        Ok(true) => (StatusCode::OK, "application/json"),
        Ok(false) => {
            output.clear();
            (StatusCode::ACCEPTED, "text/plain")
        }
        Err(_) => (StatusCode::BAD_REQUEST, "text/plain"),
    };
    if sse && !output.is_empty() {
        output.extend_from_slice(b"\n\n");
    }
    let mut response = Response::new(Full::new(Bytes::from(output)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok(response)
}
