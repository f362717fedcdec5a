//! Schemas from Rust types, in the profile that the clients in use understand.

use mcp_types::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// A schema that was made from a type.
pub(crate) struct Derived {
    /// What clients see.
    pub(crate) listed: JsonSchema,
    /// What values are held against, where that is something else.
    pub(crate) checked: Option<JsonSchema>,
    /// Whether it says no more than serde checks, or sees to, by itself.
    pub(crate) by_type: bool,
}

/// The schema of what can be parsed into a `T`.
pub(crate) fn of_arguments<T: schemars::JsonSchema>() -> Derived {
    let full = root_of::<T>(SchemaSettings::draft2020_12());
    let mut by_type = true;
    let (mut listed, mut checked) = (full.clone(), full);
    tidy(&mut listed, Nulls::Drop, &mut by_type);
    tidy(&mut checked, Nulls::Keep, &mut by_type);
    let differs = listed != checked;
    Derived { listed: to_schema(listed), checked: differs.then(|| to_schema(checked)), by_type }
}

/// The schema of what a `T` is written as.
pub(crate) fn of_result<T: schemars::JsonSchema>() -> Derived {
    let mut listed = root_of::<T>(SchemaSettings::draft2020_12().for_serialize());
    let mut by_type = true;
    tidy(&mut listed, Nulls::Keep, &mut by_type);
    Derived { listed: to_schema(listed), checked: None, by_type }
}

fn root_of<T: schemars::JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| {
        settings.meta_schema = None;
        // A reference is left where a type contains itself.
        settings.inline_subschemas = true;
    });
    let mut schema: Value = settings.into_generator().into_root_schema_for::<T>().into();
    if let Value::Object(root) = &mut schema {
        // The name of a Rust type means nothing to a client.
        root.remove("title");
        match root.get("type").and_then(Value::as_str) {
            // `()` takes no arguments.
            Some("null") => {
                root.insert("type".into(), "object".into());
            }
            // Arguments and structured results are objects, and a schema has to say so: that of
            // an enum, or of a type that contains itself, doesn't.
            None if root.get("type").is_none() && may_be_object(root) => {
                root.insert("type".into(), "object".into());
            }
            _ => {}
        }
    }
    schema
}

/// Whether a schema that doesn't say its type could be one of objects.
fn may_be_object(schema: &Map<String, Value>) -> bool {
    let scalar = |value: &Value| !value.is_object();
    if schema.get("const").is_some_and(scalar) {
        return false;
    }
    let any = |variant: &Value| match variant {
        Value::Object(variant) => match variant.get("type") {
            None => may_be_object(variant),
            Some(Value::Array(types)) => types.iter().any(|ty| ty == "object"),
            Some(ty) => ty == "object",
        },
        _ => true,
    };
    ["anyOf", "oneOf"].iter().all(|key| match schema.get(*key) {
        Some(Value::Array(variants)) => variants.iter().any(any),
        _ => true,
    })
}

fn to_schema(schema: Value) -> JsonSchema {
    match schema {
        Value::Object(schema) => JsonSchema::from(schema),
        _ => JsonSchema::object(),
    }
}

/// Whether an optional member may be null.
#[derive(Clone, Copy)]
enum Nulls {
    Drop,
    Keep,
}

/// Keywords that come from types, or mean nothing. Any other, such as those that attributes
/// add, is one that serde doesn't look at.
const FROM_TYPES: [&str; 17] = [
    "type",
    "properties",
    "required",
    "items",
    "prefixItems",
    "additionalProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "enum",
    "const",
    "$ref",
    "$defs",
    "title",
    "description",
    "default",
    "examples",
];

fn tidy(schema: &mut Value, nulls: Nulls, by_type: &mut bool) {
    let Value::Object(map) = schema else { return };
    let mut width = false;
    if map.get("format").and_then(Value::as_str).is_some_and(is_numeric_format) {
        map.remove("format");
        // What the width of the type says, serde checks.
        let least = map.get("minimum").is_none_or(|least| least.as_f64() == Some(0.0));
        let most = map.get("maximum").is_none_or(|most| {
            [255.0, 65535.0, 127.0, 32767.0].contains(&most.as_f64().unwrap_or_default())
        });
        width = least && most;
    }
    let by_width = |key: &str| width && matches!(key, "minimum" | "maximum");
    if !map.keys().all(|key| FROM_TYPES.contains(&key.as_str()) || by_width(key)) {
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
                    if matches!(nulls, Nulls::Drop) && !required.contains(name) {
                        drop_null(property);
                    }
                    tidy(property, nulls, by_type);
                }
            }
            ("$defs" | "definitions" | "patternProperties", Value::Object(schemas)) => {
                schemas.values_mut().for_each(|schema| tidy(schema, nulls, by_type));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(|schema| tidy(schema, nulls, by_type));
            }
            ("items" | "additionalProperties", schema) => tidy(schema, nulls, by_type),
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

    fn value(schema: &mcp_types::JsonSchema) -> Value {
        serde_json::from_str(&serde_json::to_string(schema).unwrap()).unwrap()
    }

    fn check<T: JsonSchema>(expected: Value, by_type: bool) {
        let derived = of_arguments::<T>();
        assert_eq!(value(&derived.listed), expected);
        assert_eq!(derived.by_type, by_type);
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
        let derived = of_arguments::<Tree>();
        let listed = value(&derived.listed);
        assert!(listed.to_string().contains("$ref"));
        assert_eq!(listed["type"], "object");
        assert!(derived.by_type);
    }

    #[derive(JsonSchema)]
    #[schemars(extend("propertyNames" = {"maxLength": 3}))]
    struct Extended {
        a: bool,
    }

    #[test]
    fn a_keyword_of_an_attribute_is_seen() {
        assert!(!of_arguments::<Extended>().by_type);
        assert!(of_arguments::<Query>().by_type);
    }

    #[derive(JsonSchema)]
    #[schemars(tag = "kind")]
    enum Shape {
        Circle { radius: f64 },
        Square { side: f64 },
    }

    #[test]
    fn what_can_be_an_object_says_so_and_nothing_else_does() {
        assert_eq!(value(&of_arguments::<Shape>().listed)["type"], "object");
        assert_eq!(value(&of_arguments::<()>().listed)["type"], "object");
        assert_eq!(value(&of_arguments::<Unit>().listed)["type"], "string");
        assert_eq!(value(&of_arguments::<Vec<u8>>().listed)["type"], "array");
        assert_ne!(value(&of_arguments::<Option<u8>>().listed)["type"], "object");
    }

    #[derive(JsonSchema)]
    struct Report {
        note: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        count: Option<u8>,
    }

    #[test]
    fn a_result_that_is_written_with_null_may_be_null() {
        let derived = of_result::<Report>();
        let listed = value(&derived.listed);
        assert_eq!(listed["properties"]["note"]["type"], json!(["string", "null"]));
        // Nobody knows by which rule it is left out.
        assert_eq!(listed["properties"]["count"]["type"], json!(["integer", "null"]));
        assert_eq!(listed["required"], json!(["note"]));
        assert!(derived.by_type);
    }

    #[test]
    fn null_for_an_optional_argument_is_taken_though_it_is_not_listed() {
        #[derive(JsonSchema)]
        struct Both {
            #[schemars(range(min = 1))]
            count: u8,
            unit: Option<String>,
        }
        let derived = of_arguments::<Both>();
        assert_eq!(value(&derived.listed)["properties"]["unit"]["type"], "string");
        let checked = value(&derived.checked.unwrap());
        assert_eq!(checked["properties"]["unit"]["type"], json!(["string", "null"]));
    }
}
