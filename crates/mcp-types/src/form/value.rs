use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::json::JsonValue;

/// A JSON number, kept as the text it came in.
#[derive(Clone, PartialEq)]
pub struct Number(JsonValue);

/// A value that is no JSON number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no JSON number")]
pub struct InvalidNumber(());

impl Number {
    /// The value, if it is an integer of 64 bits. One written as `1.0` counts.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        if let Ok(value) = self.0.as_raw().parse() {
            return Some(value);
        }
        let value = self.as_f64();
        let whole = value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0;
        #[expect(clippy::cast_possible_truncation, reason = "whole, and within ±2^53")]
        whole.then_some(value as i64)
    }

    /// The nearest value of 64 bits; infinite if the number is larger than those.
    #[must_use]
    pub fn as_f64(&self) -> f64 {
        // Every JSON number is one for this parser, too.
        self.0.as_raw().parse().unwrap_or(f64::NAN)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_raw()
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(JsonValue::from(value))
    }
}

impl From<i32> for Number {
    fn from(value: i32) -> Self {
        Self::from(i64::from(value))
    }
}

impl TryFrom<f64> for Number {
    type Error = InvalidNumber;

    fn try_from(value: f64) -> Result<Self, InvalidNumber> {
        if !value.is_finite() {
            return Err(InvalidNumber(()));
        }
        JsonValue::from_serialize(&value).map(Self).map_err(|_| InvalidNumber(()))
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = JsonValue::deserialize(deserializer)?;
        match value.as_raw().as_bytes().first() {
            Some(b'-' | b'0'..=b'9') => Ok(Self(value)),
            _ => Err(D::Error::custom("invalid type: a number was expected")),
        }
    }
}

/// What a person filled in: text, a number, yes or no, or some of several values.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitValue {
    /// Text, or one of some values.
    String(String),
    /// A number.
    Number(Number),
    /// Yes or no.
    Boolean(bool),
    /// Some of several values. Since 2025-11-25.
    Strings(Vec<String>),
}

impl From<&str> for ElicitValue {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for ElicitValue {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for ElicitValue {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<i64> for ElicitValue {
    fn from(value: i64) -> Self {
        Self::Number(value.into())
    }
}

impl From<Number> for ElicitValue {
    fn from(value: Number) -> Self {
        Self::Number(value)
    }
}

impl From<Vec<String>> for ElicitValue {
    fn from(values: Vec<String>) -> Self {
        Self::Strings(values)
    }
}

impl Serialize for ElicitValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::String(text) => text.serialize(serializer),
            Self::Number(number) => number.serialize(serializer),
            Self::Boolean(value) => value.serialize(serializer),
            Self::Strings(values) => values.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ElicitValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // By way of the text: a number's other road, `f64`, would change long ones.
        let value = JsonValue::deserialize(deserializer)?;
        let read = match value.as_raw().as_bytes().first() {
            Some(b'"') => value.to().map(Self::String),
            Some(b'[') => value.to().map(Self::Strings),
            Some(b't' | b'f') => value.to().map(Self::Boolean),
            _ => value.to().map(Self::Number),
        };
        read.map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_digits() {
        for json in ["0", "-1.50", "1e400", "123456789012345678901234567890"] {
            let value: ElicitValue = serde_json::from_str(json).unwrap();
            assert!(matches!(value, ElicitValue::Number(_)));
            assert_eq!(serde_json::to_string(&value).unwrap(), json);
        }
        let number: Number = serde_json::from_str("1.0").unwrap();
        assert_eq!((number.as_i64(), number.as_f64()), (Some(1), 1.0));
        assert_eq!(serde_json::from_str::<Number>("1e400").unwrap().as_i64(), None);
        assert!(Number::try_from(f64::INFINITY).is_err());
        assert!(serde_json::from_str::<Number>("\"1\"").is_err());
    }

    #[test]
    fn an_answer_is_flat() {
        let read = serde_json::from_str::<ElicitValue>;
        assert_eq!(read("\"a\"").unwrap(), "a".into());
        assert_eq!(read("true").unwrap(), true.into());
        assert_eq!(read("[\"a\"]").unwrap(), vec!["a".to_owned()].into());
        for json in ["null", "{}", "[1]", "[[]]"] {
            assert!(read(json).is_err(), "{json}");
        }
    }
}
