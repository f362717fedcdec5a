use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{
    generated::elicitation::{
        BooleanSchema, LegacyTitledEnumSchema, NumberSchema, StringSchema,
        TitledMultiSelectEnumSchema, TitledSingleSelectEnumSchema, UntitledMultiSelectEnumSchema,
        UntitledSingleSelectEnumSchema,
    },
    json::JsonObject,
    wire::{FromMap, PairsAccess},
};

/// A field of a form.
///
/// Told apart by `type` and, for choices, by where the values are. A field that is none of
/// these is kept: a client can still show the rest, or decline.
///
/// Specification: [requested schema](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PrimitiveSchemaDefinition {
    /// Text.
    String(StringSchema),
    /// A number.
    Number(NumberSchema),
    /// Yes or no.
    Boolean(BooleanSchema),
    /// One of some values.
    SingleSelect(UntitledSingleSelectEnumSchema),
    /// One of some values that have names. Since 2025-11-25.
    TitledSingleSelect(TitledSingleSelectEnumSchema),
    /// Some of several values. Since 2025-11-25.
    MultiSelect(UntitledMultiSelectEnumSchema),
    /// Some of several values that have names. Since 2025-11-25.
    TitledMultiSelect(TitledMultiSelectEnumSchema),
    /// One of some values, with names in a list beside.
    LegacyTitled(LegacyTitledEnumSchema),
    /// None of these, kept as it came.
    Unknown(JsonObject),
}

macro_rules! from {
    ($($variant:ident $type:ident)*) => { $(
        impl From<$type> for PrimitiveSchemaDefinition {
            fn from(field: $type) -> Self {
                Self::$variant(field)
            }
        }
    )* };
}

from! {
    String StringSchema
    Number NumberSchema
    Boolean BooleanSchema
    SingleSelect UntitledSingleSelectEnumSchema
    TitledSingleSelect TitledSingleSelectEnumSchema
    MultiSelect UntitledMultiSelectEnumSchema
    TitledMultiSelect TitledMultiSelectEnumSchema
    LegacyTitled LegacyTitledEnumSchema
}

impl Serialize for PrimitiveSchemaDefinition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::String(field) => field.serialize(serializer),
            Self::Number(field) => field.serialize(serializer),
            Self::Boolean(field) => field.serialize(serializer),
            Self::SingleSelect(field) => field.serialize(serializer),
            Self::TitledSingleSelect(field) => field.serialize(serializer),
            Self::MultiSelect(field) => field.serialize(serializer),
            Self::TitledMultiSelect(field) => field.serialize(serializer),
            Self::LegacyTitled(field) => field.serialize(serializer),
            Self::Unknown(field) => field.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for PrimitiveSchemaDefinition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = JsonObject::deserialize(deserializer)?;
        let read = match kind(&object) {
            Kind::String => read(&object).map(Self::String),
            Kind::Number => read(&object).map(Self::Number),
            Kind::Boolean => read(&object).map(Self::Boolean),
            Kind::Single => read(&object).map(Self::SingleSelect),
            Kind::TitledSingle => read(&object).map(Self::TitledSingleSelect),
            Kind::Multi => read(&object).map(Self::MultiSelect),
            Kind::TitledMulti => read(&object).map(Self::TitledMultiSelect),
            Kind::LegacyTitled => read(&object).map(Self::LegacyTitled),
            Kind::Unknown => return Ok(Self::Unknown(object)),
        };
        read.map_err(D::Error::custom)
    }
}

enum Kind {
    String,
    Number,
    Boolean,
    Single,
    TitledSingle,
    Multi,
    TitledMulti,
    LegacyTitled,
    Unknown,
}

fn kind(object: &JsonObject) -> Kind {
    let name = object.get("type").and_then(|kind| kind.as_str());
    match name.as_deref() {
        Some("string") if object.contains("oneOf") => Kind::TitledSingle,
        Some("string") if object.contains("enumNames") && object.contains("enum") => {
            Kind::LegacyTitled
        }
        Some("string") if object.contains("enum") => Kind::Single,
        Some("string") => Kind::String,
        Some("number" | "integer") => Kind::Number,
        Some("boolean") => Kind::Boolean,
        Some("array") => {
            match object.get("items").and_then(|items| items.to::<JsonObject>().ok()) {
                Some(items) if items.contains("anyOf") => Kind::TitledMulti,
                Some(items) if items.contains("enum") => Kind::Multi,
                _ => Kind::Unknown,
            }
        }
        _ => Kind::Unknown,
    }
}

fn read<'de, T: FromMap<'de>>(object: &'de JsonObject) -> Result<T, serde_json::Error> {
    T::from_map(PairsAccess::new(object), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(json: &str) -> PrimitiveSchemaDefinition {
        let field: PrimitiveSchemaDefinition = serde_json::from_str(json).unwrap();
        let written = serde_json::to_value(&field).unwrap();
        assert_eq!(written, serde_json::from_str::<serde_json::Value>(json).unwrap());
        field
    }

    // Shows: FC-047
    #[test]
    fn the_five_forms_of_a_choice_are_told_apart() {
        use PrimitiveSchemaDefinition as Field;
        assert!(matches!(
            field(r#"{"type":"string","enum":["a","b"]}"#),
            Field::SingleSelect(f) if f.values == ["a", "b"]
        ));
        assert!(matches!(
            field(r#"{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}"#),
            Field::TitledSingleSelect(f) if f.options[1].title == "B"
        ));
        assert!(matches!(
            field(r#"{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1,"maxItems":2,"default":["a"]}"#),
            Field::MultiSelect(f) if f.items.values.len() == 2 && f.max_items == Some(2)
        ));
        assert!(matches!(
            field(r#"{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}"#),
            Field::TitledMultiSelect(f) if f.items.options[0].value == "a"
        ));
        assert!(matches!(
            field(r#"{"type":"string","enum":["a","b"],"enumNames":["A","B"]}"#),
            Field::LegacyTitled(f) if f.enum_names.as_deref() == Some(&["A".to_owned(), "B".to_owned()][..])
        ));
    }

    // Shows: FC-048
    #[test]
    fn falsy_defaults_count() {
        use PrimitiveSchemaDefinition as Field;
        assert!(matches!(
            field(r#"{"type":"integer","default":0}"#),
            Field::Number(f) if f.default == Some(0.into())
        ));
        assert!(matches!(
            field(r#"{"type":"boolean","default":false}"#),
            Field::Boolean(f) if f.default == Some(false)
        ));
        assert!(matches!(
            field(r#"{"type":"string","default":""}"#),
            Field::String(f) if f.default.as_deref() == Some("")
        ));
    }

    #[test]
    fn a_field_of_another_kind_is_kept() {
        for json in [
            r#"{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}"#,
            r#"{"type":"object","properties":{}}"#,
            r#"{"type":["string","null"]}"#,
            r#"{"type":"array","items":{"type":"integer"}}"#,
        ] {
            assert!(matches!(field(json), PrimitiveSchemaDefinition::Unknown(_)), "{json}");
        }
    }
}
