//! One request to the endpoint: credentials, redirects, and what is wrong with an answer.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use hyper::{Method, StatusCode, Uri};
use mcp_jsonrpc::{Frame, Head, Message, Outgoing, RequestId, Response, decode};
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::HttpError;
use super::core::Core;
use super::error::{Excerpt, Phase};
use super::net::{Answer, AnswerBody, Outbound, Repeat, resolve, same_origin};
use crate::header::is_json;
use crate::v1::{AnswerHead, Authorizer as _, Departure, Operation, Verdict};

/// Redirects of one request, at most.
const REDIRECTS: usize = 5;
/// Challenges of one request, at most, whatever its authorizer says.
const CHALLENGES: usize = 8;
/// Bytes of a refusal that are read, and for how long.
const REFUSAL: usize = 64 << 10;
const PATIENCE: Duration = Duration::from_secs(5);

/// An answer that is no success.
pub(super) struct Refusal {
    pub(super) error: HttpError,
    /// The request that the JSON-RPC error in it names.
    pub(super) names: Option<RequestId>,
}

/// A request to the endpoint.
pub(super) struct Errand<'a> {
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) repeat: Repeat,
    pub(super) head: Option<Duration>,
    /// The message, for authorizers that look at it.
    pub(super) message: Option<&'a Outgoing>,
}

impl Core {
    /// Sends a request, and gives the answer that is about the request itself: what was about
    /// credentials or addresses has been dealt with. `departs` is called when it leaves.
    pub(super) async fn send(
        &self,
        errand: Errand<'_>,
        mut departs: impl FnMut(),
    ) -> Result<Answer, HttpError> {
        let Errand { method, uri, headers, body, repeat, head, message } = errand;
        let mut outbound = Outbound { method, uri, headers, body, repeat, head };
        // What an authorizer needs, where there is one.
        let watched = self.config.authorizer.as_ref().map(|authorizer| {
            (authorizer, outbound.headers.clone(), message.and_then(operation_of))
        });
        let (mut redirects, mut challenges) = (0, 0);
        loop {
            let mut credentials = None;
            if let Some((authorizer, plain, operation)) = &watched {
                let mut departure = Departure::new(outbound.method.clone(), outbound.uri.clone());
                departure.operation.clone_from(operation);
                let given = authorizer.authorize(&departure).await?;
                outbound.headers.clone_from(plain);
                outbound.headers.extend(given.headers);
                credentials = Some((authorizer, departure, given.stamp));
            }
            let answer = self.pool.send(&outbound, &mut departs).await?;
            if let Some((authorizer, departure, stamp)) = credentials {
                let head = AnswerHead::new(answer.status, answer.headers.clone());
                if !matches!(answer.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
                    authorizer.observe(&departure, &head);
                } else if challenges < CHALLENGES {
                    match authorizer.challenged(&departure, stamp, &head).await {
                        Verdict::Retry => {
                            challenges += 1;
                            discard(answer.body).await;
                            continue;
                        }
                        Verdict::Fail(error) => return Err(error.into()),
                        Verdict::NotMine => {}
                    }
                }
            }
            if !answer.status.is_redirection() {
                return Ok(answer);
            }
            outbound.uri = redirected(&outbound.uri, &answer, redirects)?;
            redirects += 1;
            discard(answer.body).await;
        }
    }

    /// Reads an answer to its end, up to the limit.
    pub(super) async fn read(&self, mut body: AnswerBody) -> Result<Bytes, HttpError> {
        let limit = self.config.limits.message_bytes;
        let announced = body.announced();
        if u64::try_from(limit).is_ok_and(|limit| limit < announced) {
            return Err(HttpError::TooLarge { size: announced, limit });
        }
        let reading = async {
            let first = match body.chunk().await {
                None => return Ok(Bytes::new()),
                Some(chunk) => chunk.map_err(HttpError::Cut)?,
            };
            let mut whole = BytesMut::new();
            while let Some(chunk) = body.chunk().await {
                let chunk = chunk.map_err(HttpError::Cut)?;
                if whole.is_empty() {
                    let announced = usize::try_from(announced).unwrap_or(0);
                    whole.reserve(announced.max(first.len() + chunk.len()));
                    whole.extend_from_slice(&first);
                }
                if limit < whole.len() + chunk.len() {
                    let size = (whole.len() + chunk.len()) as u64;
                    return Err(HttpError::TooLarge { size, limit });
                }
                whole.extend_from_slice(&chunk);
            }
            // What came in one piece is not copied.
            let whole = if whole.is_empty() { first } else { whole.freeze() };
            match limit < whole.len() {
                true => Err(HttpError::TooLarge { size: whole.len() as u64, limit }),
                false => Ok(whole),
            }
        };
        match self.config.times.answer {
            None => reading.await,
            Some(limit) => timeout(limit, reading)
                .await
                .unwrap_or(Err(HttpError::TimedOut { phase: Phase::Body, limit })),
        }
    }

    /// What an answer that is no success says.
    pub(super) async fn refusal(&self, answer: Answer) -> Refusal {
        let Answer { status, headers, mut body } = answer;
        let mut start = BytesMut::new();
        let reading = async {
            while start.len() < REFUSAL
                && let Some(Ok(chunk)) = body.chunk().await
            {
                let room = REFUSAL - start.len();
                start.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            }
        };
        // What came until then has to do.
        let _ = timeout(PATIENCE, reading).await;
        let start = start.freeze();
        let response = match is_json(&headers).then(|| decode(&start, &self.limits)) {
            Some(Ok(Frame::Single(Message::Response(response)))) => Some(response),
            _ => None,
        };
        let (names, error) = match response {
            Some(Response { id, outcome: Err(error), .. }) => (id, Some(error)),
            _ => (None, None),
        };
        let shown = error.as_ref().map_or(&*start, |error| error.message.as_bytes());
        let excerpt = Excerpt::new(shown);
        let retry_after = retry_after(&headers);
        Refusal { error: HttpError::Status { status, error, excerpt, retry_after }, names }
    }

    /// An answer that is a success, but neither of the two forms.
    pub(super) async fn not_mcp(&self, mut answer: Answer) -> HttpError {
        let content_type =
            answer.headers.get(CONTENT_TYPE).map_or(&b"no type"[..], |v| v.as_bytes());
        let content_type = Excerpt::new(content_type);
        let first = timeout(PATIENCE, answer.body.chunk()).await;
        let excerpt = match first {
            Ok(Some(Ok(chunk))) => Excerpt::new(&chunk),
            _ => Excerpt::default(),
        };
        HttpError::NotMcp { status: answer.status, content_type, excerpt }
    }
}

/// An answer that we can't decode, since we didn't ask for it.
pub(super) fn check_encoding(answer: &Answer) -> Result<(), HttpError> {
    match answer.headers.get(CONTENT_ENCODING) {
        Some(coding) if !coding.as_bytes().eq_ignore_ascii_case(b"identity") => {
            Err(HttpError::Encoded(Excerpt::new(coding.as_bytes())))
        }
        _ => Ok(()),
    }
}

/// Reads what is left of a small answer, so that its connection can be used again.
pub(super) async fn discard(mut body: AnswerBody) {
    let mut left = REFUSAL;
    let reading = async {
        while let Some(Ok(chunk)) = body.chunk().await {
            left = match left.checked_sub(chunk.len()) {
                Some(left) => left,
                None => return,
            };
        }
    };
    let _ = timeout(PATIENCE, reading).await;
}

fn redirected(from: &Uri, answer: &Answer, redirects: usize) -> Result<Uri, HttpError> {
    let location = answer.headers.get(LOCATION).and_then(|location| location.to_str().ok());
    let to = location.and_then(|location| resolve(from, location));
    let keeps =
        matches!(answer.status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    match to {
        Some(to) if keeps && redirects < REDIRECTS && same_origin(from, &to) => Ok(to),
        _ => Err(HttpError::Redirected {
            status: answer.status,
            to: Excerpt::new(location.unwrap_or_default().as_bytes()),
        }),
    }
}

/// The seconds form of `Retry-After`; a date would need a clock that both sides agree on.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// What a message asks for.
fn operation_of(message: &Outgoing) -> Option<Operation> {
    let Head::Request { method, .. } = message.head() else { return None };
    let operation = Operation::new(method.as_str());
    let named_by = mcp_types::Method::from_name(method.as_str()).and_then(|m| m.named_by());
    let Some(named_by) = named_by else { return Some(operation) };
    let body = message.body();
    let members: BTreeMap<String, &RawValue> = serde_json::from_slice(&body).unwrap_or_default();
    let name =
        members.get(named_by).and_then(|name| serde_json::from_str::<String>(name.get()).ok());
    Some(match name {
        Some(name) => operation.with_name(name),
        None => operation,
    })
}

#[cfg(test)]
mod tests {
    use mcp_jsonrpc::RawJson;

    use super::*;

    #[test]
    fn an_operation_names_what_it_is_about() {
        let request = |method: &str, params: &str| {
            let params = RawJson::new(params.to_owned()).unwrap();
            Outgoing::request_raw(1.into(), method.into(), Some(&params))
        };
        let table = [
            ("tools/call", r#"{"arguments":{"name":"x"},"name":"a\"b"}"#, Some("a\"b")),
            ("resources/read", r#"{"uri":"memo://1"}"#, Some("memo://1")),
            ("tools/list", r#"{"name":"x"}"#, None),
            ("tools/call", r#"{"name":1}"#, None),
            ("vendor/x", "{}", None),
        ];
        for (method, params, name) in table {
            let operation = operation_of(&request(method, params)).unwrap();
            assert_eq!((&*operation.method, operation.name.as_deref()), (method, name));
        }
        let note = Outgoing::notification_raw("notifications/x".into(), None);
        assert_eq!(operation_of(&note), None);
    }
}
