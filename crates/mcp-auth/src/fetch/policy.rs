use std::time::Duration;

use url::Url;

use super::address::Target;
use super::{Reach, Rule};

/// What may be fetched, and how much of it.
///
/// The defaults suit a program on somebody's machine: `https` only, `http` within loopback,
/// and never further inwards than the server that a URL came from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchPolicy {
    /// Hosts that may be reached wherever they are, for example an identity provider inside of
    /// a company. Names in lower case, or literal addresses.
    pub allowed_hosts: Vec<String>,
    /// Whether private networks may be reached from public servers' documents.
    pub allow_private: bool,
    /// Whether nothing but public addresses may be reached, the endpoint's included: for
    /// clients that run on servers and take URLs from strangers.
    pub public_only: bool,
    /// How many redirects are followed for a metadata document.
    pub max_redirects: u8,
    /// How large a document may be, in bytes. Key sets may have sixteen times as many.
    pub max_body: usize,
    /// How long one request may take in all.
    pub timeout: Duration,
    /// How long one connection may take to be made.
    pub connect_timeout: Duration,
}

impl Default for FetchPolicy {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            allow_private: false,
            public_only: false,
            max_redirects: 3,
            max_body: 64 * 1024,
            timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(10),
        }
    }
}

impl FetchPolicy {
    /// The policy for clients that run on servers: public addresses only.
    #[must_use]
    pub fn strict() -> Self {
        Self { public_only: true, ..Self::default() }
    }

    /// Lets a host be reached wherever it is.
    #[must_use]
    pub fn with_allowed_host(mut self, host: impl Into<String>) -> Self {
        self.allowed_hosts.push(host.into().to_ascii_lowercase());
        self
    }

    /// Judges what a URL says of itself; addresses are judged when they are known.
    pub(super) fn judge(&self, url: &Url, reach: Reach) -> Result<Target, Rule> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Rule::User);
        }
        let target = Target::of(url).ok_or(Rule::Host)?;
        match url.scheme() {
            "https" => {}
            "http" if target.is_loopback() && !self.public_only => {
                if reach < Reach::Loopback && !self.allows_host(url) {
                    return Err(Rule::Scheme);
                }
            }
            _ => return Err(Rule::Scheme),
        }
        Ok(target)
    }

    /// Judges an address that `url`'s host stands for.
    pub(super) fn judge_place(
        &self,
        url: &Url,
        place: Option<Reach>,
        reach: Reach,
    ) -> Result<(), Rule> {
        let place = place.ok_or(Rule::Address)?;
        let allowed = if self.public_only {
            Reach::Public
        } else if self.allows_host(url) {
            Reach::Loopback
        } else if self.allow_private {
            reach.max(Reach::Private)
        } else {
            reach
        };
        if place <= allowed { Ok(()) } else { Err(Rule::Inwards) }
    }

    /// Judges a redirect, before its target is judged like any URL.
    pub(super) fn judge_redirect(from: &Url, to: &Url) -> Result<(), Rule> {
        let loopback = |url: &Url| Target::of(url).is_some_and(|target| target.is_loopback());
        match (from.scheme(), to.scheme()) {
            (_, "https") => Ok(()),
            ("http", "http") if from.host() == to.host() => Ok(()),
            ("http", "http") if loopback(from) && loopback(to) => Ok(()),
            _ => Err(Rule::Downgrade),
        }
    }

    fn allows_host(&self, url: &Url) -> bool {
        url.host_str().is_some_and(|host| {
            let host = host.trim_end_matches('.');
            self.allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    // Shows: CL-FT-1, SEC-045, SEC-046, SEC-075, SEC-077, AUTH-CLIENT-070, SEC-076,
    // AUTH-AS-014
    #[test]
    fn http_is_for_loopback_only_and_only_where_the_endpoint_is() {
        let policy = FetchPolicy::default();
        let judge = |text: &str, reach| policy.judge(&url(text), reach).map(|_| ());
        assert_eq!(judge("https://as.example/x", Reach::Public), Ok(()));
        assert_eq!(judge("http://as.example/x", Reach::Loopback), Err(Rule::Scheme));
        assert_eq!(judge("http://127.0.0.1:1/x", Reach::Loopback), Ok(()));
        assert_eq!(judge("http://localhost:1/x", Reach::Loopback), Ok(()));
        assert_eq!(judge("http://127.0.0.1:1/x", Reach::Private), Err(Rule::Scheme));
        assert_eq!(judge("https://u@as.example/", Reach::Public), Err(Rule::User));
        for text in ["javascript:alert(1)", "file:///etc/passwd", "data:,x", "ftp://h/"] {
            assert!(judge(text, Reach::Loopback).is_err(), "{text}");
        }
        let named = FetchPolicy::default().with_allowed_host("LOCALHOST");
        assert!(named.judge(&url("http://localhost:1/x"), Reach::Public).is_ok());
        assert!(FetchPolicy::strict().judge(&url("http://localhost/"), Reach::Loopback).is_err());
    }

    // Shows: CL-FT-2, SEC-047
    #[test]
    fn nothing_moves_further_inwards_than_where_it_came_from() {
        let policy = FetchPolicy::default();
        let h = url("https://h.example/");
        let judge = |place, reach| policy.judge_place(&h, place, reach);
        assert_eq!(judge(Some(Reach::Public), Reach::Public), Ok(()));
        assert_eq!(judge(Some(Reach::Private), Reach::Public), Err(Rule::Inwards));
        assert_eq!(judge(Some(Reach::Loopback), Reach::Private), Err(Rule::Inwards));
        assert_eq!(judge(Some(Reach::Private), Reach::Loopback), Ok(()));
        assert_eq!(judge(None, Reach::Loopback), Err(Rule::Address));
        let named = FetchPolicy::default().with_allowed_host("h.example");
        assert_eq!(named.judge_place(&h, Some(Reach::Private), Reach::Public), Ok(()));
        assert_eq!(named.judge_place(&h, None, Reach::Public), Err(Rule::Address));
        let strict = FetchPolicy::strict();
        assert_eq!(
            strict.judge_place(&h, Some(Reach::Private), Reach::Loopback),
            Err(Rule::Inwards)
        );
    }

    // Shows: CL-FT-4, SEC-049
    #[test]
    fn a_redirect_never_leaves_https_and_changes_hosts_only_with_it() {
        let judge =
            |from: &str, to: &str| FetchPolicy::judge_redirect(&url(from), &url(to)).is_ok();
        assert!(judge("https://a.example/", "https://b.example/"));
        assert!(judge("http://127.0.0.1:1/", "http://localhost:2/"));
        assert!(!judge("https://a.example/", "http://a.example/"));
        assert!(!judge("https://a.example/", "http://127.0.0.1/"));
        assert!(!judge("http://127.0.0.1:1/", "http://b.example/"));
        assert!(!judge("https://a.example/", "file:///etc/passwd"));
    }
}
