use std::fmt;
use std::sync::Arc;

use url::Url;

/// The longest identifier that is taken, in bytes.
const MAX_LEN: usize = 2048;

/// The issuer identifier of an authorization server, kept exactly as it came.
///
/// Issuers are compared as strings, byte for byte
/// ([RFC 8414, section 3.3](https://www.rfc-editor.org/rfc/rfc8414#section-3.3)), so there is
/// no URL to be had from this type: a URL type would normalize it. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Issuer(Arc<str>);

impl Issuer {
    /// Takes an issuer.
    ///
    /// # Errors
    ///
    /// When `issuer` is not an `https` or `http` URL, or has a query, a fragment or a user
    /// name, or is longer than 2,048 bytes. Whether `http` may be used is for the
    /// [fetch policy](crate::FetchPolicy) to say.
    pub fn new(issuer: impl Into<Arc<str>>) -> Result<Self, InvalidIdentifier> {
        let issuer = issuer.into();
        let url = web_url(&issuer)?;
        if url.query().is_some() {
            return Err(InvalidIdentifier::Query);
        }
        Ok(Self(issuer))
    }

    /// The issuer as it came.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// For building well-known URLs, and for nothing else.
    pub(crate) fn to_url(&self) -> Option<Url> {
        Url::parse(&self.0).ok()
    }

    /// Whether it is `other` but for one slash at the end of a root path.
    pub(crate) fn is_but_for_root_slash(&self, other: &str) -> bool {
        let root = self.to_url().is_some_and(|url| url.path() == "/");
        let bare = |text: &str| text.strip_suffix('/').unwrap_or(text).len();
        root && self.0.get(..bare(&self.0)) == other.get(..bare(other))
    }
}

impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

impl fmt::Display for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The resource identifier of an MCP server, kept exactly as it came
/// ([RFC 8707](https://www.rfc-editor.org/rfc/rfc8707)).
///
/// Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Resource(Arc<str>);

impl Resource {
    /// Takes a resource identifier: an absolute URI without a fragment.
    ///
    /// # Errors
    ///
    /// When `resource` isn't that, or is longer than 2,048 bytes.
    pub fn new(resource: impl Into<Arc<str>>) -> Result<Self, InvalidIdentifier> {
        let resource = resource.into();
        if resource.len() > MAX_LEN {
            return Err(InvalidIdentifier::TooLong);
        }
        let url = Url::parse(&resource).map_err(InvalidIdentifier::NotAUrl)?;
        if url.fragment().is_some() {
            return Err(InvalidIdentifier::Fragment);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(InvalidIdentifier::User);
        }
        Ok(Self(resource))
    }

    /// The canonical identifier of the server at `endpoint`: scheme and host in lower case, no
    /// default port, no query, no fragment, no slash for an empty path
    /// ([canonical server URI](https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#canonical-server-uri)).
    #[must_use]
    pub fn canonical(endpoint: &Url) -> Self {
        let mut url = endpoint.clone();
        url.set_query(None);
        url.set_fragment(None);
        // Both fail only for URLs that can't have a user name in the first place.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        let text = match url.path() {
            "/" => url.as_str().trim_end_matches('/'),
            _ => url.as_str(),
        };
        Self(text.into())
    }

    /// The identifier as it came.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// When metadata is about the endpoint that it was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceMatch {
    /// The same resource, or one above the endpoint at a border between path segments, on the
    /// same origin: `/a` covers `/a/b`, not `/ab`.
    #[default]
    Covering,
    /// The same resource only, as RFC 9728 has it.
    Exact,
}

impl ResourceMatch {
    /// Whether a document that names `named` is about `endpoint`.
    ///
    /// Case of scheme and host, a default port and an empty path make no difference; a
    /// resource that is no web URL never matches.
    #[must_use]
    pub fn covers(self, named: &str, endpoint: &Url) -> bool {
        let Ok(named) = web_url(named) else { return false };
        if named.origin() != endpoint.origin() {
            return false;
        }
        let (path, below) = (named.path(), endpoint.path());
        match named.query() {
            Some(query) => path == below && endpoint.query() == Some(query),
            None if path == below => true,
            None => match self {
                Self::Exact => false,
                Self::Covering => below
                    .strip_prefix(path)
                    .is_some_and(|rest| path.ends_with('/') || rest.starts_with('/')),
            },
        }
    }
}

/// An identifier can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidIdentifier {
    /// It is no absolute URL.
    #[error("the identifier is not a URL")]
    NotAUrl(#[source] url::ParseError),
    /// It is neither `https` nor `http`.
    #[error("the identifier is not a web URL")]
    Scheme,
    /// It has a fragment.
    #[error("the identifier has a fragment")]
    Fragment,
    /// It has a query.
    #[error("the identifier has a query")]
    Query,
    /// It has a user name or a password.
    #[error("the identifier has a user name")]
    User,
    /// It is too long.
    #[error("the identifier is longer than {MAX_LEN} bytes")]
    TooLong,
}

/// Parses a web URL that may not have a fragment or a user name.
fn web_url(text: &str) -> Result<Url, InvalidIdentifier> {
    if text.len() > MAX_LEN {
        return Err(InvalidIdentifier::TooLong);
    }
    let url = Url::parse(text).map_err(InvalidIdentifier::NotAUrl)?;
    if !matches!(url.scheme(), "https" | "http") {
        return Err(InvalidIdentifier::Scheme);
    }
    if url.fragment().is_some() {
        return Err(InvalidIdentifier::Fragment);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(InvalidIdentifier::User);
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    // Shows: CL-AM-1, CL-AM-3, AUTH-CLIENT-024
    #[test]
    fn issuers_keep_their_last_slash_and_their_case() {
        let issuer = |text: &str| Issuer::new(text).unwrap();
        assert_ne!(issuer("https://as.example/"), issuer("https://as.example"));
        assert_ne!(issuer("https://AS.example"), issuer("https://as.example"));
        assert_eq!(issuer("https://AS.example").as_str(), "https://AS.example");
    }

    // Shows: CL-AS-3
    #[test]
    fn what_can_be_no_issuer_is_refused() {
        for (text, why) in [
            ("https://as.example?x=1", InvalidIdentifier::Query),
            ("https://as.example#x", InvalidIdentifier::Fragment),
            ("https://u@as.example", InvalidIdentifier::User),
            ("urn:as", InvalidIdentifier::Scheme),
            ("javascript:alert(1)", InvalidIdentifier::Scheme),
        ] {
            assert_eq!(Issuer::new(text), Err(why), "{text}");
        }
    }

    // Shows: CL-AM-3
    #[test]
    fn only_a_lone_slash_at_a_root_path_can_be_forgiven() {
        let issuer = |text: &str| Issuer::new(text).unwrap();
        assert!(issuer("https://as.example").is_but_for_root_slash("https://as.example/"));
        assert!(issuer("https://as.example/").is_but_for_root_slash("https://as.example"));
        assert!(!issuer("https://as.example/t").is_but_for_root_slash("https://as.example/t/"));
        assert!(!issuer("https://as.example").is_but_for_root_slash("https://as.example//"));
        assert!(!issuer("https://as.example").is_but_for_root_slash("https://AS.example/"));
    }

    // Shows: AUTH-CLIENT-047, AUTH-CLIENT-050, AUTH-CLIENT-051, AUTH-CLIENT-052, CL-AZ-3
    #[test]
    fn the_canonical_form_drops_what_carries_no_meaning() {
        for (endpoint, canonical) in [
            ("https://MCP.Example.com/mcp", "https://mcp.example.com/mcp"),
            ("HTTPS://mcp.example.com", "https://mcp.example.com"),
            ("https://mcp.example.com/", "https://mcp.example.com"),
            ("https://mcp.example.com:443/a", "https://mcp.example.com/a"),
            ("https://mcp.example.com:8443", "https://mcp.example.com:8443"),
            ("https://mcp.example.com/a/?x=1#y", "https://mcp.example.com/a/"),
        ] {
            assert_eq!(Resource::canonical(&url(endpoint)).as_str(), canonical);
        }
    }

    // Shows: FC-073, CL-PR-5, AUTH-CLIENT-010
    #[test]
    fn a_resource_covers_its_endpoint_at_segment_borders_on_one_origin() {
        let check = |endpoint: &str, named: &str, covering: bool, exact: bool| {
            let endpoint = url(endpoint);
            assert_eq!(ResourceMatch::Covering.covers(named, &endpoint), covering, "{named}");
            assert_eq!(ResourceMatch::Exact.covers(named, &endpoint), exact, "{named} exactly");
        };
        check("https://h.example/mcp", "https://h.example/mcp", true, true);
        check("https://h.example/mcp", "https://h.example", true, false);
        check("https://h.example/mcp", "https://h.example/", true, false);
        check("https://h.example/mcp", "https://H.example/mcp", true, true);
        check("https://h.example/mcp", "https://h.example:443/mcp", true, true);
        check("https://h.example/mcp", "https://h.example/mc", false, false);
        check("https://h.example/mcp", "https://h.example/mcp/x", false, false);
        check("https://h.example/mcp", "https://h.example/mcp/", false, false);
        check("https://h.example/mcp", "https://evil.example/mcp", false, false);
        check("https://h.example/mcp", "http://h.example/mcp", false, false);
        check("https://h.example/mcp", "https://h.example:8443/mcp", false, false);
        check("https://h.example/mcp", "https://h.example/mcp#f", false, false);
        check("https://h.example/mcp", "https://u@h.example/mcp", false, false);
        check("https://h.example/mcp", "urn:h:mcp", false, false);
        check("https://h.example", "https://h.example", true, true);
        check("https://h.example/mcp?tenant=1", "https://h.example/mcp", true, true);
    }

    proptest::proptest! {
        // Shows: CL-PR-5
        #[test]
        fn a_covering_path_is_the_endpoints_or_ends_at_a_slash_of_it(
            path in "(/[ab]{1,2}){0,3}/?", below in "(/[ab]{1,2}){0,3}/?",
        ) {
            let endpoint = url(&format!("https://h.example{below}"));
            let segments = |path: &str| -> Vec<String> {
                path.split('/').map(str::to_owned).collect()
            };
            let named = url(&format!("https://h.example{path}"));
            let (a, b) = (segments(named.path()), segments(endpoint.path()));
            let a_dir = a.split_last().filter(|(last, _)| last.is_empty()).map(|(_, head)| head);
            let expected = a == b || b.starts_with(a_dir.unwrap_or(&a));
            proptest::prop_assert_eq!(
                ResourceMatch::Covering.covers(named.as_str(), &endpoint),
                // `/a/` isn't a parent of `/a`.
                expected && a_dir != Some(&b[..]),
            );
        }
    }
}
