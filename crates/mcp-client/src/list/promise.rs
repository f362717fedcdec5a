//! What tools have promised about their results.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mcp_lifecycle::v1::{SchemaError, SchemaValidator, Validator};
use mcp_types::{CallToolResult, JsonSchema, TaskSupport, Tool};

use crate::OutputError;

/// What the tools that were seen in a list since it last changed have said about their calls.
#[derive(Default)]
pub(crate) struct Promises {
    /// Whether there is anything at all: most servers say nothing, and a call needn't look.
    any: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    version: u64,
    by_tool: HashMap<String, Said>,
}

/// What one tool has said.
struct Said {
    promise: Option<Promise>,
    /// None where it doesn't run as a task.
    task: Option<TaskSupport>,
}

impl Said {
    fn is_nothing(&self) -> bool {
        self.promise.is_none() && self.task.is_none()
    }
}

/// Whether a tool runs as a task; none if it doesn't.
fn task_support(tool: &Tool) -> Option<TaskSupport> {
    let support = tool.execution.as_ref()?.task_support.as_ref()?;
    matches!(support, TaskSupport::Optional | TaskSupport::Required).then(|| support.clone())
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

    /// Takes in what a page of the list says, whose fetch began at `version`. Knows of at most
    /// `limit` tools.
    pub(super) fn note(&self, version: u64, tools: &[Tool], limit: usize) {
        let silent = |tool: &Tool| tool.output_schema.is_none() && tool.execution.is_none();
        if !self.any.load(Ordering::Relaxed) && tools.iter().all(silent) {
            return;
        }
        let mut state = self.lock();
        if state.version != version {
            return;
        }
        for tool in tools {
            let name = tool.name.as_str();
            let known = state.by_tool.get(name).and_then(|said| said.promise.as_ref());
            let promise = tool.output_schema.as_ref().map(|schema| match known {
                Some(known) if known.0.schema == *schema => known.clone(),
                _ => Promise::new(schema.clone()),
            });
            let said = Said { promise, task: task_support(tool) };
            if said.is_nothing() {
                state.by_tool.remove(name);
            } else if state.by_tool.len() < limit || state.by_tool.contains_key(name) {
                state.by_tool.insert(name.to_owned(), said);
            } else {
                tracing::warn!(tool = name, limit, "what a tool says about its calls is not kept");
            }
        }
        self.any.store(!state.by_tool.is_empty(), Ordering::Relaxed);
    }

    /// Whether `tool` runs as a task.
    pub(super) fn task_support_of(&self, tool: &str) -> Option<TaskSupport> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        self.lock().by_tool.get(tool)?.task.clone()
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
        let promise = self.lock().by_tool.get(tool).and_then(|said| said.promise.clone());
        let Some(promise) = promise else { return Ok(None) };
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
