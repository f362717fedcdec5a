//! Reading a request's body, within its limits.

use std::pin::{Pin, pin};
use std::task::{Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use hyper::body::Body;

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    /// It is longer than allowed.
    TooLong,
    /// It took too long to come.
    TooSlow,
    /// The connection failed, or the body ended early.
    Cut,
}

/// Reads a body of at most `limit` bytes within `time`.
///
/// A body that came in one piece, as small ones do, is not copied. Memory is taken as the
/// bytes come, not as they are announced.
pub(super) async fn read<B: Body>(body: B, limit: usize, time: Duration) -> Result<Bytes, Unread> {
    let mut body = pin!(body);
    if (limit as u64) < body.size_hint().lower() {
        return Err(Unread::TooLong);
    }
    let mut deadline = None;
    let mut first: Option<Bytes> = None;
    let mut rest: Option<BytesMut> = None;
    std::future::poll_fn(|cx| {
        loop {
            let frame = match body.as_mut().poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(Some(Err(_))) => return Poll::Ready(Err(Unread::Cut)),
                Poll::Ready(None) => {
                    let whole = rest.take().map(BytesMut::freeze).or_else(|| first.take());
                    return Poll::Ready(Ok(whole.unwrap_or_default()));
                }
                Poll::Pending => {
                    let sleep: &mut Pin<Box<_>> =
                        deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
                    ready!(sleep.as_mut().poll(cx));
                    return Poll::Ready(Err(Unread::TooSlow));
                }
            };
            let Ok(mut data) = frame.into_data() else { continue };
            let len = data.remaining();
            let held = rest.as_ref().map(BytesMut::len).or(first.as_ref().map(Bytes::len));
            if limit < held.unwrap_or_default().saturating_add(len) {
                return Poll::Ready(Err(Unread::TooLong));
            }
            let data = data.copy_to_bytes(len);
            if first.is_none() && rest.is_none() {
                if body.is_end_stream() {
                    return Poll::Ready(Ok(data));
                }
                first = Some(data);
                continue;
            }
            let buffer = rest.get_or_insert_with(|| {
                let first = first.take().unwrap_or_default();
                let mut buffer = BytesMut::with_capacity(first.len() + len);
                buffer.extend_from_slice(&first);
                buffer
            });
            buffer.extend_from_slice(&data);
        }
    })
    .await
}
