//! Bodies of the fuzz targets: each takes bytes from anywhere and must not fail.

use bytes::Bytes;
#[cfg(feature = "server")]
use hyper::header::{HOST, HeaderMap, HeaderValue, ORIGIN};

#[cfg(feature = "server")]
use crate::server::BrowserGuard;
use crate::sse::{Decoder, Event};

const LIMIT: usize = 64;

/// Cuts the rest of `input` at places that its first byte chooses, and compares with the
/// uncut stream.
pub fn sse(input: &[u8]) {
    let Some((step, stream)) = input.split_first() else { return };
    let whole = run(stream.chunks(stream.len().max(1)));
    let cut = run(stream.chunks(usize::from(*step).max(1)));
    assert_eq!(whole, cut, "where a stream is cut must not matter");
    assert!(whole.0.iter().all(|event| event.data.len() <= LIMIT));
}

/// The events, and whether the limit ended the stream.
fn run<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> (Vec<Event>, bool) {
    let mut decoder = Decoder::new(LIMIT);
    let mut events = Vec::new();
    for chunk in chunks {
        let mut chunk = Bytes::copy_from_slice(chunk);
        loop {
            match decoder.feed(&mut chunk) {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(_) => return (events, true),
            }
        }
    }
    (events, false)
}

/// Takes a `Host` and an `Origin`, a line each, and holds the guard against what a browser
/// could do with them.
#[cfg(feature = "server")]
pub fn guard(input: &[u8]) {
    let mut lines = input.splitn(2, |byte| *byte == b'\n');
    let mut headers = HeaderMap::new();
    for name in [HOST, ORIGIN] {
        if let Some(value) = lines.next().and_then(|line| HeaderValue::from_bytes(line).ok()) {
            headers.insert(name, value);
        }
    }
    let text = |headers: &HeaderMap, name| {
        headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).map(str::to_owned)
    };
    let passes = |guard: &BrowserGuard, headers: &HeaderMap| {
        guard.check(&hyper::Uri::from_static("/mcp"), headers).is_ok()
    };
    let strict = BrowserGuard::new();
    let passed = passes(&strict, &headers);
    let (host, origin) = (text(&headers, HOST), text(&headers, ORIGIN));
    if passed {
        assert!(host.as_deref().is_some_and(is_loopback), "passed: {host:?}");
        if let Some(origin) = headers.get(ORIGIN) {
            let site = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
            assert!(site.is_some_and(|(_, site)| is_loopback(site)), "passed: {origin:?}");
        }
    }
    // Case says nothing, and a guard that allows more refuses nothing that passed.
    let mut upper = headers.clone();
    for (name, value) in [(HOST, &host), (ORIGIN, &origin)] {
        let value = value.as_ref().filter(|value| *value != "null").map(|v| v.to_ascii_uppercase());
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
            upper.insert(name, value);
        }
    }
    assert_eq!(passed, passes(&strict, &upper), "case matters in {host:?}, {origin:?}");
    let mut wider = strict.dangerous_allow_any_origin();
    // A pattern stands for other hosts than itself.
    let plain = host.as_deref().filter(|host| !host.contains('*'));
    if let Some(allowed) = plain.and_then(|host| wider.clone().allow_host(host).ok()) {
        wider = allowed;
        let alone = headers.get(HOST).map(|host| (HOST, host.clone())).into_iter().collect();
        assert!(passes(&wider, &alone), "allowed and refused: {host:?}");
    }
    assert!(!passed || passes(&wider, &headers), "the wider guard refuses {host:?}, {origin:?}");
}

/// Whether `authority` names this machine, read without the guard's own parser.
#[cfg(feature = "server")]
fn is_loopback(authority: &str) -> bool {
    let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address.split('%').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let name = host.trim_end_matches('.');
    name.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| match address {
            std::net::IpAddr::V6(six) => {
                six.is_loopback() || six.to_ipv4_mapped().is_some_and(|four| four.is_loopback())
            }
            std::net::IpAddr::V4(four) => four.is_loopback(),
        })
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "server")]
    #[test]
    fn hosts_that_once_were_interesting_pass() {
        for input in [
            &b""[..],
            b"localhost:80\nhttp://localhost",
            b"[::1%25lo]:1\nnull",
            b"[::ffff:127.0.0.1]\nhttps://[::1]:",
            b"localhost..\nhttp://127.0.0.1.",
            b"localhost@evil.example\nhttp://localhost@evil.example",
            b"evil.example#localhost\nhttp://evil.example/localhost",
            b"127.1\nhttp://0x7f000001",
        ] {
            super::guard(input);
        }
    }

    #[test]
    fn inputs_that_once_were_interesting_pass() {
        for input in [
            &b""[..],
            b"\x01data: 1\r\n\r\ndata: 2\r\r",
            b"\x02\xef\xbb\xbfid: 1\0\nretry: 9\ndata\n\n",
            b"\x03\xef\xbbdata: 1\n\n",
            b"\x05: comment that goes on and on and on and on and on and on and on and on and on\n\n",
            b"\x07data: a line that goes on and on and on and on and on and on and on and on and on\n\n",
        ] {
            super::sse(input);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_input_fails(input: Vec<u8>) {
            super::sse(&input);
        }

        #[cfg(feature = "server")]
        #[test]
        fn no_host_and_no_origin_gets_past_the_guard(
            parts in proptest::collection::vec(
                proptest::sample::select(vec![
                    "localhost", "LocalHost", "127.0.0.1", "127.", "::1", "[", "]", "[::1]", "%25",
                    "%", "eth0", "::ffff:", ":", ":80", ":8o", ".", "..", "@", "/", "//", "#", "?",
                    "http", "https", "://", "null", "evil.example", "*", "*.", "0x7f", "\n", " ",
                    "\t", "\u{e9}", "1", "0",
                ]),
                0..12,
            ),
        ) {
            super::guard(parts.concat().as_bytes());
        }

        #[cfg(feature = "server")]
        #[test]
        fn no_bytes_get_past_the_guard(input: Vec<u8>) {
            super::guard(&input);
        }
    }
}
