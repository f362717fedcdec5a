//! Single members of JSON objects, without a type for the whole.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The raw text of the member `name` of the JSON object `json`; the last one, if there are
/// several. `None` when `json` is no object, or has no such member.
pub(crate) fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let found = deserializer.deserialize_map(Member { name }).ok()?;
    found.map(RawValue::get)
}

/// The texts under `supported`, if that is a list of texts.
pub(crate) fn supported(json: &str) -> Option<Vec<String>> {
    serde_json::from_str(member(json, "supported")?).ok()
}

/// The text under `uri`.
pub(crate) fn uri(json: &str) -> Option<String> {
    serde_json::from_str(member(json, "uri")?).ok()
}

struct Member<'n> {
    name: &'n str,
}

impl<'de> Visitor<'de> for Member<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(Key(key)) = map.next_key()? {
            if key == self.name {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// A key, borrowed where it holds no escape.
pub(crate) struct Key<'a>(pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;

        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }

        deserializer.deserialize_str(KeyVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_found_wherever_it_stands() {
        let json = r#"{"a":{"task":1},"task":{"ttl": 5},"z":[]}"#;
        assert_eq!(member(json, "task"), Some(r#"{"ttl": 5}"#));
        assert_eq!(member(r#"{"t\u0061sk":null}"#, "task"), Some("null"));
        for json in ["{}", "[]", "\"task\"", "{\"a\":1", ""] {
            assert_eq!(member(json, "task"), None, "{json}");
        }
    }

    #[test]
    fn only_a_list_of_texts_says_what_is_supported() {
        assert_eq!(supported(r#"{"supported":["a","b"]}"#), Some(vec!["a".into(), "b".into()]));
        for json in [r#"{"supported":"a"}"#, r#"{"supported":[1]}"#, r#"{"s":[]}"#, "null"] {
            assert_eq!(supported(json), None, "{json}");
        }
    }
}
