//! The JSON Schemas of arguments and results, and whether values are held against them.

#[cfg(feature = "validate")]
use std::sync::{Arc, OnceLock};

use mcp_types::JsonSchema;

/// The schema of a tool's arguments or results, and how values are checked.
///
/// A schema that was derived from a Rust type, and says no more than the type does, needs no
/// second check of a value that was parsed into that type: serde has done it. Everything else
/// is validated.
#[derive(Clone, Debug)]
pub struct ToolSchema {
    schema: JsonSchema,
    by_type: bool,
    #[cfg(feature = "validate")]
    validator: Arc<OnceLock<Option<crate::validate::Validator>>>,
}

impl ToolSchema {
    /// A schema that says `{"type":"object"}` and nothing more.
    #[must_use]
    pub fn any_object() -> Self {
        Self::new(JsonSchema::object())
    }

    /// A schema written by hand.
    #[must_use]
    pub fn new(schema: JsonSchema) -> Self {
        Self {
            schema,
            by_type: false,
            #[cfg(feature = "validate")]
            validator: Arc::default(),
        }
    }

    /// A schema from a JSON value. A value that is no object, such as `true`, says nothing more
    /// than that there is an object.
    #[must_use]
    pub fn from_value(schema: serde_json::Value) -> Self {
        match schema {
            serde_json::Value::Object(schema) => Self::new(JsonSchema::from(schema)),
            _ => Self::any_object(),
        }
    }

    /// The schema of a Rust type, in the portable profile: no unions with null for optional
    /// members, no `format` of integers, no `$schema`, references only where a type recurs.
    #[cfg(feature = "schemars")]
    #[must_use]
    pub fn of<T: schemars::JsonSchema>() -> Self {
        let (schema, by_type) = crate::portable::schema_of::<T>();
        Self { by_type, ..Self::new(schema) }
    }

    /// The schema.
    #[must_use]
    pub const fn schema(&self) -> &JsonSchema {
        &self.schema
    }

    /// Whether a value that was parsed into the Rust type fits by that.
    pub(crate) const fn holds_by_type(&self) -> bool {
        self.by_type
    }

    /// What is wrong with `json`, one sentence for each fault; empty when it fits.
    ///
    /// # Errors
    ///
    /// When the schema itself is of no use.
    #[cfg(feature = "validate")]
    pub(crate) fn violations(&self, json: &[u8]) -> Result<Vec<String>, UnusableSchema> {
        let validator =
            self.validator.get_or_init(|| crate::validate::Validator::compile(&self.schema).ok());
        validator.as_ref().map(|validator| validator.violations(json)).ok_or(UnusableSchema)
    }

    #[cfg(not(feature = "validate"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the other build uses them")]
    pub(crate) fn violations(&self, _: &[u8]) -> Result<Vec<String>, UnusableSchema> {
        Ok(Vec::new())
    }
}

/// A schema that can't be compiled: a dialect nobody knows, a reference to nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the schema can't be used")]
#[non_exhaustive]
pub struct UnusableSchema;
