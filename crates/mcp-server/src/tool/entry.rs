use std::sync::Arc;

use mcp_jsonrpc::Extensions;
use mcp_types::{Icon, Revision, TaskSupport, ToolAnnotations};

use super::handler::IntoTool;
use crate::access::Label;
use crate::error::RegisterError;
use crate::list::Listed;
use crate::schema::ToolSchema;
use crate::v1::{Tool, ToolDefinition};

/// A tool together with what clients are told about it.
///
/// ```
/// use mcp_server::tool::ToolEntry;
///
/// let entry = ToolEntry::new("now", || async { "noon" })
///     .title("What time is it?")
///     .description("Tells the time of day.")
///     .read_only(true);
/// ```
pub struct ToolEntry {
    tool: Arc<dyn Tool>,
    definition: ToolDefinition,
    listed: mcp_types::Tool,
    needs: Vec<Label>,
    immediate: Option<Arc<str>>,
}

impl ToolEntry {
    /// A tool under a name: 1 to 128 of the characters `A`–`Z`, `a`–`z`, `0`–`9`, `_`, `-`, `.`.
    ///
    /// Another name is allowed, since the specification only says *should*, and logged.
    pub fn new<M>(name: impl Into<String>, tool: impl IntoTool<M>) -> Self {
        let tool = tool.into_tool();
        let definition = tool.describe();
        let name = mcp_types::ToolName::from(name.into());
        if !name.is_conforming() {
            tracing::warn!(
                name = name.as_str(),
                "the tool's name may not be understood by clients"
            );
        }
        let mut listed = mcp_types::Tool::new(name, definition.input.schema().clone());
        listed.output_schema = definition.output.as_ref().map(|schema| schema.schema().clone());
        Self { tool: Arc::new(tool), definition, listed, needs: Vec::new(), immediate: None }
    }

    /// What the tool does, for models.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.listed.description = Some(description.into());
        self
    }

    /// The tool's name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.listed.title = Some(title.into());
        self
    }

    /// Icons for user interfaces.
    #[must_use]
    pub fn icons(mut self, icons: Vec<Icon>) -> Self {
        self.listed.icons = Some(icons);
        self
    }

    /// Hints about what the tool does; see also [`read_only`](Self::read_only),
    /// [`destructive`](Self::destructive), [`idempotent`](Self::idempotent) and
    /// [`open_world`](Self::open_world).
    #[must_use]
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.listed.annotations = Some(annotations);
        self
    }

    /// Hints that the tool changes nothing.
    #[must_use]
    pub fn read_only(mut self, hint: bool) -> Self {
        self.hints().read_only_hint = Some(hint);
        self
    }

    /// Hints that the tool may destroy something.
    #[must_use]
    pub fn destructive(mut self, hint: bool) -> Self {
        self.hints().destructive_hint = Some(hint);
        self
    }

    /// Hints that calling the tool again with the same arguments changes nothing more.
    #[must_use]
    pub fn idempotent(mut self, hint: bool) -> Self {
        self.hints().idempotent_hint = Some(hint);
        self
    }

    /// Hints that the tool deals with things outside of this server.
    #[must_use]
    pub fn open_world(mut self, hint: bool) -> Self {
        self.hints().open_world_hint = Some(hint);
        self
    }

    /// Says whether a call of the tool may, or has to, run as a task; `forbidden` when nothing is
    /// said. It counts only for a server that announces tasks, whatever is said here.
    ///
    /// Specification: [Tool-level negotiation](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#tool-level-negotiation).
    #[must_use]
    pub fn task_support(mut self, support: TaskSupport) -> Self {
        self.listed.execution.get_or_insert_default().task_support = Some(support);
        self
    }

    /// What a model can be told at once when a call of the tool was taken on as a task, while it
    /// runs.
    ///
    /// Specification: [model immediate response](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#model-immediate-response).
    #[must_use]
    pub fn immediate_response(mut self, text: impl Into<Arc<str>>) -> Self {
        self.immediate = Some(text.into());
        self
    }

    /// Replaces the input schema; arguments are then held against it.
    #[must_use]
    pub fn input_schema(mut self, schema: ToolSchema) -> Self {
        self.listed.input_schema = schema.schema().clone();
        self.definition.input = schema;
        self.definition.typed_input = false;
        self
    }

    /// Replaces the output schema; structured results are then held against it.
    #[must_use]
    pub fn output_schema(mut self, schema: ToolSchema) -> Self {
        self.listed.output_schema = Some(schema.schema().clone());
        self.definition.output = Some(schema);
        self.definition.typed_output = false;
        self
    }

    /// Hides the tool from whoever wasn't granted `label`: it is not listed for them, and can't
    /// be called. Several labels are all needed. See [`Server::grants`](crate::Server::grants).
    #[must_use]
    pub fn needs(mut self, label: impl Into<Arc<str>>) -> Self {
        self.needs.push(label.into());
        self
    }

    fn hints(&mut self) -> &mut ToolAnnotations {
        self.listed.annotations.get_or_insert_default()
    }

    pub(crate) fn register(self) -> Result<Registered, RegisterError> {
        let Self { tool, definition, listed, needs, immediate } = self;
        let name = listed.name.as_str().to_owned();
        let schemas = [("input", Some(&definition.input)), ("output", definition.output.as_ref())];
        for (which, schema) in schemas {
            let Some(schema) = schema else { continue };
            if !schema.schema().is_object_schema() {
                return Err(RegisterError::NotAnObject { tool: name, which });
            }
            match schema.check() {
                // It may be somebody else's tool that we pass on: their dialect is listed.
                Ok(()) | Err(crate::UnusableSchema::Dialect { .. }) => {}
                Err(source) => {
                    let source = source.clone();
                    return Err(RegisterError::Schema { tool: name, which, source });
                }
            }
        }
        Ok(Registered { name, tool, definition, listed, needs, immediate, state: None })
    }
}

impl std::fmt::Debug for ToolEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolEntry").field("listed", &self.listed).finish_non_exhaustive()
    }
}

/// A tool as the server holds it.
pub(crate) struct Registered {
    pub(crate) name: String,
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) definition: ToolDefinition,
    listed: mcp_types::Tool,
    needs: Vec<Label>,
    pub(crate) immediate: Option<Arc<str>>,
    /// The state of the server that it was mounted from.
    pub(crate) state: Option<Arc<Extensions>>,
}

impl Registered {
    /// Whether a call may, or has to, run as a task.
    #[cfg(feature = "tasks")]
    pub(crate) fn task_support(&self) -> TaskSupport {
        self.listed.task_support()
    }

    /// The same tool under another name, with the state of the server that it comes from.
    pub(crate) fn mounted(&self, prefix: &str, state: &Arc<Extensions>) -> Self {
        let name = format!("{prefix}{}", self.name);
        let mut listed = self.listed.clone();
        listed.name = name.as_str().into();
        Self {
            name,
            tool: Arc::clone(&self.tool),
            definition: self.definition.clone(),
            listed,
            needs: self.needs.clone(),
            immediate: self.immediate.clone(),
            state: Some(self.state.as_ref().unwrap_or(state).clone()),
        }
    }
}

impl Listed for Registered {
    fn key(&self) -> &str {
        &self.name
    }

    fn needs(&self) -> &[Label] {
        &self.needs
    }

    fn write(&self, revision: Revision, out: &mut Vec<u8>) {
        crate::list::write_projected(&self.listed, revision, out);
    }
}
