use std::error::Error;
use std::sync::Arc;

/// Understands JSON Schema.
///
/// Servers compile the schemas of their tools once, and check arguments against them; clients
/// check structured results.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come with a
/// default body. It is object-safe.
///
/// # Contract
///
/// - A schema without `$schema` is of dialect 2020-12.
/// - Nothing is fetched: a reference that leads out of the schema is a [`SchemaError`].
/// - Both work and memory are bounded, whatever the schema says: schemas come from peers, too.
///
/// The contract is proved by `testing::schema_validator_suite`.
pub trait SchemaValidator: Send + Sync + 'static {
    /// Compiles the JSON text of a schema.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] when it is no schema, or none that may be used.
    fn compile(&self, schema: &str) -> Result<Arc<dyn Validator>, SchemaError>;
}

/// A compiled schema.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come with a
/// default body. It is object-safe.
pub trait Validator: Send + Sync + 'static {
    /// What is wrong with the JSON text `instance`; nothing if it fits the schema. A text that
    /// isn't JSON is one violation, at the root. The first [`Violation::MAX`] are enough.
    fn validate(&self, instance: &str) -> Vec<Violation>;
}

impl<S: SchemaValidator + ?Sized> SchemaValidator for Arc<S> {
    fn compile(&self, schema: &str) -> Result<Arc<dyn Validator>, SchemaError> {
        (**self).compile(schema)
    }
}

impl<V: Validator + ?Sized> Validator for Arc<V> {
    fn validate(&self, instance: &str) -> Vec<Violation> {
        (**self).validate(instance)
    }
}

/// One way in which a value doesn't fit its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Where in the value: a JSON pointer, empty for the value itself.
    pub path: String,
    /// What is wrong, in words that a model can act on. It may quote the value.
    pub message: String,
}

impl Violation {
    /// How many violations of one value are worth reporting.
    pub const MAX: usize = 16;

    /// Something is wrong at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

/// A schema can't be used.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// It is no schema of a dialect that is understood.
    #[error("this is no JSON Schema that is understood")]
    Invalid {
        /// What the engine says.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// It refers to something outside of itself.
    #[error("the schema refers to `{reference}`, which is outside of it")]
    External {
        /// The reference.
        reference: String,
    },
    /// It is larger than it may be.
    #[error("the schema exceeds {limit} {what}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// The limit that was in force.
        limit: usize,
    },
}

impl SchemaError {
    /// [`Invalid`](Self::Invalid), with its cause.
    pub fn invalid(source: impl Error + Send + Sync + 'static) -> Self {
        Self::Invalid { source: Arc::new(source) }
    }
}
