//! Values held against JSON Schemas, both of which may come from strangers.

use std::sync::Arc;

use mcp_types::{Dialect, JsonSchema, SchemaLimits};
use serde_json::Value;

use crate::schema::UnusableSchema;

/// A compiled schema.
#[derive(Debug)]
pub(crate) struct Validator(jsonschema::Validator);

/// Violations that are reported; a model can't act on more.
const REPORTED: usize = 8;

/// Characters of one violation: it may quote the value.
const LONGEST: usize = 300;

impl Validator {
    /// Compiles a schema: of the dialect that it declares, else of 2020-12. Nothing is fetched,
    /// and patterns run in linear time.
    pub(crate) fn compile(schema: &JsonSchema) -> Result<Self, UnusableSchema> {
        schema.check(SchemaLimits::default())?;
        let draft = match schema.dialect() {
            None | Some(Dialect::Draft202012) => jsonschema::Draft::Draft202012,
            Some(Dialect::Draft201909) => jsonschema::Draft::Draft201909,
            Some(Dialect::Draft07) => jsonschema::Draft::Draft7,
            Some(Dialect::Draft06) => jsonschema::Draft::Draft6,
            Some(Dialect::Draft04) => jsonschema::Draft::Draft4,
            Some(other) => {
                return Err(UnusableSchema::Dialect { dialect: other.as_uri().to_owned() });
            }
        };
        let value: Value = serde_json::to_value(schema)
            .map_err(|error| UnusableSchema::Invalid(Arc::new(error)))?;
        jsonschema::options()
            .with_draft(draft)
            .offline()
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(&value)
            .map(Self)
            .map_err(|error| UnusableSchema::Invalid(Arc::new(error.to_owned())))
    }

    /// What is wrong with `json`, one sentence for each fault.
    pub(crate) fn violations(&self, json: &[u8]) -> Vec<String> {
        let value: Value = match serde_json::from_slice(json) {
            Ok(value) => value,
            Err(error) => return vec![error.to_string()],
        };
        if self.0.is_valid(&value) {
            return Vec::new();
        }
        let errors = self.0.iter_errors(&value).take(REPORTED);
        errors
            .map(|error| {
                let place = error.instance_path().as_str().to_owned();
                let message: String = error.to_string().chars().take(LONGEST).collect();
                if place.is_empty() { message } else { format!("{place}: {message}") }
            })
            .collect()
    }
}
