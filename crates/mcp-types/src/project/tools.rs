//! Tools and their results.

use super::DoesNotFit;
use crate::{
    generated::{
        base::ContentBlock,
        lifecycle::ClientCapabilities,
        sampling::ToolResultContent,
        tools::{CallToolResult, Tool},
    },
    json::JsonValue,
    revision::Revision,
};

impl Tool {
    pub(crate) fn project_by_hand(&mut self, to: Revision) {
        // 2025-03-26 has a title, in another place.
        if (Revision::V2025_03_26..Revision::V2025_06_18).contains(&to)
            && let Some(title) = self.title.take()
        {
            self.annotations.get_or_insert_default().title.get_or_insert(title);
        }
        if !to.structured_content_may_be_any_value()
            && self.output_schema.as_ref().is_some_and(|schema| !schema.is_object_schema())
        {
            self.output_schema = None;
        }
        if to < Revision::V2025_11_25 {
            let schemas = std::iter::once(&mut self.input_schema).chain(&mut self.output_schema);
            for schema in schemas {
                schema.as_object_mut().remove("$schema");
            }
        }
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the shape is generated")]
    pub(crate) fn fits_by_hand(&self, _to: Revision) -> Result<(), DoesNotFit> {
        Ok(())
    }
}

impl CallToolResult {
    pub(crate) fn project_by_hand(&mut self, to: Revision) {
        if let Some(value) = self.structured_content.take_if(|value| !knows(value, to))
            && self.content.is_empty()
        {
            // What was said must not get lost for lack of a text twin.
            self.content.push(ContentBlock::text(value.as_raw()));
        }
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the shape is generated")]
    pub(crate) fn fits_by_hand(&self, _to: Revision) -> Result<(), DoesNotFit> {
        Ok(())
    }
}

impl ToolResultContent {
    pub(crate) fn project_by_hand(&mut self, to: Revision) {
        if let Some(value) = self.structured_content.take_if(|value| !knows(value, to))
            && self.content.is_empty()
        {
            self.content.push(ContentBlock::text(value.as_raw()));
        }
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the shape is generated")]
    pub(crate) fn fits_by_hand(&self, _to: Revision) -> Result<(), DoesNotFit> {
        Ok(())
    }
}

impl ClientCapabilities {
    pub(crate) fn project_by_hand(&mut self, to: Revision) {
        // Before there were ways, to have elicitation was to have forms.
        if !to.has_url_elicitation() && !self.has("elicitation.form") {
            self.elicitation = None;
        }
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the shape is generated")]
    pub(crate) fn fits_by_hand(&self, _to: Revision) -> Result<(), DoesNotFit> {
        Ok(())
    }
}

/// Whether the revision has structured content, and of this kind.
fn knows(value: &JsonValue, to: Revision) -> bool {
    to.has_structured_content() && (value.is_object() || to.structured_content_may_be_any_value())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{JsonSchema, Project as _, ToolAnnotations};

    #[test]
    fn a_title_goes_where_the_revision_has_it() {
        let tool = Tool::new("t", JsonSchema::object()).with_title("T");
        let titles = |to| {
            let mut tool = tool.clone();
            tool.project(to);
            (tool.title, tool.annotations.and_then(|a| a.title))
        };
        assert_eq!(titles(Revision::V2025_06_18), (Some("T".to_owned()), None));
        assert_eq!(titles(Revision::V2025_03_26), (None, Some("T".to_owned())));
        assert_eq!(titles(Revision::V2024_11_05), (None, None));
        let mut both = tool.clone().with_annotations(ToolAnnotations::new().with_title("A"));
        both.project(Revision::V2025_03_26);
        assert_eq!(both.annotations.unwrap().title.as_deref(), Some("A"));
    }

    #[test]
    fn structured_content_without_a_text_twin_becomes_text() {
        let mut result = CallToolResult::new([]).with_structured_content(JsonValue::from(7));
        result.project(Revision::V2026_07_28);
        assert!(result.structured_content.is_some());
        result.project(Revision::V2025_11_25);
        assert_eq!(result, CallToolResult::text("7"));
        // An object, to a peer that has no structured content at all.
        let object = JsonValue::from_json(r#"{"a":1}"#).unwrap();
        let mut result = CallToolResult::new([]).with_structured_content(object);
        result.project(Revision::V2025_06_18);
        assert!(result.structured_content.is_some());
        result.project(Revision::V2025_03_26);
        assert_eq!(result, CallToolResult::text(r#"{"a":1}"#));
    }

    #[test]
    fn a_client_that_has_only_urls_has_no_elicitation_for_older_peers() {
        let mut client: ClientCapabilities =
            serde_json::from_str(r#"{"elicitation":{"url":{}}}"#).unwrap();
        client.project(Revision::V2025_06_18);
        assert_eq!(client, ClientCapabilities::new());
    }
}
