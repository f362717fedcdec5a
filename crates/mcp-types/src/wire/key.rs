//! Member names: matched without allocation when known, kept when not.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, Visitor};

/// Says which known member a name is, if any.
pub(crate) type Index = fn(&str) -> Option<u8>;

/// A member's name.
pub(crate) enum Key {
    /// By its number in the type's list.
    Known(u8),
    /// Anything else.
    Unknown(String),
}

/// Reads a member's name.
pub(crate) struct KeySeed(pub(crate) Index);

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Key, E> {
        Ok(match (self.0)(name) {
            Some(number) => Key::Known(number),
            None => Key::Unknown(name.to_owned()),
        })
    }
}

/// Which known members have been read; a second one of the same name is an error.
#[derive(Default)]
pub(crate) struct Seen(u64);

impl Seen {
    /// Notes member `number` (below 64), called `name`.
    #[inline]
    pub(crate) fn note<E: de::Error>(&mut self, number: u8, name: &'static str) -> Result<(), E> {
        let bit = 1 << (number & 63);
        if self.0 & bit != 0 {
            return Err(de::Error::duplicate_field(name));
        }
        self.0 |= bit;
        Ok(())
    }

    /// Whether member `number` has been read.
    pub(crate) fn has(&self, number: u8) -> bool {
        self.0 & (1 << (number & 63)) != 0
    }
}
