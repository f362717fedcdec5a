//! Enums of texts.

/// Gives an enum `as_str`, `Display`, `FromStr` or `From`, `Serialize` and `Deserialize`.
///
/// `or Other` keeps texts that aren't listed.
macro_rules! texts {
    ($type:ident, $( $variant:ident $text:literal )*) => {
        impl $type {
            /// The text on the wire.
            #[must_use]
            pub const fn as_str(&self) -> &'static str {
                match self {
                    $( Self::$variant => $text, )*
                }
            }

            pub(crate) fn from_text(text: &str) -> Option<Self> {
                Some(match text {
                    $( $text => Self::$variant, )*
                    _ => return None,
                })
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str($crate::wire::TextVisitor(
                    Self::from_text,
                    &[$($text),*],
                ))
            }
        }

        $crate::wire::texts!(@rest $type);
    };
    ($type:ident or $other:ident, $( $variant:ident $text:literal )*) => {
        impl $type {
            /// The text on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $text, )*
                    Self::$other(text) => text,
                }
            }
        }

        impl From<&str> for $type {
            fn from(text: &str) -> Self {
                match text {
                    $( $text => Self::$variant, )*
                    _ => Self::$other(text.to_owned()),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str($crate::wire::TextVisitor(
                    |text| Some(Self::from(text)),
                    &[],
                ))
            }
        }

        $crate::wire::texts!(@rest $type);
    };
    (@rest $type:ident) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use texts;

use std::fmt;

use serde::de::{self, Visitor};

/// Reads one of some texts.
pub(crate) struct TextVisitor<T>(
    pub(crate) fn(&str) -> Option<T>,
    pub(crate) &'static [&'static str],
);

impl<T> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).ok_or_else(|| E::unknown_variant(text, self.1))
    }
}
