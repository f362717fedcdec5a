//! Short constructors.

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    content::{ResourceContents, SamplingContent},
    generated::{
        base::{
            AudioContent, ContentBlock, EmbeddedResource, EmptyResult, ImageContent, ResourceLink,
            Role, TextContent,
        },
        prompts::PromptMessage,
        resources::ReadResourceResult,
        sampling::SamplingMessage,
        tasks::GetTaskPayloadResult,
        tools::CallToolResult,
    },
    json::{JsonObject, JsonValue},
    names::{Base64, ResourceUri},
};

impl ContentBlock {
    /// Text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        TextContent::new(text).into()
    }

    /// A picture, from its bytes.
    #[must_use]
    pub fn image(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        ImageContent::new(Base64::encode(bytes), mime_type).into()
    }

    /// A sound, from its bytes.
    #[must_use]
    pub fn audio(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        AudioContent::new(Base64::encode(bytes), mime_type).into()
    }

    /// A resource that can be read from the server.
    #[must_use]
    pub fn resource_link(uri: impl Into<ResourceUri>, name: impl Into<String>) -> Self {
        ResourceLink::new(uri, name).into()
    }

    /// A resource, here and now.
    #[must_use]
    pub fn resource(contents: impl Into<ResourceContents>) -> Self {
        EmbeddedResource::new(contents).into()
    }

    /// The text; none for other kinds.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl CallToolResult {
    /// Text for the model.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new([ContentBlock::text(text)])
    }

    /// The tool failed; `text` tells the model why.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self::text(text).with_is_error(true)
    }

    /// A value for programs, and the same as text for the model.
    ///
    /// # Errors
    ///
    /// When `value` can't be written as JSON.
    pub fn structured<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        let value = JsonValue::from_serialize(value)?;
        Ok(Self::text(value.as_raw()).with_structured_content(value))
    }

    /// Whether the tool failed.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.is_error == Some(true)
    }
}

impl PromptMessage {
    /// The person says `content`.
    #[must_use]
    pub fn user(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::User, content)
    }

    /// The model says `content`.
    #[must_use]
    pub fn assistant(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

impl SamplingMessage {
    /// The person says `content`.
    #[must_use]
    pub fn user(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::User, content)
    }

    /// The model says `content`.
    #[must_use]
    pub fn assistant(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

impl ReadResourceResult {
    /// One piece of text.
    #[must_use]
    pub fn text(uri: impl Into<ResourceUri>, text: impl Into<String>) -> Self {
        Self::new([ResourceContents::text(uri, text)])
    }

    /// One piece of bytes.
    #[must_use]
    pub fn blob(uri: impl Into<ResourceUri>, bytes: &[u8]) -> Self {
        Self::new([ResourceContents::blob(uri, bytes)])
    }
}

impl GetTaskPayloadResult {
    /// Wraps what the request was answered by.
    ///
    /// # Errors
    ///
    /// When `result` isn't written as an object.
    pub fn from_result<T: Serialize>(result: &T) -> Result<Self, serde_json::Error> {
        JsonObject::from_serialize(result)?.to()
    }

    /// Reads what the request was answered by.
    ///
    /// # Errors
    ///
    /// When it isn't a `T`.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        JsonObject::from_serialize(self)?.to()
    }
}

impl EmptyResult {
    /// Whether it holds nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.meta.is_none() && self.extra.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: FC-041
    #[test]
    fn all_kinds_arrive_in_order_and_an_unknown_one_is_kept() {
        let json = concat!(
            r#"{"content":[{"type":"text","text":"a"},"#,
            r#"{"type":"resource_link","uri":"file:///r.pdf","name":"r"},"#,
            r#"{"type":"audio","data":"AAAA","mimeType":"audio/wav"},"#,
            r#"{"type":"hologram","frames":[1,2]},"#,
            r#"{"type":"resource","resource":{"uri":"x:y","text":""}}]}"#,
        );
        let result: CallToolResult = serde_json::from_str(json).unwrap();
        assert!(matches!(
            result.content.as_slice(),
            [
                ContentBlock::Text(_),
                ContentBlock::ResourceLink(_),
                ContentBlock::Audio(_),
                ContentBlock::Unknown(_),
                ContentBlock::Resource(_),
            ]
        ));
        assert_eq!(serde_json::to_string(&result).unwrap(), json);
    }

    #[test]
    fn content_that_was_left_out_is_empty() {
        for text in
            [r#"{"structuredContent":{"a":1}}"#, r#"{"content":null,"structuredContent":{"a":1}}"#]
        {
            let result: CallToolResult = serde_json::from_str(text).unwrap();
            assert!(result.content.is_empty());
            let written = r#"{"content":[],"structuredContent":{"a":1}}"#;
            assert_eq!(serde_json::to_string(&result).unwrap(), written);
        }
    }

    // Shows: FC-041
    #[test]
    fn a_block_with_a_missing_member_is_named_by_its_place() {
        for json in [
            r#"{"content":[{"type":"text","text":"a"},{"type":"image","data":"AA=="}]}"#,
            r#"{"content":[{"type":"text","text":"a"},{"data":"AA==","type":"image"}]}"#,
        ] {
            let error = serde_json::from_str::<CallToolResult>(json).unwrap_err().to_string();
            assert!(error.contains("item 1") && error.contains("`mimeType`"), "{error}");
        }
    }

    #[test]
    fn the_place_of_the_tag_makes_no_difference() {
        let first = r#"{"type":"text","text":"a","annotations":{"priority":1},"x":[1.0]}"#;
        let last = r#"{"text":"a","annotations":{"priority":1.0},"x":[1.0],"type":"text"}"#;
        let read = |json| serde_json::from_str::<ContentBlock>(json).unwrap();
        assert_eq!(read(first), read(last));
        let error = serde_json::from_str::<ContentBlock>(r#"{"text":"a"}"#).unwrap_err();
        assert!(error.to_string().contains("missing field `type`"), "{error}");
        let unknown = r#"{"frames":[1],"type":"hologram"}"#;
        assert_eq!(serde_json::to_string(&read(unknown)).unwrap(), unknown);
        for bad in [
            r#"{"text":"a"}"#,
            "{}",
            r#"{"type":7,"text":"a"}"#,
            r#"{"type":"text","type":"text","text":"a"}"#,
            r#"{"type":"text","text":"a","text":"b"}"#,
            r#"{"text":"a","type":"text","type":"image"}"#,
        ] {
            assert!(serde_json::from_str::<ContentBlock>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn structured_content_tells_null_from_absent() {
        let read = |json| serde_json::from_str::<CallToolResult>(json).unwrap();
        let null = read(r#"{"content":[],"structuredContent":null}"#);
        assert_eq!(null.structured_content, Some(JsonValue::null()));
        assert_eq!(read(r#"{"content":[]}"#).structured_content, None);
        assert_eq!(
            serde_json::to_string(&null).unwrap(),
            r#"{"content":[],"structuredContent":null}"#
        );
    }

    #[test]
    fn a_structured_result_has_a_text_twin() {
        let result = CallToolResult::structured(&[1, 2]).unwrap();
        assert_eq!(result.content, [ContentBlock::text("[1,2]")]);
        assert!(!result.failed());
        assert!(CallToolResult::error("no").failed());
    }
}
