//! A JSON Schema as it came, with a view of the few keywords that the protocol looks at.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::{JsonObject, JsonValue};

/// A JSON Schema: of a tool's arguments, or of what it gives.
///
/// Every keyword is kept as it came, also those of other dialects; the methods look at the
/// raw object each time. Nothing is validated here and no reference is followed.
///
/// ```
/// use mcp_types::JsonSchema;
///
/// let schema: JsonSchema = serde_json::from_str(
///     r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#,
/// )?;
/// assert!(schema.is_object_schema());
/// assert_eq!(schema.required(), ["city"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Specification: [JSON Schema usage](https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage).
#[derive(Clone, PartialEq)]
pub struct JsonSchema(JsonObject);

/// A dialect of JSON Schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Draft-04.
    Draft04,
    /// Draft-06.
    Draft06,
    /// Draft-07.
    Draft07,
    /// 2019-09.
    Draft201909,
    /// 2020-12: what a schema is of that names none.
    Draft202012,
    /// Another one, by its URI.
    Other(String),
}

/// How large a schema may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaLimits {
    /// Bytes of its text.
    pub bytes: usize,
    /// How deep objects and lists are nested.
    pub depth: usize,
}

impl SchemaLimits {
    /// The defaults: 1 MiB, 64 levels. Not part of what semver promises.
    pub const DEFAULT: Self = Self { bytes: 1 << 20, depth: 64 };
}

impl Default for SchemaLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A schema that is too large to work with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaTooLarge {
    /// Its text is too long.
    #[error("the schema has more than {limit} bytes")]
    Bytes {
        /// The limit.
        limit: usize,
    },
    /// It is nested too deep.
    #[error("the schema is nested deeper than {limit} levels")]
    Depth {
        /// The limit.
        limit: usize,
    },
}

impl JsonSchema {
    /// The schema of an object without listed properties: `{"type":"object"}`.
    #[must_use]
    pub fn object() -> Self {
        Self(JsonObject::from([("type", JsonValue::from("object"))]))
    }

    /// The dialect that the schema names, if it names one.
    #[must_use]
    pub fn dialect(&self) -> Option<Dialect> {
        Some(Dialect::from_uri(&self.0.get("$schema")?.as_str()?))
    }

    /// The `type`, when it is one text.
    #[must_use]
    pub fn type_name(&self) -> Option<std::borrow::Cow<'_, str>> {
        self.0.get("type")?.as_str()
    }

    /// Whether the root's `type` is `object`, as the schema of a tool's arguments has to say.
    #[must_use]
    pub fn is_object_schema(&self) -> bool {
        self.type_name().as_deref() == Some("object")
    }

    /// The listed properties.
    #[must_use]
    pub fn properties(&self) -> JsonObject {
        self.0.get("properties").and_then(|value| value.to().ok()).unwrap_or_default()
    }

    /// The names of the properties that have to be there.
    #[must_use]
    pub fn required(&self) -> Vec<String> {
        self.0.get("required").and_then(|value| value.to().ok()).unwrap_or_default()
    }

    /// Fails when the schema is larger than `limits`, so that work on it has a bound.
    ///
    /// # Errors
    ///
    /// [`SchemaTooLarge`], naming the limit.
    pub fn check(&self, limits: SchemaLimits) -> Result<(), SchemaTooLarge> {
        let (mut bytes, mut deepest) = (0usize, 0usize);
        for (name, value) in self.0.iter() {
            bytes = bytes.saturating_add(name.len()).saturating_add(value.as_raw().len());
            deepest = deepest.max(depth(value.as_raw()));
        }
        if bytes > limits.bytes {
            return Err(SchemaTooLarge::Bytes { limit: limits.bytes });
        }
        if deepest >= limits.depth {
            return Err(SchemaTooLarge::Depth { limit: limits.depth });
        }
        Ok(())
    }

    /// The keywords, as they came.
    #[must_use]
    pub fn as_object(&self) -> &JsonObject {
        &self.0
    }

    /// The keywords, to change them.
    pub fn as_object_mut(&mut self) -> &mut JsonObject {
        &mut self.0
    }

    /// The keywords, as they came.
    #[must_use]
    pub fn into_object(self) -> JsonObject {
        self.0
    }
}

/// How deep objects and lists are nested in a JSON text, without recursion.
fn depth(json: &str) -> usize {
    let (mut level, mut deepest) = (0usize, 0usize);
    let (mut inside, mut escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b'{' | b'[' if !inside => {
                level += 1;
                deepest = deepest.max(level);
            }
            b'}' | b']' if !inside => level = level.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

impl Dialect {
    /// The dialect that a `$schema` names. An empty fragment at the end makes no difference.
    #[must_use]
    pub fn from_uri(uri: &str) -> Self {
        let bare = uri.strip_suffix('#').unwrap_or(uri);
        let bare = bare.strip_prefix("https://").or_else(|| bare.strip_prefix("http://"));
        match bare {
            Some("json-schema.org/draft-04/schema") => Self::Draft04,
            Some("json-schema.org/draft-06/schema") => Self::Draft06,
            Some("json-schema.org/draft-07/schema") => Self::Draft07,
            Some("json-schema.org/draft/2019-09/schema") => Self::Draft201909,
            Some("json-schema.org/draft/2020-12/schema") => Self::Draft202012,
            _ => Self::Other(uri.to_owned()),
        }
    }

    /// The URI that names the dialect.
    #[must_use]
    pub fn as_uri(&self) -> &str {
        match self {
            Self::Draft04 => "http://json-schema.org/draft-04/schema#",
            Self::Draft06 => "http://json-schema.org/draft-06/schema#",
            Self::Draft07 => "http://json-schema.org/draft-07/schema#",
            Self::Draft201909 => "https://json-schema.org/draft/2019-09/schema",
            Self::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
            Self::Other(uri) => uri,
        }
    }
}

impl From<JsonObject> for JsonSchema {
    fn from(object: JsonObject) -> Self {
        Self(object)
    }
}

impl From<serde_json::Map<String, serde_json::Value>> for JsonSchema {
    fn from(object: serde_json::Map<String, serde_json::Value>) -> Self {
        Self(object.into())
    }
}

impl fmt::Debug for JsonSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for JsonSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for JsonSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        JsonObject::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(json: &str) -> JsonSchema {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn every_keyword_survives_in_order() {
        let json = concat!(
            r#"{"type":"object","$defs":{"x":{"minimum":1e400}},"prefixItems":[true],"#,
            r#""x-mcp-header":"a","$dynamicRef":"#,
            "\"#n\",\"unevaluatedProperties\":false}",
        );
        assert_eq!(serde_json::to_string(&schema(json)).unwrap(), json);
    }

    // Shows: FC-040
    #[test]
    fn dialects_are_known_with_and_without_a_fragment() {
        for (uri, dialect) in [
            ("http://json-schema.org/draft-07/schema#", Dialect::Draft07),
            ("http://json-schema.org/draft-07/schema", Dialect::Draft07),
            ("https://json-schema.org/draft/2020-12/schema", Dialect::Draft202012),
            ("https://json-schema.org/draft/2019-09/schema", Dialect::Draft201909),
            ("http://json-schema.org/draft-06/schema#", Dialect::Draft06),
            ("http://json-schema.org/draft-04/schema#", Dialect::Draft04),
        ] {
            assert_eq!(schema(&format!(r#"{{"$schema":"{uri}"}}"#)).dialect(), Some(dialect));
        }
        let other = "https://example.com/my-dialect";
        assert_eq!(Dialect::from_uri(other), Dialect::Other(other.to_owned()));
        assert_eq!(schema("{}").dialect(), None);
    }

    #[test]
    fn a_schema_has_a_bound_in_size_and_depth() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(
            schema(&deep).check(SchemaLimits::DEFAULT),
            Err(SchemaTooLarge::Depth { limit: 64 })
        );
        let wide = format!("{{\"a\":\"{}\"}}", "[".repeat(1 << 20));
        assert_eq!(
            schema(&wide).check(SchemaLimits::DEFAULT),
            Err(SchemaTooLarge::Bytes { limit: 1 << 20 })
        );
        assert_eq!(schema(r#"{"a":"[[\"[["}"#).check(SchemaLimits { bytes: 99, depth: 1 }), Ok(()));
    }
}
