use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor, value},
};

use crate::{
    generated::{base::TextContent, sampling::SamplingMessageContentBlock},
    project::{DoesNotFit, Project},
    revision::Revision,
    wire::{List, TagVisitor},
};

/// What a sampling message says: one block, or a list of them.
///
/// The form that was read is the form that is written. One block is understood by every
/// revision, a list from 2025-11-25 on.
///
/// Specification: [sampling](https://modelcontextprotocol.io/specification/2025-11-25/client/sampling).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SamplingContent {
    /// One block, written as an object.
    One(SamplingMessageContentBlock),
    /// Any number of blocks, written as a list.
    Many(Vec<SamplingMessageContentBlock>),
}

impl SamplingContent {
    /// Text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::One(TextContent::new(text).into())
    }

    /// The blocks, however they are written.
    #[must_use]
    pub fn blocks(&self) -> &[SamplingMessageContentBlock] {
        match self {
            Self::One(block) => std::slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }

    /// The blocks, however they are written.
    #[must_use]
    pub fn into_blocks(self) -> Vec<SamplingMessageContentBlock> {
        match self {
            Self::One(block) => vec![block],
            Self::Many(blocks) => blocks,
        }
    }
}

impl<T: Into<SamplingMessageContentBlock>> From<T> for SamplingContent {
    fn from(block: T) -> Self {
        Self::One(block.into())
    }
}

impl From<Vec<SamplingMessageContentBlock>> for SamplingContent {
    fn from(blocks: Vec<SamplingMessageContentBlock>) -> Self {
        Self::Many(blocks)
    }
}

impl From<&str> for SamplingContent {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl Project for SamplingContent {
    /// A list of one block becomes that block where the peer knows no lists. What can't be
    /// said in one block is up to the message that holds it.
    fn project(&mut self, to: Revision) {
        if !to.has_sampling_content_lists()
            && let Self::Many(blocks) = self
            && blocks.len() == 1
            && let Some(block) = blocks.pop()
        {
            *self = Self::One(block);
        }
        match self {
            Self::One(block) => block.project(to),
            Self::Many(blocks) => blocks.project(to),
        }
    }

    fn fits(&self, to: Revision) -> Result<(), DoesNotFit> {
        if let Self::Many(blocks) = self
            && blocks.len() != 1
            && !to.has_sampling_content_lists()
        {
            return Err(DoesNotFit::ContentList { to });
        }
        self.blocks().iter().try_for_each(|block| block.fits(to))
    }
}

impl Serialize for SamplingContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(block) => block.serialize(serializer),
            Self::Many(blocks) => blocks.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SamplingContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;

        impl<'de> Visitor<'de> for ContentVisitor {
            type Value = SamplingContent;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a block of content, or a list of them")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SamplingContent, A::Error> {
                TagVisitor("a block of content", PhantomData)
                    .visit_map(map)
                    .map(SamplingContent::One)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<SamplingContent, A::Error> {
                let items = value::SeqAccessDeserializer::new(items);
                List::deserialize(items).map(|list| SamplingContent::Many(list.0))
            }
        }

        deserializer.deserialize_any(ContentVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::sampling::SamplingMessage;

    // Shows: FC-046
    #[test]
    fn both_forms_are_read_and_kept() {
        for json in [
            r#"{"role":"user","content":{"type":"text","text":"a"}}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"c1","name":"t","input":{}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"ok"}],"toolUseId":"c1","isError":false}]}"#,
            r#"{"role":"user","content":[]}"#,
        ] {
            let message: SamplingMessage = serde_json::from_str(json).unwrap();
            let written = serde_json::to_value(&message).unwrap();
            assert_eq!(written, serde_json::from_str::<serde_json::Value>(json).unwrap());
        }
        assert!(serde_json::from_str::<SamplingContent>("\"a\"").is_err());
    }

    // Shows: FC-046
    #[test]
    fn a_list_goes_only_to_peers_that_know_it() {
        let mut one: SamplingContent = vec![TextContent::new("a").into()].into();
        assert_eq!(one.fits(Revision::V2025_06_18), Ok(()));
        one.project(Revision::V2025_06_18);
        assert_eq!(one, SamplingContent::text("a"));
        let two =
            SamplingContent::Many(vec![TextContent::new("a").into(), TextContent::new("b").into()]);
        assert!(two.fits(Revision::V2025_06_18).is_err());
        assert_eq!(two.fits(Revision::V2025_11_25), Ok(()));
    }
}
