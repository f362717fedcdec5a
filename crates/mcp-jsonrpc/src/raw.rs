use std::fmt;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::Error as _;

/// The text of one JSON value, as it stood in a frame.
///
/// Cheap to clone: it shares the frame's memory. What a [`Message`](crate::Message) carries
/// stays in this form until somebody who has the type asks for it, so a proxy passes on what
/// it has never heard of, byte for byte.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson(Bytes);

impl RawJson {
    /// Checks that `json` is exactly one JSON value, and keeps it, without the whitespace around
    /// it.
    ///
    /// # Errors
    ///
    /// The parser's error when it isn't.
    pub fn new(json: impl Into<Bytes>) -> Result<Self, serde_json::Error> {
        let json = json.into();
        // Skipping a value doesn't look at what strings are made of.
        std::str::from_utf8(&json).map_err(serde_json::Error::custom)?;
        serde_json::from_slice::<serde::de::IgnoredAny>(&json)?;
        Ok(Self(json.slice_ref(json.trim_ascii())))
    }

    /// The JSON text of `value`.
    ///
    /// # Errors
    ///
    /// When `value` can't be written as JSON, for example a map whose keys aren't texts.
    pub fn from_serialize<T: serde::Serialize + ?Sized>(
        value: &T,
    ) -> Result<Self, serde_json::Error> {
        crate::to_vec(value).map(|json| Self(json.into()))
    }

    /// For a value that the scanner has been over.
    pub(crate) const fn trusted(json: Bytes) -> Self {
        Self(json)
    }

    /// Parses the value.
    ///
    /// # Errors
    ///
    /// When the value isn't a `T`.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        // Checked as a whole: of bytes, the parser would check text by text.
        match std::str::from_utf8(&self.0) {
            Ok(json) => serde_json::from_str(json),
            Err(error) => Err(serde_json::Error::custom(error)),
        }
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

    /// The text, as a `str`. Checks its encoding once more, so it isn't for the road of every
    /// message.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_value_is_kept_without_the_space_around_it() {
        for (json, kept) in [(" {\"a\": 1}\n", "{\"a\": 1}"), ("1", "1"), ("\t\"é\" ", "\"é\"")] {
            let raw = RawJson::new(json).unwrap();
            assert_eq!(raw.as_str(), kept);
            assert_eq!(raw.is_object(), kept.starts_with('{'));
        }
        for json in [&b""[..], b" ", b"1 1", b"{", b"\"\xff\"", b"\"\n\"", b"\xef\xbb\xbf1"] {
            assert!(RawJson::new(Bytes::from_static(json)).is_err(), "{json:?}");
        }
    }

    #[test]
    fn a_part_shares_memory_where_it_can() {
        let raw = RawJson::new(r#"{"a":[1]}"#).unwrap();
        let parts: std::collections::HashMap<&str, &serde_json::value::RawValue> =
            raw.parse().unwrap();
        let part = raw.part(parts["a"]);
        assert_eq!(part.as_str(), "[1]");
        assert!(raw.as_bytes().as_ptr_range().contains(&part.as_bytes().as_ptr()));
        let other = serde_json::value::RawValue::from_string("2".into()).unwrap();
        assert_eq!(raw.part(&other).as_str(), "2");
    }
}
