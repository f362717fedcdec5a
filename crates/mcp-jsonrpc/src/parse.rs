use bytes::Bytes;

use crate::scan::{ScanError, Scanner};
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
/// Nothing of it was acted on. [`Fault::to_error`] is what a server answers, and
/// [`Fault::id`] the id to answer to where it could be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{kind}")]
#[non_exhaustive]
pub struct Fault {
    /// What is wrong.
    #[source]
    pub kind: FaultKind,
    /// The id of the request that this would have been, where it could be read.
    pub id: Option<RequestId>,
    /// Whether this would have been a response, which nobody answers.
    pub response: bool,
}

/// What is wrong with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// A byte sequence that is no UTF-8.
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
        Self { kind, id: None, response: false }
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
    if frame.len() > limits.frame_bytes {
        return Err(Fault::new(FaultKind::TooLong { limit: limits.frame_bytes }));
    }
    // A UTF-8 byte order mark is UTF-8, but no JSON whitespace: the scanner refuses it.
    if let Err(error) = std::str::from_utf8(frame) {
        return Err(Fault::new(FaultKind::NotUtf8 { at: error.valid_up_to() }));
    }
    let mut reader = Reader { frame, limits, scanner: Scanner::new(frame, limits.depth) };
    let read = match reader.scanner.peek() {
        Some(b'[') => reader.batch(),
        _ => reader.message(0).map(|message| message.map(Frame::Single)),
    };
    let read = read.and_then(|read| match reader.scanner.peek() {
        None => Ok(read),
        Some(_) => Err(ScanError::Syntax(reader.scanner.at)),
    });
    match read {
        Ok(read) => read,
        Err(ScanError::Syntax(at)) => Err(Fault::new(FaultKind::NotJson { at })),
        Err(ScanError::Eof(_)) => Err(Fault::new(FaultKind::Truncated)),
        Err(ScanError::Depth(_)) => Err(Fault::new(FaultKind::TooDeep { limit: limits.depth })),
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
    fn slot(&mut self, key: &[u8]) -> Option<(&'static str, &mut Option<&'a [u8]>)> {
        Some(match key {
            b"jsonrpc" => ("jsonrpc", &mut self.version),
            b"id" => ("id", &mut self.id),
            b"method" => ("method", &mut self.method),
            b"params" => ("params", &mut self.params),
            b"result" => ("result", &mut self.result),
            b"error" => ("error", &mut self.error),
            _ => return None,
        })
    }

    fn put(&mut self, key: &[u8], value: &'a [u8]) {
        if let Some((name, slot)) = self.slot(key)
            && slot.replace(value).is_some()
        {
            self.duplicate = Some(name);
        }
    }
}

impl<'a> Reader<'a> {
    /// The outer error is one of the bytes, and ends everything; the inner one is of this
    /// message only.
    fn message(&mut self, depth: usize) -> Result<Result<Message, Fault>, ScanError> {
        if self.scanner.peek() != Some(b'{') {
            self.scanner.value(depth)?;
            return Ok(Err(Fault::new(FaultKind::NotAnObject)));
        }
        let mut members = Members::default();
        self.scanner.eat(b'{')?;
        if self.scanner.peek() == Some(b'}') {
            self.scanner.eat(b'}')?;
        } else {
            loop {
                let (key, escaped) = self.scanner.key()?;
                let value = self.scanner.value(depth + 1)?;
                if escaped {
                    members.put(&unescape(key), value);
                } else {
                    members.put(key, value);
                }
                match self.scanner.peek() {
                    Some(b',') => self.scanner.eat(b',')?,
                    _ => break self.scanner.eat(b'}')?,
                }
            }
        }
        Ok(self.classify(&members))
    }

    fn batch(&mut self) -> Result<Result<Frame, Fault>, ScanError> {
        self.scanner.eat(b'[')?;
        if self.scanner.peek() == Some(b']') {
            self.scanner.eat(b']')?;
            return Ok(Err(Fault::new(FaultKind::EmptyBatch)));
        }
        let mut messages = Vec::new();
        let mut too_long = false;
        loop {
            if messages.len() < self.limits.batch {
                messages.push(self.message(1)?);
            } else {
                // Walked over all the same: what is no JSON is to be told as such.
                too_long = true;
                self.scanner.value(1)?;
            }
            match self.scanner.peek() {
                Some(b',') => self.scanner.eat(b',')?,
                _ => break self.scanner.eat(b']')?,
            }
        }
        if too_long {
            return Ok(Err(Fault::new(FaultKind::BatchTooLong { limit: self.limits.batch })));
        }
        Ok(Ok(Frame::Batch(messages)))
    }

    fn classify(&self, members: &Members<'a>) -> Result<Message, Fault> {
        let id = members.id.map(RequestId::from_json);
        let response =
            members.method.is_none() && (members.result.is_some() || members.error.is_some());
        let fault = |kind| Fault { kind, id: id.clone().and_then(Result::ok), response };
        if let Some(member) = members.duplicate {
            // Which of the two ids would be the right one?
            let id = if member == "id" { None } else { fault(FaultKind::Id).id };
            return Err(Fault { kind: FaultKind::Duplicate { member }, id, response });
        }
        if !members.version.is_some_and(is_2_0) {
            return Err(fault(FaultKind::Version));
        }
        match (members.method, members.result, members.error) {
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
                Err(fault(FaultKind::RequestAndResponse))
            }
            (None, Some(_), Some(_)) => Err(fault(FaultKind::ResultAndError)),
            (None, None, None) => Err(fault(FaultKind::Neither)),
            (Some(method), None, None) => {
                let method = self.name(method).ok_or_else(|| fault(FaultKind::Method))?;
                let params = match members.params {
                    None => None,
                    Some(params) if params.first() == Some(&b'{') => Some(self.raw(params)),
                    Some(_) => return Err(fault(FaultKind::Params)),
                };
                match &id {
                    None => Ok(Message::Notification(Notification { method, params })),
                    Some(Ok(id)) => {
                        Ok(Message::Request(Request { id: id.clone(), method, params }))
                    }
                    Some(Err(_)) => Err(fault(FaultKind::Id)),
                }
            }
            (None, Some(result), None) => match &id {
                Some(Ok(id)) => Ok(Message::Response(Response {
                    id: Some(id.clone()),
                    outcome: Ok(self.raw(result)),
                })),
                Some(Err(_)) => Err(fault(FaultKind::Id)),
                None => Err(fault(FaultKind::NoId)),
            },
            (None, None, Some(error)) => {
                let id = match &id {
                    Some(Ok(id)) => Some(id.clone()),
                    None => None,
                    // What plain JSON-RPC sends when it could not read the id.
                    Some(Err(_)) if members.id == Some(b"null") => None,
                    Some(Err(_)) => return Err(fault(FaultKind::Id)),
                };
                let error = serde_json::from_slice(error).map_err(|_| fault(FaultKind::Error))?;
                Ok(Message::Response(Response { id, outcome: Err(error) }))
            }
        }
    }

    fn raw(&self, value: &[u8]) -> RawJson {
        RawJson::trusted(self.frame.slice_ref(value))
    }

    fn name(&self, value: &[u8]) -> Option<Name> {
        let inside = value.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        Some(Name::trusted(if inside.contains(&b'\\') {
            unescape(inside).into()
        } else {
            self.frame.slice_ref(inside)
        }))
    }
}

fn is_2_0(value: &[u8]) -> bool {
    value == br#""2.0""# || serde_json::from_slice::<String>(value).is_ok_and(|v| v == "2.0")
}

/// What stands between two quotes, with its escapes resolved. The scanner has been over it.
fn unescape(inside: &[u8]) -> Vec<u8> {
    let quoted = [b"\"", inside, b"\""].concat();
    serde_json::from_slice::<String>(&quoted).unwrap_or_default().into_bytes()
}
