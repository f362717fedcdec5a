use std::time::{Duration, SystemTime};

use hyper::StatusCode;
use hyper::header::RETRY_AFTER;
use serde_json::Value;

use crate::client::{AuthErrorKind, TokenScheme};
use crate::json::{self, Object};
use crate::{FetchResponse, ScopeSet, Secret, text};

/// No token is believed to live longer.
const MAX_LIFE: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// What a token endpoint gave.
#[derive(Clone, Debug)]
pub(crate) struct TokenAnswer {
    pub(crate) access: Secret,
    /// In lower case; `None` where the answer doesn't say.
    pub(crate) token_type: Option<String>,
    pub(crate) refresh: Option<Secret>,
    pub(crate) scopes: Option<ScopeSet>,
    pub(crate) expires_at: Option<SystemTime>,
    pub(crate) issued_token_type: Option<String>,
}

impl TokenAnswer {
    /// Reads an answer of `host`. What is shown of a refusal has none of `secrets` in it.
    pub(crate) fn read(
        host: &str,
        response: &FetchResponse,
        secrets: &[&Secret],
        now: SystemTime,
    ) -> Result<Self, AuthErrorKind> {
        let unusable = |why| AuthErrorKind::TokenUnusable { host: host.to_owned(), why };
        let object = json::object(&response.body);
        let success = matches!(response.status, StatusCode::OK | StatusCode::CREATED);
        if !success || object.as_ref().is_some_and(|o| json::text(o, "error").is_some()) {
            return Err(read_error(host, response, secrets));
        }
        let Some(object) = object else {
            let is_form = response.body.windows(13).any(|window| window == b"access_token=");
            return Err(unusable(if is_form { "it is a form" } else { "it is no JSON object" }));
        };
        let access =
            json::text(&object, "access_token").ok_or_else(|| unusable("it holds no token"))?;
        if !is_token(access) {
            return Err(unusable("the token has characters that no header can hold"));
        }
        Ok(Self {
            access: Secret::new(access),
            token_type: json::text(&object, "token_type").map(str::to_ascii_lowercase),
            refresh: json::text(&object, "refresh_token").map(Secret::from),
            scopes: scopes(&object),
            expires_at: expiry(object.get("expires_in"), now),
            issued_token_type: json::text(&object, "issued_token_type").map(str::to_owned),
        })
    }

    /// How the token is presented. `proven` says whether a proof was sent along.
    pub(crate) fn scheme(&self, host: &str, proven: bool) -> Result<TokenScheme, AuthErrorKind> {
        match self.token_type.as_deref() {
            None => {
                tracing::warn!(host, "the token answer names no type: taken for a bearer token");
                Ok(TokenScheme::Bearer)
            }
            Some("bearer") => Ok(TokenScheme::Bearer),
            Some("dpop") if proven => Ok(TokenScheme::Dpop),
            Some(_) => Err(AuthErrorKind::TokenUnusable {
                host: host.to_owned(),
                why: "the token is of a type that can't be used",
            }),
        }
    }
}

/// Reads a refusal, whatever form it has.
pub(crate) fn read_error(
    host: &str,
    response: &FetchResponse,
    secrets: &[&Secret],
) -> AuthErrorKind {
    let status = response.status.as_u16();
    if matches!(status, 408 | 429 | 500..) {
        let retry_after = response.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        return AuthErrorKind::ServerTrouble {
            host: host.to_owned(),
            status,
            retry_after: retry_after.and_then(|text| text.parse().ok()).map(Duration::from_secs),
        };
    }
    let object = json::object(&response.body);
    let said = |name| {
        let text = object.as_ref().and_then(|object| json::text(object, name));
        text.map(|text| text::clean_without(text, secrets.iter().copied()))
    };
    let code = said("error");
    let description = match &code {
        Some(_) => said("error_description"),
        // No standard error: its beginning says more than a parse error would.
        None => {
            let start = response.body.get(..1024).unwrap_or(&response.body);
            let excerpt = String::from_utf8_lossy(start);
            Some(text::clean_without(&excerpt, secrets.iter().copied())).filter(|t| !t.is_empty())
        }
    };
    AuthErrorKind::TokenRefused { host: host.to_owned(), status, code, description }
}

fn scopes(object: &Object) -> Option<ScopeSet> {
    match object.get("scope")? {
        Value::String(text) => Some(ScopeSet::parse(text)),
        Value::Array(list) => Some(list.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

/// When a token expires; `None` if that isn't known.
fn expiry(expires_in: Option<&Value>, now: SystemTime) -> Option<SystemTime> {
    let life = match expires_in? {
        Value::Null => return None,
        Value::Number(number) => number.as_u64().map(Duration::from_secs).or_else(|| {
            let seconds = number.as_f64()?;
            // Cut to whole seconds; negative ones are over at once.
            Some(Duration::try_from_secs_f64(seconds.trunc().max(0.0)).unwrap_or(MAX_LIFE))
        }),
        Value::String(text) if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) => {
            Some(text.parse().map_or(MAX_LIFE, Duration::from_secs))
        }
        _ => None,
    };
    let Some(life) = life else {
        tracing::warn!("the token answer has an expiry that can't be read");
        return None;
    };
    now.checked_add(life.min(MAX_LIFE))
}

/// `b64token` of RFC 6750, section 2.1.
fn is_token(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    !body.is_empty()
        && text.len() <= 16 * 1024
        && body.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~+/".contains(&b))
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use hyper::HeaderMap;

    use super::*;

    fn read(status: u16, body: &str) -> Result<TokenAnswer, AuthErrorKind> {
        let status = StatusCode::from_u16(status).unwrap();
        let response = FetchResponse::new(status, HeaderMap::new(), body.as_bytes().to_vec());
        TokenAnswer::read("as.example", &response, &[&Secret::new("hush-hush")], UNIX_EPOCH)
    }

    // Shows: FC-079, CL-TK-6
    #[test]
    fn lifetimes_of_real_providers_are_read() {
        for (member, expected) in [
            (r#","expires_in":3600"#, Some(3600)),
            (r#","expires_in":"5250""#, Some(5250)),
            (r#","expires_in":0"#, Some(0)),
            (r#","expires_in":-1"#, Some(0)),
            (r#","expires_in":null"#, None),
            (r#","expires_in":3599.7"#, Some(3599)),
            (r#","expires_in":1e20"#, Some(MAX_LIFE.as_secs())),
            (r#","expires_in":"99999999999999999999""#, Some(MAX_LIFE.as_secs())),
            (r#","expires_in":"3600abc""#, None),
            (r#","expires_in":[]"#, None),
            ("", None),
        ] {
            let answer =
                read(200, &format!(r#"{{"access_token":"t","token_type":"Bearer"{member}}}"#));
            let expires = answer.unwrap().expires_at;
            let seconds = expires.map(|at| at.duration_since(UNIX_EPOCH).unwrap().as_secs());
            assert_eq!(seconds, expected, "{member}");
        }
    }

    // Shows: CL-TK-5, CL-TK-7
    #[test]
    fn what_real_providers_leave_out_or_add_does_no_harm() {
        let answer =
            read(201, r#"{"access_token":"t","refresh_token":"","scope":["a","b"],"id_token":7}"#);
        let answer = answer.unwrap();
        assert_eq!(answer.refresh, None);
        assert_eq!(answer.scopes.as_ref().unwrap().to_string(), "a b");
        assert_eq!(answer.scheme("h", true).unwrap(), TokenScheme::Bearer);
        let answer = read(
            200,
            r#"{"access_token":"t","token_type":"bEaReR","scope":"a,b c","refresh_token":null}"#,
        );
        let answer = answer.unwrap();
        assert_eq!(answer.scopes.as_ref().unwrap().to_string(), "a,b c");
        assert_eq!(answer.scheme("h", false).unwrap(), TokenScheme::Bearer);
        let dpop = read(200, r#"{"access_token":"t","token_type":"DPoP"}"#).unwrap();
        assert_eq!(dpop.scheme("h", true).unwrap(), TokenScheme::Dpop);
        assert!(dpop.scheme("h", false).is_err());
    }

    // Shows: CL-TK-5, CL-TK-8, CL-US-1
    #[test]
    fn refusals_and_rubbish_become_errors_that_say_what_came() {
        for (status, body, shown) in [
            (
                400,
                r#"{"error":"invalid_grant","error_description":"x\ny"}"#,
                "as.example refused the token request (status 400, invalid_grant: x y)",
            ),
            (
                200,
                r#"{"error":"invalid_grant"}"#,
                "as.example refused the token request (status 200, invalid_grant)",
            ),
            (
                400,
                "<html>no hush-hush</html>",
                "as.example refused the token request (status 400, <html>no <redacted></html>)",
            ),
            (401, "", "as.example refused the token request (status 401)"),
            (
                200,
                "access_token=t&token_type=bearer",
                "the token answer of as.example can't be used: it is a form",
            ),
            (200, "[]", "the token answer of as.example can't be used: it is no JSON object"),
            (
                200,
                r#"{"access_token":""}"#,
                "the token answer of as.example can't be used: it holds no token",
            ),
            (
                200,
                "{\"access_token\":\"a b\"}",
                "the token answer of as.example can't be used: the token has characters that no header can hold",
            ),
            (503, "", "as.example answered with status 503; try again later"),
        ] {
            assert_eq!(read(status, body).unwrap_err().to_string(), shown, "{body}");
        }
    }
}
