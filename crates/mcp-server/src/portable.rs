//! Schemas from Rust types, in the profile that the clients in use understand.

use mcp_types::JsonSchema;
use serde_json::{Map, Value};

/// The schema of `T`, and whether it says no more than serde checks while it parses a `T`.
pub(crate) fn schema_of<T: schemars::JsonSchema>() -> (JsonSchema, bool) {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        // A reference is left where a type contains itself.
        settings.inline_subschemas = true;
    });
    let mut schema: Value = settings.into_generator().into_root_schema_for::<T>().into();
    if let Value::Object(root) = &mut schema {
        // The name of a Rust type means nothing to a client.
        root.remove("title");
    }
    let mut by_type = true;
    tidy(&mut schema, &mut by_type);
    if let Value::Object(root) = &mut schema
        && root.get("type").and_then(Value::as_str) == Some("null")
    {
        // `()` takes no arguments.
        root.insert("type".into(), "object".into());
    }
    let schema = match schema {
        Value::Object(schema) => JsonSchema::from(schema),
        _ => JsonSchema::object(),
    };
    (schema, by_type)
}

/// Keywords that come from attributes, not from the type: serde doesn't look at them.
const CONSTRAINTS: [&str; 16] = [
    "minLength",
    "maxLength",
    "pattern",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minProperties",
    "maxProperties",
    "uniqueItems",
    "minItems",
    "maxItems",
    "contains",
    "not",
    "if",
    "format",
];

fn tidy(schema: &mut Value, by_type: &mut bool) {
    let Value::Object(map) = schema else { return };
    if map.get("format").and_then(Value::as_str).is_some_and(is_numeric_format) {
        map.remove("format");
        // What the width of the type says, serde checks.
        if map.get("minimum").is_some_and(|least| least.as_f64() != Some(0.0)) {
            *by_type = false;
        }
        if let Some(most) = map.get("maximum")
            && ![255.0, 65535.0, 127.0, 32767.0].contains(&most.as_f64().unwrap_or_default())
        {
            *by_type = false;
        }
    } else if map.contains_key("minimum") || CONSTRAINTS.iter().any(|key| map.contains_key(*key)) {
        *by_type = false;
    }
    let required: Vec<String> = map
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    for (key, value) in map.iter_mut() {
        match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties.iter_mut() {
                    if !required.contains(name) {
                        drop_null(property);
                    }
                    tidy(property, by_type);
                }
            }
            ("$defs" | "definitions" | "patternProperties", Value::Object(schemas)) => {
                schemas.values_mut().for_each(|schema| tidy(schema, by_type));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(|schema| tidy(schema, by_type));
            }
            ("items" | "additionalProperties", schema) => tidy(schema, by_type),
            _ => {}
        }
    }
}

/// An optional member is left out; that it could also be null is a notion of Rust's `Option`.
fn drop_null(property: &mut Value) {
    let Value::Object(map) = property else { return };
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|ty| ty != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            map.insert("type".into(), only);
        }
    }
    if map.get("default").is_some_and(Value::is_null) {
        map.remove("default");
    }
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(variants)) = map.get_mut("anyOf") {
        variants.retain(|variant| variant.get("type").and_then(Value::as_str) != Some("null"));
        if let [Value::Object(only)] = variants.as_slice() {
            let only: Map<String, Value> = only.clone();
            map.remove("anyOf");
            for (key, value) in only {
                map.entry(key).or_insert(value);
            }
        }
    }
}

fn is_numeric_format(format: &str) -> bool {
    matches!(format, "float" | "double")
        || format
            .strip_prefix('u')
            .unwrap_or(format)
            .strip_prefix("int")
            .is_some_and(|width| width.is_empty() || width.parse::<u8>().is_ok())
}

#[cfg(test)]
mod tests {
    #![allow(dead_code, reason = "only their schemas are looked at")]

    use schemars::JsonSchema;
    use serde_json::{Value, json};

    use super::*;

    fn check<T: JsonSchema>(expected: Value, by_type: bool) {
        let (schema, plain) = schema_of::<T>();
        let schema: Value = serde_json::from_str(&serde_json::to_string(&schema).unwrap()).unwrap();
        assert_eq!(schema, expected);
        assert_eq!(plain, by_type);
    }

    #[derive(JsonSchema)]
    struct Query {
        /// Where.
        city: String,
        days: Option<u32>,
        unit: Option<Unit>,
        exact: Option<f64>,
    }

    #[derive(JsonSchema)]
    #[schemars(rename_all = "lowercase")]
    enum Unit {
        Celsius,
        Kelvin,
    }

    #[test]
    fn optional_members_are_left_out_and_not_null() {
        check::<Query>(
            json!({
                "type": "object",
                "properties": {
                    "city": {"description": "Where.", "type": "string"},
                    "days": {"type": "integer", "minimum": 0},
                    "unit": {"type": "string", "enum": ["celsius", "kelvin"]},
                    "exact": {"type": "number"},
                },
                "required": ["city"],
            }),
            true,
        );
    }

    #[derive(JsonSchema)]
    struct Limited {
        #[schemars(range(min = 1, max = 10))]
        count: u8,
    }

    #[test]
    fn a_constraint_that_serde_does_not_know_is_seen() {
        check::<Limited>(
            json!({
                "type": "object",
                "properties": {"count": {"type": "integer", "minimum": 1, "maximum": 10}},
                "required": ["count"],
            }),
            false,
        );
    }

    #[derive(JsonSchema)]
    struct Tree {
        children: Vec<Self>,
    }

    #[test]
    fn a_type_that_contains_itself_is_referred_to() {
        let (schema, by_type) = schema_of::<Tree>();
        assert!(serde_json::to_string(&schema).unwrap().contains("$ref"));
        assert!(by_type);
    }
}
