//! Values held against JSON Schemas, both of which come from strangers.

use std::sync::Arc;

use jsonschema::{Draft, PatternOptions};
use mcp_lifecycle::v1::{SchemaError, SchemaValidator, Validator, Violation};
use mcp_types::{Dialect, JsonSchema, SchemaLimits, SchemaTooLarge};
use serde_json::Value;

/// Validates with the crate `jsonschema`: dialects 2020-12, 2019-09, 7, 6 and 4.
///
/// Nothing is fetched, patterns run in linear time, and a schema is at most 1 MiB long and 64
/// levels deep.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct JsonSchemaValidator;

impl JsonSchemaValidator {
    /// The validator.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

/// Memory of one compiled pattern, in bytes.
const PATTERN_BYTES: usize = 1 << 20;
/// Characters of a violation's message, which may quote the value.
const MESSAGE_CHARS: usize = 300;

impl SchemaValidator for JsonSchemaValidator {
    fn compile(&self, schema: &str) -> Result<Arc<dyn Validator>, SchemaError> {
        let limits = SchemaLimits::DEFAULT;
        if schema.len() > limits.bytes {
            return Err(SchemaError::TooLarge { what: "bytes", limit: limits.bytes });
        }
        let value: Value = serde_json::from_str(schema).map_err(SchemaError::invalid)?;
        let draft = match &value {
            Value::Object(_) => {
                let schema: JsonSchema =
                    serde_json::from_str(schema).map_err(SchemaError::invalid)?;
                schema.check(limits).map_err(too_large)?;
                draft_of(schema.dialect())?
            }
            // `true` and `false` are schemas, too.
            _ => Draft::Draft202012,
        };
        let compiled = jsonschema::options()
            .with_draft(draft)
            .offline()
            .with_pattern_options(
                PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES),
            )
            .build(&value);
        match compiled {
            Ok(validator) => Ok(Arc::new(Compiled(validator))),
            Err(error) => Err(external(&value).unwrap_or_else(|| {
                let text: String = error.to_string().chars().take(MESSAGE_CHARS).collect();
                SchemaError::invalid(Unusable(text))
            })),
        }
    }
}

/// What the engine says about a schema. Its own error borrows from it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Unusable(String);

#[derive(Debug, thiserror::Error)]
#[error("the dialect `{0}` is not understood")]
struct UnknownDialect(String);

fn draft_of(dialect: Option<Dialect>) -> Result<Draft, SchemaError> {
    Ok(match dialect {
        None | Some(Dialect::Draft202012) => Draft::Draft202012,
        Some(Dialect::Draft201909) => Draft::Draft201909,
        Some(Dialect::Draft07) => Draft::Draft7,
        Some(Dialect::Draft06) => Draft::Draft6,
        Some(Dialect::Draft04) => Draft::Draft4,
        Some(other) => {
            let uri = other.as_uri().chars().take(MESSAGE_CHARS).collect();
            return Err(SchemaError::invalid(UnknownDialect(uri)));
        }
    })
}

fn too_large(error: SchemaTooLarge) -> SchemaError {
    match error {
        SchemaTooLarge::Bytes { limit } => SchemaError::TooLarge { what: "bytes", limit },
        SchemaTooLarge::Depth { limit } => SchemaError::TooLarge { what: "levels", limit },
        other => SchemaError::invalid(other),
    }
}

/// The first reference that leads out of the schema. The depth of what is walked was checked.
fn external(schema: &Value) -> Option<SchemaError> {
    match schema {
        Value::Object(members) => members.iter().find_map(|(name, value)| match value {
            Value::String(target) if name == "$ref" && !target.starts_with('#') => {
                let reference = target.chars().take(MESSAGE_CHARS).collect();
                Some(SchemaError::External { reference })
            }
            _ => external(value),
        }),
        Value::Array(items) => items.iter().find_map(external),
        _ => None,
    }
}

struct Compiled(jsonschema::Validator);

impl Validator for Compiled {
    fn validate(&self, instance: &str) -> Vec<Violation> {
        let value: Value = match serde_json::from_str(instance) {
            Ok(value) => value,
            Err(error) => return vec![Violation::new("", error.to_string())],
        };
        if self.0.is_valid(&value) {
            return Vec::new();
        }
        let errors = self.0.iter_errors(&value).take(Violation::MAX);
        errors
            .map(|error| {
                let message: String = error.to_string().chars().take(MESSAGE_CHARS).collect();
                Violation::new(error.instance_path().as_str(), message)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_is_kept() {
        mcp_lifecycle::testing::schema_validator_suite(&JsonSchemaValidator);
    }

    fn compile(schema: &str) -> Result<Arc<dyn Validator>, SchemaError> {
        JsonSchemaValidator.compile(schema)
    }

    // Shows: SCHEMA-008
    #[test]
    fn the_declared_dialect_counts_and_an_unknown_one_is_an_error() {
        let schema = |dialect: &str| {
            format!(
                r#"{{"$schema":"{dialect}","type":"object","properties":{{"a":{{"type":"array","items":[{{"type":"string"}}]}}}}}}"#
            )
        };
        // A list of schemas under `items` went away in 2020-12.
        let seven = compile(&schema("http://json-schema.org/draft-07/schema#")).unwrap();
        assert_eq!(seven.validate(r#"{"a":[1]}"#).len(), 1);
        assert!(compile(&schema("https://example.com/my-dialect")).is_err());
    }

    #[test]
    fn hostile_schemas_are_refused_or_harmless() {
        for reference in ["http://127.0.0.1:1/x", "file:///etc/passwd", "https://example.com/#/a"] {
            let schema = format!(r#"{{"properties":{{"a":{{"$ref":"{reference}"}}}}}}"#);
            assert!(matches!(compile(&schema), Err(SchemaError::External { .. })), "{reference}");
        }
        let deep = format!("{}{}", r#"{"not":"#.repeat(100) + "{}", "}".repeat(100));
        assert!(matches!(compile(&deep), Err(SchemaError::TooLarge { .. })));
        // Exponential for an engine that tries again and again.
        let slow = compile(r#"{"type":"string","pattern":"^(a+)+$"}"#).unwrap();
        let text = format!("\"{}b\"", "a".repeat(50_000));
        assert_eq!(slow.validate(&text).len(), 1);
        let huge = r#"{"type":"string","pattern":"(((a{100}){100}){100}){100}"}"#;
        assert!(compile(huge).is_err());
    }

    #[test]
    fn messages_name_the_place() {
        let schema = r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["b"]}"#;
        let violations = compile(schema).unwrap().validate(r#"{"a":"x"}"#);
        let shown: Vec<_> = violations.iter().map(ToString::to_string).collect();
        assert_eq!(shown.len(), 2, "{shown:?}");
        assert!(shown.iter().any(|violation| violation.starts_with("/a: ")), "{shown:?}");
    }
}
