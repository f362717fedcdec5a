use std::fmt;

use bytes::Bytes;
use serde::Deserialize;

/// The text of one JSON value, as it stood in a frame.
///
/// Cheap to clone: it shares the frame's memory. What a [`Message`](crate::Message) carries
/// stays in this form until somebody who has the type asks for it, so a proxy passes on what
/// it has never heard of, byte for byte.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson(Bytes);

impl RawJson {
    /// Checks that `json` is exactly one JSON value, and keeps it.
    ///
    /// # Errors
    ///
    /// The parser's error when it isn't.
    pub fn new(json: impl Into<Bytes>) -> Result<Self, serde_json::Error> {
        let json = json.into();
        serde_json::from_slice::<serde::de::IgnoredAny>(&json)?;
        Ok(Self(json))
    }

    /// The JSON text of `value`.
    ///
    /// # Errors
    ///
    /// When `value` can't be written as JSON, for example a map whose keys aren't texts.
    pub fn from_serialize<T: serde::Serialize + ?Sized>(
        value: &T,
    ) -> Result<Self, serde_json::Error> {
        serde_json::to_vec(value).map(|json| Self(json.into()))
    }

    /// For bytes that the scanner, or serde_json, has been over.
    pub(crate) fn trusted(json: Bytes) -> Self {
        Self(json)
    }

    /// Parses the value.
    ///
    /// # Errors
    ///
    /// When the value isn't a `T`.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.0)
    }

    /// A part of this value that a borrowing parse has found, sharing this value's memory
    /// where it lies inside of it.
    #[must_use]
    pub fn part(&self, part: &serde_json::value::RawValue) -> Self {
        let part = part.get().as_bytes();
        let (outer, inner) = (self.0.as_ptr_range(), part.as_ptr_range());
        if outer.start <= inner.start && inner.end <= outer.end {
            Self(self.0.slice_ref(part))
        } else {
            Self(Bytes::copy_from_slice(part))
        }
    }

    /// The text.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, as a `str`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // JSON that was read is UTF-8: every road into this type has checked it.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The text, sharing this value's memory.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.0
    }

    /// Whether the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.0.first() == Some(&b'{')
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name of a method, as it stood in a frame.
///
/// Cheap to clone, cheap to compare with a `str`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Bytes);

impl Name {
    /// A name known when the program is built.
    #[must_use]
    pub const fn from_static(name: &'static str) -> Self {
        Self(Bytes::from_static(name.as_bytes()))
    }

    pub(crate) fn trusted(name: Bytes) -> Self {
        Self(name)
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Every road into this type has checked it.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl From<&str> for Name {
    fn from(name: &str) -> Self {
        Self(Bytes::copy_from_slice(name.as_bytes()))
    }
}

impl From<String> for Name {
    fn from(name: String) -> Self {
        Self(name.into())
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
