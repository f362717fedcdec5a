use std::fmt;

use mcp_types::ElicitRequestUrlParams;

/// What to show a person before a URL of a server is opened: all of it, its host, and what is odd
/// about it.
///
/// Nothing is opened or fetched here, nor anywhere else in this crate: that is for the host to
/// do, in a browser of the system's own, once the person has agreed.
///
/// ```
/// use mcp_client::host::{UrlNotice, UrlWarning};
///
/// let notice = UrlNotice::of("https://xn--pypal-4ve.example/login?id=1")?;
/// assert_eq!(notice.host(), "xn--pypal-4ve.example");
/// assert_eq!(notice.warnings(), [UrlWarning::Punycode]);
/// # Ok::<(), mcp_client::host::NoUrl>(())
/// ```
///
/// Specification: [safe URL handling](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#safe-url-handling).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlNotice {
    url: String,
    host: String,
    warnings: Vec<UrlWarning>,
}

/// What is odd about a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UrlWarning {
    /// It is `http:`: others on the way can read and change the page. Not said of this machine.
    NotEncrypted,
    /// A name, and maybe a password, before the host: it may be there to be taken for the host.
    Userinfo,
    /// A label of the host is Punycode, whose letters may look like others.
    Punycode,
    /// The host holds letters beyond ASCII, which may look like others.
    UnusualLetters,
    /// The host is an address and no name.
    Address,
    /// It leads to this machine.
    ThisMachine,
}

/// A text that is no URL a person may be sent to: its scheme isn't `https` or `http`, it names no
/// host, or it holds characters that no URL has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no URL that a person may be sent to")]
#[non_exhaustive]
pub struct NoUrl;

impl UrlNotice {
    /// Reads a URL.
    ///
    /// # Errors
    ///
    /// [`NoUrl`] when it must not be opened at all.
    pub fn of(url: &str) -> Result<Self, NoUrl> {
        let odd =
            |c: char| c.is_control() || c.is_whitespace() || matches!(c, '\\' | '<' | '>' | '"');
        if url.contains(odd) {
            return Err(NoUrl);
        }
        let (scheme, rest) = url.split_once("://").ok_or(NoUrl)?;
        let encrypted = scheme.eq_ignore_ascii_case("https");
        if !encrypted && !scheme.eq_ignore_ascii_case("http") {
            return Err(NoUrl);
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (userinfo, place) = match authority.rsplit_once('@') {
            Some((_, place)) => (true, place),
            None => (false, authority),
        };
        let host = host_of(place).ok_or(NoUrl)?.to_lowercase();
        let mut warnings = Vec::new();
        let mut warn = |holds: bool, warning| {
            if holds {
                warnings.push(warning);
            }
        };
        let name = host.trim_start_matches('[').trim_end_matches(']');
        let address: Option<std::net::IpAddr> = name.parse().ok();
        let local = name == "localhost"
            || name.ends_with(".localhost")
            || address.is_some_and(|address| address.is_loopback());
        warn(!encrypted && !local, UrlWarning::NotEncrypted);
        warn(userinfo, UrlWarning::Userinfo);
        warn(host.split('.').any(|label| label.starts_with("xn--")), UrlWarning::Punycode);
        warn(!host.is_ascii(), UrlWarning::UnusualLetters);
        // Browsers read a number as an address, in whatever way it is written.
        let numeric = host.rsplit('.').find(|label| !label.is_empty()).is_some_and(is_number);
        warn(address.is_some() || numeric, UrlWarning::Address);
        warn(local, UrlWarning::ThisMachine);
        Ok(Self { url: url.to_owned(), host, warnings })
    }

    /// All of the URL, which is to be shown before it is opened.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The host, in lower case: what is to stand out.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// What is odd about it.
    #[must_use]
    pub fn warnings(&self) -> &[UrlWarning] {
        &self.warnings
    }
}

impl TryFrom<&ElicitRequestUrlParams> for UrlNotice {
    type Error = NoUrl;

    fn try_from(request: &ElicitRequestUrlParams) -> Result<Self, NoUrl> {
        Self::of(&request.url)
    }
}

impl fmt::Display for UrlWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotEncrypted => "the connection is not encrypted",
            Self::Userinfo => "there is a user name before the host",
            Self::Punycode | Self::UnusualLetters => "the host may look like another one",
            Self::Address => "the host is an address and no name",
            Self::ThisMachine => "it leads to this machine",
        })
    }
}

/// The host without its port.
fn host_of(place: &str) -> Option<&str> {
    let (host, rest) = match place.strip_prefix('[') {
        Some(inner) => {
            let end = inner.find(']')? + 2;
            (place.get(..end)?, place.get(end..)?)
        }
        None => place.split_at(place.find(':').unwrap_or(place.len())),
    };
    let port = rest.strip_prefix(':').unwrap_or(rest);
    let plain = port.is_empty() || (rest.len() > port.len() && port.parse::<u16>().is_ok());
    (plain && !host.is_empty() && host.bytes().any(|b| b != b'.')).then_some(host)
}

fn is_number(label: &str) -> bool {
    let hex = label.strip_prefix("0x");
    let digits = hex.unwrap_or(label);
    !digits.is_empty()
        && digits
            .bytes()
            .all(|b| if hex.is_some() { b.is_ascii_hexdigit() } else { b.is_ascii_digit() })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: ELICIT-067
    #[test]
    fn what_is_odd_about_a_url_is_told() {
        use UrlWarning::{Address, NotEncrypted, Punycode, ThisMachine, UnusualLetters, Userinfo};
        for (url, host, warnings) in [
            ("https://mcp.example.com/ui?id=1", "mcp.example.com", &[][..]),
            ("HTTPS://MCP.Example.com:8443", "mcp.example.com", &[]),
            ("http://mcp.example.com/", "mcp.example.com", &[NotEncrypted]),
            ("https://bank.example@evil.example/", "evil.example", &[Userinfo]),
            ("https://bank.example:x@y@evil.example/", "evil.example", &[Userinfo]),
            ("https://a.xn--pypal-4ve.example/", "a.xn--pypal-4ve.example", &[Punycode]),
            ("https://pаypal.example/", "pаypal.example", &[UnusualLetters]),
            ("https://203.0.113.7/", "203.0.113.7", &[Address]),
            ("https://[2001:db8::1]:444/", "[2001:db8::1]", &[Address]),
            ("https://3405803783/", "3405803783", &[Address]),
            ("https://0x7f.1/", "0x7f.1", &[Address]),
            ("http://localhost:3000/x", "localhost", &[ThisMachine]),
            ("http://127.0.0.1/", "127.0.0.1", &[Address, ThisMachine]),
            ("http://[::1]/", "[::1]", &[Address, ThisMachine]),
        ] {
            let notice = UrlNotice::of(url).unwrap();
            assert_eq!((notice.host(), notice.warnings()), (host, warnings), "{url}");
            assert_eq!(notice.url(), url);
        }
    }

    // Shows: ELICIT-067
    #[test]
    fn what_is_no_page_is_not_shown() {
        for url in [
            "",
            "mcp.example.com",
            "javascript:alert(1)",
            "javascript://x/%0aalert(1)",
            "file:///etc/passwd",
            "data:text/html,x",
            "ms-settings://x",
            "https://",
            "https:///path",
            "https://@/",
            "https://a b/",
            "https://a\n.example/",
            "https://a\\@b/",
            "https://a:99999/",
            "https://a:x/",
            "https://[::1/",
            "https://[::1]x/",
            "https://./",
        ] {
            assert_eq!(UrlNotice::of(url), Err(NoUrl), "{url}");
        }
    }
}
