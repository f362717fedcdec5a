//! What an absent member means, and helpers that keep a rule.

use crate::{
    form::ElicitValue,
    generated::{
        completion::{CompleteResult, Completion},
        elicitation::{ElicitAction, ElicitResult},
        sampling::{CreateMessageRequestParams, IncludeContext, ToolChoiceMode},
        tools::{TaskSupport, Tool, ToolAnnotations},
    },
    json::OrderedMap,
};

impl ToolAnnotations {
    /// Whether the tool changes nothing. No, unless it says so.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.read_only_hint.unwrap_or(false)
    }

    /// Whether the tool may destroy something. Yes, unless it says otherwise; a tool that
    /// changes nothing can't.
    #[must_use]
    pub fn is_destructive(&self) -> bool {
        !self.is_read_only() && self.destructive_hint.unwrap_or(true)
    }

    /// Whether calling the tool again changes nothing more. No, unless it says so; a tool that
    /// changes nothing never does.
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        self.is_read_only() || self.idempotent_hint.unwrap_or(false)
    }

    /// Whether the tool reaches beyond a closed set of things. Yes, unless it says otherwise.
    #[must_use]
    pub fn is_open_world(&self) -> bool {
        self.open_world_hint.unwrap_or(true)
    }
}

impl Tool {
    /// Whether the tool is called as a task. Never, unless it says so in a word that we know.
    #[must_use]
    pub fn task_support(&self) -> TaskSupport {
        let support = self.execution.as_ref().and_then(|execution| execution.task_support.as_ref());
        match support {
            None | Some(TaskSupport::Other(_)) => TaskSupport::Forbidden,
            Some(known) => known.clone(),
        }
    }

    /// The name for people: the title, else the one of the annotations, else the name.
    #[must_use]
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref()?.title.as_deref();
        self.title.as_deref().or_else(annotated).unwrap_or(self.name.as_str())
    }
}

impl CreateMessageRequestParams {
    /// What the model should see beside the messages. Nothing, unless the request says so.
    #[must_use]
    pub fn wanted_context(&self) -> IncludeContext {
        self.include_context.unwrap_or(IncludeContext::None)
    }

    /// Whether the model has to ask for tools. As it likes, unless the request says otherwise.
    #[must_use]
    pub fn tool_choice_mode(&self) -> ToolChoiceMode {
        self.tool_choice.as_ref().and_then(|choice| choice.mode).unwrap_or(ToolChoiceMode::Auto)
    }
}

impl Completion {
    /// How many values may be sent.
    pub const MAX_VALUES: usize = 100;

    /// The first of `values` that may be sent, with how many there are and whether there are
    /// more.
    #[must_use]
    pub fn of_all(mut values: Vec<String>) -> Self {
        let total = values.len();
        values.truncate(Self::MAX_VALUES);
        Self::new(values)
            .with_total(u64::try_from(total).unwrap_or(u64::MAX))
            .with_has_more(total > Self::MAX_VALUES)
    }
}

impl CompleteResult {
    /// The first of `values` that may be sent. See [`Completion::of_all`].
    #[must_use]
    pub fn of_all(values: Vec<String>) -> Self {
        Self::new(Completion::of_all(values))
    }
}

impl ElicitResult {
    /// The person filled in the form.
    #[must_use]
    pub fn accept(content: impl Into<OrderedMap<ElicitValue>>) -> Self {
        Self::new(ElicitAction::Accept).with_content(content)
    }

    /// The person went to the page.
    #[must_use]
    pub fn accept_url() -> Self {
        Self::new(ElicitAction::Accept)
    }

    /// The person said no.
    #[must_use]
    pub fn decline() -> Self {
        Self::new(ElicitAction::Decline)
    }

    /// The person went away.
    #[must_use]
    pub fn cancel() -> Self {
        Self::new(ElicitAction::Cancel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{JsonSchema, LoggingLevel, ToolExecution};

    // Shows: TOOLS-020, TOOLS-021
    #[test]
    fn hints_that_are_absent_mean_the_worse() {
        let none = ToolAnnotations::new();
        assert!(!none.is_read_only() && none.is_destructive());
        assert!(!none.is_idempotent() && none.is_open_world());
        let reader = none.with_read_only_hint(true).with_destructive_hint(true);
        assert!(!reader.is_destructive() && reader.is_idempotent());
    }

    // Shows: TASK-011, SAMPLING-010, SAMPLING-017
    #[test]
    fn what_is_absent_has_its_default() {
        let tool = Tool::new("t", JsonSchema::object());
        assert_eq!(tool.task_support(), TaskSupport::Forbidden);
        let tool = tool.with_execution(ToolExecution::new());
        assert_eq!(tool.task_support(), TaskSupport::Forbidden);
        assert_eq!(tool.display_name(), "t");
        let text = r#"{"name":"t","inputSchema":{},"execution":{"taskSupport":"maybe"}}"#;
        let tool: Tool = serde_json::from_str(text).unwrap();
        assert_eq!(tool.task_support(), TaskSupport::Forbidden, "what nobody knows");
        assert_eq!(serde_json::to_string(&tool).unwrap(), text);
        let params = CreateMessageRequestParams::new([], 1);
        assert_eq!(params.wanted_context(), IncludeContext::None);
        assert_eq!(params.tool_choice_mode(), ToolChoiceMode::Auto);
    }

    // Shows: FC-044, COMPLETION-005, COMPLETION-006
    #[test]
    fn at_most_a_hundred_values_are_sent_and_the_rest_is_told() {
        let of = |count: usize| {
            let completion = Completion::of_all(vec!["x".to_owned(); count]);
            (completion.values.len(), completion.has_more, completion.total)
        };
        assert_eq!(of(101), (100, Some(true), Some(101)));
        assert_eq!(of(100), (100, Some(false), Some(100)));
        assert_eq!(of(0), (0, Some(false), Some(0)));
    }

    // Shows: LOGGING-002
    #[test]
    fn levels_have_an_order_and_no_other_names() {
        let names =
            ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
        let levels = names.map(|name| LoggingLevel::from_text(name).unwrap());
        assert!(levels.is_sorted() && levels.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(serde_json::from_str::<LoggingLevel>("\"trace\"").is_err());
    }
}
