//! What comes in: events, and the messages in them.

use bytes::Bytes;
use hyper::header::HeaderValue;
use mcp_jsonrpc::link::v1::{Incoming, Stream};
use mcp_jsonrpc::{Fault, Frame, Message, RequestId, Response, decode};
use tokio::time::timeout;

use super::HttpError;
use super::core::Core;
use super::cursor::Cursor;
use super::net::AnswerBody;
use crate::EVENTS_LOST;
use crate::sse::{Decoder, Event};

/// Bytes of an event beside its data: its id, the names of its fields.
const AROUND: usize = 4 << 10;

/// What an answer, or a stream, is for.
pub(super) enum Purpose {
    /// The request with this id.
    Call(RequestId),
    /// `initialize`, whose answer may have opened a session.
    Greeting { id: RequestId, session: Option<HeaderValue> },
    /// The same, of our own accord: the response is not handed up.
    Renewal { id: RequestId, session: Option<HeaderValue> },
    /// Whatever the server sends of its own accord.
    Listening,
    /// A server answered by a stream what needs no answer.
    Note,
    /// Everything, in the older transport.
    Legacy,
}

impl Purpose {
    /// The request whose response is awaited.
    pub(super) const fn own(&self) -> Option<&RequestId> {
        match self {
            Self::Call(id) | Self::Greeting { id, .. } | Self::Renewal { id, .. } => Some(id),
            Self::Listening | Self::Note | Self::Legacy => None,
        }
    }

    fn stream(&self) -> Stream {
        match self {
            Self::Call(id) | Self::Greeting { id, .. } => Stream::Of(id.clone()),
            Self::Renewal { .. } | Self::Listening | Self::Note | Self::Legacy => Stream::Shared,
        }
    }
}

/// What a message was.
#[derive(Debug)]
pub(super) enum Taken {
    /// One among others.
    Other,
    /// The response that was awaited; there only if nobody else got it.
    Own(Option<Response>),
    /// The server has lost events of this stream.
    Gap,
}

/// How reading a connection ended.
#[derive(Debug)]
pub(super) enum Read {
    /// With the response that was awaited.
    Own(Option<Response>),
    /// The connection is over.
    Closed(Option<hyper::Error>),
    /// Nothing came for too long.
    Silent,
    /// The stream can't be read on.
    Failed(HttpError),
}

/// The events of one connection.
pub(super) struct Events {
    pub(super) body: AnswerBody,
    decoder: Decoder,
    chunk: Bytes,
}

impl Events {
    pub(super) fn new(body: AnswerBody, limit: usize) -> Self {
        let decoder = Decoder::new(limit.saturating_add(AROUND));
        Self { body, decoder, chunk: Bytes::new() }
    }

    /// The next event of what is there.
    ///
    /// # Errors
    ///
    /// [`HttpError::EventTooLarge`].
    fn next(&mut self) -> Result<Option<Event>, HttpError> {
        Ok(self.decoder.feed(&mut self.chunk)?)
    }

    /// Waits for the next event.
    ///
    /// # Errors
    ///
    /// How the connection ended.
    pub(super) async fn wait(&mut self) -> Result<Event, Read> {
        loop {
            match self.next() {
                Ok(Some(event)) => return Ok(event),
                Ok(None) => {}
                Err(error) => return Err(Read::Failed(error)),
            }
            match self.body.chunk().await {
                Some(Ok(chunk)) => self.chunk = chunk,
                Some(Err(error)) => return Err(Read::Closed(Some(error))),
                None => return Err(Read::Closed(None)),
            }
        }
    }
}

impl Core {
    /// Reads one connection of a stream, until the response has come or the connection is over.
    pub(super) async fn follow(
        &self,
        events: &mut Events,
        cursor: &mut Cursor,
        purpose: &Purpose,
    ) -> Read {
        cursor.connected();
        let read = self.read_events(events, cursor, purpose).await;
        cursor.disconnected();
        read
    }

    async fn read_events(
        &self,
        events: &mut Events,
        cursor: &mut Cursor,
        purpose: &Purpose,
    ) -> Read {
        // A new stream of the session in place of the one that was asked for begins so.
        let mut primed = false;
        let mut gap = false;
        loop {
            loop {
                let event = match events.next() {
                    Ok(Some(event)) => event,
                    Ok(None) => break,
                    Err(error) => return Read::Failed(error),
                };
                let new = cursor.note(&event);
                if !new {
                    tracing::debug!("an event was replayed that had come before");
                } else if event.data.is_empty() {
                    // It only says where the stream stands.
                    primed = true;
                } else if !event.is_message() {
                    tracing::debug!(name = ?event.name, "ignored an event that is no message");
                } else {
                    match self.take(event.data, purpose).await {
                        Taken::Own(response) => return Read::Own(response),
                        Taken::Gap if primed => return Read::Failed(HttpError::EventsLost),
                        // The response may still come.
                        Taken::Gap => gap = true,
                        Taken::Other => {}
                    }
                }
            }
            cursor.advance(&events.decoder);
            // What can't be taken up again is left alone: its caller has a limit.
            let limit = match purpose {
                Purpose::Listening => self.config.times.silence,
                Purpose::Call(_) | Purpose::Greeting { .. } | Purpose::Renewal { .. } => {
                    self.config.times.silence.filter(|_| cursor.last().is_some())
                }
                Purpose::Note | Purpose::Legacy => None,
            };
            let chunk = match limit {
                None => events.body.chunk().await,
                Some(limit) => match timeout(limit, events.body.chunk()).await {
                    Ok(chunk) => chunk,
                    Err(_) => return Read::Silent,
                },
            };
            match chunk {
                Some(Ok(chunk)) => events.chunk = chunk,
                Some(Err(error)) => return Read::Closed(Some(error)),
                None if gap => return Read::Failed(HttpError::EventsLost),
                None => return Read::Closed(None),
            }
        }
    }

    /// Hands a frame up.
    pub(super) async fn take(&self, frame: Bytes, purpose: &Purpose) -> Taken {
        let size = frame.len();
        match decode(&frame, &self.limits) {
            Ok(Frame::Single(message)) => self.take_message(message, size, purpose).await,
            Ok(Frame::Batch(messages)) => self.take_batch(messages, size, purpose).await,
            Ok(_) => Taken::Other,
            Err(fault) => {
                let own = self.note_fault(&fault, purpose);
                self.deliver(Incoming::Malformed(fault), 0).await;
                own
            }
        }
    }

    async fn take_message(&self, message: Message, size: usize, purpose: &Purpose) -> Taken {
        let own = match &message {
            Message::Request(request) => {
                self.lock().session.is_asked(&request.id);
                Taken::Other
            }
            Message::Response(Response { id: Some(id), .. }) => {
                if let (Purpose::Renewal { id: own, .. }, Message::Response(response)) =
                    (purpose, &message)
                    && id == own
                {
                    return Taken::Own(Some(response.clone()));
                }
                let own = purpose.own() == Some(id);
                if !self.note_response(id, purpose) {
                    tracing::debug!(%id, "dropped a response that nobody waits for");
                    return if own { Taken::Own(None) } else { Taken::Other };
                }
                if own { Taken::Own(None) } else { Taken::Other }
            }
            Message::Response(Response { id: None, outcome: Err(error), .. })
                if error.code == EVENTS_LOST && purpose.own().is_some() =>
            {
                Taken::Gap
            }
            _ => Taken::Other,
        };
        if let (Purpose::Greeting { session, .. }, Taken::Own(_)) = (purpose, &own)
            && let Message::Response(Response { outcome: Ok(result), .. }) = &message
        {
            self.greeted(session.clone(), result);
        }
        self.deliver(Incoming::Message(message, purpose.stream()), size).await;
        own
    }

    async fn take_batch(
        &self,
        messages: Vec<Result<Message, Fault>>,
        size: usize,
        purpose: &Purpose,
    ) -> Taken {
        let mut own = Taken::Other;
        let mut kept = Vec::with_capacity(messages.len());
        for message in messages {
            let taken = match &message {
                Ok(Message::Request(request)) => {
                    self.lock().session.is_asked(&request.id);
                    Taken::Other
                }
                Ok(Message::Response(Response { id: Some(id), .. })) => {
                    let is_own = purpose.own() == Some(id);
                    if !self.note_response(id, purpose) {
                        continue;
                    }
                    if is_own { Taken::Own(None) } else { Taken::Other }
                }
                Err(fault) => self.note_fault(fault, purpose),
                Ok(_) => Taken::Other,
            };
            if let Taken::Own(_) = taken {
                own = taken;
            }
            kept.push(message);
        }
        if !kept.is_empty() {
            self.deliver(Incoming::Batch(kept), size).await;
        }
        own
    }

    /// A response has come; answers whether somebody waits for it. Each is waited for once.
    fn note_response(&self, id: &RequestId, purpose: &Purpose) -> bool {
        let Some(call) = self.lock().calls.remove(id) else { return false };
        // It came on another stream than its own, which is of no more use.
        if purpose.own() != Some(id) && !matches!(purpose, Purpose::Legacy) {
            self.spawner.end(call.task);
        }
        true
    }

    fn note_fault(&self, fault: &Fault, purpose: &Purpose) -> Taken {
        let Some(id) = &fault.id else { return Taken::Other };
        if fault.response {
            self.note_response(id, purpose);
            return if purpose.own() == Some(id) { Taken::Own(None) } else { Taken::Other };
        }
        if fault.is_answered() {
            self.lock().session.is_asked(id);
        }
        Taken::Other
    }
}
