//! Cross-origin requests of browsers.

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    HeaderMap, HeaderValue, ORIGIN, VARY,
};
use hyper::http::request::Parts as Head;
use hyper::{Response, StatusCode};

use super::body::AnswerBody;
use super::core::Core;
use super::refuse::status;

/// What requests of MCP clients may carry.
const HEADERS: &str = "authorization, content-type, accept, mcp-protocol-version, \
                       mcp-session-id, last-event-id, mcp-method, mcp-name";

/// The origin to which answers are shown: the request's, when it has one, CORS is on, and
/// the browser guard lets it pass.
pub(super) fn origin(core: &Core, head: &Head) -> Option<HeaderValue> {
    if !core.cors {
        return None;
    }
    let origin = head.headers.get(ORIGIN)?;
    core.browser.check(&head.uri, &head.headers).is_ok().then(|| origin.clone())
}

/// Shows an answer to the pages of `origin`.
pub(super) fn expose(response: &mut Response<AnswerBody>, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(VARY, HeaderValue::from_static("Origin"));
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate, Retry-After"),
    );
}

/// The answer to a question before the actual request.
pub(super) fn preflight(headers: &HeaderMap, allow: &'static str) -> Response<AnswerBody> {
    let mut response = status(StatusCode::NO_CONTENT);
    // Parameter headers have names that only their tool knows: they are let through too.
    let mut allowed = HEADERS.to_owned();
    let asked = headers.get(ACCESS_CONTROL_REQUEST_HEADERS).and_then(|v| v.to_str().ok());
    for name in asked.unwrap_or_default().split(',').map(str::trim) {
        let known = name.get(..10).is_some_and(|start| start.eq_ignore_ascii_case("mcp-param-"));
        if known && allowed.len() < 2048 {
            allowed.push_str(", ");
            allowed.push_str(name);
        }
    }
    let answer = response.headers_mut();
    answer.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(allow));
    if let Ok(allowed) = HeaderValue::from_str(&allowed) {
        answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    }
    answer.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}
