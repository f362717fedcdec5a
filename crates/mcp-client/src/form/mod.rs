//! What a server asks a person, as a form: fields with their defaults, and whether an answer
//! fits.
//!
//! ```
//! use mcp_client::form::Form;
//! use mcp_types::{ElicitValue, RequestedSchema};
//!
//! let schema: RequestedSchema = serde_json::from_str(
//!     r#"{"type":"object","properties":{
//!         "size":{"type":"string","oneOf":[
//!             {"const":"s","title":"Small"},{"const":"l","title":"Large"}]},
//!         "count":{"type":"integer","minimum":1,"default":1}},
//!       "required":["size"]}"#,
//! )?;
//! let form = Form::of(&schema);
//! let mut answer = form.defaults();
//! assert!(form.check(&answer).is_err(), "the size is missing");
//! answer.set("size", ElicitValue::from("l"));
//! assert!(form.check(&answer).is_ok());
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! Specification: [requested schema](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema).

mod check;
mod field;

pub use self::check::{FieldError, FormError};
pub use self::field::{Choice, Field, FieldKind};

use mcp_types::{ElicitValue, OrderedMap, RequestedSchema};

/// A form: what is asked for, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    fields: Vec<Field>,
}

impl Form {
    /// Reads what is asked for. A default that breaks its own field's rules is dropped, with a
    /// warning in the log.
    #[must_use]
    pub fn of(schema: &RequestedSchema) -> Self {
        let required = schema.required.as_deref().unwrap_or_default();
        let fields = schema.properties.iter().map(|(name, definition)| {
            Field::of(name, definition, required.iter().any(|known| known == name))
        });
        Self { fields: fields.collect() }
    }

    /// The fields.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The answer of somebody who touches nothing: every default there is, `false`, `0` and the
    /// empty text among them.
    #[must_use]
    pub fn defaults(&self) -> OrderedMap<ElicitValue> {
        let mut answer = OrderedMap::new();
        for field in &self.fields {
            if let Some(value) = &field.default {
                answer.set(field.name.as_str(), value.clone());
            }
        }
        answer
    }

    /// Whether an answer fits: every required field is there, and every value is one that its
    /// field takes. Members that nobody asked for are let pass.
    ///
    /// # Errors
    ///
    /// The first field that doesn't fit, and why.
    pub fn check(&self, answer: &OrderedMap<ElicitValue>) -> Result<(), FormError> {
        for field in &self.fields {
            let problem = match answer.get(&field.name) {
                Some(value) => field.check(value).err(),
                None if field.required => Some(FieldError::Missing),
                None => None,
            };
            if let Some(source) = problem {
                return Err(FormError { field: field.name.clone(), source });
            }
        }
        Ok(())
    }
}
