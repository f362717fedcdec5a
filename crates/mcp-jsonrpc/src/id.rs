use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// Names one request, so that its response can be told from all others.
///
/// An id is an integer or a text, never null. Two ids are the same only when both kind and
/// value agree: `1` and `"1"` are different ids. An integer written as `1.0` or `1e0` is that
/// integer. Integers of up to 38 digits are kept exactly.
///
/// Specification: [Requests](https://modelcontextprotocol.io/specification/2025-11-25/basic#requests).
#[derive(Clone)]
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
    /// [`InvalidId`] when the value is neither a text nor an integer of up to 38 digits.
    pub fn from_json(json: &[u8]) -> Result<Self, InvalidId> {
        match json.first() {
            Some(b'"') => {
                serde_json::from_slice::<String>(json).map(Self::from).map_err(|_| InvalidId(()))
            }
            Some(b'-' | b'0'..=b'9') => integer(json).map(Self::from).ok_or(InvalidId(())),
            _ => Err(InvalidId(())),
        }
    }

    /// Appends the JSON text of this id.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Repr::Int(n) => write_int(out, *n),
            Repr::Wide(n) => out.extend_from_slice(n.to_string().as_bytes()),
            Repr::Text(text) => crate::write::write_str(out, text),
        }
    }
}

/// Decimal digits without the formatting machinery: ids are written for every message.
fn write_int(out: &mut Vec<u8>, n: i64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = n.unsigned_abs();
    loop {
        at -= 1;
        if let Some(digit) = digits.get_mut(at) {
            *digit = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        }
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if n < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(digits.get(at..).unwrap_or_default());
}

/// The integer that a JSON number stands for, if it is one.
fn integer(number: &[u8]) -> Option<i128> {
    let (negative, number) = match number.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, number),
    };
    let (mantissa, exponent) = match number.iter().position(|b| matches!(b, b'e' | b'E')) {
        Some(at) => (number.get(..at)?, std::str::from_utf8(number.get(at + 1..)?).ok()?),
        None => (number, "0"),
    };
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = match mantissa.iter().position(|b| *b == b'.') {
        Some(at) => (mantissa.get(..at)?, mantissa.get(at + 1..)?),
        None => (mantissa, &[][..]),
    };
    if whole.is_empty() {
        return None;
    }
    // The digits, with the point moved `exponent` places to the right.
    let point = i64::try_from(whole.len()).ok()? + i64::from(exponent);
    let mut value: i128 = 0;
    let mut seen = 0i64;
    for byte in whole.iter().chain(fraction) {
        let digit = byte.checked_sub(b'0').filter(|d| *d < 10)?;
        seen += 1;
        if seen <= point {
            value = value.checked_mul(10)?.checked_add(i128::from(digit))?;
        } else if digit != 0 {
            return None;
        }
    }
    for _ in seen..point.min(seen + 40) {
        value = value.checked_mul(10)?;
    }
    if point > seen + 40 && value != 0 {
        return None;
    }
    if value >= 10i128.pow(38) {
        return None;
    }
    Some(if negative { -value } else { value })
}

/// A JSON value that can't be the id of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id is a text or an integer of up to 38 digits")]
pub struct InvalidId(());

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for RequestId {}

impl Hash for RequestId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl PartialOrd for RequestId {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RequestId {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

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
        // By way of the text: a number's other road, `f64`, would change long ones.
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_json(raw.get().as_bytes()).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            assert_eq!(RequestId::from_json(text.as_bytes()), Ok(RequestId::from(value)), "{text}");
        }
    }

    #[test]
    fn what_is_no_integer_is_no_id() {
        for text in [
            "1.5",
            "1e-1",
            "1e400",
            "null",
            "true",
            "[]",
            "{}",
            "",
            "99999999999999999999999999999999999999999",
        ] {
            assert!(RequestId::from_json(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn kinds_are_not_mixed_up() {
        assert_ne!(RequestId::from(1), RequestId::from("1"));
        assert_eq!(RequestId::from("1").to_string(), "\"1\"");
    }

    #[test]
    fn every_id_is_written_as_it_was_read() {
        for text in [
            "0",
            "-9223372036854775808",
            "9223372036854775807",
            "9223372036854775808",
            "18446744073709551615",
            "12345678901234567890123456789012345678",
            "\"\"",
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
}
