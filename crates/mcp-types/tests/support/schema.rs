//! Types of the model as JSON Schema.

use serde_json::{Map, Value, json};

use super::ty::{Object, Range, Ty};

/// What has a form in JSON Schema.
pub(crate) trait ToSchema {
    /// That form; `defs` is `definitions` or `$defs`.
    fn to_schema(&self, defs: &str) -> Value;
}

impl ToSchema for Ty {
    fn to_schema(&self, defs: &str) -> Value {
        match self {
            Self::Any => json!({}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::String(None) => json!({"type": "string"}),
            Self::String(Some(format)) => json!({"type": "string", "format": format}),
            Self::Integer(range) => self::range(*range, "integer"),
            Self::Number(range) => self::range(*range, "number"),
            Self::Const(text) => json!({"type": "string", "const": text}),
            Self::ConstInt(value) => json!({"type": "integer", "const": value}),
            Self::Enum(values) => json!({"type": "string", "enum": values}),
            Self::Scalars(types) => json!({"type": types}),
            Self::Ref(name) => json!({"$ref": format!("#/{defs}/{name}")}),
            Self::Array(items, None) => {
                json!({"type": "array", "items": items.to_schema(defs)})
            }
            Self::Array(items, Some(max)) => {
                json!({"type": "array", "items": items.to_schema(defs), "maxItems": max})
            }
            Self::Object(object) => object.to_schema(defs),
            Self::AnyOf(types) => {
                json!({"anyOf": types.iter().map(|t| t.to_schema(defs)).collect::<Vec<_>>()})
            }
            Self::AllOf(types) => {
                json!({"allOf": types.iter().map(|t| t.to_schema(defs)).collect::<Vec<_>>()})
            }
        }
    }
}

impl ToSchema for Object {
    fn to_schema(&self, defs: &str) -> Value {
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        if !self.fields.is_empty() {
            let properties = self
                .fields
                .iter()
                .map(|(name, field)| (name.clone(), field.ty.to_schema(defs)))
                .collect::<Map<_, _>>();
            schema.insert("properties".into(), Value::Object(properties));
        }
        let required: Vec<&str> = self
            .fields
            .iter()
            .filter(|(_, field)| field.required)
            .map(|(name, _)| name.as_str())
            .collect();
        if !required.is_empty() {
            schema.insert("required".into(), json!(required));
        }
        if let Some(rest) = &self.rest {
            schema.insert("additionalProperties".into(), rest.to_schema(defs));
        }
        Value::Object(schema)
    }
}

fn range(range: Range, name: &str) -> Value {
    let mut schema = Map::new();
    schema.insert("type".into(), name.into());
    if let Some(min) = range.min {
        schema.insert("minimum".into(), min.into());
    }
    if let Some(max) = range.max {
        schema.insert("maximum".into(), max.into());
    }
    Value::Object(schema)
}
