use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{Error as _, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::{RAW_TOKEN, Scanner, has_half_pair, unescape, write_int, write_str};

/// Names one request, so that its response can be told from all others.
///
/// An id is an integer or a text, never null. Two ids are the same only when both kind and
/// value agree: `1` and `"1"` are different ids. An integer written as `1.0` or `1e0` is that
/// integer. Integers of up to 128 bits are kept exactly; longer ones are refused, since no
/// number that was rounded could be sent back.
///
/// Specification: [Requests](https://modelcontextprotocol.io/specification/2025-11-25/basic#requests).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(Repr);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Repr {
    Int(i64),
    /// Outside of `i64`; boxed since nobody sends it, and every message carries an id.
    Wide(Box<i128>),
    Text(Arc<str>),
}

impl RequestId {
    /// The integer, when this id is one that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Int(n) => Some(n),
            Repr::Wide(_) | Repr::Text(_) => None,
        }
    }

    /// The text, when this id is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Repr::Text(text) => Some(text),
            Repr::Int(_) | Repr::Wide(_) => None,
        }
    }

    /// Reads an id from the JSON text of one value.
    ///
    /// # Errors
    ///
    /// [`InvalidId`] when this is not the JSON of a text or of an integer of up to 128 bits.
    pub fn from_json(json: &[u8]) -> Result<Self, InvalidId> {
        let mut scanner = Scanner::new(json, 0);
        let (end, value) = scanner.value(0, 0).map_err(|_| InvalidId(()))?;
        scanner.end(end).map_err(|_| InvalidId(()))?;
        if scanner.not_utf8.is_some() {
            return Err(InvalidId(()));
        }
        Self::from_scanned(value)
    }

    /// The same for one value that a scanner has been over.
    pub(crate) fn from_scanned(value: &[u8]) -> Result<Self, InvalidId> {
        if let Some(inside) = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) {
            if !inside.contains(&b'\\') {
                return std::str::from_utf8(inside).map(Self::from).map_err(|_| InvalidId(()));
            }
            // No text can hold half of a pair, so the id could not be sent back.
            return if has_half_pair(inside) {
                Err(InvalidId(()))
            } else {
                Ok(unescape(inside).into())
            };
        }
        match small_integer(value) {
            Some(n) => Ok(n.into()),
            None => integer(value).map(Self::from).ok_or(InvalidId(())),
        }
    }

    /// Appends the JSON text of this id.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Repr::Int(n) => write_int(out, *n),
            Repr::Wide(n) => out.extend_from_slice(n.to_string().as_bytes()),
            Repr::Text(text) => write_str(out, text),
        }
    }
}

/// Nothing but up to 18 digits: what nearly every id is.
fn small_integer(number: &[u8]) -> Option<i64> {
    if number.is_empty() || number.len() > 18 {
        return None;
    }
    number.iter().try_fold(0i64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then(|| value * 10 + i64::from(digit))
    })
}

/// The integer that a JSON number stands for, if it is one.
fn integer(number: &[u8]) -> Option<i128> {
    let (negative, number) = match number.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, number),
    };
    let (mantissa, exponent) = match number.iter().position(|b| matches!(b, b'e' | b'E')) {
        Some(at) => (number.get(..at)?, exponent(number.get(at + 1..)?)?),
        None => (number, 0),
    };
    let (whole, fraction) = match mantissa.iter().position(|b| *b == b'.') {
        Some(at) => (mantissa.get(..at)?, mantissa.get(at + 1..)?),
        None => (mantissa, &[][..]),
    };
    if whole.is_empty() {
        return None;
    }
    // The digits, with the point moved `exponent` places to the right. Nothing may stand behind
    // it but zeros.
    let point = i64::try_from(whole.len()).ok()?.saturating_add(exponent);
    let mut value: i128 = 0;
    let mut seen = 0i64;
    for byte in whole.iter().chain(fraction) {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        seen += 1;
        if seen <= point {
            // Downwards, as there is one more negative integer than there are positive ones.
            value = value.checked_mul(10)?.checked_sub(i128::from(digit))?;
        } else if digit != 0 {
            return None;
        }
    }
    // A value that isn't zero overflows long before this has gone far.
    while value != 0 && seen < point {
        value = value.checked_mul(10)?;
        seen += 1;
    }
    if negative { Some(value) } else { value.checked_neg() }
}

/// An exponent, or one that is as good: nobody writes that many digits.
fn exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.split_first()? {
        (b'-', digits) => (true, digits),
        (b'+', digits) => (false, digits),
        _ => (false, text),
    };
    let size = digits.iter().try_fold(0i64, |size, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        Some(size.saturating_mul(10).saturating_add(digit.into()).min(i64::MAX / 4))
    })?;
    Some(if negative { -size } else { size })
}

/// A JSON value that can't be the id of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id is a text or an integer of up to 128 bits")]
pub struct InvalidId(());

impl From<i64> for RequestId {
    fn from(n: i64) -> Self {
        Self(Repr::Int(n))
    }
}

impl From<i32> for RequestId {
    fn from(n: i32) -> Self {
        Self(Repr::Int(n.into()))
    }
}

impl From<i128> for RequestId {
    fn from(n: i128) -> Self {
        Self(i64::try_from(n).map_or_else(|_| Repr::Wide(Box::new(n)), Repr::Int))
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self(Repr::Text(text.into()))
    }
}

impl From<String> for RequestId {
    fn from(text: String) -> Self {
        Self(Repr::Text(text.into()))
    }
}

/// Prints the id as JSON does, so that `1` and `"1"` differ.
impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Int(n) => write!(f, "{n}"),
            Repr::Wide(n) => write!(f, "{n}"),
            Repr::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Repr::Int(n) => serializer.serialize_i64(*n),
            Repr::Wide(n) => serializer.serialize_i128(**n),
            Repr::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // `serde_json` hands out the text of a number under this name. Its other road, `f64`,
        // would change long ones.
        deserializer.deserialize_newtype_struct(RAW_TOKEN, IdVisitor)
    }
}

struct IdVisitor;

impl<'de> Visitor<'de> for IdVisitor {
    type Value = RequestId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or an integer of up to 128 bits")
    }

    /// The text of a value, from `serde_json`.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RequestId, A::Error> {
        match map.next_key::<Cow<'de, str>>()? {
            Some(key) if key == RAW_TOKEN => {
                RequestId::from_json(map.next_value::<Cow<'de, str>>()?.as_bytes())
                    .map_err(A::Error::custom)
            }
            _ => Err(A::Error::invalid_type(Unexpected::Map, &self)),
        }
    }

    /// The value itself, from whatever has parsed it before.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<RequestId, D::Error> {
        value.deserialize_any(self)
    }

    fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<RequestId, E> {
        Ok(n.into())
    }

    fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<RequestId, E> {
        Ok(i128::from(n).into())
    }

    fn visit_i128<E: serde::de::Error>(self, n: i128) -> Result<RequestId, E> {
        Ok(n.into())
    }

    fn visit_f64<E: serde::de::Error>(self, n: f64) -> Result<RequestId, E> {
        // Whole numbers below 2^53 are exact, and so is their text.
        if n.abs() < 9_007_199_254_740_992.0
            && let Ok(id) = RequestId::from_json(n.to_string().as_bytes())
        {
            return Ok(id);
        }
        Err(E::invalid_value(Unexpected::Float(n), &self))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<RequestId, E> {
        Ok(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: BASE-006
    #[test]
    fn an_integer_written_with_a_point_is_that_integer() {
        for (text, value) in [
            ("1", 1),
            ("1.0", 1),
            ("1e0", 1),
            ("10e-1", 1),
            ("1.50e1", 15),
            ("-7.000", -7),
            ("-0", 0),
            ("0e99999", 0),
            ("0e-99999999999999999999999", 0),
            ("0.000e+99999999999999999999999", 0),
            ("1000000000000000000000e-21", 1),
            (" 1 ", 1),
        ] {
            assert_eq!(RequestId::from_json(text.as_bytes()), Ok(RequestId::from(value)), "{text}");
        }
    }

    // Shows: BASE-006, BASE-007
    #[test]
    fn what_is_no_integer_is_no_id() {
        for text in [
            "1.5",
            "1e-1",
            "1e400",
            "1e99999999999999999999",
            "5e-99999999999999999999",
            "null",
            "true",
            "[]",
            "{}",
            "",
            "170141183460469231731687303715884105728",
            "-170141183460469231731687303715884105729",
            // No JSON in the first place.
            "01",
            "-",
            "1.",
            "1e",
            "+1",
            "1x",
            "--1",
            ".5",
            "\"a",
            "\"a\" 1",
            "\"\n\"",
            // No text can hold half of a pair.
            "\"\\ud834\"",
        ] {
            assert!(RequestId::from_json(text.as_bytes()).is_err(), "{text}");
        }
        assert!(RequestId::from_json(b"\"\xff\"").is_err());
    }

    #[test]
    fn kinds_are_not_mixed_up() {
        assert_ne!(RequestId::from(1), RequestId::from("1"));
        assert_eq!(RequestId::from("1").to_string(), "\"1\"");
    }

    // Shows: BASE-009, FC-011
    #[test]
    fn every_id_is_written_as_it_was_read() {
        for text in [
            "0",
            "-9223372036854775808",
            "9223372036854775807",
            "9223372036854775808",
            "18446744073709551615",
            "170141183460469231731687303715884105727",
            "-170141183460469231731687303715884105728",
            "\"\"",
            "\"1\"",
            "\"007\"",
            "\"1.0\"",
            "\"-3\"",
            "\"null\"",
            "\"a\\nb\"",
            "\"é\"",
        ] {
            let id: RequestId = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&id).unwrap(), text);
            let mut out = Vec::new();
            id.write(&mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[test]
    fn an_id_can_be_read_from_a_value_that_was_parsed_before() {
        for (text, id) in [
            ("7", RequestId::from(7)),
            ("-7", (-7).into()),
            ("7.0", 7.into()),
            ("18446744073709551615", i128::from(u64::MAX).into()),
            ("\"a\"", "a".into()),
        ] {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::from_value::<RequestId>(value.clone()).unwrap(), id);
            // What an untagged enum or a flattened struct does.
            assert_eq!(IdVisitor.visit_newtype_struct(value).unwrap(), id);
        }
        for text in ["1.5", "1e300", "null", "[1]", "{}", "{\"a\":1}"] {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            assert!(IdVisitor.visit_newtype_struct(value).is_err(), "{text}");
        }
    }
}
