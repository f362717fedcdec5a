//! JSON from strangers: lenient members, and one strict reading.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

pub(crate) type Object = Map<String, Value>;

/// Reads an object; duplicate members and depth are serde's business.
pub(crate) fn object(bytes: &[u8]) -> Option<Object> {
    // A byte order mark is common enough in files that people serve.
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => Some(object),
        Ok(_) | Err(_) => None,
    }
}

/// Reads an object in which no object has a member twice: two readers must not see two things.
pub(crate) fn strict_object(bytes: &[u8]) -> Option<Object> {
    match serde_json::from_slice::<Strict>(bytes) {
        Ok(Strict(Value::Object(object))) => Some(object),
        Ok(_) | Err(_) => None,
    }
}

/// The text of a member; an empty one is absent.
pub(crate) fn text<'o>(object: &'o Object, name: &str) -> Option<&'o str> {
    object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// The texts of a member that is a list; what is no text is left out. `None` without a list.
pub(crate) fn texts(object: &Object, name: &str) -> Option<Vec<String>> {
    let list = object.get(name)?.as_array()?;
    Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

/// Whether a member is `true`.
pub(crate) fn flag(object: &Object, name: &str) -> bool {
    object.get(name) == Some(&Value::Bool(true))
}

/// A value whose objects have no member twice.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without duplicate members")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, Strict(value))) = members.next_entry::<String, Strict>()? {
            if object.insert(name, value).is_some() {
                return Err(A::Error::custom("duplicate member"));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: RS-JW-4
    #[test]
    fn a_strict_object_has_no_member_twice_at_any_depth() {
        assert!(strict_object(br#"{"a":{"b":[1,-2,3.5,null,true,"x"]}}"#).is_some());
        assert!(strict_object(br#"{"a":1,"a":1}"#).is_none());
        assert!(strict_object(br#"{"a":[{"b":1,"b":2}]}"#).is_none());
        assert!(strict_object(br#"["a"]"#).is_none());
    }

    #[test]
    fn empty_texts_and_wrong_types_are_absent() {
        let object = object(br#"{"a":"","b":1,"c":["x",2],"d":"y","e":"true"}"#).unwrap();
        assert_eq!((text(&object, "a"), text(&object, "b")), (None, None));
        assert_eq!(text(&object, "d"), Some("y"));
        assert_eq!(texts(&object, "c"), Some(vec!["x".to_owned()]));
        assert_eq!(texts(&object, "d"), None);
        assert!(!flag(&object, "e"));
    }
}
