//! Bodies of the fuzz targets: each takes bytes from anywhere and must not fail.

use std::time::UNIX_EPOCH;

use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use url::Url;

use crate::challenge::{Challenges, Demand};
use crate::client::Record;
use crate::client::fuzzing::{callback, token_answer};
use crate::jose::{Compact, KeySet};
use crate::metadata::{ClientDocument, ResourceMetadata, ServerMetadata};
use crate::{FetchResponse, Issuer, ResourceMatch, ScopeSet};

/// Reads field lines, one for each line of `input`; each on its own reads as among others.
pub fn challenges(input: &[u8]) {
    let mut headers = HeaderMap::new();
    for line in input.split(|byte| *byte == b'\n') {
        if let Ok(value) = HeaderValue::from_bytes(line) {
            headers.append(WWW_AUTHENTICATE, value);
        }
    }
    let read = Challenges::read(&headers);
    assert!(read.iter().count() <= 16);
    for status in [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN] {
        let demand = Demand::of(status, &read);
        let shown = demand.error_description.unwrap_or_default();
        assert!(!shown.chars().any(char::is_control), "{shown:?}");
        assert_eq!(ScopeSet::parse(&demand.scopes.to_string()), demand.scopes);
    }
}

/// Reads documents of all kinds.
pub fn documents(input: &[u8]) {
    if let Ok(issuer) = Issuer::new("https://as.example")
        && let Ok(metadata) = ServerMetadata::read(input, &issuer)
    {
        assert_eq!(metadata.issuer, issuer);
    }
    if let Ok(metadata) = ResourceMetadata::read(input) {
        assert!(!metadata.authorization_servers.is_empty());
    }
    if let Ok(document) = ClientDocument::read(input, "https://app.example/c") {
        assert!(!document.redirect_uris.is_empty());
    }
    let _ = KeySet::read(input);
    if let Ok(record) = Record::from_bytes(input) {
        assert_eq!(Record::from_bytes(&record.to_bytes()), Ok(record));
    }
}

/// Takes tokens apart. None that names no asymmetric algorithm gets through.
pub fn tokens(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    if let Ok(token) = Compact::read(&text) {
        let named = token.header().get("alg").and_then(serde_json::Value::as_str);
        assert!(!matches!(named, None | Some("none" | "HS256" | "HS384" | "HS512")));
    }
}

/// Reads what token endpoints and browsers bring.
pub fn answers(input: &[u8]) {
    let kind = input.first().copied().unwrap_or_default();
    let status = StatusCode::from_u16(200 + u16::from(kind % 4) * 100).unwrap_or_default();
    token_answer(&FetchResponse::new(status, HeaderMap::new(), input.to_vec()), UNIX_EPOCH);
    callback(&String::from_utf8_lossy(input));
}

/// Compares resources with endpoints: what covers one is on its origin and above it.
pub fn resources(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (named, endpoint) = text.split_once('\n').unwrap_or((&text, "https://h.example/a/b"));
    let Ok(endpoint) = Url::parse(endpoint) else { return };
    if ResourceMatch::Covering.covers(named, &endpoint) {
        let named = Url::parse(named);
        assert!(named.is_ok_and(|named| {
            named.origin() == endpoint.origin() && endpoint.path().starts_with(named.path())
        }));
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn inputs_that_once_were_interesting_pass() {
        for input in [
            &b""[..],
            b"Bearer scope=\"a\\\"\nDPoP algs=\"ES256\", , =",
            b"{\"issuer\":\"https://as.example\",\"token_endpoint\":\"https://as.example/t\"}",
            b"eyJhbGciOiJub25lIn0.e30.",
            b"\x00{\"access_token\":\"t\",\"expires_in\":1e400}",
            b"https://h.example/a\nhttps://h.example/a/b",
        ] {
            super::challenges(input);
            super::documents(input);
            super::tokens(input);
            super::answers(input);
            super::resources(input);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_input_fails(input: Vec<u8>) {
            super::challenges(&input);
            super::documents(&input);
            super::tokens(&input);
            super::answers(&input);
            super::resources(&input);
        }

        #[test]
        fn no_likely_input_fails(input in "[ -~\n]{0,80}", json in "[{}\\[\\]\":,a-z0-9._-]{0,60}") {
            super::challenges(input.as_bytes());
            super::documents(json.as_bytes());
            super::answers(json.as_bytes());
            super::answers(input.as_bytes());
            super::resources(input.as_bytes());
        }
    }
}
