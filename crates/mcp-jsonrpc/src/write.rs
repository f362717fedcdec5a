use bytes::Bytes;
use serde::Serialize;

use crate::json::{write_int, write_json, write_str};
use crate::{ErrorObject, Extensions, Name, RawJson, RequestId};

/// One message on its way out: its frame, and what a transport may need to know about it, so
/// that no transport parses what was just written.
///
/// The frame is one JSON object without a newline outside of what [`RawJson`] brought in;
/// a transport that delimits by newlines replaces those by spaces (inside of strings JSON
/// has none).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outgoing {
    frame: Bytes,
    /// Where `params`, `result` or `error` stands in the frame; empty when there is none.
    body: std::ops::Range<usize>,
    head: Head,
    /// Typed facts beside the bytes, for the layers below.
    pub notes: Extensions,
}

/// What a message is, without its parameters or outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Head {
    /// A request.
    Request {
        /// Its id.
        id: RequestId,
        /// Its method.
        method: Name,
    },
    /// A notification.
    Notification {
        /// Its method.
        method: Name,
    },
    /// A response with a result.
    Result {
        /// The id of the request.
        id: RequestId,
    },
    /// A response with an error.
    Error {
        /// The id of the request, where it could be read.
        id: Option<RequestId>,
        /// The code of the error.
        code: i64,
    },
    /// The responses to a batch, which only revision 2025-03-26 knows.
    Batch,
}

/// A value that can't be written as JSON.
#[derive(Debug, thiserror::Error)]
#[error("the value can't be written as JSON")]
pub struct EncodeError(#[from] serde_json::Error);

impl Outgoing {
    /// A request.
    ///
    /// # Errors
    ///
    /// When `params` can't be written as JSON.
    pub fn request<T: Serialize + ?Sized>(
        id: RequestId,
        method: Name,
        params: Option<&T>,
    ) -> Result<Self, EncodeError> {
        let mut out = Vec::with_capacity(128);
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        id.write(&mut out);
        let body = write_call(&mut out, &method, params)?;
        Ok(Self::new(out, body, Head::Request { id, method }))
    }

    /// A notification.
    ///
    /// # Errors
    ///
    /// When `params` can't be written as JSON.
    pub fn notification<T: Serialize + ?Sized>(
        method: Name,
        params: Option<&T>,
    ) -> Result<Self, EncodeError> {
        let mut out = Vec::with_capacity(128);
        out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
        let body = write_call(&mut out, &method, params)?;
        Ok(Self::new(out, body, Head::Notification { method }))
    }

    /// A request whose parameters are JSON already.
    #[must_use]
    pub fn request_raw(id: RequestId, method: Name, params: Option<&RawJson>) -> Self {
        let mut out = Vec::with_capacity(96 + params.map_or(0, |p| p.as_bytes().len()));
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        id.write(&mut out);
        let body = write_raw_call(&mut out, &method, params);
        Self::new(out, body, Head::Request { id, method })
    }

    /// A notification whose parameters are JSON already.
    #[must_use]
    pub fn notification_raw(method: Name, params: Option<&RawJson>) -> Self {
        let mut out = Vec::with_capacity(64 + params.map_or(0, |p| p.as_bytes().len()));
        out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
        let body = write_raw_call(&mut out, &method, params);
        Self::new(out, body, Head::Notification { method })
    }

    /// A result, serialized once, straight into the frame.
    ///
    /// # Errors
    ///
    /// When `result` can't be written as JSON.
    pub fn result<T: Serialize + ?Sized>(id: RequestId, result: &T) -> Result<Self, EncodeError> {
        Self::result_with(id, 256, |out| write_json(out, result))
    }

    /// A result that is JSON already, such as a list that is kept serialized.
    #[must_use]
    pub fn result_raw(id: RequestId, result: &[u8]) -> Self {
        let mut out = Vec::with_capacity(result.len() + 64);
        let start = write_result_head(&mut out, &id);
        out.extend_from_slice(result);
        let body = start..out.len();
        out.push(b'}');
        Self::new(out, body, Head::Result { id })
    }

    /// A result written by `write`, which appends exactly one JSON value to the buffer.
    ///
    /// `capacity` is a guess at the length of the result, in bytes.
    ///
    /// # Errors
    ///
    /// When `write` fails.
    pub fn result_with(
        id: RequestId,
        capacity: usize,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), serde_json::Error>,
    ) -> Result<Self, EncodeError> {
        let mut out = Vec::with_capacity(capacity + 64);
        let start = write_result_head(&mut out, &id);
        write(&mut out)?;
        let body = start..out.len();
        out.push(b'}');
        Ok(Self::new(out, body, Head::Result { id }))
    }

    /// An error. Without an `id` the member is left out, as revision 2025-11-25 has it.
    #[must_use]
    pub fn error(id: Option<RequestId>, error: &ErrorObject) -> Self {
        Self::write_error(id, error, b"")
    }

    /// An error to a request whose id could not be read, with `"id":null`, as JSON-RPC and the
    /// revisions before 2025-11-25 have it.
    #[must_use]
    pub fn error_with_null_id(error: &ErrorObject) -> Self {
        Self::write_error(None, error, br#","id":null"#)
    }

    fn write_error(id: Option<RequestId>, error: &ErrorObject, no_id: &[u8]) -> Self {
        let mut out = Vec::with_capacity(128);
        out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
        match &id {
            Some(id) => {
                out.extend_from_slice(br#","id":"#);
                id.write(&mut out);
            }
            None => out.extend_from_slice(no_id),
        }
        out.extend_from_slice(br#","error":"#);
        let start = out.len();
        out.extend_from_slice(br#"{"code":"#);
        write_int(&mut out, error.code);
        out.extend_from_slice(br#","message":"#);
        write_str(&mut out, &error.message);
        if let Some(data) = &error.data {
            out.extend_from_slice(br#","data":"#);
            out.extend_from_slice(data.get().as_bytes());
        }
        out.push(b'}');
        let body = start..out.len();
        out.push(b'}');
        Self::new(out, body, Head::Error { id, code: error.code })
    }

    /// The responses to a batch, in one array.
    #[must_use]
    pub fn batch<'a>(responses: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut out = vec![b'['];
        for response in responses {
            if out.len() > 1 {
                out.push(b',');
            }
            out.extend_from_slice(&response.frame);
        }
        let body = 1..out.len();
        out.push(b']');
        Self::new(out, body, Head::Batch)
    }

    fn new(frame: Vec<u8>, body: std::ops::Range<usize>, head: Head) -> Self {
        Self { frame: frame.into(), body, head, notes: Extensions::new() }
    }

    /// The bytes to send.
    #[must_use]
    pub fn frame(&self) -> &Bytes {
        &self.frame
    }

    /// The bytes to send, without the rest.
    #[must_use]
    pub fn into_frame(self) -> Bytes {
        self.frame
    }

    /// What the message is.
    #[must_use]
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The parameters, the result or the error, as JSON. Empty when there are none.
    #[must_use]
    pub fn body(&self) -> Bytes {
        self.frame.slice(self.body.clone())
    }

    /// The id of a request or a response, where there is one.
    #[must_use]
    pub fn id(&self) -> Option<&RequestId> {
        match &self.head {
            Head::Request { id, .. } | Head::Result { id } => Some(id),
            Head::Error { id, .. } => id.as_ref(),
            Head::Notification { .. } | Head::Batch => None,
        }
    }

    /// The method of a request or a notification.
    #[must_use]
    pub fn method(&self) -> Option<&Name> {
        match &self.head {
            Head::Request { method, .. } | Head::Notification { method } => Some(method),
            Head::Result { .. } | Head::Error { .. } | Head::Batch => None,
        }
    }

    /// Whether this is a response.
    #[must_use]
    pub fn is_response(&self) -> bool {
        matches!(self.head, Head::Result { .. } | Head::Error { .. } | Head::Batch)
    }
}

fn write_result_head(out: &mut Vec<u8>, id: &RequestId) -> usize {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    id.write(out);
    out.extend_from_slice(br#","result":"#);
    out.len()
}

fn write_call<T: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    method: &Name,
    params: Option<&T>,
) -> Result<std::ops::Range<usize>, EncodeError> {
    out.extend_from_slice(br#","method":"#);
    write_str(out, method.as_str());
    let mut body = 0..0;
    if let Some(params) = params {
        out.extend_from_slice(br#","params":"#);
        let start = out.len();
        write_json(out, params)?;
        body = start..out.len();
    }
    out.push(b'}');
    Ok(body)
}

fn write_raw_call(
    out: &mut Vec<u8>,
    method: &Name,
    params: Option<&RawJson>,
) -> std::ops::Range<usize> {
    out.extend_from_slice(br#","method":"#);
    write_str(out, method.as_str());
    let mut body = 0..0;
    if let Some(params) = params {
        out.extend_from_slice(br#","params":"#);
        let start = out.len();
        out.extend_from_slice(params.as_bytes());
        body = start..out.len();
    }
    out.push(b'}');
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Frame, Limits, Message, code, decode};

    fn read_back(out: &Outgoing) -> Message {
        match decode(out.frame(), &Limits::new()).unwrap() {
            Frame::Single(message) => message,
            Frame::Batch(_) => panic!("a batch"),
        }
    }

    // Shows: BASE-003
    #[test]
    fn what_is_written_reads_back() {
        let params = RawJson::new(r#"{"a":[1, 2]}"#).unwrap();
        let out = Outgoing::request_raw(7.into(), "tools/call".into(), Some(&params));
        let Message::Request(request) = read_back(&out) else { panic!("no request") };
        assert_eq!((request.id, request.params.as_ref()), (7.into(), Some(&params)));
        assert_eq!(out.body(), params.as_bytes());

        let out = Outgoing::notification::<()>("notifications/initialized".into(), None).unwrap();
        let Message::Notification(note) = read_back(&out) else { panic!("no notification") };
        assert_eq!((note.method.as_str(), note.params), ("notifications/initialized", None));
        assert!(out.body().is_empty());

        let out = Outgoing::result(RequestId::from("x"), &[1, 2]).unwrap();
        let Message::Response(response) = read_back(&out) else { panic!("no response") };
        assert_eq!(response.outcome.unwrap().as_str(), "[1,2]");
        assert_eq!(out.body(), "[1,2]");

        let error = ErrorObject::invalid_params("no \"a\"").with_data_from(&1);
        for id in [Some(RequestId::from(i64::MIN)), None] {
            let out = Outgoing::error(id.clone(), &error);
            let Message::Response(response) = read_back(&out) else { panic!("no response") };
            assert_eq!((response.id, response.outcome.unwrap_err()), (id, error.clone()));
        }
    }

    // Shows: BASE-013
    #[test]
    fn an_error_without_id_has_the_member_only_for_older_revisions() {
        let error = ErrorObject::new(code::PARSE_ERROR, "x");
        let text = |out: Outgoing| String::from_utf8(out.into_frame().to_vec()).unwrap();
        assert_eq!(
            text(Outgoing::error(None, &error)),
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#
        );
        assert_eq!(
            text(Outgoing::error_with_null_id(&error)),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#
        );
    }
}
