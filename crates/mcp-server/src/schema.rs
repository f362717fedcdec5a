//! The JSON Schemas of arguments and results, and whether values are held against them.

use std::fmt;
use std::sync::Arc;
#[cfg(feature = "validate")]
use std::sync::OnceLock;

use mcp_types::JsonSchema;

/// The schema of a tool's arguments or results, and how values are checked.
///
/// A schema that was derived from a Rust type, and says no more than the type does, needs no
/// second check of a value that was parsed into that type: serde has done it. Everything else
/// is validated, with the feature `validate`.
///
/// The dialects that are understood are 2020-12, which is also meant where a schema doesn't say,
/// 2019-09, draft-07, draft-06 and draft-04, with or without a `#` at the end of the name.
///
/// Cheap to clone: clones share the compiled schema.
///
/// Specification: [JSON Schema usage](https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage).
#[derive(Clone)]
pub struct ToolSchema(Arc<Inner>);

struct Inner {
    listed: JsonSchema,
    /// What values are held against, where that is not what clients see.
    #[cfg(feature = "validate")]
    checked: Option<JsonSchema>,
    by_type: bool,
    #[cfg(feature = "validate")]
    validator: OnceLock<Result<crate::validate::Validator, UnusableSchema>>,
}

impl ToolSchema {
    /// A schema that says `{"type":"object"}` and nothing more.
    #[must_use]
    pub fn any_object() -> Self {
        Self::new(JsonSchema::object())
    }

    /// The schema of a tool that takes no arguments: an object without members.
    pub(crate) fn no_members() -> Self {
        let mut schema = JsonSchema::object();
        schema.as_object_mut().set("additionalProperties", mcp_types::JsonValue::from(false));
        // A function that takes no arguments doesn't see those that come nevertheless: some
        // clients send a filler.
        Self::made(schema, None, true)
    }

    /// A schema written by hand.
    #[must_use]
    pub fn new(schema: JsonSchema) -> Self {
        Self::made(schema, None, false)
    }

    fn made(listed: JsonSchema, checked: Option<JsonSchema>, by_type: bool) -> Self {
        #[cfg(not(feature = "validate"))]
        let _ = checked;
        Self(Arc::new(Inner {
            listed,
            #[cfg(feature = "validate")]
            checked,
            by_type,
            #[cfg(feature = "validate")]
            validator: OnceLock::new(),
        }))
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

    /// The schema of a Rust type that is read, such as the arguments of a tool, in the portable
    /// profile: no unions with null for optional members, no `format` of integers, no
    /// `$schema`, references only where a type recurs.
    ///
    /// An optional member may be null nevertheless: that is what serde takes, and values are
    /// checked by what the type says.
    #[cfg(feature = "schemars")]
    #[must_use]
    pub fn of<T: schemars::JsonSchema>() -> Self {
        let derived = crate::portable::of_arguments::<T>();
        Self::made(derived.listed, derived.checked, derived.by_type)
    }

    /// The schema of a Rust type that is written, such as the structured result of a tool, in
    /// the portable profile. A member that is written as null when there is nothing to say may
    /// be null in the schema; `skip_serializing_if` avoids it.
    #[cfg(feature = "schemars")]
    #[must_use]
    pub fn of_result<T: schemars::JsonSchema>() -> Self {
        let derived = crate::portable::of_result::<T>();
        Self::made(derived.listed, None, derived.by_type)
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &JsonSchema {
        &self.0.listed
    }

    /// Whether a value that was parsed into the Rust type fits by that.
    pub(crate) fn holds_by_type(&self) -> bool {
        self.0.by_type
    }

    /// Whether values can be held against the schema at all.
    ///
    /// # Errors
    ///
    /// When they can't.
    #[cfg(feature = "validate")]
    pub(crate) fn check(&self) -> Result<(), &UnusableSchema> {
        if self.0.by_type { Ok(()) } else { self.validator().map(|_| ()) }
    }

    #[cfg(not(feature = "validate"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the other build uses them")]
    pub(crate) fn check(&self) -> Result<(), &UnusableSchema> {
        Ok(())
    }

    #[cfg(feature = "validate")]
    fn validator(&self) -> Result<&crate::validate::Validator, &UnusableSchema> {
        let schema = self.0.checked.as_ref().unwrap_or(&self.0.listed);
        self.0.validator.get_or_init(|| crate::validate::Validator::compile(schema)).as_ref()
    }

    /// What is wrong with `json`, one sentence for each fault; empty when it fits.
    ///
    /// # Errors
    ///
    /// When the schema itself is of no use.
    #[cfg(feature = "validate")]
    pub(crate) fn violations(&self, json: &[u8]) -> Result<Vec<String>, &UnusableSchema> {
        self.validator().map(|validator| validator.violations(json))
    }

    #[cfg(not(feature = "validate"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the other build uses them")]
    pub(crate) fn violations(&self, _: &[u8]) -> Result<Vec<String>, &UnusableSchema> {
        Ok(Vec::new())
    }
}

impl fmt::Debug for ToolSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolSchema").field(&self.0.listed).finish()
    }
}

/// Values can't be held against a schema.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableSchema {
    /// The dialect that it declares is none of those that are understood. The tool is listed,
    /// and can't be called.
    #[error("the JSON Schema dialect {dialect:?} is not supported")]
    Dialect {
        /// What `$schema` says.
        dialect: String,
    },
    /// It is too large, or nested too deep.
    #[error("the schema is too large")]
    TooLarge(#[from] mcp_types::SchemaTooLarge),
    /// It is no schema of its dialect, or refers to what isn't there.
    #[error("the schema is not valid")]
    Invalid(#[source] Arc<dyn std::error::Error + Send + Sync>),
}

#[cfg(all(test, feature = "validate"))]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn violations(schema: Value, value: &Value) -> Result<Vec<String>, UnusableSchema> {
        let schema = ToolSchema::from_value(schema);
        schema.violations(value.to_string().as_bytes()).map_err(Clone::clone)
    }

    // Shows: SCHEMA-001, SCHEMA-003, SCHEMA-006, FC-040
    #[test]
    fn a_schema_is_read_in_its_own_dialect_and_in_2020_12_otherwise() {
        let pair = json!([1, 2, 3]);
        let draft_07 = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "items": [{"type": "string"}],
        });
        assert_eq!(violations(draft_07, &pair).unwrap().len(), 1);
        // `items` as a list is none of 2020-12.
        assert!(violations(json!({"items": [{"type": "string"}]}), &pair).is_err());
        let newest = json!({"prefixItems": [{"type": "string"}]});
        assert_eq!(violations(newest.clone(), &pair).unwrap().len(), 1);
        let required = json!({"dependentRequired": {"a": ["b"]}});
        assert_eq!(violations(required, &json!({"a": 1})).unwrap().len(), 1);
        // In draft-07 nobody knows `prefixItems`.
        let mut old = newest;
        old["$schema"] = "http://json-schema.org/draft-07/schema".into();
        assert_eq!(violations(old, &pair).unwrap().len(), 0);
    }

    // Shows: SCHEMA-004
    #[test]
    fn the_dialects_that_are_documented_are_those_that_are_understood() {
        let known = [
            "http://json-schema.org/draft-04/schema",
            "http://json-schema.org/draft-06/schema",
            "http://json-schema.org/draft-07/schema",
            "https://json-schema.org/draft/2019-09/schema",
            "https://json-schema.org/draft/2020-12/schema",
        ];
        for dialect in known {
            for end in ["", "#"] {
                let schema = json!({"$schema": format!("{dialect}{end}"), "required": ["a"]});
                assert_eq!(violations(schema, &json!({})).unwrap().len(), 1, "{dialect}{end}");
            }
        }
    }

    // Shows: SCHEMA-007
    #[test]
    fn an_unknown_dialect_is_named() {
        let schema = json!({"$schema": "https://example.com/unknown", "type": "object"});
        let error = violations(schema, &json!({})).unwrap_err();
        assert!(matches!(&error, UnusableSchema::Dialect { .. }), "{error:?}");
        assert!(error.to_string().contains("https://example.com/unknown"));
    }

    #[test]
    fn nothing_is_fetched() {
        let schema = json!({"$ref": "http://127.0.0.1:9/schema.json"});
        assert!(matches!(violations(schema, &json!({})), Err(UnusableSchema::Invalid(_))));
    }
}
