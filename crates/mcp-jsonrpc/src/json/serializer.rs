use std::fmt::{self, Display};

use serde::Serialize;
use serde::ser::{
    Error as _, Impossible, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Error;

use super::key::Key;
use super::write::{write_escaped, write_int, write_str, write_uint};

/// The name under which `serde_json` hands JSON text through serde, in both directions.
pub(crate) const RAW_TOKEN: &str = "$serde_json::private::RawValue";

/// The same for numbers, once somebody in the build has turned `arbitrary_precision` on.
const NUMBER_TOKEN: &str = "$serde_json::private::Number";

/// Writes compact JSON. [`Key`] does it for the keys of maps.
pub(super) struct Json<'a>(pub(super) &'a mut Vec<u8>);

impl<'a> Json<'a> {
    fn small(self, n: impl Into<i64>) -> Result<(), Error> {
        write_int(self.0, n.into());
        Ok(())
    }

    fn display(self, value: impl Display) -> Result<(), Error> {
        use std::io::Write as _;
        write!(self.0, "{value}").map_err(Error::io)
    }

    fn open(self, open: u8, close: &'static [u8]) -> Compound<'a> {
        self.0.push(open);
        Compound { out: self.0, first: true, close }
    }

    /// Opens the object around the content of an enum's variant.
    fn variant(&mut self, variant: &str) {
        self.0.push(b'{');
        write_str(self.0, variant);
        self.0.push(b':');
    }
}

impl<'a> Serializer for Json<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'a>;
    type SerializeTuple = Compound<'a>;
    type SerializeTupleStruct = Compound<'a>;
    type SerializeTupleVariant = Compound<'a>;
    type SerializeMap = Compound<'a>;
    type SerializeStruct = Fields<'a>;
    type SerializeStructVariant = Compound<'a>;

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.0.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), Error> {
        self.small(value)
    }

    fn serialize_i16(self, value: i16) -> Result<(), Error> {
        self.small(value)
    }

    fn serialize_i32(self, value: i32) -> Result<(), Error> {
        self.small(value)
    }

    fn serialize_i64(self, value: i64) -> Result<(), Error> {
        self.small(value)
    }

    fn serialize_i128(self, value: i128) -> Result<(), Error> {
        self.display(value)
    }

    fn serialize_u8(self, value: u8) -> Result<(), Error> {
        self.small(value)
    }

    fn serialize_u16(self, value: u16) -> Result<(), Error> {
        self.small(value)
    }

    fn serialize_u32(self, value: u32) -> Result<(), Error> {
        self.small(value)
    }

    fn serialize_u64(self, value: u64) -> Result<(), Error> {
        write_uint(self.0, value);
        Ok(())
    }

    fn serialize_u128(self, value: u128) -> Result<(), Error> {
        self.display(value)
    }

    // Which digits a float needs is a craft of its own.
    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        serde_json::to_writer(self.0, &value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        serde_json::to_writer(self.0, &value)
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), Error> {
        write_str(self.0, value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        let mut array = self.open(b'[', b"]");
        for byte in value {
            array.element(byte)?;
        }
        array.close()
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
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

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.variant(variant);
        value.serialize(Json(&mut *self.0))?;
        self.0.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'a>, Error> {
        Ok(self.open(b'[', b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'a>, Error> {
        Ok(self.open(b'[', b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'a>, Error> {
        Ok(self.open(b'[', b"]"))
    }

    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'a>, Error> {
        self.variant(variant);
        Ok(self.open(b'[', b"]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'a>, Error> {
        Ok(self.open(b'{', b"}"))
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Fields<'a>, Error> {
        if name == RAW_TOKEN || name == NUMBER_TOKEN {
            return Ok(Fields::Verbatim { out: self.0, token: name });
        }
        Ok(Fields::Object(self.open(b'{', b"}")))
    }

    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'a>, Error> {
        self.variant(variant);
        Ok(self.open(b'{', b"}}"))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        struct Escaping<'a>(&'a mut Vec<u8>);
        impl fmt::Write for Escaping<'_> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                write_escaped(self.0, text);
                Ok(())
            }
        }
        self.0.push(b'"');
        fmt::write(&mut Escaping(self.0), format_args!("{value}")).map_err(Error::custom)?;
        self.0.push(b'"');
        Ok(())
    }
}

/// An array or an object that is being written.
pub(super) struct Compound<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
    close: &'static [u8],
}

impl Compound<'_> {
    #[inline]
    fn comma(&mut self) {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.comma();
        value.serialize(Json(self.out))
    }

    #[inline]
    fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Error> {
        self.comma();
        write_str(self.out, key);
        self.out.push(b':');
        value.serialize(Json(self.out))
    }

    fn close(self) -> Result<(), Error> {
        self.out.extend_from_slice(self.close);
        Ok(())
    }
}

impl SerializeSeq for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl SerializeTuple for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl SerializeTupleStruct for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl SerializeTupleVariant for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.comma();
        key.serialize(Key(self.out))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.out.push(b':');
        value.serialize(Json(self.out))
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl SerializeStructVariant for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.field(key, value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

/// The fields of a struct; or JSON text that pretends to be one.
pub(super) enum Fields<'a> {
    Object(Compound<'a>),
    Verbatim { out: &'a mut Vec<u8>, token: &'static str },
}

impl SerializeStruct for Fields<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        match self {
            Self::Object(object) => object.field(key, value),
            Self::Verbatim { out, token } if key == *token => value.serialize(Verbatim(out)),
            Self::Verbatim { .. } => Err(no_text()),
        }
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        match self {
            Self::Object(object) => object.close(),
            Self::Verbatim { .. } => Ok(()),
        }
    }
}

fn no_text() -> Error {
    Error::custom("raw JSON is a text")
}

/// Takes a text, and writes it as it is.
struct Verbatim<'a>(&'a mut Vec<u8>);

/// Methods of a serializer that answer with the same error.
macro_rules! refuse {
    ($error:expr; $($method:ident($($type:ty),*)),* $(,)?) => {
        $(fn $method(self, $(_: $type),*) -> Result<(), serde_json::Error> {
            Err($error)
        })*
    };
}

/// The rest of a serializer that takes nothing but single values.
macro_rules! refuse_compounds {
    ($error:expr) => {
        type Ok = ();
        type Error = serde_json::Error;
        type SerializeSeq = Impossible<(), serde_json::Error>;
        type SerializeTuple = Impossible<(), serde_json::Error>;
        type SerializeTupleStruct = Impossible<(), serde_json::Error>;
        type SerializeTupleVariant = Impossible<(), serde_json::Error>;
        type SerializeMap = Impossible<(), serde_json::Error>;
        type SerializeStruct = Impossible<(), serde_json::Error>;
        type SerializeStructVariant = Impossible<(), serde_json::Error>;

        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<(), serde_json::Error> {
            Err($error)
        }

        fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Self::Error> {
            Err($error)
        }

        fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Self::Error> {
            Err($error)
        }

        fn serialize_tuple_struct(
            self,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleStruct, Self::Error> {
            Err($error)
        }

        fn serialize_tuple_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleVariant, Self::Error> {
            Err($error)
        }

        fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Self::Error> {
            Err($error)
        }

        fn serialize_struct(
            self,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeStruct, Self::Error> {
            Err($error)
        }

        fn serialize_struct_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeStructVariant, Self::Error> {
            Err($error)
        }
    };
}
pub(super) use {refuse, refuse_compounds};

impl Serializer for Verbatim<'_> {
    refuse_compounds!(no_text());

    refuse! { no_text();
        serialize_bool(bool),
        serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64),
        serialize_f32(f32), serialize_f64(f64),
        serialize_char(char), serialize_bytes(&[u8]),
        serialize_none(), serialize_unit(), serialize_unit_struct(&'static str),
        serialize_unit_variant(&'static str, u32, &'static str),
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        self.0.extend_from_slice(value.as_bytes());
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<(), Error> {
        Err(no_text())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: &T,
    ) -> Result<(), Error> {
        Err(no_text())
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        Json(self.0).display(value)
    }
}
