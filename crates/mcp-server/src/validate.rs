//! Values held against JSON Schemas, both of which may come from strangers.

use mcp_types::JsonSchema;
use serde_json::Value;

/// A compiled schema.
#[derive(Debug)]
pub(crate) struct Validator(jsonschema::Validator);

/// Violations that are reported; a model can't act on more.
const REPORTED: usize = 8;

impl Validator {
    /// Compiles a schema: of the dialect that it declares, else of 2020-12. Nothing is fetched,
    /// and patterns run in linear time.
    pub(crate) fn compile(schema: &JsonSchema) -> Result<Self, super::schema::UnusableSchema> {
        let value: Value =
            serde_json::to_value(schema).map_err(|_| super::schema::UnusableSchema)?;
        let draft = match value.get("$schema").and_then(Value::as_str) {
            None => jsonschema::Draft::Draft202012,
            Some(dialect) => dialect_of(dialect).ok_or(super::schema::UnusableSchema)?,
        };
        jsonschema::options()
            .with_draft(draft)
            .offline()
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(&value)
            .map(Self)
            .map_err(|error| {
                tracing::warn!(%error, "a schema can't be compiled");
                super::schema::UnusableSchema
            })
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
                let message: String = error.to_string().chars().take(300).collect();
                if place.is_empty() { message } else { format!("{place}: {message}") }
            })
            .collect()
    }
}

fn dialect_of(uri: &str) -> Option<jsonschema::Draft> {
    let uri = uri.trim_end_matches('#').trim_end_matches('/');
    let uri = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
    Some(match uri {
        "json-schema.org/draft/2020-12/schema" => jsonschema::Draft::Draft202012,
        "json-schema.org/draft/2019-09/schema" => jsonschema::Draft::Draft201909,
        "json-schema.org/draft-07/schema" => jsonschema::Draft::Draft7,
        "json-schema.org/draft-06/schema" => jsonschema::Draft::Draft6,
        "json-schema.org/draft-04/schema" => jsonschema::Draft::Draft4,
        _ => return None,
    })
}
