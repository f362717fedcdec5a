//! Host and Origin: what keeps web pages away from a server on somebody's machine.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use hyper::Uri;
use hyper::header::{HOST, HeaderMap, ORIGIN};

use crate::header::Single;

/// Refuses requests that a web page of somebody else made a browser send.
///
/// Two headers tell, and a page can't forge them. `Host` is the name in the page's URL:
/// with DNS rebinding it is the attacker's name, though the address is ours. `Origin`
/// is the page's own site. Both have to be on a list, `Origin` only when there is one.
///
/// The default lists hold the loopback names and addresses (`localhost`, `127.0.0.0/8`,
/// `[::1]`) with any port, and for `Origin` also the site that `Host` names. `null`, the
/// origin of a sandboxed page or a file, is foreign.
///
/// Specification:
/// [security warning](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning).
///
/// # Examples
///
/// ```
/// use mcp_transport_http::server::BrowserGuard;
///
/// let guard = BrowserGuard::new()
///     .allow_host("mcp.example.com")?
///     .allow_origin("https://app.example.com")?;
/// # let _ = guard;
/// # Ok::<(), mcp_transport_http::server::InvalidPattern>(())
/// ```
#[derive(Clone, Debug)]
pub struct BrowserGuard {
    hosts: Vec<HostPattern>,
    origins: Vec<OriginPattern>,
    any_host: bool,
    any_origin: bool,
}

/// Why a request was refused; the answer is 403.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Blocked {
    /// The request names no host, several, or one that can't be read.
    #[error("the request has no usable Host header")]
    NoHost,
    /// The host is not on the list.
    #[error("host {host:?} is not on the list of allowed hosts")]
    Host {
        /// What the request named.
        host: Box<str>,
    },
    /// The origin is not on the list, or can't be read.
    #[error("origin {origin:?} is not on the list of allowed origins")]
    Origin {
        /// What the request named; empty for several origins or unreadable ones.
        origin: Box<str>,
    },
}

/// Text that names no host or no origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPattern {
    /// Hosts are `name`, `name:port`, `*.name`, `127.0.0.1`, `[::1]:port` and the like.
    #[error("{0:?} is not a host, with or without a port")]
    Host(Box<str>),
    /// Origins are `scheme://host`, `scheme://host:port`, `scheme://host:*`, or `null`.
    #[error("{0:?} is not an origin")]
    Origin(Box<str>),
}

#[derive(Clone, Debug)]
struct HostPattern {
    name: Name,
    /// `None` allows every port.
    port: Option<u16>,
}

#[derive(Clone, Debug)]
enum OriginPattern {
    Null,
    Site {
        scheme: Box<str>,
        name: Name,
        /// `None` allows every port.
        port: Option<u16>,
    },
}

#[derive(Clone, Debug)]
enum Name {
    Exact(Box<str>),
    /// Any name that ends with this, which begins with a dot.
    Below(Box<str>),
    Address(IpAddr),
}

/// What stands behind `//` in a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Authority<'a> {
    host: HostName<'a>,
    port: Option<u16>,
}

#[derive(Clone, Copy, Debug)]
enum HostName<'a> {
    Name(&'a str),
    Address(IpAddr),
}

impl BrowserGuard {
    /// Starts with the lists that fit a server on loopback.
    pub fn new() -> Self {
        Self { hosts: Vec::new(), origins: Vec::new(), any_host: false, any_origin: false }
    }

    /// Allows one more host: `name`, `*.name` (any name below it), an address; with a
    /// port it must match, without one any port will do.
    ///
    /// # Errors
    ///
    /// [`InvalidPattern::Host`] when `host` is none of these.
    pub fn allow_host(mut self, host: &str) -> Result<Self, InvalidPattern> {
        let (rest, below) = match host.strip_prefix("*.") {
            Some(_) => (host.get(2..).unwrap_or_default(), true),
            None => (host, false),
        };
        let invalid = || InvalidPattern::Host(host.into());
        let authority = Authority::parse(rest).ok_or_else(invalid)?;
        let name = Name::new(authority.host, below).ok_or_else(invalid)?;
        self.hosts.push(HostPattern { name, port: authority.port });
        Ok(self)
    }

    /// Allows one more origin: `scheme://host` (the scheme's own port),
    /// `scheme://host:port`, `scheme://host:*` (any port), or `null`.
    ///
    /// # Errors
    ///
    /// [`InvalidPattern::Origin`] when `origin` is none of these.
    pub fn allow_origin(mut self, origin: &str) -> Result<Self, InvalidPattern> {
        let invalid = || InvalidPattern::Origin(origin.into());
        if origin == "null" {
            self.origins.push(OriginPattern::Null);
            return Ok(self);
        }
        let (site, any_port) = match origin.strip_suffix(":*") {
            Some(site) => (site, true),
            None => (origin, false),
        };
        let Origin::Site { scheme, authority } = Origin::parse(site).ok_or_else(invalid)? else {
            return Err(invalid());
        };
        let port = if any_port {
            None
        } else {
            Some(authority.port.or(default_port(scheme)).unwrap_or_default())
        };
        let name = Name::new(authority.host, false).ok_or_else(invalid)?;
        self.origins.push(OriginPattern::Site { scheme: scheme.into(), name, port });
        Ok(self)
    }

    /// Allows every host. A page may then reach this server through DNS rebinding;
    /// `Origin` is still checked, but its rule "the same site as `Host`" is off.
    #[must_use]
    pub fn dangerous_allow_any_host(mut self) -> Self {
        self.any_host = true;
        self
    }

    /// Allows every origin: any web page may talk to this server.
    #[must_use]
    pub fn dangerous_allow_any_origin(mut self) -> Self {
        self.any_origin = true;
        self
    }

    /// Checks a request.
    ///
    /// # Errors
    ///
    /// [`Blocked`] when the request is to be refused.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Blocked> {
        let host = match Single::of(headers, &HOST) {
            Single::Text(text) => Some(text),
            Single::Absent => None,
            Single::Malformed => return Err(Blocked::NoHost),
        };
        // HTTP/2, and proxy requests of HTTP/1, name the host in the target. A page can't
        // make the two differ, but nothing says that they agree: both must be allowed.
        let target = uri.authority().map(hyper::http::uri::Authority::as_str);
        let mut first = None;
        for text in [target, host].into_iter().flatten() {
            let authority = Authority::parse(text).ok_or(Blocked::NoHost)?;
            if !self.allows_host(authority) {
                return Err(Blocked::Host { host: text.into() });
            }
            first.get_or_insert(authority);
        }
        let Some(host) = first else { return Err(Blocked::NoHost) };
        self.check_origin(headers, host)
    }

    fn check_origin(&self, headers: &HeaderMap, host: Authority<'_>) -> Result<(), Blocked> {
        match Single::of(headers, &ORIGIN) {
            Single::Absent => Ok(()),
            Single::Text(text) if self.allows_origin(text, host) => Ok(()),
            Single::Text(text) => Err(Blocked::Origin { origin: text.into() }),
            Single::Malformed => Err(Blocked::Origin { origin: "".into() }),
        }
    }

    fn allows_host(&self, authority: Authority<'_>) -> bool {
        self.any_host
            || authority.host.is_loopback()
            || self.hosts.iter().any(|pattern| {
                pattern.name.matches(authority.host)
                    && (pattern.port.is_none() || pattern.port == authority.port)
            })
    }

    fn allows_origin(&self, text: &str, host: Authority<'_>) -> bool {
        if self.any_origin {
            return true;
        }
        let Some(origin) = Origin::parse(text) else { return false };
        let Origin::Site { scheme, authority } = origin else {
            return self.origins.iter().any(|pattern| matches!(pattern, OriginPattern::Null));
        };
        let web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
        let port = authority.port.or(default_port(scheme));
        // Behind a proxy that ends TLS we don't know our own scheme: the origin's is taken.
        let same_site = !self.any_host
            && web
            && authority.host == host.host
            && port == host.port.or(default_port(scheme));
        same_site
            || (web && authority.host.is_loopback())
            || self.origins.iter().any(|pattern| match pattern {
                OriginPattern::Null => false,
                OriginPattern::Site { scheme: ours, name, port: allowed } => {
                    ours.eq_ignore_ascii_case(scheme)
                        && name.matches(authority.host)
                        && allowed.is_none_or(|allowed| port.unwrap_or_default() == allowed)
                }
            })
    }
}

impl Default for BrowserGuard {
    fn default() -> Self {
        Self::new()
    }
}

impl Name {
    fn new(host: HostName<'_>, below: bool) -> Option<Self> {
        match (host, below) {
            (HostName::Name(name), false) => Some(Self::Exact(name.into())),
            (HostName::Name(name), true) => Some(Self::Below(format!(".{name}").into())),
            (HostName::Address(address), false) => Some(Self::Address(address)),
            (HostName::Address(_), true) => None,
        }
    }

    fn matches(&self, host: HostName<'_>) -> bool {
        match (self, host) {
            (Self::Exact(ours), HostName::Name(name)) => ours.eq_ignore_ascii_case(name),
            (Self::Below(ours), HostName::Name(name)) => {
                name.len().checked_sub(ours.len()).is_some_and(|start| {
                    0 < start && name.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(ours))
                })
            }
            (Self::Address(ours), HostName::Address(address)) => *ours == address,
            (Self::Exact(_) | Self::Below(_), HostName::Address(_))
            | (Self::Address(_), HostName::Name(_)) => false,
        }
    }
}

impl<'a> Authority<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (host, rest) = if let Some(inner) = text.strip_prefix('[') {
            let (address, rest) = inner.split_once(']')?;
            // A zone says through which interface, not which host.
            let (address, zone) = match address.split_once('%') {
                Some((address, zone)) => (address, Some(zone)),
                None => (address, None),
            };
            if zone == Some("") {
                return None;
            }
            (HostName::Address(canonical(IpAddr::V6(address.parse().ok()?))), rest)
        } else {
            let end = memchr::memchr(b':', text.as_bytes()).unwrap_or(text.len());
            let (host, rest) = text.split_at(end);
            (HostName::parse(host)?, rest)
        };
        let port = match rest.strip_prefix(':') {
            None if rest.is_empty() => None,
            // A port may be empty.
            Some("") => None,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(digits.parse().ok()?)
            }
            None | Some(_) => return None,
        };
        Some(Self { host, port })
    }
}

impl<'a> HostName<'a> {
    fn parse(host: &'a str) -> Option<Self> {
        if host.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
            && let Ok(address) = host.parse::<Ipv4Addr>()
        {
            return Some(Self::Address(IpAddr::V4(address)));
        }
        // `name.` is `name`, said absolutely.
        let name = host.strip_suffix('.').unwrap_or(host);
        let fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        (!name.is_empty() && name.bytes().all(fine)).then_some(Self::Name(name))
    }

    fn is_loopback(self) -> bool {
        match self {
            Self::Name(name) => name.eq_ignore_ascii_case("localhost"),
            Self::Address(address) => address.is_loopback(),
        }
    }
}

impl PartialEq for HostName<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Name(a), Self::Name(b)) => a.eq_ignore_ascii_case(b),
            (Self::Address(a), Self::Address(b)) => a == b,
            (Self::Name(_), Self::Address(_)) | (Self::Address(_), Self::Name(_)) => false,
        }
    }
}

impl Eq for HostName<'_> {}

enum Origin<'a> {
    Null,
    Site { scheme: &'a str, authority: Authority<'a> },
}

impl<'a> Origin<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        if text == "null" {
            return Some(Self::Null);
        }
        let (scheme, rest) = text.split_once("://")?;
        let fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        if scheme.is_empty() || !scheme.bytes().all(fine) {
            return None;
        }
        Some(Self::Site { scheme, authority: Authority::parse(rest)? })
    }
}

impl fmt::Display for BrowserGuard {
    /// The lists, for a log line at start.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |any: bool, count: usize| match (any, count) {
            (true, _) => "any".to_owned(),
            (false, 0) => "loopback".to_owned(),
            (false, count) => format!("loopback and {count} more"),
        };
        write!(
            f,
            "hosts: {}, origins: {}",
            list(self.any_host, self.hosts.len()),
            list(self.any_origin, self.origins.len())
        )
    }
}

fn canonical(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(IpAddr::V6(v6), IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        _ if scheme.eq_ignore_ascii_case("https") => Some(443),
        _ if scheme.eq_ignore_ascii_case("http") => Some(80),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn check(guard: &BrowserGuard, host: &[&str], origin: &[&str]) -> &'static str {
        let mut headers = HeaderMap::new();
        for host in host {
            headers.append(HOST, HeaderValue::from_str(host).unwrap());
        }
        for origin in origin {
            headers.append(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        match guard.check(&Uri::from_static("/mcp"), &headers) {
            Ok(()) => "served",
            Err(Blocked::NoHost) => "no host",
            Err(Blocked::Host { .. }) => "host",
            Err(Blocked::Origin { .. }) => "origin",
        }
    }

    // Shows: FC-066, TRANSPORT-HTTP-002, TRANSPORT-HTTP-003
    #[test]
    fn only_loopback_is_served_by_default() {
        let table: &[(&str, &[&str], &str)] = &[
            ("evil.example:8080", &[], "host"),
            ("127.0.0.1:8080", &["https://evil.example"], "origin"),
            ("localhost:8080", &["null"], "origin"),
            ("127.0.0.1:8080", &[], "served"),
            ("[::1]:8080", &["http://localhost:5173"], "served"),
            ("localhost", &["http://localhost"], "served"),
            ("LocalHost.:80", &["HTTP://127.0.0.1:1"], "served"),
            ("127.8.9.1", &["https://[::1]"], "served"),
            ("[::ffff:127.0.0.1]:1", &[], "served"),
            ("[::1%lo]:8080", &["http://[::1%25lo]:9"], "served"),
            ("[fe80::1%eth0]:8080", &[], "host"),
            ("0.0.0.0:8080", &[], "host"),
            ("127.1", &[], "host"),
            ("localhost.evil.example", &[], "host"),
            ("localhost@evil.example", &[], "no host"),
            ("localhost:80:80", &[], "no host"),
            ("localhost:65536", &[], "no host"),
            ("localhost:+80", &[], "no host"),
            ("[::1", &[], "no host"),
            ("[::1%]", &[], "no host"),
            ("[::1]x", &[], "no host"),
            ("", &[], "no host"),
            ("localhost:", &[], "served"),
            ("localhost", &["http://localhost", "http://localhost"], "origin"),
            ("localhost", &["http://localhost/"], "origin"),
            ("localhost", &["http://localhost https://evil.example"], "origin"),
            ("localhost", &["localhost"], "origin"),
            ("localhost", &[""], "origin"),
            ("localhost", &["chrome-extension://localhost"], "origin"),
            ("localhost", &["http://localhost.evil.example"], "origin"),
        ];
        let guard = BrowserGuard::default();
        for (host, origin, expected) in table {
            assert_eq!(check(&guard, &[host], origin), *expected, "{host} {origin:?}");
        }
        assert_eq!(check(&guard, &[], &[]), "no host");
        assert_eq!(check(&guard, &["localhost", "localhost"], &[]), "no host");
    }

    #[test]
    fn allowed_hosts_and_origins_are_served() {
        let guard = BrowserGuard::new()
            .allow_host("mcp.example.com")
            .and_then(|guard| guard.allow_host("*.inner.example:8443"))
            .and_then(|guard| guard.allow_host("[fd00::1]"))
            .and_then(|guard| guard.allow_origin("https://app.example"))
            .and_then(|guard| guard.allow_origin("http://dev.example:*"))
            .and_then(|guard| guard.allow_origin("vscode-webview://abc"))
            .unwrap();
        let table: &[(&str, &[&str], &str)] = &[
            ("MCP.example.com", &[], "served"),
            ("mcp.example.com:8443", &["https://app.example:443"], "served"),
            ("a.b.inner.example:8443", &[], "served"),
            ("a.inner.example:8444", &[], "host"),
            ("inner.example:8443", &[], "host"),
            (".inner.example:8443", &[], "host"),
            ("[FD00:0::1]", &["vscode-webview://abc"], "served"),
            ("mcp.example.com", &["http://app.example"], "origin"),
            ("mcp.example.com", &["https://app.example:8443"], "origin"),
            ("mcp.example.com", &["http://dev.example:5173"], "served"),
            // The same site, also behind a proxy that ends TLS.
            ("mcp.example.com", &["https://mcp.example.com"], "served"),
            ("mcp.example.com:81", &["http://mcp.example.com:81"], "served"),
            ("mcp.example.com:81", &["http://mcp.example.com"], "origin"),
        ];
        for (host, origin, expected) in table {
            assert_eq!(check(&guard, &[host], origin), *expected, "{host} {origin:?}");
        }
    }

    #[test]
    fn without_a_host_list_the_same_site_is_no_proof() {
        let guard = BrowserGuard::new().dangerous_allow_any_host();
        assert_eq!(check(&guard, &["evil.example"], &["http://evil.example"]), "origin");
        assert_eq!(check(&guard, &["evil.example"], &[]), "served");
        let guard = guard.dangerous_allow_any_origin();
        assert_eq!(check(&guard, &["evil.example"], &["http://evil.example"]), "served");
    }

    #[test]
    fn null_can_be_listed() {
        let guard = BrowserGuard::new().allow_origin("null").unwrap();
        assert_eq!(check(&guard, &["localhost"], &["null"]), "served");
    }

    #[test]
    fn the_target_of_the_request_is_checked_too() {
        let guard = BrowserGuard::new();
        let mut headers = HeaderMap::new();
        let evil = Uri::from_static("http://evil.example/mcp");
        assert_eq!(
            guard.check(&evil, &headers),
            Err(Blocked::Host { host: "evil.example".into() })
        );
        headers.insert(HOST, HeaderValue::from_static("localhost"));
        assert!(guard.check(&evil, &headers).is_err());
        let good = Uri::from_static("http://localhost:1/mcp");
        assert_eq!(guard.check(&good, &HeaderMap::new()), Ok(()));
    }

    #[test]
    fn what_names_no_host_or_origin_is_refused_at_once() {
        for bad in ["", "a b", "https://a", "a/b", "*", "*.127.0.0.1", "a:x"] {
            assert!(BrowserGuard::new().allow_host(bad).is_err(), "{bad}");
        }
        for bad in ["", "a.example", "https://", "https://a/b", "*", "https://*"] {
            assert!(BrowserGuard::new().allow_origin(bad).is_err(), "{bad}");
        }
    }
}
