//! Streams that a GET opens: the session's own ones, and what is left of streams that lost
//! their connection.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use mcp_jsonrpc::{ErrorObject, Outgoing};

use super::body::{Idle, KEEP_ALIVE, Lasts};
use super::core::Permit;
use super::event_id::EventId;
use super::exchange::{Exchange, Progress, write_event, write_retry};
use super::session::{Listened, Session};
use crate::EVENTS_LOST;
use crate::sse::EventText;
use crate::v1::{LogError, LogPage, ReadError, Step, StreamKey};

/// A stream is read from the log, and written, in pieces of about this many bytes.
const PIECE: usize = 64 << 10;

/// The stream that answers a GET.
pub(super) struct ReplayBody {
    session: Arc<Session>,
    stage: Stage,
    /// The stream whose events are written now.
    stream: u64,
    /// The last event that was written.
    last: u64,
    /// Written before anything else.
    first: BytesMut,
    idle: Idle,
    lasts: Option<Lasts>,
    _permit: Permit,
}

enum Stage {
    /// Reads what the log has.
    Log(Reading),
    /// Carries the session's messages.
    Live {
        serial: u64,
        append: Option<Append>,
    },
    Over,
}

struct Reading {
    source: Source,
    read: Option<Step<Result<LogPage, ReadError>>>,
}

/// What becomes of a stream once the log has been read to its end.
enum Source {
    /// This exchange may write more to the log.
    Exchange { exchange: Arc<Exchange>, tries: u8 },
    /// It was a GET stream whose last message had this number: it goes on from there.
    Listener { last: u64, tries: u8 },
    /// It is complete, or was a GET stream of long ago.
    Unknown,
}

struct Append {
    step: Step<Result<(), LogError>>,
    message: Bytes,
}

/// How often a message is looked for that another task is just writing to the log.
const TRIES: u8 = 16;

impl ReplayBody {
    /// A new stream for the session's messages; `None` when the session is over.
    ///
    /// `lost` says that the client asked for events that are gone.
    pub(super) fn listen(session: Arc<Session>, permit: Permit, lost: bool) -> Option<Self> {
        let stream = session.next_stream();
        let serial = session.listen(stream, 0)?;
        let mut body = Self::new(session, permit, stream, 0, Stage::Live { serial, append: None });
        body.prime();
        if lost {
            body.say_lost();
        }
        Some(body)
    }

    /// Goes on behind event `last` of a stream that lost its connection.
    pub(super) fn resume(session: Arc<Session>, permit: Permit, stream: u64, last: u64) -> Self {
        let source = if let Some(exchange) = session.exchange_of_stream(stream) {
            exchange.take_over();
            Source::Exchange { exchange, tries: 0 }
        } else if let Some(last) = session.displace(stream) {
            Source::Listener { last, tries: 0 }
        } else {
            Source::Unknown
        };
        let stage = match source {
            // Nothing was missed: the log need not be asked.
            Source::Listener { last: newest, .. } if newest == last => session
                .listen(stream, last)
                .map_or(Stage::Over, |serial| Stage::Live { serial, append: None }),
            source => Stage::Log(Reading { source, read: None }),
        };
        Self::new(session, permit, stream, last, stage)
    }

    /// Says that the events are gone, and ends.
    pub(super) fn refuse(session: Arc<Session>, permit: Permit) -> Self {
        let stream = session.next_stream();
        let mut body = Self::new(session, permit, stream, 0, Stage::Over);
        body.say_lost();
        body
    }

    fn new(session: Arc<Session>, permit: Permit, stream: u64, last: u64, stage: Stage) -> Self {
        let idle = Idle::new(session.core.config.times.keep_alive);
        Self {
            session,
            stage,
            stream,
            last,
            first: BytesMut::new(),
            idle,
            lasts: None,
            _permit: permit,
        }
    }

    /// Ends the stream after `time`, if it is still open then.
    pub(super) fn lasting(mut self, time: Option<Duration>) -> Self {
        self.lasts = time.map(Lasts::new);
        self
    }

    /// Takes no more messages; what is in the log remains to be resumed.
    fn part(&mut self) {
        if let Stage::Live { serial, append } = std::mem::replace(&mut self.stage, Stage::Over) {
            if let Some(append) = append {
                // The message counts as sent: the log is where the client finds it.
                self.session.core.settle(append.step);
            }
            self.session.part(serial);
        }
    }

    fn has_ids(&self) -> bool {
        self.session.core.log.is_some()
    }

    fn prime(&mut self) {
        if self.has_ids() && self.session.revision().is_some_and(|r| r.has_priming_events()) {
            let id = EventId::new(self.session.tag, self.stream, 0);
            write_event(id, b"", &mut self.first);
        }
    }

    fn say_lost(&mut self) {
        EventText::new(&lost(&self.session, Lost::Stream)).write(&mut self.first);
    }

    /// Tells when to come back, and to where.
    fn write_retry(&self, out: &mut BytesMut) {
        let revision = self.session.revision();
        if !self.has_ids() || !revision.is_some_and(|r| r.may_close_stream_early()) {
            return;
        }
        let id = EventId::new(self.session.tag, self.stream, self.last);
        write_retry(id, self.session.core.config.times.retry, out);
    }

    pub(super) fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut out = std::mem::take(&mut self.first);
        let mut end = self.poll_events(cx, &mut out);
        // A piece on its way to the log is waited for: its event is written first.
        let settled = !matches!(self.stage, Stage::Live { append: Some(_), .. });
        if end.is_pending() && settled && Lasts::is_over(&mut self.lasts, cx) {
            self.write_retry(&mut out);
            self.part();
            end = Poll::Ready(());
        }
        if !out.is_empty() {
            self.idle.reset();
            self.session.touch();
            return Poll::Ready(Some(out.freeze()));
        }
        if end.is_ready() {
            return Poll::Ready(None);
        }
        std::task::ready!(self.idle.poll(cx));
        // Whoever takes this is alive, and so is the session.
        self.session.touch();
        Poll::Ready(Some(KEEP_ALIVE))
    }

    /// Ready once the stream is over.
    fn poll_events(&mut self, cx: &mut Context<'_>, out: &mut BytesMut) -> Poll<()> {
        loop {
            if PIECE <= out.len() {
                return Poll::Pending;
            }
            match &mut self.stage {
                Stage::Over => return Poll::Ready(()),
                Stage::Log { .. } => std::task::ready!(self.poll_log(cx, out)),
                Stage::Live { .. } => std::task::ready!(self.poll_live(cx, out)),
            }
        }
    }

    fn poll_log(&mut self, cx: &mut Context<'_>, out: &mut BytesMut) -> Poll<()> {
        let Stage::Log(reading) = &mut self.stage else { return Poll::Ready(()) };
        let log = self.session.core.log.as_ref().filter(|_| !self.session.is_closed());
        let Some(log) = log else {
            self.stage = Stage::Over;
            return Poll::Ready(());
        };
        let key = StreamKey::new(self.session.id.clone(), self.stream);
        let step = reading.read.get_or_insert_with(|| log.read(&key, self.last, PIECE));
        let page = std::task::ready!(Pin::new(step).poll(cx));
        reading.read = None;
        match page {
            Ok(page) => {
                let news = !page.events.is_empty();
                if let (true, Source::Exchange { tries, .. }) = (news, &mut reading.source) {
                    *tries = 0;
                }
                for logged in page.events {
                    let id = EventId::new(self.session.tag, self.stream, logged.event);
                    write_event(id, &logged.data, out);
                    self.last = logged.event;
                }
                if page.complete {
                    self.stage = Stage::Over;
                } else if !news {
                    return self.poll_source(cx, out);
                }
                Poll::Ready(())
            }
            Err(ReadError::Gap { first }) => {
                EventText::new(&lost(&self.session, Lost::Some)).write(out);
                self.last = first.saturating_sub(1).max(self.last);
                Poll::Ready(())
            }
            // An exchange, or a stream, that has written nothing to the log so far.
            Err(ReadError::UnknownStream) if !matches!(reading.source, Source::Unknown) => {
                self.poll_source(cx, out)
            }
            Err(error) => {
                if let ReadError::Unavailable(error) = &error {
                    tracing::warn!(error = error as &dyn std::error::Error, "no replay");
                }
                self.lose(out);
                Poll::Ready(())
            }
        }
    }

    /// The log has no more for now: waits for who writes to it, or turns to what is live.
    fn poll_source(&mut self, cx: &mut Context<'_>, out: &mut BytesMut) -> Poll<()> {
        let Stage::Log(reading) = &mut self.stage else { return Poll::Ready(()) };
        match &mut reading.source {
            Source::Exchange { exchange, tries } => {
                match std::task::ready!(exchange.poll_progress(cx, self.last)) {
                    Progress::Complete => self.stage = Stage::Over,
                    // Written since the log was read.
                    Progress::More { .. } if *tries < TRIES => *tries += 1,
                    Progress::More { logged } => {
                        self.last = logged;
                        EventText::new(&lost(&self.session, Lost::Some)).write(out);
                    }
                }
            }
            Source::Listener { last, .. } if *last <= self.last => self.go_live(),
            Source::Listener { tries, .. } if *tries < TRIES => {
                // Another task has taken the message and is about to write it to the log.
                *tries += 1;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Source::Listener { last, .. } => {
                self.last = *last;
                EventText::new(&lost(&self.session, Lost::Some)).write(out);
                self.go_live();
            }
            Source::Unknown => self.go_live(),
        }
        Poll::Ready(())
    }

    fn go_live(&mut self) {
        self.stage = match self.session.listen(self.stream, self.last) {
            Some(serial) => Stage::Live { serial, append: None },
            None => Stage::Over,
        };
    }

    /// The events are gone: says so, on a new stream that carries the session's messages.
    fn lose(&mut self, out: &mut BytesMut) {
        self.stream = self.session.next_stream();
        self.last = 0;
        self.prime();
        self.say_lost();
        out.extend_from_slice(&std::mem::take(&mut self.first));
        if self.session.core.config.listen {
            self.go_live();
        } else {
            self.stage = Stage::Over;
        }
    }

    fn poll_live(&mut self, cx: &mut Context<'_>, out: &mut BytesMut) -> Poll<()> {
        let Stage::Live { serial, append } = &mut self.stage else { return Poll::Ready(()) };
        let message = match append.take() {
            Some(mut pending) => match Pin::new(&mut pending.step).poll(cx) {
                Poll::Ready(result) => {
                    warn(&result);
                    pending.message
                }
                Poll::Pending => {
                    *append = Some(pending);
                    return Poll::Pending;
                }
            },
            None => match std::task::ready!(self.session.poll_message(*serial, cx)) {
                Listened::End => {
                    self.stage = Stage::Over;
                    return Poll::Ready(());
                }
                Listened::Leave => {
                    self.write_retry(out);
                    self.stage = Stage::Over;
                    return Poll::Ready(());
                }
                Listened::Message(number, message) => {
                    self.last = number;
                    if let Some(log) = &self.session.core.log {
                        let key = StreamKey::new(self.session.id.clone(), self.stream);
                        match log.append(&key, number, message.clone()).try_now() {
                            Ok(result) => warn(&result),
                            Err(step) => {
                                *append = Some(Append { step, message });
                                return Poll::Ready(());
                            }
                        }
                    }
                    message
                }
            },
        };
        if self.has_ids() {
            write_event(EventId::new(self.session.tag, self.stream, self.last), &message, out);
        } else {
            EventText::new(&message).write(out);
        }
        Poll::Ready(())
    }
}

impl Drop for ReplayBody {
    fn drop(&mut self) {
        self.part();
    }
}

fn warn(result: &Result<(), LogError>) {
    if let Err(error) = result {
        tracing::warn!(error = error as &dyn std::error::Error, "an event was not kept");
    }
}

/// What a client asked for and does not get.
#[derive(Clone, Copy, Debug)]
enum Lost {
    /// Events of a stream that goes on.
    Some,
    /// All of its stream.
    Stream,
}

/// The message that tells a client that events it asked for are gone: an error without an
/// id, code [`EVENTS_LOST`]. What follows it on the stream is what is still there.
fn lost(session: &Session, what: Lost) -> Bytes {
    let error = match what {
        Lost::Some => ErrorObject::new(EVENTS_LOST, "some events are no longer here")
            .with_data_from(&serde_json::json!({"lost": "some"})),
        Lost::Stream => ErrorObject::new(EVENTS_LOST, "the stream of Last-Event-ID is not here")
            .with_data_from(&serde_json::json!({"lost": "stream"})),
    };
    let old = session.revision().is_some_and(|revision| !revision.error_id_may_be_absent());
    let message =
        if old { Outgoing::error_with_null_id(&error) } else { Outgoing::error(None, &error) };
    message.into_frame()
}
