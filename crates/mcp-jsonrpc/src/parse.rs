use bytes::Bytes;

use crate::json::{Scan, ScanError, Scanner, repair, unescape};
use crate::{
    ErrorObject, Limits, Message, Name, Notification, RawJson, Request, RequestId, Response, code,
};

/// What one frame holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Frame {
    /// One message.
    Single(Message),
    /// An array of messages, which only revision 2025-03-26 knows. Each was read by itself: one
    /// that can't be read costs only itself.
    Batch(Vec<Result<Message, Fault>>),
}

/// A frame, or a member of a batch, that is no message.
///
/// Nothing of it was acted on. Where [`is_answered`](Self::is_answered) says so, the peer is
/// told by [`to_error`](Self::to_error), under [`id`](Self::id).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{kind}")]
#[non_exhaustive]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The id of the request or response that this would have been, where it could be read for
    /// certain. A request in a frame that is no JSON has none.
    pub id: Option<RequestId>,
    /// Whether this would have been a response, which nobody answers.
    pub response: bool,
    /// Whether this would have been a notification, which nobody answers either.
    pub notification: bool,
}

/// What is wrong with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// Bytes that are no UTF-8.
    #[error("the frame is not UTF-8 at byte {at}")]
    NotUtf8 {
        /// Where.
        at: usize,
    },
    /// Not JSON.
    #[error("the frame is not JSON at byte {at}")]
    NotJson {
        /// Where.
        at: usize,
    },
    /// The JSON ends too early.
    #[error("the frame ends inside of a JSON value")]
    Truncated,
    /// More bytes than [`Limits::frame_bytes`].
    #[error("the frame is longer than {limit} bytes")]
    TooLong {
        /// The limit that was in force.
        limit: usize,
    },
    /// Nested deeper than [`Limits::depth`].
    #[error("the frame is nested deeper than {limit} levels")]
    TooDeep {
        /// The limit that was in force.
        limit: usize,
    },
    /// JSON, but neither an object nor an array.
    #[error("a message is an object")]
    NotAnObject,
    /// An array without a member.
    #[error("a batch is not empty")]
    EmptyBatch,
    /// More messages than [`Limits::batch`].
    #[error("the batch has more than {limit} messages")]
    BatchTooLong {
        /// The limit that was in force.
        limit: usize,
    },
    /// A batch, towards a revision that has none.
    #[error("this revision has no batches")]
    NoBatches,
    /// `jsonrpc` is missing, or isn't `"2.0"`.
    #[error("`jsonrpc` is not \"2.0\"")]
    Version,
    /// A member of the envelope occurs twice.
    #[error("`{member}` occurs twice")]
    Duplicate {
        /// Which one.
        member: &'static str,
    },
    /// The id is null, a fraction, or no scalar.
    #[error("`id` is neither a text nor an integer")]
    Id,
    /// The method is no text.
    #[error("`method` is not a text")]
    Method,
    /// The parameters are no object.
    #[error("`params` is not an object")]
    Params,
    /// A message with both a method and an outcome.
    #[error("a message is a request or a response, not both")]
    RequestAndResponse,
    /// Neither a method nor an outcome.
    #[error("a message has a `method`, a `result` or an `error`")]
    Neither,
    /// A response with both outcomes.
    #[error("a response has a `result` or an `error`, not both")]
    ResultAndError,
    /// A result without an id.
    #[error("a result names its request by an `id`")]
    NoId,
    /// The error of a response lacks its code or message, or they have the wrong type.
    #[error("`error` has an integer `code` and a text `message`")]
    Error,
}

impl FaultKind {
    /// `-32700` when the bytes are no JSON that we read, else `-32600`.
    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::NotUtf8 { .. } | Self::NotJson { .. } | Self::Truncated => code::PARSE_ERROR,
            _ => code::INVALID_REQUEST,
        }
    }
}

impl Fault {
    /// A fault of a frame of which nothing could be read.
    #[must_use]
    pub const fn new(kind: FaultKind) -> Self {
        Self { kind, id: None, response: false, notification: false }
    }

    /// Whether the peer is to be told: what would have been a response or a notification gets no
    /// answer.
    #[must_use]
    pub const fn is_answered(&self) -> bool {
        !self.response && !self.notification
    }

    /// The error to answer with.
    #[must_use]
    pub fn to_error(&self) -> ErrorObject {
        ErrorObject::new(self.kind.code(), self.kind.to_string())
    }
}

/// Reads the envelope of a frame, in one pass over its bytes.
///
/// The whole frame is checked to be JSON; the messages share its memory.
///
/// # Errors
///
/// A [`Fault`] when the frame is neither a message nor a batch. Faults of the members of a
/// batch are inside of the [`Frame::Batch`].
///
/// # Examples
///
/// ```
/// use mcp_jsonrpc::{Frame, Limits, Message, decode};
///
/// let frame = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.as_slice().into();
/// let Ok(Frame::Single(Message::Request(ping))) = decode(&frame, &Limits::new()) else {
///     panic!("not a request");
/// };
/// assert_eq!(ping.method, "ping");
/// ```
pub fn decode(frame: &Bytes, limits: &Limits) -> Result<Frame, Fault> {
    let held = frame.get(..limits.frame_bytes).unwrap_or(frame);
    let mut reader = Reader { frame, limits, scanner: Scanner::new(held, limits.max_depth()) };
    let mut members = Members::default();
    let read = reader.frame(&mut members);
    // A frame has one fault, the one that is nearest to its bytes; but whatever it is, the
    // members that were read before are what they are.
    let kind = if held.len() < frame.len() {
        FaultKind::TooLong { limit: limits.frame_bytes }
    } else {
        match (read, &reader.scanner) {
            (_, Scanner { not_utf8: Some(at), .. }) => FaultKind::NotUtf8 { at: *at },
            (Err(error), _) => not_json(error, frame),
            (Ok(_), Scanner { too_deep: true, .. }) => {
                FaultKind::TooDeep { limit: limits.max_depth() }
            }
            (Ok(read), Scanner { half_pair: true, .. }) => {
                return with_sound_ids(decode(&repair(frame).into(), limits), read);
            }
            (Ok(read), _) => return read,
        }
    };
    Err(members.fault(kind))
}

/// What was read of a repaired frame, but for ids that had to be repaired: under another id than
/// its own nobody would know the answer. `before` was read of the frame as it came.
fn with_sound_ids(
    read: Result<Frame, Fault>,
    before: Result<Frame, Fault>,
) -> Result<Frame, Fault> {
    // The texts of an error are all that a repair can make readable.
    let stands = |fault: &Fault| fault.kind != FaultKind::Error;
    match (read, before) {
        (_, Err(fault)) if stands(&fault) => Err(fault),
        (Ok(Frame::Batch(read)), Ok(Frame::Batch(before))) => {
            let members = read.into_iter().zip(before);
            let sound = members.map(|(read, before)| match before {
                Err(fault) if stands(&fault) => Err(fault),
                _ => read,
            });
            Ok(Frame::Batch(sound.collect()))
        }
        (read, _) => read,
    }
}

fn not_json(error: ScanError, frame: &[u8]) -> FaultKind {
    // Looked at only now: the bytes of a frame that is JSON are checked where they can matter.
    if let Err(error) = std::str::from_utf8(frame) {
        return FaultKind::NotUtf8 { at: error.valid_up_to() };
    }
    match error {
        ScanError::Syntax(at) => FaultKind::NotJson { at },
        ScanError::Eof => FaultKind::Truncated,
    }
}

struct Reader<'a> {
    frame: &'a Bytes,
    limits: &'a Limits,
    scanner: Scanner<'a>,
}

/// The members of an envelope, as far as they have been met.
#[derive(Default)]
struct Members<'a> {
    version: Option<&'a [u8]>,
    id: Option<&'a [u8]>,
    method: Option<&'a [u8]>,
    params: Option<&'a [u8]>,
    result: Option<&'a [u8]>,
    error: Option<&'a [u8]>,
    duplicate: Option<&'static str>,
}

impl<'a> Members<'a> {
    #[inline]
    fn put(&mut self, key: &[u8], value: &'a [u8]) {
        let (name, slot) = match key {
            b"jsonrpc" => ("jsonrpc", &mut self.version),
            b"id" => ("id", &mut self.id),
            b"method" => ("method", &mut self.method),
            b"params" => ("params", &mut self.params),
            b"result" => ("result", &mut self.result),
            b"error" => ("error", &mut self.error),
            _ => return,
        };
        if slot.replace(value).is_some() {
            self.duplicate = Some(name);
        }
    }

    fn has_outcome(&self) -> bool {
        self.result.is_some() || self.error.is_some()
    }

    /// The id that an answer, or the end of a call, may go by.
    fn certain_id(&self) -> Option<RequestId> {
        // Which of two would be the right one?
        if self.duplicate == Some("id") {
            return None;
        }
        self.id.and_then(|id| RequestId::from_scanned(id).ok())
    }

    /// A fault of the message that has these members.
    fn fault(&self, kind: FaultKind) -> Fault {
        let response = self.method.is_none() && self.has_outcome();
        // Only what is beyond doubt: anything else that lacks an id is answered.
        let notification = self.id.is_none()
            && !self.has_outcome()
            && matches!(kind, FaultKind::Params | FaultKind::TooDeep { .. })
            && self.method.is_some_and(|method| method.starts_with(b"\""));
        // The answer to what is no JSON names no request; but a call that waits must learn that
        // no response will come.
        let id =
            if kind.code() == code::PARSE_ERROR && !response { None } else { self.certain_id() };
        Fault { kind, id, response, notification }
    }
}

impl<'a> Reader<'a> {
    /// The outer error is one of the bytes, and ends everything; the inner one is of the
    /// message only.
    fn frame(&mut self, members: &mut Members<'a>) -> Scan<Result<Frame, Fault>> {
        let (end, read) = match self.scanner.peek(0) {
            (at, Some(b'{')) => {
                let end = self.members(at, members, 0)?;
                (end, self.classify(members).map(Frame::Single))
            }
            (at, Some(b'[')) => self.batch(at)?,
            (at, _) => (self.scanner.value(at, 0)?.0, Err(Fault::new(FaultKind::NotAnObject))),
        };
        self.scanner.end(end)?;
        Ok(read)
    }

    /// Reads an object that stands `depth` levels deep; answers with where it ends.
    fn members(&mut self, start: usize, members: &mut Members<'a>, depth: usize) -> Scan<usize> {
        let (mut at, next) = self.scanner.peek(start + 1);
        if next == Some(b'}') {
            return Ok(at + 1);
        }
        loop {
            let (colon, key) = self.scanner.key(at)?;
            let (end, value) = match self.scanner.value(colon, depth + 1) {
                Ok(read) => read,
                Err(error) => return Err(self.cut(members, key, error)),
            };
            match self.scanner.peek(end) {
                (comma, Some(b',')) => {
                    self.put(members, key, value);
                    at = comma + 1;
                }
                (close, Some(b'}')) => {
                    self.put(members, key, value);
                    return Ok(close + 1);
                }
                // Of a number there may have been more.
                (at, _) => {
                    let error = self.scanner.unexpected(at);
                    return Err(self.cut(members, key, error));
                }
            }
        }
    }

    #[inline(always)]
    fn put(&self, members: &mut Members<'a>, key: &[u8], value: &'a [u8]) {
        if self.scanner.escaped && key.contains(&b'\\') {
            members.put(unescape(key).as_bytes(), value);
        } else {
            members.put(key, value);
        }
    }

    /// Keeps that there was a member of this name. The key alone may say what this is.
    #[cold]
    fn cut(&self, members: &mut Members<'a>, key: &[u8], error: ScanError) -> ScanError {
        self.put(members, key, b"");
        error
    }

    fn batch(&mut self, start: usize) -> Scan<(usize, Result<Frame, Fault>)> {
        let (mut at, next) = self.scanner.peek(start + 1);
        if next == Some(b']') {
            return Ok((at + 1, Err(Fault::new(FaultKind::EmptyBatch))));
        }
        let mut messages = Vec::new();
        let mut too_long = false;
        loop {
            let (start, next) = self.scanner.peek(at);
            let end = if messages.len() >= self.limits.batch {
                // Walked over all the same: what is no JSON is to be told as such.
                too_long = true;
                self.scanner.value(start, 1)?.0
            } else if next == Some(b'{') && self.limits.max_depth() > 1 {
                let mut members = Members::default();
                let end = self.members(start, &mut members, 1)?;
                messages.push(self.classify(&members));
                end
            } else {
                messages.push(Err(Fault::new(FaultKind::NotAnObject)));
                self.scanner.value(start, 1)?.0
            };
            match self.scanner.peek(end) {
                (comma, Some(b',')) => at = comma + 1,
                (close, Some(b']')) => {
                    at = close + 1;
                    break;
                }
                (at, _) => return Err(self.scanner.unexpected(at)),
            }
        }
        let limit = self.limits.batch;
        let read = if too_long {
            Err(Fault::new(FaultKind::BatchTooLong { limit }))
        } else {
            Ok(Frame::Batch(messages))
        };
        Ok((at, read))
    }

    fn classify(&self, members: &Members<'a>) -> Result<Message, Fault> {
        self.judge(members).map_err(|kind| members.fault(kind))
    }

    fn judge(&self, members: &Members<'a>) -> Result<Message, FaultKind> {
        if let Some(member) = members.duplicate {
            return Err(FaultKind::Duplicate { member });
        }
        if !members.version.is_some_and(is_2_0) {
            return Err(FaultKind::Version);
        }
        match (members.method, members.result, members.error) {
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => Err(FaultKind::RequestAndResponse),
            (None, Some(_), Some(_)) => Err(FaultKind::ResultAndError),
            (None, None, None) => Err(FaultKind::Neither),
            (Some(method), None, None) => {
                let method = self.name(method).ok_or(FaultKind::Method)?;
                let params = match members.params {
                    // Some peers write what they don't have.
                    None | Some(b"null") => None,
                    Some(params) if params.starts_with(b"{") => Some(self.raw(params)),
                    Some(_) => return Err(FaultKind::Params),
                };
                let Some(id) = members.id else {
                    return Ok(Message::Notification(Notification { method, params }));
                };
                let id = RequestId::from_scanned(id).map_err(|_| FaultKind::Id)?;
                Ok(Message::Request(Request { id, method, params }))
            }
            (None, Some(result), None) => {
                let id = members.id.ok_or(FaultKind::NoId)?;
                let id = RequestId::from_scanned(id).map_err(|_| FaultKind::Id)?;
                Ok(Message::Response(Response { id: Some(id), outcome: Ok(self.raw(result)) }))
            }
            (None, None, Some(error)) => {
                let id = match members.id {
                    // Plain JSON-RPC says so by null where it could not read the id.
                    None | Some(b"null") => None,
                    Some(id) => Some(RequestId::from_scanned(id).map_err(|_| FaultKind::Id)?),
                };
                let error = serde_json::from_slice(error).map_err(|_| FaultKind::Error)?;
                Ok(Message::Response(Response { id, outcome: Err(error) }))
            }
        }
    }

    fn raw(&self, value: &[u8]) -> RawJson {
        RawJson::trusted(self.frame.slice_ref(value))
    }

    fn name(&self, value: &[u8]) -> Option<Name> {
        let inside = value.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        Some(if self.scanner.escaped && inside.contains(&b'\\') {
            unescape(inside).into()
        } else {
            Name::from_utf8(inside)
        })
    }
}

fn is_2_0(value: &[u8]) -> bool {
    const PLAIN: &[u8] = br#""2.0""#;
    value == PLAIN
        || (value.starts_with(b"\"") && value.contains(&b'\\') && unescape(value) == r#""2.0""#)
}
