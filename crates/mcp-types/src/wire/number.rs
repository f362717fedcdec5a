//! Numbers: an integer may be written `1.0` or `1e0`, and a whole `f64` is written as one.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Unexpected, Visitor},
};

/// An integer of at least zero.
pub(crate) struct Int(pub(crate) u64);

/// A number.
pub(crate) struct Num(pub(crate) f64);

/// The largest integer below which every integer is an `f64`: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl<'de> Deserialize<'de> for Int {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IntVisitor;

        impl Visitor<'_> for IntVisitor {
            type Value = Int;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer of at least 0")
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Int, E> {
                Ok(Int(value))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Int, E> {
                u64::try_from(value)
                    .map(Int)
                    .map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
            }

            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole, and between 0 and 2^53"
            )]
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Int, E> {
                if value.fract() == 0.0 && (0.0..=EXACT).contains(&value) {
                    Ok(Int(value as u64))
                } else {
                    Err(E::invalid_value(Unexpected::Float(value), &self))
                }
            }
        }

        deserializer.deserialize_u64(IntVisitor)
    }
}

impl<'de> Deserialize<'de> for Num {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Num)
    }
}

impl Serialize for Num {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and within ±2^53")]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.0;
        if !value.is_finite() {
            // JSON has no such number, and `null` would be another value.
            return Err(serde::ser::Error::custom("JSON has no number that isn't finite"));
        }
        if value.fract() == 0.0 && value.abs() <= EXACT {
            serializer.serialize_i64(value as i64)
        } else {
            serializer.serialize_f64(value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_may_be_written_with_a_point_or_an_exponent() {
        for (text, value) in [("7", 7), ("7.0", 7), ("7e0", 7), ("1E2", 100), ("0", 0)] {
            assert_eq!(serde_json::from_str::<Int>(text).unwrap().0, value, "{text}");
        }
        for text in ["-1", "7.5", "1e300", "\"7\"", "null", "18446744073709551616"] {
            assert!(serde_json::from_str::<Int>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_whole_number_is_written_without_a_point() {
        for (value, text) in [(1.0, "1"), (0.5, "0.5"), (-3.0, "-3"), (1e20, "1e+20")] {
            assert_eq!(serde_json::to_string(&Num(value)).unwrap(), text);
        }
        assert!(serde_json::to_string(&Num(f64::NAN)).is_err());
    }
}
