use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::HeaderMap;
use hyper::{Response, StatusCode};

use super::pool::{Lease, Pool};

/// A body that is there as a whole.
#[derive(Debug)]
pub(super) struct Once(Option<Bytes>);

impl Once {
    pub(super) fn new(bytes: Bytes) -> Self {
        Self(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }
}

impl Body for Once {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// An answer whose head has come.
pub(in crate::client) struct Answer {
    pub(in crate::client) status: StatusCode,
    pub(in crate::client) headers: HeaderMap,
    pub(in crate::client) body: AnswerBody,
}

/// The rest of an answer. Its connection goes back to the pool when it was read to its end,
/// and is closed when it is dropped before.
pub(in crate::client) struct AnswerBody {
    incoming: Incoming,
    lease: Option<(Lease, Arc<Pool>)>,
}

impl Answer {
    pub(super) fn new(response: Response<Incoming>, lease: Lease, pool: &Arc<Pool>) -> Self {
        let (head, incoming) = response.into_parts();
        let mut body = AnswerBody { incoming, lease: Some((lease, Arc::clone(pool))) };
        if body.incoming.is_end_stream() {
            body.give_back();
        }
        Self { status: head.status, headers: head.headers, body }
    }
}

impl AnswerBody {
    /// The next bytes; `None` at the end.
    pub(in crate::client) async fn chunk(&mut self) -> Option<Result<Bytes, hyper::Error>> {
        poll_fn(|cx| self.poll_chunk(cx)).await
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, hyper::Error>>> {
        loop {
            let frame = std::task::ready!(Pin::new(&mut self.incoming).poll_frame(cx));
            let chunk = match frame {
                None => {
                    self.give_back();
                    None
                }
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if data.is_empty() => continue,
                    Ok(data) => Some(Ok(data)),
                    // Trailers say nothing here.
                    Err(_) => continue,
                },
                Some(Err(error)) => {
                    self.lease = None;
                    Some(Err(error))
                }
            };
            return Poll::Ready(chunk);
        }
    }

    /// How many bytes there will be at least.
    pub(in crate::client) fn announced(&self) -> u64 {
        self.incoming.size_hint().lower()
    }

    /// Whether it was read to its end.
    pub(in crate::client) const fn is_over(&self) -> bool {
        self.lease.is_none()
    }

    fn give_back(&mut self) {
        if let Some((lease, pool)) = self.lease.take() {
            pool.give_back(lease);
        }
    }
}
