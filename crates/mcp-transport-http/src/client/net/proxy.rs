use std::fmt;
use std::net::IpAddr;

use hyper::Uri;
use hyper::header::HeaderValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{BoxIo, host, port};
use crate::client::error::{ConfigError, ConnectError};

/// Bytes of a proxy's answer, at most.
const ANSWER: usize = 16 << 10;

/// Which proxies to go through, and for which servers none.
///
/// Nothing is read from the environment unless [`from_env`](Self::from_env) is called. Requests
/// to an `https` server go through a tunnel (`CONNECT`), those to an `http` server are
/// forwarded.
///
/// # Examples
///
/// ```
/// use mcp_transport_http::client::ProxyConfig;
///
/// let proxy = ProxyConfig::new()
///     .https("http://user:password@proxy.example:3128")?
///     .except("localhost, .internal.example, 10.0.0.0/8");
/// # Ok::<(), mcp_transport_http::client::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ProxyConfig {
    http: Option<Proxy>,
    https: Option<Proxy>,
    except: Vec<Exception>,
}

/// A proxy.
#[derive(Clone)]
pub(in crate::client) struct Proxy {
    uri: Uri,
    authorization: Option<HeaderValue>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Exception {
    All,
    /// The host itself, and what is below it.
    Name(Box<str>, Option<u16>),
    Net(IpAddr, u8),
}

impl ProxyConfig {
    /// No proxy.
    pub const fn new() -> Self {
        Self { http: None, https: None, except: Vec::new() }
    }

    /// The proxies of the environment: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and
    /// `NO_PROXY`, or the same in small letters, which come first. `HTTP_PROXY` in capitals
    /// is not read where `REQUEST_METHOD` is set, since a client could set it there.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Proxy`] when one of them is no `http` or `https` URL.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let first = |names: &[&str]| {
            names.iter().find_map(|name| get(name).filter(|value| !value.trim().is_empty()))
        };
        let http: &[&str] = if get("REQUEST_METHOD").is_some() {
            &["http_proxy", "all_proxy", "ALL_PROXY"]
        } else {
            &["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
        };
        let mut config = Self::new();
        if let Some(url) = first(http) {
            config = config.http(&url)?;
        }
        if let Some(url) = first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]) {
            config = config.https(&url)?;
        }
        if let Some(list) = first(&["no_proxy", "NO_PROXY"]) {
            config = config.except(&list);
        }
        Ok(config)
    }

    /// The proxy for `http` servers. The URL may hold a user name and a password.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Proxy`] when it is no `http` or `https` URL.
    pub fn http(mut self, url: &str) -> Result<Self, ConfigError> {
        self.http = Some(Proxy::new(url)?);
        Ok(self)
    }

    /// The proxy for `https` servers, as [`http`](Self::http).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn https(mut self, url: &str) -> Result<Self, ConfigError> {
        self.https = Some(Proxy::new(url)?);
        Ok(self)
    }

    /// Servers that are spoken to directly, in the words of `NO_PROXY`: names, which stand for
    /// what is below them, too, with a port or without; addresses and networks; `*` for all.
    /// What is within this machine never goes through a proxy.
    #[must_use]
    pub fn except(mut self, list: &str) -> Self {
        let items = list.split([',', ' ']).map(str::trim).filter(|item| !item.is_empty());
        self.except.extend(items.filter_map(Exception::new));
        self
    }

    /// Whether a proxy is spoken to by TLS.
    #[cfg(feature = "tls")]
    pub(in crate::client) fn needs_tls(&self) -> bool {
        [&self.http, &self.https].into_iter().flatten().any(Proxy::is_https)
    }

    /// The proxy for the server at `uri`.
    pub(in crate::client) fn proxy_for(&self, uri: &Uri) -> Option<&Proxy> {
        let proxy = if uri.scheme_str() == Some("https") {
            self.https.as_ref()
        } else {
            self.http.as_ref()
        };
        let host = host(uri).to_ascii_lowercase();
        let address = host.parse::<IpAddr>().ok();
        let within = host == "localhost"
            || host.ends_with(".localhost")
            || address.is_some_and(|address| address.is_loopback());
        let excepted = || {
            self.except.iter().any(|exception| match exception {
                Exception::All => true,
                Exception::Name(name, only) => {
                    let below =
                        || host.strip_suffix(&**name).is_some_and(|rest| rest.ends_with('.'));
                    only.is_none_or(|only| only == port(uri)) && (host == **name || below())
                }
                Exception::Net(net, bits) => address.is_some_and(|a| contains(*net, *bits, a)),
            })
        };
        proxy.filter(|_| !within && !excepted())
    }
}

impl Exception {
    fn new(item: &str) -> Option<Self> {
        if item == "*" {
            return Some(Self::All);
        }
        let bare = item.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Some(Self::Net(address, if address.is_ipv4() { 32 } else { 128 }));
        }
        if let Some((net, bits)) = item.split_once('/') {
            let net: IpAddr = net.parse().ok()?;
            let bits: u8 = bits.parse().ok()?;
            let most = if net.is_ipv4() { 32 } else { 128 };
            return (bits <= most).then_some(Self::Net(net, bits));
        }
        let (name, port) = match item.rsplit_once(':') {
            Some((name, port)) => (name, Some(port.parse().ok()?)),
            None => (item, None),
        };
        let name = name.trim_start_matches('*').trim_start_matches('.').to_ascii_lowercase();
        (!name.is_empty()).then(|| Self::Name(name.into(), port))
    }
}

fn contains(net: IpAddr, bits: u8, address: IpAddr) -> bool {
    let bits = u32::from(bits);
    match (net, address) {
        (IpAddr::V4(net), IpAddr::V4(address)) => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            net.to_bits() & mask == address.to_bits() & mask
        }
        (IpAddr::V6(net), IpAddr::V6(address)) => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            net.to_bits() & mask == address.to_bits() & mask
        }
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    }
}

impl Proxy {
    fn new(url: &str) -> Result<Self, ConfigError> {
        let url = url.trim();
        let url = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let uri: Uri = url.parse().map_err(|_| ConfigError::Proxy)?;
        let scheme = uri.scheme_str();
        let known = scheme == Some("http") || cfg!(feature = "tls") && scheme == Some("https");
        if !known || uri.host().is_none_or(str::is_empty) {
            return Err(ConfigError::Proxy);
        }
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let authorization = match authority.rsplit_once('@') {
            Some((credentials, _)) => Some(basic(credentials).ok_or(ConfigError::Proxy)?),
            None => None,
        };
        Ok(Self { uri, authorization })
    }

    pub(super) fn host(&self) -> &str {
        host(&self.uri)
    }

    pub(super) fn port(&self) -> u16 {
        // Whoever names no port for a proxy means the one of its scheme.
        port(&self.uri)
    }

    #[cfg(feature = "tls")]
    pub(super) fn is_https(&self) -> bool {
        self.uri.scheme_str() == Some("https")
    }

    pub(super) const fn authorization(&self) -> Option<&HeaderValue> {
        self.authorization.as_ref()
    }

    /// Has the proxy connect to `to`, and passes on what it sends from there.
    pub(super) async fn tunnel(&self, mut io: BoxIo, to: &str) -> Result<BoxIo, ConnectError> {
        let mut request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n").into_bytes();
        if let Some(value) = &self.authorization {
            request.extend_from_slice(b"Proxy-Authorization: ");
            request.extend_from_slice(value.as_bytes());
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        io.write_all(&request).await.map_err(ConnectError::Proxy)?;
        let mut answer = Vec::new();
        // Byte by byte would be slow, and more than the head can't come: the server waits for
        // our first bytes.
        while !answer.ends_with(b"\r\n\r\n") {
            let read = io.read_buf(&mut answer).await.map_err(ConnectError::Proxy)?;
            let over = memchr::memmem::find(&answer, b"\r\n\r\n")
                .is_some_and(|end| end + 4 < answer.len());
            if read == 0 || over || ANSWER < answer.len() {
                let error = std::io::ErrorKind::InvalidData.into();
                return Err(refusal(&answer).unwrap_or(ConnectError::Proxy(error)));
            }
        }
        match refusal(&answer) {
            Some(error) => Err(error),
            None => Ok(io),
        }
    }
}

/// Why a proxy opens no tunnel; `None` if it does.
fn refusal(answer: &[u8]) -> Option<ConnectError> {
    let line = answer.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let version = words.next().unwrap_or_default();
    let status = words.next().and_then(|word| std::str::from_utf8(word).ok()?.parse::<u16>().ok());
    match status {
        Some(status) if version.starts_with(b"HTTP/1.") => {
            (!(200..300).contains(&status)).then_some(ConnectError::ProxyRefused(status))
        }
        _ => Some(ConnectError::Proxy(std::io::ErrorKind::InvalidData.into())),
    }
}

/// `user:password`, percent-encoded, as a header's value.
fn basic(credentials: &str) -> Option<HeaderValue> {
    let plain = percent_decode(credentials.as_bytes())?;
    let mut value = HeaderValue::try_from(format!("Basic {}", base64(&plain))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn percent_decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        if *byte != b'%' {
            plain.push(*byte);
            continue;
        }
        let (digits, tail) = rest.split_at_checked(2)?;
        rest = tail;
        plain.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
    }
    Some(plain)
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (index, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let digit = usize::try_from(bits >> shift & 63).unwrap_or(0);
            let digit = DIGITS.get(digit).copied().unwrap_or(b'=');
            text.push(char::from(if index <= group.len() { digit } else { b'=' }));
        }
    }
    text
}

/// Prints no credentials.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host(), self.port())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goes_through(config: &ProxyConfig, url: &str) -> Option<String> {
        config.proxy_for(&url.parse().unwrap()).map(|proxy| format!("{proxy:?}"))
    }

    #[test]
    fn the_scheme_of_the_server_chooses_the_proxy() {
        let variables = [
            ("HTTPS_PROXY", "http://a.example:1"),
            ("HTTP_PROXY", "b.example:2"),
            ("no_proxy", "*.direct.example,other.example:8080 10.0.0.0/8,[fd00::1],::2"),
        ];
        let get = |name: &str| {
            variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
        };
        let config = ProxyConfig::from_variables(get).unwrap();
        let table = [
            ("https://h.example/mcp", Some("a.example:1")),
            ("http://h.example/mcp", Some("b.example:2")),
            ("https://direct.example/", None),
            ("https://x.DIRECT.example/", None),
            ("https://indirect.example/", Some("a.example:1")),
            ("http://other.example/", Some("b.example:2")),
            ("http://other.example:8080/", None),
            ("http://10.1.2.3/", None),
            ("http://11.1.2.3/", Some("b.example:2")),
            ("http://[fd00::1]/", None),
            ("http://[::2]:8080/", None),
            ("http://[::3]/", Some("b.example:2")),
            ("http://localhost:8080/", None),
            ("http://127.0.0.2/", None),
            ("http://[::1]/", None),
        ];
        for (url, expected) in table {
            assert_eq!(goes_through(&config, url).as_deref(), expected, "{url}");
        }
        assert_eq!(goes_through(&config.except("*"), "https://h.example"), None);
    }

    #[test]
    fn a_web_servers_environment_names_no_proxy_for_http() {
        let get = |name: &str| match name {
            "REQUEST_METHOD" => Some("GET".to_owned()),
            "HTTP_PROXY" => Some("http://evil.example".to_owned()),
            _ => None,
        };
        let config = ProxyConfig::from_variables(get).unwrap();
        assert_eq!(goes_through(&config, "http://h.example"), None);
    }

    #[test]
    fn credentials_become_a_header_and_are_not_printed() {
        let proxy = Proxy::new("http://us%65r:p%40ss@p.example").unwrap();
        assert_eq!(proxy.authorization().unwrap(), "Basic dXNlcjpwQHNz");
        assert_eq!(format!("{proxy:?}"), "p.example:80");
        for (plain, encoded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v")] {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
        for bad in ["socks5://p.example", "http://", "http://a%4@p.example", "http://%zz@p"] {
            assert!(matches!(Proxy::new(bad), Err(ConfigError::Proxy)), "{bad}");
        }
    }

    #[test]
    fn only_a_success_opens_a_tunnel() {
        assert!(refusal(b"HTTP/1.1 200 OK\r\n\r\n").is_none());
        assert!(refusal(b"HTTP/1.0 200\r\n\r\n").is_none());
        let refused = refusal(b"HTTP/1.1 407 Auth\r\nX: y\r\n\r\n");
        assert!(matches!(refused, Some(ConnectError::ProxyRefused(407))));
        assert!(matches!(refusal(b"SSH-2.0"), Some(ConnectError::Proxy(_))));
    }
}
