//! References to addresses, as [RFC 3986](https://www.rfc-editor.org/rfc/rfc3986#section-5)
//! resolves them, as far as `http` and `https` go.

use hyper::Uri;

/// What `reference` means where `base` was read.
///
/// `None` when it is empty, no URI, or not of `http` or `https`. A fragment is dropped.
pub(crate) fn resolve(base: &Uri, reference: &str) -> Option<Uri> {
    let reference = reference.split('#').next().unwrap_or_default().trim();
    let (scheme, authority) = (base.scheme_str()?, base.authority()?);
    let (path, query) = match reference.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (reference, None),
    };
    let whole = if has_scheme(reference) {
        reference.to_owned()
    } else if reference.starts_with("//") {
        format!("{scheme}:{reference}")
    } else if reference.is_empty() {
        return None;
    } else {
        let path = match path {
            "" => base.path().to_owned(),
            absolute if absolute.starts_with('/') => without_dots(absolute),
            relative => {
                let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
                without_dots(&format!("{folder}/{relative}"))
            }
        };
        let query = query.map_or(String::new(), |query| format!("?{query}"));
        format!("{scheme}://{authority}{path}{query}")
    };
    let uri: Uri = whole.parse().ok()?;
    matches!(uri.scheme_str(), Some("http" | "https")).then_some(())?;
    uri.authority().map(|_| ())?;
    Some(uri)
}

fn has_scheme(reference: &str) -> bool {
    reference.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

fn without_dots(path: &str) -> String {
    let mut kept = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}

/// Whether two absolute URIs have the same scheme, host and port.
pub(crate) fn same_origin(a: &Uri, b: &Uri) -> bool {
    let scheme = |uri: &Uri| uri.scheme_str().map(str::to_ascii_lowercase);
    let host = |uri: &Uri| uri.host().map(str::to_ascii_lowercase);
    scheme(a) == scheme(b) && host(a) == host(b) && port(a) == port(b)
}

/// The port that is connected to.
pub(crate) fn port(uri: &Uri) -> u16 {
    let default = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    uri.port_u16().unwrap_or(default)
}

/// The host without the brackets of an IPv6 address.
pub(crate) fn host(uri: &Uri) -> &str {
    let host = uri.host().unwrap_or_default();
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: FC-071
    #[test]
    fn a_reference_is_resolved_against_the_address_where_it_was_read() {
        let base: Uri = "http://h.example:81/some/sse?x=1".parse().unwrap();
        let table = [
            ("/messages?sid=1", "http://h.example:81/messages?sid=1"),
            ("messages?sid=1", "http://h.example:81/some/messages?sid=1"),
            ("?sid=1", "http://h.example:81/some/sse?sid=1"),
            ("http://h.example/x?sid=1", "http://h.example/x?sid=1"),
            ("https://evil.example/steal", "https://evil.example/steal"),
            ("//other.example/x", "http://other.example/x"),
            ("../x", "http://h.example:81/x"),
            ("../../../x/./y/..", "http://h.example:81/x/"),
            ("a/b#c", "http://h.example:81/some/a/b"),
            (" /messages ", "http://h.example:81/messages"),
            ("/m?next=http://other.example", "http://h.example:81/m?next=http://other.example"),
            ("./a:b", "http://h.example:81/some/a:b"),
        ];
        for (reference, expected) in table {
            let resolved = resolve(&base, reference).map(|uri| uri.to_string());
            assert_eq!(resolved.as_deref(), Some(expected), "{reference}");
        }
        for reference in ["", "#x", " ", "ftp://h.example/", "data:x", "http://", "a b"] {
            assert_eq!(resolve(&base, reference), None, "{reference:?}");
        }
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let uri = |text: &str| text.parse::<Uri>().unwrap();
        let base = uri("http://h.example/mcp");
        for same in ["http://h.example:80/x", "http://H.EXAMPLE"] {
            assert!(same_origin(&base, &uri(same)), "{same}");
        }
        for other in ["https://h.example/mcp", "http://h.example:81/", "http://g.example/"] {
            assert!(!same_origin(&base, &uri(other)), "{other}");
        }
        assert!(same_origin(&uri("https://[::1]"), &uri("https://[::1]:443/")));
        assert_eq!(host(&uri("http://[::1]:8080/")), "::1");
    }
}
