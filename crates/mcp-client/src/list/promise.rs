//! What tools have promised about their results.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mcp_lifecycle::v1::{SchemaError, SchemaValidator, Validator};
use mcp_types::{CallToolResult, JsonSchema, Tool};

use crate::OutputError;

/// The output schemas of the tools that were seen in a list since it last changed.
#[derive(Default)]
pub(crate) struct Promises {
    /// Whether there is one at all: most servers have none, and a call needn't look.
    any: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    version: u64,
    by_tool: HashMap<String, Promise>,
}

/// The output schema of one tool. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Promise(Arc<Output>);

struct Output {
    schema: JsonSchema,
    /// Compiled when first needed; none without a validator.
    validator: OnceLock<Result<Option<Arc<dyn Validator>>, SchemaError>>,
}

impl Promises {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn version(&self) -> u64 {
        self.lock().version
    }

    /// Takes in what a page of the list says, whose fetch began at `version`. Holds at most
    /// `limit` schemas.
    pub(super) fn note(&self, version: u64, tools: &[Tool], limit: usize) {
        if !self.any.load(Ordering::Relaxed) && tools.iter().all(|t| t.output_schema.is_none()) {
            return;
        }
        let mut state = self.lock();
        if state.version != version {
            return;
        }
        for tool in tools {
            match &tool.output_schema {
                Some(schema) if state.by_tool.len() < limit => {
                    let known = state.by_tool.get(tool.name.as_str());
                    if known.is_none_or(|known| known.0.schema != *schema) {
                        let promise = Promise::new(schema.clone());
                        state.by_tool.insert(tool.name.as_str().to_owned(), promise);
                    }
                }
                Some(_) => tracing::warn!(tool = %tool.name, limit, "an output schema is not kept"),
                None => {
                    state.by_tool.remove(tool.name.as_str());
                }
            }
        }
        self.any.store(!state.by_tool.is_empty(), Ordering::Relaxed);
    }

    /// The list has changed.
    pub(super) fn forget(&self) {
        let mut state = self.lock();
        state.version += 1;
        state.by_tool.clear();
        self.any.store(false, Ordering::Relaxed);
    }

    /// What `tool` has promised, ready to be checked.
    pub(super) fn of(
        &self,
        tool: &str,
        validator: Option<&dyn SchemaValidator>,
    ) -> Result<Option<Promise>, SchemaError> {
        if !self.any.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let Some(promise) = self.lock().by_tool.get(tool).cloned() else { return Ok(None) };
        promise.compile(validator)?;
        Ok(Some(promise))
    }
}

impl Promise {
    fn new(schema: JsonSchema) -> Self {
        Self(Arc::new(Output { schema, validator: OnceLock::new() }))
    }

    fn compile(&self, validator: Option<&dyn SchemaValidator>) -> Result<(), SchemaError> {
        let Output { schema, validator: compiled } = &*self.0;
        let compiled = compiled.get_or_init(|| {
            let Some(validator) = validator else { return Ok(None) };
            let schema = serde_json::to_string(schema).map_err(SchemaError::invalid)?;
            validator.compile(&schema).map(Some)
        });
        compiled.as_ref().map(|_| ()).map_err(Clone::clone)
    }

    /// Whether a result of a tool that didn't fail keeps the promise.
    pub(crate) fn check(&self, result: &CallToolResult) -> Result<(), OutputError> {
        let value = result.structured_content.as_ref().ok_or(OutputError::Missing)?;
        let Some(Ok(Some(validator))) = self.0.validator.get() else { return Ok(()) };
        let violations = validator.validate(value.as_raw());
        if violations.is_empty() { Ok(()) } else { Err(OutputError::Invalid { violations }) }
    }
}
