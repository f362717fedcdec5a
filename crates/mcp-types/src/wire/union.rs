//! Unions told apart by a tag.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};

use crate::json::{JsonObject, JsonValue};

/// A union whose variants are told apart by one member.
pub(crate) trait Tagged<'de>: Sized {
    /// The member's name.
    const TAG: &'static str;

    /// Reads the members of the variant called `tag`; the tag itself has been read.
    fn variant<A: MapAccess<'de>>(tag: &str, rest: A) -> Result<Self, A::Error>;

    /// Reads a variant from an object that was kept whole, since its tag didn't come first.
    fn from_object(tag: &str, object: JsonObject) -> Result<Self, serde_json::Error>;

    /// What an object without a tag is.
    fn untagged<E: de::Error>(object: JsonObject) -> Result<Self, E> {
        drop(object);
        Err(E::missing_field(Self::TAG))
    }
}

/// Reads a union: streaming when the tag comes first, else keeping the members until it is seen.
pub(crate) struct TagVisitor<T>(pub(crate) &'static str, pub(crate) PhantomData<T>);

impl<'de, T: Tagged<'de>> Visitor<'de> for TagVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut object = JsonObject::new();
        match map.next_key_seed(TagName(T::TAG))? {
            None => return T::untagged(object),
            Some(None) => {
                let tag = map.next_value_seed(TagText)?;
                return T::variant(&tag, map);
            }
            Some(Some(other)) => object.push(other, map.next_value()?),
        }
        while let Some(name) = map.next_key()? {
            object.push(name, map.next_value()?);
        }
        object.check::<A::Error>()?;
        let Some(tag) = object.get(T::TAG).map(JsonValue::as_raw) else {
            return T::untagged(object);
        };
        let mut deserializer = serde_json::Deserializer::from_str(tag);
        let tag = TagText.deserialize(&mut deserializer).map_err(de::Error::custom)?.into_owned();
        T::from_object(&tag, object).map_err(de::Error::custom)
    }
}

/// Reads a member's name: none for the tag.
struct TagName(&'static str);

impl<'de> DeserializeSeed<'de> for TagName {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for TagName {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok((name != self.0).then(|| name.to_owned()))
    }
}

/// Reads a tag, copied only if it holds escapes.
struct TagText;

impl<'de> DeserializeSeed<'de> for TagText {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for TagText {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text that says what the object is")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

/// Gives an enum of structs `Serialize`, `Deserialize` and `From` of each variant.
///
/// `rest Variant` keeps what has another tag, which is refused else; `bare Variant` is what an
/// object without a tag is.
macro_rules! union {
    (
        $union:ident by $tag:literal $(, rest $otherwise:ident)? $(, bare $bare:ident)? {
            $( $value:literal $variant:ident($type:ident) )*
        }
    ) => {
        impl<'de> $crate::wire::Tagged<'de> for $union {
            const TAG: &'static str = $tag;

            fn variant<A: serde::de::MapAccess<'de>>(tag: &str, rest: A) -> Result<Self, A::Error> {
                match tag {
                    $( $value => <$type as $crate::wire::FromMap>::from_map(rest, true)
                        .map(Self::$variant), )*
                    _ => $crate::wire::union!(@rest $tag, tag, rest, [$($value)*], $($otherwise)?),
                }
            }

            fn from_object(
                tag: &str,
                object: $crate::json::JsonObject,
            ) -> Result<Self, serde_json::Error> {
                match tag {
                    $( $value => <$type as $crate::wire::FromMap>::from_map(
                        $crate::wire::PairsAccess::new(&object), false,
                    ).map(Self::$variant), )*
                    _ => $crate::wire::union!(@object tag, object, [$($value)*], $($otherwise)?),
                }
            }

            $( fn untagged<E: serde::de::Error>(
                object: $crate::json::JsonObject,
            ) -> Result<Self, E> {
                $crate::wire::FromMap::from_map($crate::wire::PairsAccess::new(&object), false)
                    .map(Self::$bare)
                    .map_err(E::custom)
            } )?
        }

        impl<'de> serde::Deserialize<'de> for $union {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_map($crate::wire::TagVisitor(
                    concat!("an object (", stringify!($union), ")"),
                    std::marker::PhantomData,
                ))
            }
        }

        impl serde::Serialize for $union {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$variant(value) => value.serialize(serializer), )*
                    $( Self::$otherwise(value) => value.serialize(serializer), )?
                }
            }
        }

        $( impl From<$type> for $union {
            fn from(value: $type) -> Self {
                Self::$variant(value)
            }
        } )*
    };

    (@rest $tag:literal, $name:ident, $rest:ident, [$($value:literal)*],) => {
        Err(serde::de::Error::unknown_variant($name, &[$($value),*]))
    };
    (@rest $tag:literal, $name:ident, $rest:ident, [$($value:literal)*], $otherwise:ident) => {
        $crate::content::UnknownContent::from_rest($tag, $name, $rest).map(Self::$otherwise)
    };
    (@object $name:ident, $object:ident, [$($value:literal)*],) => {
        Err(serde::de::Error::unknown_variant($name, &[$($value),*]))
    };
    (@object $name:ident, $object:ident, [$($value:literal)*], $otherwise:ident) => {
        Ok(Self::$otherwise($crate::content::UnknownContent::from_object($name, $object)))
    };
}
pub(crate) use union;
