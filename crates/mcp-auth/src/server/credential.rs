use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

use crate::Secret;
use crate::challenge::Scheme;

/// The longest credential that is read, in bytes.
const MAX_LEN: usize = 16 * 1024;

/// What a request has in its `Authorization` field. Query and body are never looked at.
#[derive(Debug, PartialEq)]
pub(super) enum Credential {
    /// Nothing, or something of a scheme that isn't ours.
    None,
    /// Several fields, or one that holds no token: the request is wrong.
    Malformed(Scheme),
    Presented(Scheme, Secret),
}

impl Credential {
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let mut fields = headers.get_all(AUTHORIZATION).iter();
        let Some(field) = fields.next() else { return Self::None };
        if fields.next().is_some() {
            return Self::Malformed(Scheme::Bearer);
        }
        let Ok(text) = field.to_str() else { return Self::Malformed(Scheme::Bearer) };
        let text = text.trim_matches([' ', '\t']);
        let (name, token) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        let scheme = if name.eq_ignore_ascii_case("bearer") {
            Scheme::Bearer
        } else if name.eq_ignore_ascii_case("dpop") {
            Scheme::Dpop
        } else {
            return Self::None;
        };
        let token = token.trim_start_matches([' ', '\t']);
        let body = token.trim_end_matches('=');
        let fits = |b: u8| b.is_ascii_alphanumeric() || b"-._~+/".contains(&b);
        if body.is_empty() || token.len() > MAX_LEN || !body.bytes().all(fits) {
            return Self::Malformed(scheme);
        }
        Self::Presented(scheme, Secret::new(token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &[&str]) -> Credential {
        let mut headers = HeaderMap::new();
        for field in fields {
            headers.append(AUTHORIZATION, field.parse().unwrap());
        }
        Credential::read(&headers)
    }

    // Shows: FC-084, RS-CR-1, RS-CR-2
    #[test]
    fn one_token_of_our_schemes_is_read_and_nothing_else() {
        let bearer = |token: &str| Credential::Presented(Scheme::Bearer, token.into());
        assert_eq!(read(&["Bearer tok"]), bearer("tok"));
        assert_eq!(read(&["bearer  tok"]), bearer("tok"));
        assert_eq!(read(&["BEARER\ttok== "]), bearer("tok=="));
        assert_eq!(read(&["dpop tok"]), Credential::Presented(Scheme::Dpop, "tok".into()));
        assert_eq!(read(&[]), Credential::None);
        assert_eq!(read(&["Basic eDp5"]), Credential::None);
        assert_eq!(read(&["Negotiate a, Bearer b"]), Credential::None);
        for bad in ["Bearer", "Bearer ", "Bearer a b", "Bearer a,b", "Bearer \"a\"", "Bearer ="] {
            assert_eq!(read(&[bad]), Credential::Malformed(Scheme::Bearer), "{bad}");
        }
        assert_eq!(read(&["Bearer a", "Bearer a"]), Credential::Malformed(Scheme::Bearer));
        let long = format!("Bearer {}", "a".repeat(MAX_LEN + 1));
        assert_eq!(read(&[&long]), Credential::Malformed(Scheme::Bearer));
    }
}
