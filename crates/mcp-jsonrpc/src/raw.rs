use std::fmt;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::Error as _;

use crate::json::Scanner;

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

    /// The members of an object, in their order, as they stand in the text. Of any other value:
    /// none.
    ///
    /// Nothing is parsed, unescaped or copied, so this is the road for who looks for a few plain
    /// members of small objects. Who meets anything else, such as a key with escapes, parses
    /// the value.
    ///
    /// ```
    /// use mcp_jsonrpc::RawJson;
    ///
    /// let raw = RawJson::new(r#"{"name": "add", "arguments": {"a": [1]}}"#)?;
    /// let mut members = raw.members();
    /// let name = members.next().map(|member| (member.key(), member.value()));
    /// assert_eq!(name, Some((&b"name"[..], &br#""add""#[..])));
    /// let arguments = members.next().map(|member| member.to_raw());
    /// assert_eq!(arguments.as_ref().map(RawJson::as_str), Some(r#"{"a": [1]}"#));
    /// assert!(members.next().is_none());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn members(&self) -> RawMembers<'_> {
        let scanner = Scanner::new(&self.0, usize::MAX);
        RawMembers { whole: self, scanner, at: self.is_object().then_some(1) }
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

/// One member of an object, borrowed from its text.
#[derive(Clone, Copy)]
pub struct RawMember<'a> {
    whole: &'a RawJson,
    key: &'a [u8],
    value: &'a [u8],
}

impl<'a> RawMember<'a> {
    /// What stands between the quotes, escapes and all.
    #[must_use]
    pub const fn key(&self) -> &'a [u8] {
        self.key
    }

    /// The text of the value.
    #[must_use]
    pub const fn value(&self) -> &'a [u8] {
        self.value
    }

    /// The value, sharing the memory of the object.
    #[must_use]
    pub fn to_raw(&self) -> RawJson {
        RawJson(self.whole.0.slice_ref(self.value))
    }
}

impl fmt::Debug for RawMember<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawMember")
            .field("key", &String::from_utf8_lossy(self.key))
            .field("value", &self.to_raw())
            .finish()
    }
}

/// Walks over the members of an object: what [`RawJson::members`] answers with.
pub struct RawMembers<'a> {
    whole: &'a RawJson,
    scanner: Scanner<'a>,
    /// Where the next member begins, or the object ends.
    at: Option<usize>,
}

impl<'a> Iterator for RawMembers<'a> {
    type Item = RawMember<'a>;

    #[inline]
    fn next(&mut self) -> Option<RawMember<'a>> {
        // The text was found to be JSON, so that nothing here fails.
        let (mut at, next) = self.scanner.peek(self.at.take()?);
        match next? {
            b'}' => return None,
            b',' => at += 1,
            _ => {}
        }
        let (colon, key) = self.scanner.key(self.scanner.peek(at).0).ok()?;
        let (end, value) = self.scanner.value(colon, 0).ok()?;
        self.at = Some(end);
        Some(RawMember { whole: self.whole, key, value })
    }
}

impl fmt::Debug for RawMembers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawMembers").field("at", &self.at).finish_non_exhaustive()
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
    fn members_come_as_they_stand() {
        let members = |json: &'static str| -> Vec<(String, String)> {
            let raw = RawJson::new(json).unwrap();
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            raw.members().map(|member| (text(member.key()), text(member.value()))).collect()
        };
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(
            members("{ \"a\" : -1.5e3 ,\n\"a\":[ {\"b\":\"}\"} ] , \"\\u00e9\": null}"),
            [pair("a", "-1.5e3"), pair("a", "[ {\"b\":\"}\"} ]"), pair("\\u00e9", "null")]
        );
        for json in ["{}", "{ }", "[{\"a\":1}]", "\"{\"", "7"] {
            assert_eq!(members(json), [], "{json}");
        }
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(126), "]".repeat(126));
        let raw = RawJson::new(deep).unwrap();
        assert_eq!(
            raw.members().map(|member| member.to_raw().as_bytes().len()).collect::<Vec<_>>(),
            [253]
        );
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
