use std::fmt::Display;

use serde::Serialize;
use serde::ser::{Error as _, Impossible, Serializer};
use serde_json::Error;

use super::serializer::{Json, refuse, refuse_compounds};

/// Writes the key of a map: a text, or what has only one reasonable text.
pub(super) struct Key<'a>(pub(super) &'a mut Vec<u8>);

impl Key<'_> {
    fn quoted<T: Serialize>(self, value: T) -> Result<(), Error> {
        self.0.push(b'"');
        value.serialize(Json(&mut *self.0))?;
        self.0.push(b'"');
        Ok(())
    }
}

fn no_text() -> Error {
    Error::custom("key must be a string")
}

/// Methods that write the value between quotes.
macro_rules! quoted {
    ($($method:ident($type:ty)),* $(,)?) => {
        $(fn $method(self, value: $type) -> Result<(), Error> {
            self.quoted(value)
        })*
    };
}

impl Serializer for Key<'_> {
    refuse_compounds!(no_text());

    refuse! { no_text();
        serialize_bytes(&[u8]),
        serialize_none(), serialize_unit(), serialize_unit_struct(&'static str),
    }

    quoted! {
        serialize_bool(bool),
        serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64),
        serialize_i128(i128),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64),
        serialize_u128(u128),
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        if value.is_finite() { self.quoted(value) } else { Err(not_finite()) }
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        if value.is_finite() { self.quoted(value) } else { Err(not_finite()) }
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        Json(self.0).serialize_char(value)
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), Error> {
        Json(self.0).serialize_str(value)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        Json(self.0).collect_str(value)
    }
}

fn not_finite() -> Error {
    Error::custom("float key must be finite (got NaN or +/-inf)")
}
