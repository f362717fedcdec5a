//! The body of an answer.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use super::exchange::{Exchange, Streamed};
use super::replay::ReplayBody;

/// The body of an answer: bytes that are there, or a stream of events.
///
/// It never fails. Dropping it lets go of its stream.
pub struct AnswerBody(Kind);

enum Kind {
    Full(Bytes),
    Exchange(Box<ExchangeBody>),
    Replay(Box<ReplayBody>),
    Custom(Pin<Box<dyn EventSource>>),
}

/// A stream of events of another make.
pub(super) trait EventSource: Send {
    /// The next bytes; `None` at the end.
    fn poll_bytes(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

impl AnswerBody {
    pub(super) fn empty() -> Self {
        Self::full(Bytes::new())
    }

    pub(super) fn full(bytes: Bytes) -> Self {
        Self(Kind::Full(bytes))
    }

    pub(super) fn exchange(exchange: Arc<Exchange>, lasts: Option<Duration>) -> Self {
        Self(Kind::Exchange(Box::new(ExchangeBody {
            idle: Idle::new(exchange.core.config.times.keep_alive),
            lasts: lasts.map(Lasts::new),
            exchange,
            begun: false,
            ended: false,
        })))
    }

    pub(super) fn replay(body: ReplayBody) -> Self {
        Self(Kind::Replay(Box::new(body)))
    }

    pub(super) fn custom(source: impl EventSource + 'static) -> Self {
        Self(Kind::Custom(Box::pin(source)))
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = match &mut self.get_mut().0 {
            Kind::Full(bytes) if bytes.is_empty() => None,
            Kind::Full(bytes) => Some(std::mem::take(bytes)),
            Kind::Exchange(body) => std::task::ready!(body.poll_bytes(cx)),
            Kind::Replay(body) => std::task::ready!(body.poll_bytes(cx)),
            Kind::Custom(source) => std::task::ready!(source.as_mut().poll_bytes(cx)),
        };
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Full(bytes) => bytes.is_empty(),
            Kind::Exchange(body) => body.ended,
            Kind::Replay(_) | Kind::Custom(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Exchange(_) | Kind::Replay(_) | Kind::Custom(_) => SizeHint::new(),
        }
    }
}

impl fmt::Debug for AnswerBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Kind::Full(_) => "AnswerBody(full)",
            Kind::Exchange(_) | Kind::Replay(_) | Kind::Custom(_) => "AnswerBody(stream)",
        })
    }
}

/// The stream that answers a request; drives its exchange.
struct ExchangeBody {
    exchange: Arc<Exchange>,
    idle: Idle,
    lasts: Option<Lasts>,
    begun: bool,
    ended: bool,
}

impl ExchangeBody {
    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let mut out = BytesMut::new();
        if !self.begun {
            self.begun = true;
            self.exchange.prime(&mut out);
        }
        if Lasts::is_over(&mut self.lasts, cx) && !self.exchange.suspend() {
            tracing::debug!("a stream outlives the admission of its request");
        }
        if let Poll::Ready(streamed) = self.exchange.poll_stream(cx, &mut out) {
            self.ended = true;
            if streamed == Streamed::Suspended {
                self.exchange.release();
            }
        }
        if !out.is_empty() {
            self.idle.reset();
            return Poll::Ready(Some(out.freeze()));
        }
        if self.ended {
            return Poll::Ready(None);
        }
        std::task::ready!(self.idle.poll(cx));
        Poll::Ready(Some(KEEP_ALIVE))
    }
}

impl Drop for ExchangeBody {
    fn drop(&mut self) {
        if !self.ended {
            self.exchange.release();
        }
    }
}

/// A comment: means nothing, and keeps the connection in use.
pub(super) const KEEP_ALIVE: Bytes = Bytes::from_static(b":\n\n");

/// Tells when a stream was silent for too long. Costs nothing until it is first asked.
pub(super) struct Idle {
    limit: Duration,
    sleep: Option<Pin<Box<Sleep>>>,
    /// The sleep has to be set anew before it counts.
    stale: bool,
}

impl Idle {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, sleep: None, stale: false }
    }

    /// Something was sent.
    pub(super) fn reset(&mut self) {
        self.stale = true;
    }

    /// Ready when nothing was sent for the limit; then counts from now again.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let limit = self.limit;
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        if std::mem::take(&mut self.stale) {
            sleep.as_mut().reset(deadline(limit));
        }
        std::task::ready!(sleep.as_mut().poll(cx));
        sleep.as_mut().reset(deadline(limit));
        Poll::Ready(())
    }
}

/// The time for which a stream may stay open.
pub(super) struct Lasts(Pin<Box<Sleep>>);

impl Lasts {
    pub(super) fn new(time: Duration) -> Self {
        Self(Box::pin(tokio::time::sleep_until(deadline(time))))
    }

    /// Whether the time has just run out; says so once.
    pub(super) fn is_over(lasts: &mut Option<Self>, cx: &mut Context<'_>) -> bool {
        let over = lasts.as_mut().is_some_and(|lasts| lasts.0.as_mut().poll(cx).is_ready());
        if over {
            *lasts = None;
        }
        over
    }
}

fn deadline(limit: Duration) -> Instant {
    let now = Instant::now();
    // A limit that no clock can name means never.
    now.checked_add(limit).unwrap_or_else(|| now + Duration::from_secs(60 * 60 * 24 * 365))
}
