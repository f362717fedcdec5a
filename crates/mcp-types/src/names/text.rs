use std::{borrow::Borrow, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Makes a newtype of a text that is passed on as it is.
macro_rules! text {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Takes any text.
            #[must_use]
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The text.
            #[must_use]
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self)
            }
        }
    };
}
pub(super) use text;

/// Prints the text, quoted.
macro_rules! shown {
    ($($name:ident)*) => { $(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    )* };
}
pub(super) use shown;

/// Prints the length only: the holder of an opaque value has no business inside of it.
macro_rules! opaque {
    ($($name:ident)*) => { $(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({} bytes)", stringify!($name), self.0.len())
            }
        }
    )* };
}

text! {
    /// The URI of a resource or a root.
    ///
    /// Any text is read and passed on byte for byte: servers use schemes and forms of their
    /// own, and a URI that was normalized is no longer the one its server knows.
    ///
    /// Specification: [resources](https://modelcontextprotocol.io/specification/2025-11-25/server/resources#common-uri-schemes).
    ResourceUri
}

text! {
    /// A URI template (RFC 6570). Only its text is held here; matching and expanding are not
    /// this crate's concern.
    ///
    /// Specification: [resource templates](https://modelcontextprotocol.io/specification/2025-11-25/server/resources#resource-templates).
    UriTemplate
}

text! {
    /// Where the next page of a list starts.
    ///
    /// Opaque to a client: it is sent back as it came, never parsed, changed or kept for
    /// another session. The empty text is a cursor, too.
    ///
    /// Specification: [pagination](https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination).
    Cursor
}

text! {
    /// Names one task of the receiver. Whoever knows it may be able to read the task's
    /// result, so it has to be hard to guess and does not belong in a log.
    ///
    /// Specification: [tasks](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks).
    TaskId
}

text! {
    /// Names one URL elicitation, so that its completion can be told.
    ///
    /// Specification: [elicitation](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation).
    ElicitationId
}

text! {
    /// A moment as an ISO 8601 text, such as `2025-11-25T10:30:00Z`.
    ///
    /// Kept as it came; not parsed here.
    Timestamp
}

shown! { ResourceUri UriTemplate Timestamp ElicitationId }
opaque! { Cursor TaskId }

impl ResourceUri {
    /// The part before the first colon, in the case in which it was written; none if the text
    /// doesn't start with a scheme (RFC 3986, section 3.1).
    #[must_use]
    pub fn scheme(&self) -> Option<&str> {
        scheme(&self.0)
    }

    /// Whether the text could be an absolute URI: it has a scheme, and holds no control
    /// characters and no spaces.
    #[must_use]
    pub fn is_conforming(&self) -> bool {
        self.scheme().is_some() && !self.0.bytes().any(|b| b.is_ascii_control() || b == b' ')
    }
}

/// The scheme of a URI, if it has one.
pub(super) fn scheme(uri: &str) -> Option<&str> {
    let (scheme, _) = uri.split_once(':')?;
    let mut bytes = scheme.bytes();
    let starts = bytes.next().is_some_and(|b| b.is_ascii_alphabetic());
    let goes_on = bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    (starts && goes_on).then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_text_is_a_cursor() {
        let cursor: Cursor = serde_json::from_str("\"\"").unwrap();
        assert_eq!(cursor, "");
        assert_eq!(serde_json::to_string(&cursor).unwrap(), "\"\"");
    }

    #[test]
    fn what_is_opaque_or_secret_is_not_printed() {
        assert_eq!(format!("{:?}", Cursor::new("secret")), "Cursor(6 bytes)");
        assert_eq!(format!("{:?}", TaskId::new("secret")), "TaskId(6 bytes)");
    }

    #[test]
    fn a_uri_keeps_its_form() {
        for text in ["FILE:///A b", "x:y", "no scheme", ""] {
            let json = serde_json::to_string(text).unwrap();
            let uri: ResourceUri = serde_json::from_str(&json).unwrap();
            assert_eq!(serde_json::to_string(&uri).unwrap(), json);
        }
        assert!(ResourceUri::new("x:y").is_conforming());
        assert!(!ResourceUri::new("/x").is_conforming());
        assert!(!ResourceUri::new("1x:y").is_conforming());
        assert!(!ResourceUri::new("x:a b").is_conforming());
    }
}
