//! Structs: the macro that gives a type its `Serialize` and `Deserialize`.

use std::{fmt, marker::PhantomData};

use serde::{
    de::{self, MapAccess, Visitor},
    ser::{SerializeMap, Serializer},
};

use super::Index;
use crate::json::Extra;

/// A type that is read from the members of an object.
pub(crate) trait FromMap<'de>: Sized {
    /// Reads the members that `map` still has. `tagged` says that the tag, which told what
    /// this object is, was among those read before.
    fn from_map<A: MapAccess<'de>>(map: A, tagged: bool) -> Result<Self, A::Error>;
}

/// Reads a whole object.
pub(crate) struct ObjectVisitor<T>(pub(crate) &'static str, pub(crate) PhantomData<T>);

impl<'de, T: FromMap<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::from_map(map, false)
    }
}

/// The value of a required member, or the error that it is missing.
#[inline]
pub(crate) fn missing<T, E: de::Error>(value: Option<T>, name: &'static str) -> Result<T, E> {
    value.ok_or_else(|| E::missing_field(name))
}

/// Reads a member that has only one legal value.
pub(crate) fn constant<'de, A: MapAccess<'de>>(
    map: &mut A,
    name: &'static str,
    wanted: &'static str,
) -> Result<(), A::Error> {
    struct Text(&'static str, &'static str);

    impl Visitor<'_> for Text {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "`{}` as `{}`", self.1, self.0)
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
            if text == self.1 {
                Ok(())
            } else {
                Err(E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
    }

    impl<'de> de::DeserializeSeed<'de> for Text {
        type Value = ();

        fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_str(self)
        }
    }

    map.next_value_seed(Text(name, wanted))
}

/// Writes the members that the type doesn't know; one that it does know is never written twice.
pub(crate) fn write_extra<S: Serializer>(
    map: &mut S::SerializeMap,
    extra: &Extra,
    known: Index,
) -> Result<(), S::Error> {
    for (name, value) in extra.iter() {
        if known(name).is_none() {
            map.serialize_entry(name, value)?;
        }
    }
    Ok(())
}

/// Gives a struct `Serialize`, `Deserialize` and `FromMap`.
///
/// Each member: its number, kind, Rust name and wire name. Kinds: `req` required, `opt` may be
/// absent and `null` is absent, `any` may be absent and `null` is a value, `nul` required and
/// may be `null`, `lax` as `req`, but empty when it is absent or `null`; with `_int`, `_num` or
/// `_list` for how it is read.
macro_rules! object {
    (
        $type:ident { $($tag:literal is $value:literal $(or $absent:ident)?)? }
        $( $number:literal $kind:ident $field:ident $wire:literal )*
    ) => {
        impl $type {
            fn index_of(name: &str) -> Option<u8> {
                Some(match name {
                    $( $tag => 63, )?
                    $( $wire => $number, )*
                    _ => return None,
                })
            }
        }

        impl<'de> $crate::wire::FromMap<'de> for $type {
            fn from_map<A: serde::de::MapAccess<'de>>(
                mut map: A,
                #[allow(unused_variables, reason = "not every object has a tag")]
                tagged: bool,
            ) -> Result<Self, A::Error> {
                $( let mut $field = None; )*
                let mut extra = $crate::json::Extra::default();
                let mut seen = $crate::wire::Seen::default();
                $( if tagged { seen.note::<A::Error>(63, $tag)?; } )?
                while let Some(key) = map.next_key_seed($crate::wire::KeySeed(Self::index_of))? {
                    match key {
                        $( $crate::wire::Key::Known(63) => {
                            seen.note::<A::Error>(63, $tag)?;
                            $crate::wire::constant(&mut map, $tag, $value)?;
                        } )?
                        $( $crate::wire::Key::Known($number) => {
                            seen.note::<A::Error>($number, $wire)?;
                            $field = $crate::wire::object!(@read $kind map);
                        } )*
                        $crate::wire::Key::Unknown(name) => extra.push(name, map.next_value()?),
                        $crate::wire::Key::Known(_) => {}
                    }
                }
                extra.check::<A::Error>()?;
                $( $crate::wire::object!(@tag seen $tag $($absent)?); )?
                Ok(Self {
                    $( $field: $crate::wire::object!(@take $kind $field $wire), )*
                    extra,
                })
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_map($crate::wire::ObjectVisitor(
                    concat!("an object (", stringify!($type), ")"),
                    std::marker::PhantomData,
                ))
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                $( $crate::wire::object!(@constant map $tag $value $($absent)?); )?
                $( $crate::wire::object!(@write $kind map (self.$field) $wire); )*
                $crate::wire::write_extra::<S>(&mut map, &self.extra, Self::index_of)?;
                map.end()
            }
        }
    };

    (@tag $seen:ident $tag:literal) => {
        if !$seen.has(63) {
            return Err(serde::de::Error::missing_field($tag));
        }
    };
    (@tag $seen:ident $tag:literal absent) => {};
    (@constant $map:ident $tag:literal $value:literal) => {
        $map.serialize_entry($tag, $value)?
    };
    (@constant $map:ident $tag:literal $value:literal absent) => {};

    (@read req $map:ident) => { Some($map.next_value()?) };
    (@read req_int $map:ident) => { Some($map.next_value::<$crate::wire::Int>()?.0) };
    (@read req_num $map:ident) => { Some($map.next_value::<$crate::wire::Num>()?.0) };
    (@read req_list $map:ident) => { Some($map.next_value::<$crate::wire::List<_>>()?.0) };
    (@read lax_list $map:ident) => {
        $map.next_value::<Option<$crate::wire::List<_>>>()?.map(|v| v.0)
    };
    (@read opt $map:ident) => { $map.next_value()? };
    (@read opt_int $map:ident) => { $map.next_value::<Option<$crate::wire::Int>>()?.map(|v| v.0) };
    (@read opt_num $map:ident) => { $map.next_value::<Option<$crate::wire::Num>>()?.map(|v| v.0) };
    (@read opt_list $map:ident) => {
        $map.next_value::<Option<$crate::wire::List<_>>>()?.map(|v| v.0)
    };
    (@read any $map:ident) => { Some($map.next_value()?) };
    (@read nul_int $map:ident) => {
        Some($map.next_value::<Option<$crate::wire::Int>>()?.map(|v| v.0))
    };

    (@take req $field:ident $wire:literal) => { $crate::wire::missing($field, $wire)? };
    (@take req_int $field:ident $wire:literal) => { $crate::wire::missing($field, $wire)? };
    (@take req_num $field:ident $wire:literal) => { $crate::wire::missing($field, $wire)? };
    (@take req_list $field:ident $wire:literal) => { $crate::wire::missing($field, $wire)? };
    (@take nul_int $field:ident $wire:literal) => { $crate::wire::missing($field, $wire)? };
    (@take lax_list $field:ident $wire:literal) => { $field.unwrap_or_default() };
    (@take $kind:ident $field:ident $wire:literal) => { $field };

    (@write req $map:ident ($value:expr) $wire:literal) => { $map.serialize_entry($wire, &$value)? };
    (@write req_int $map:ident ($value:expr) $wire:literal) => {
        $map.serialize_entry($wire, &$value)?
    };
    (@write req_list $map:ident ($value:expr) $wire:literal) => {
        $map.serialize_entry($wire, &$value)?
    };
    (@write lax_list $map:ident ($value:expr) $wire:literal) => {
        $map.serialize_entry($wire, &$value)?
    };
    (@write nul_int $map:ident ($value:expr) $wire:literal) => {
        $map.serialize_entry($wire, &$value)?
    };
    (@write req_num $map:ident ($value:expr) $wire:literal) => {
        $map.serialize_entry($wire, &$crate::wire::Num($value))?
    };
    (@write opt_num $map:ident ($value:expr) $wire:literal) => {
        if let Some(value) = $value {
            $map.serialize_entry($wire, &$crate::wire::Num(value))?;
        }
    };
    (@write $kind:ident $map:ident ($value:expr) $wire:literal) => {
        if let Some(value) = &$value {
            $map.serialize_entry($wire, value)?;
        }
    };
}
pub(crate) use object;
