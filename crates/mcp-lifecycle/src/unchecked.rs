use std::sync::Arc;

use crate::v1::{SchemaError, SchemaValidator, Validator, Violation};

/// Takes every schema, and finds every value fitting: for programs without a validator.
///
/// Arguments then reach a tool as they came, and the tool has to look at them itself.
///
/// ```
/// use mcp_lifecycle::Unchecked;
/// use mcp_lifecycle::v1::SchemaValidator as _;
///
/// let anything = Unchecked.compile(r#"{"type":"integer"}"#)?;
/// assert!(anything.validate("\"text\"").is_empty());
/// # Ok::<(), mcp_lifecycle::v1::SchemaError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to hold")]
pub struct Unchecked;

impl SchemaValidator for Unchecked {
    fn compile(&self, _schema: &str) -> Result<Arc<dyn Validator>, SchemaError> {
        Ok(Arc::new(*self))
    }
}

impl Validator for Unchecked {
    fn validate(&self, _instance: &str) -> Vec<Violation> {
        Vec::new()
    }
}
