//! Conversations with a model.

use super::{DoesNotFit, content};
use crate::{
    content::SamplingContent,
    generated::sampling::{
        CreateMessageRequestParams, CreateMessageResult, SamplingMessage,
        SamplingMessageContentBlock,
    },
    revision::Revision,
};

impl SamplingMessageContentBlock {
    /// Tools don't fit; what is made of them here is only for who sends them all the same.
    pub(crate) fn project_by_hand(&mut self, to: Revision) {
        let (text, annotations) = match self {
            Self::Audio(audio) if to < Revision::V2025_03_26 => {
                let bytes = audio.data.decoded_len();
                (format!("[audio, {}, {bytes} bytes]", audio.mime_type), audio.annotations.take())
            }
            Self::ToolUse(used) if !to.has_sampling_content_lists() => {
                (format!("[use of tool {}]", used.name), None)
            }
            Self::ToolResult(_) if !to.has_sampling_content_lists() => {
                ("[result of a tool]".to_owned(), None)
            }
            Self::Unknown(unknown) if to < Revision::LATEST_STATEFUL => {
                (content::unknown_text(unknown), None)
            }
            _ => return,
        };
        *self = content::text(text, annotations).into();
    }

    pub(crate) fn fits_by_hand(&self, to: Revision) -> Result<(), DoesNotFit> {
        match self {
            Self::ToolUse(_) | Self::ToolResult(_) if !to.has_sampling_content_lists() => {
                Err(DoesNotFit::SamplingTools { to })
            }
            _ => Ok(()),
        }
    }
}

impl CreateMessageRequestParams {
    pub(crate) fn project_by_hand(&mut self, to: Revision) {
        if to.has_sampling_content_lists()
            || self.messages.iter().all(|message| message.content.blocks().len() == 1)
        {
            return;
        }
        self.messages = std::mem::take(&mut self.messages).into_iter().flat_map(split).collect();
    }

    pub(crate) fn fits_by_hand(&self, to: Revision) -> Result<(), DoesNotFit> {
        let tools = self.tools.is_some() || self.tool_choice.is_some();
        if tools && !to.has_sampling_content_lists() {
            return Err(DoesNotFit::SamplingTools { to });
        }
        Ok(())
    }
}

/// One message a block.
fn split(message: SamplingMessage) -> Vec<SamplingMessage> {
    let SamplingMessage { role, content, meta, extra } = message;
    content
        .into_blocks()
        .into_iter()
        .map(|block| {
            let mut part = SamplingMessage::new(role, SamplingContent::One(block));
            (part.meta, part.extra) = (meta.clone(), extra.clone());
            part
        })
        .collect()
}

impl CreateMessageResult {
    /// All text in one block; else the first block, since an answer has only one message.
    pub(crate) fn project_by_hand(&mut self, to: Revision) {
        if to.has_sampling_content_lists() || self.content.blocks().len() == 1 {
            return;
        }
        let texts: Option<Vec<&str>> = self
            .content
            .blocks()
            .iter()
            .map(|block| match block {
                SamplingMessageContentBlock::Text(text) => Some(text.text.as_str()),
                _ => None,
            })
            .collect();
        self.content = match (texts, self.content.blocks().first()) {
            (Some(texts), _) => SamplingContent::text(texts.join("\n")),
            (None, Some(first)) => SamplingContent::One(first.clone()),
            (None, None) => SamplingContent::text(""),
        };
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the shape is generated")]
    pub(crate) fn fits_by_hand(&self, _to: Revision) -> Result<(), DoesNotFit> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ContentBlock, Project as _, TextContent, ToolResultContent};

    fn texts(texts: &[&str]) -> SamplingContent {
        SamplingContent::Many(texts.iter().map(|t| TextContent::new(*t).into()).collect())
    }

    #[test]
    fn several_blocks_become_several_messages() {
        let mut params = CreateMessageRequestParams::new(
            [SamplingMessage::user(texts(&["a", "b"])), SamplingMessage::user(texts(&[]))],
            10,
        );
        params.project(Revision::V2025_11_25);
        assert_eq!(params.messages.len(), 2);
        params.project(Revision::V2025_06_18);
        assert_eq!(params.messages, [SamplingMessage::user("a"), SamplingMessage::user("b")]);
    }

    #[test]
    fn tools_do_not_fit_older_peers() {
        let block = ToolResultContent::new("c1", [ContentBlock::text("x")]);
        let params = CreateMessageRequestParams::new([SamplingMessage::user(block)], 10);
        assert_eq!(params.fits(Revision::V2025_11_25), Ok(()));
        let to = Revision::V2025_06_18;
        assert_eq!(params.fits(to), Err(DoesNotFit::SamplingTools { to }));
        let params = CreateMessageRequestParams::new([], 10).with_tools([]);
        assert_eq!(params.fits(to), Err(DoesNotFit::SamplingTools { to }));
    }
}
