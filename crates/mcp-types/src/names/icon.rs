use std::{borrow::Borrow, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text::{scheme, shown, text};

text! {
    /// Where an icon is: an `https:` or `data:` URI.
    ///
    /// Other URIs are read, too, and have to be ignored by who shows icons: they can run
    /// code (`javascript:`), read files (`file:`) or reach into a local network. See
    /// [`is_safe`](Self::is_safe).
    ///
    /// Specification: [icons](https://modelcontextprotocol.io/specification/2025-11-25/basic#icons).
    IconUri
}

shown! { IconUri }

/// A URI that is no place for an icon.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidIconUri {
    /// It is no absolute URI.
    #[error("the URI of an icon starts with a scheme")]
    NoScheme,
    /// Its scheme is neither `https` nor `data`.
    #[error("the scheme of an icon's URI is `https` or `data`, not `{scheme}`")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// An `https:` URI without a host, or with a name and password.
    #[error("the URI of an icon names a host, and no user")]
    Host,
    /// A `data:` URI that isn't an image.
    #[error("a `data:` URI of an icon says that it is an image")]
    NotAnImage,
    /// It holds a control character or a space.
    #[error("the URI of an icon holds no control characters and no spaces")]
    Character,
}

impl IconUri {
    /// Makes a URI that keeps the rules.
    ///
    /// # Errors
    ///
    /// [`InvalidIconUri`] when `uri` doesn't.
    pub fn try_new(uri: impl Into<String>) -> Result<Self, InvalidIconUri> {
        let uri = Self(uri.into());
        uri.check().map(|()| uri)
    }

    /// Whether who shows icons may look at this one, as far as the URI alone can tell: an
    /// `https:` URI with a host, or a `data:` URI of an image.
    #[must_use]
    pub fn is_safe(&self) -> bool {
        self.check().is_ok()
    }

    /// The same as [`is_safe`](Self::is_safe), under the name that all checked values have.
    #[must_use]
    pub fn is_conforming(&self) -> bool {
        self.is_safe()
    }

    /// The `https` origin of the URI, `host` or `host:port` in lower case; none for `data:`
    /// and for URIs that aren't safe.
    ///
    /// An icon SHOULD come from the same origin as its server.
    #[must_use]
    pub fn authority(&self) -> Option<String> {
        self.check().ok()?;
        https_authority(&self.0).map(|authority| {
            let authority = authority.to_ascii_lowercase();
            authority.strip_suffix(":443").map(str::to_owned).unwrap_or(authority)
        })
    }

    fn check(&self) -> Result<(), InvalidIconUri> {
        let scheme = scheme(&self.0).ok_or(InvalidIconUri::NoScheme)?;
        if self.0.bytes().any(|b| b.is_ascii_control() || b == b' ' || b == b'\\') {
            return Err(InvalidIconUri::Character);
        }
        if scheme.eq_ignore_ascii_case("https") {
            return match https_authority(&self.0) {
                Some(host) if !host.is_empty() && !host.starts_with(':') && !host.contains('@') => {
                    Ok(())
                }
                _ => Err(InvalidIconUri::Host),
            };
        }
        if scheme.eq_ignore_ascii_case("data") {
            let rest = self.0.get(scheme.len() + 1..).unwrap_or_default();
            let image = rest.get(..6).is_some_and(|kind| kind.eq_ignore_ascii_case("image/"));
            return if image && rest.contains(',') {
                Ok(())
            } else {
                Err(InvalidIconUri::NotAnImage)
            };
        }
        Err(InvalidIconUri::Scheme { scheme: scheme.to_ascii_lowercase() })
    }
}

/// What stands between `https://` and the path.
fn https_authority(uri: &str) -> Option<&str> {
    let scheme = scheme(uri).filter(|scheme| scheme.eq_ignore_ascii_case("https"))?;
    let rest = uri.get(scheme.len() + 1..)?.strip_prefix("//")?;
    rest.split(['/', '?', '#']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_and_images_in_data_uris_are_safe() {
        for uri in [
            "https://example.com/icon.png",
            "HTTPS://example.com:8443/a?b#c",
            "data:image/png;base64,AAAA",
            "DATA:IMAGE/SVG+XML,%3Csvg/%3E",
        ] {
            assert!(IconUri::try_new(uri).is_ok(), "{uri}");
        }
        for uri in [
            "",
            "icon.png",
            "//example.com/a.png",
            "http://example.com/a.png",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "ftp://example.com/a.png",
            "ws://example.com",
            "https:///a.png",
            "https:a.png",
            "https://user:pw@example.com/a.png",
            "https://exa mple.com/",
            "https://example.com\\@evil.example/",
            "data:text/html,<script>",
            "data:,x",
            "data:image/png",
        ] {
            let read: IconUri = serde_json::from_str(&serde_json::to_string(uri).unwrap()).unwrap();
            assert!(!read.is_safe(), "{uri}");
        }
    }

    #[test]
    fn the_origin_is_compared_in_one_form() {
        let of = |uri: &str| IconUri::new(uri).authority();
        assert_eq!(of("https://Example.com:443/x").as_deref(), Some("example.com"));
        assert_eq!(of("https://example.com:444").as_deref(), Some("example.com:444"));
        assert_eq!(of("data:image/png,x"), None);
    }
}
