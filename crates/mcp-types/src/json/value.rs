use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::value::RawValue;

/// One JSON value, kept as the text it came in.
///
/// Nothing is lost in passing through: a number of 30 digits, `1e400` and the order of
/// members all stay. Reading it into a type is a separate step, [`to`](Self::to).
///
/// Two values are equal when their texts are, white space between tokens aside: `1` and
/// `1.0` differ, and so do objects with members in another order.
///
/// ```
/// use mcp_types::JsonValue;
///
/// let value: JsonValue = serde_json::from_str("123456789012345678901234567890")?;
/// assert_eq!(serde_json::to_string(&value)?, "123456789012345678901234567890");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct JsonValue(Box<RawValue>);

impl JsonValue {
    /// The JSON `null`.
    #[must_use]
    pub fn null() -> Self {
        Self(RawValue::NULL.to_owned())
    }

    /// Writes `value` as JSON.
    ///
    /// # Errors
    ///
    /// When `value` can't be written as JSON, for example a map whose keys aren't texts.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// Takes `json` as it is.
    ///
    /// # Errors
    ///
    /// When `json` isn't exactly one JSON value.
    pub fn from_json(json: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(json.into()).map(Self)
    }

    /// Reads the value as a `T`.
    ///
    /// # Errors
    ///
    /// When the value isn't one.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0.get())
    }

    /// The JSON text.
    #[must_use]
    pub fn as_raw(&self) -> &str {
        self.0.get()
    }

    /// The JSON text, as serde_json's own type.
    #[must_use]
    pub fn as_raw_value(&self) -> &RawValue {
        &self.0
    }

    /// The text of a JSON string; none for a value of another kind.
    #[must_use]
    pub fn as_str(&self) -> Option<std::borrow::Cow<'_, str>> {
        let raw = self.0.get();
        let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
        if inner.contains('\\') {
            serde_json::from_str(raw).ok().map(std::borrow::Cow::Owned)
        } else {
            Some(std::borrow::Cow::Borrowed(inner))
        }
    }

    /// One member of a JSON object; none if there is none, or the value is no object.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Self> {
        if !self.is_object() {
            return None;
        }
        self.to::<super::JsonObject>().ok()?.remove(name)
    }

    /// Whether this is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.0.get().starts_with('{')
    }

    /// Whether this is a list.
    #[must_use]
    pub fn is_array(&self) -> bool {
        self.0.get().starts_with('[')
    }

    /// Whether this is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.0.get() == "null"
    }
}

impl PartialEq for JsonValue {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.as_raw(), other.as_raw());
        a == b || tokens(a).eq(tokens(b))
    }
}

/// The bytes of a JSON text without the white space between tokens.
fn tokens(json: &str) -> impl Iterator<Item = u8> {
    let (mut inside, mut escaped) = (false, false);
    json.bytes().filter(move |&byte| {
        if inside {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => inside = false,
                _ => {}
            }
            return true;
        }
        inside = byte == b'"';
        !matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
    })
}

impl fmt::Debug for JsonValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_raw())
    }
}

impl fmt::Display for JsonValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_raw())
    }
}

impl From<Box<RawValue>> for JsonValue {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

impl From<JsonValue> for Box<RawValue> {
    fn from(value: JsonValue) -> Self {
        value.0
    }
}

impl From<serde_json::Value> for JsonValue {
    fn from(value: serde_json::Value) -> Self {
        // A tree of JSON values has a text, always.
        RawValue::from_string(value.to_string()).map_or_else(|_| Self::null(), Self)
    }
}

impl From<&str> for JsonValue {
    /// The JSON string that holds `text`.
    fn from(text: &str) -> Self {
        Self::from(serde_json::Value::from(text))
    }
}

impl From<bool> for JsonValue {
    fn from(value: bool) -> Self {
        Self(if value { RawValue::TRUE } else { RawValue::FALSE }.to_owned())
    }
}

impl From<i64> for JsonValue {
    fn from(value: i64) -> Self {
        Self::from(serde_json::Value::from(value))
    }
}

impl Serialize for JsonValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for JsonValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> JsonValue {
        JsonValue::from_json(json).unwrap()
    }

    #[test]
    fn numbers_keep_every_digit() {
        for json in ["123456789012345678901234567890", "1e400", "1.0", "-0", "0.10"] {
            let read: JsonValue = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), json);
        }
    }

    #[test]
    fn white_space_makes_no_difference_and_all_else_does() {
        assert_eq!(value("{ \"a\" : [1,\n2] }"), value(r#"{"a":[1,2]}"#));
        assert_ne!(value(r#"{"a":"x y"}"#), value(r#"{"a":"xy"}"#));
        assert_eq!(value(r#" "\" " "#), value(r#""\" ""#));
        assert_ne!(value("1"), value("1.0"));
    }

    #[test]
    fn a_text_is_borrowed_when_it_has_no_escapes() {
        assert!(matches!(value("\"a\"").as_str(), Some(std::borrow::Cow::Borrowed("a"))));
        assert_eq!(value(r#""a\n""#).as_str().as_deref(), Some("a\n"));
        assert_eq!(value("7").as_str(), None);
    }

    #[test]
    fn it_can_be_taken_from_a_tree_and_back() {
        let tree = serde_json::json!({"a": [null, true, 1.5]});
        let value: JsonValue = serde_json::from_value(tree.clone()).unwrap();
        assert_eq!(serde_json::to_value(&value).unwrap(), tree);
        assert_eq!(value.get("a"), Some(JsonValue::from_json("[null,true,1.5]").unwrap()));
    }
}
