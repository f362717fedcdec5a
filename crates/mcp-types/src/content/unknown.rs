use serde::{Deserialize, Deserializer, Serialize, Serializer, de::MapAccess};

use crate::json::{JsonObject, JsonValue};

/// A piece of content of a kind that this crate doesn't know, kept as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownContent {
    kind: String,
    /// With the member that says the kind.
    object: JsonObject,
}

impl UnknownContent {
    /// Makes one of `kind`, with `members` beside the `type`.
    #[must_use]
    pub fn new(kind: impl Into<String>, mut members: JsonObject) -> Self {
        let kind = kind.into();
        members.set("type", JsonValue::from(kind.as_str()));
        Self { kind, object: members }
    }

    /// What it calls itself.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// All of it, with the member that says the kind.
    #[must_use]
    pub fn as_object(&self) -> &JsonObject {
        &self.object
    }

    /// All of it, with the member that says the kind.
    #[must_use]
    pub fn into_object(self) -> JsonObject {
        self.object
    }

    pub(crate) fn from_object(kind: &str, object: JsonObject) -> Self {
        Self { kind: kind.to_owned(), object }
    }

    /// What is left after the member `tag`, which said `kind`.
    pub(crate) fn from_rest<'de, A: MapAccess<'de>>(
        tag: &str,
        kind: &str,
        mut rest: A,
    ) -> Result<Self, A::Error> {
        let mut object = JsonObject::new();
        object.push(tag.to_owned(), JsonValue::from(kind));
        while let Some(name) = rest.next_key()? {
            object.push(name, rest.next_value()?);
        }
        object.check::<A::Error>()?;
        Ok(Self { kind: kind.to_owned(), object })
    }
}

impl Serialize for UnknownContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.object.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for UnknownContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = JsonObject::deserialize(deserializer)?;
        let kind = object
            .get("type")
            .and_then(|kind| kind.as_str())
            .ok_or_else(|| serde::de::Error::missing_field("type"))?
            .into_owned();
        Ok(Self { kind, object })
    }
}
