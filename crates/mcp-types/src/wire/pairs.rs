//! An object's members, kept raw: for a union whose tag doesn't come first.

use serde::de::{self, DeserializeSeed, IntoDeserializer as _, MapAccess, value::StrDeserializer};

use crate::json::{JsonObject, JsonValue};

/// Reads a type's members from an object that was kept raw.
pub(crate) struct PairsAccess<'a> {
    members: std::slice::Iter<'a, (String, JsonValue)>,
    value: Option<&'a JsonValue>,
}

impl<'a> PairsAccess<'a> {
    pub(crate) fn new(object: &'a JsonObject) -> Self {
        Self { members: object.as_slice().iter(), value: None }
    }
}

impl<'de> MapAccess<'de> for PairsAccess<'de> {
    type Error = serde_json::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Self::Error> {
        let Some((name, value)) = self.members.next() else { return Ok(None) };
        self.value = Some(value);
        let name: StrDeserializer<'_, Self::Error> = name.as_str().into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, Self::Error> {
        let value = self.value.take().ok_or_else(|| de::Error::custom("a value without a name"))?;
        seed.deserialize(&mut serde_json::Deserializer::from_str(value.as_raw()))
    }
}
