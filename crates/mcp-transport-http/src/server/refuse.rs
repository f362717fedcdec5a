//! Answers that refuse a request.

use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use mcp_jsonrpc::{ErrorObject, Outgoing, RequestId};

use super::body::AnswerBody;
use crate::header::JSON;

/// An answer in place of a result; boxed, since it is the rare case.
pub(super) type Refused = Box<Response<AnswerBody>>;

/// A JSON-RPC message as the whole answer.
pub(super) fn json(status: StatusCode, message: Outgoing) -> Response<AnswerBody> {
    let mut response = Response::new(AnswerBody::full(message.into_frame()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// A status with a JSON-RPC error without an id.
///
/// Specification:
/// [sending messages](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server).
pub(super) fn refuse(status: StatusCode, error: &ErrorObject) -> Response<AnswerBody> {
    json(status, Outgoing::error(None, error))
}

/// As [`refuse`], for a request whose id is known.
pub(super) fn refuse_request(
    status: StatusCode,
    id: Option<RequestId>,
    error: &ErrorObject,
) -> Response<AnswerBody> {
    json(status, Outgoing::error(id, error))
}

/// 4xx: the client did something wrong.
pub(super) fn wrong(status: StatusCode, message: &'static str) -> Response<AnswerBody> {
    refuse(status, &ErrorObject::invalid_request(message))
}

/// 405, with what is allowed.
pub(super) fn not_allowed(allow: &'static str, message: &'static str) -> Response<AnswerBody> {
    let mut response = wrong(StatusCode::METHOD_NOT_ALLOWED, message);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
    response
}

/// 503: there is too much of something. The client may try again.
pub(super) fn busy(message: &'static str) -> Response<AnswerBody> {
    let mut response = refuse(StatusCode::SERVICE_UNAVAILABLE, &ErrorObject::internal(message));
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// 404: the session never was, is over, or is somebody else's. Nothing tells which.
pub(super) fn no_session() -> Response<AnswerBody> {
    wrong(StatusCode::NOT_FOUND, "no such session")
}

/// 202: taken, and nothing to say.
pub(super) fn accepted() -> Response<AnswerBody> {
    status(StatusCode::ACCEPTED)
}

/// A status with nothing else.
pub(super) fn status(status: StatusCode) -> Response<AnswerBody> {
    let mut response = Response::new(AnswerBody::empty());
    *response.status_mut() = status;
    response
}
