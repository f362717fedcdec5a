//! Content of kinds that the peer doesn't know.

use super::DoesNotFit;
use crate::{
    content::{ResourceContents, UnknownContent},
    generated::{
        base::{
            Annotations, AudioContent, ContentBlock, EmbeddedResource, ResourceLink, TextContent,
        },
        resources::BlobResourceContents,
    },
    revision::Revision,
};

/// The URI of a sound that stands in a resource: such a resource has to have one.
const SOUND: &str = "urn:mcp:audio";

impl ContentBlock {
    pub(crate) fn project_by_hand(&mut self, to: Revision) {
        let replacement = match self {
            Self::ResourceLink(link) if to < Revision::V2025_06_18 => {
                text(link_text(link), link.annotations.take()).into()
            }
            Self::Audio(audio) if to < Revision::V2025_03_26 => sound(audio).into(),
            Self::Unknown(content) if to < Revision::LATEST_STATEFUL => {
                text(unknown_text(content), None).into()
            }
            _ => return,
        };
        *self = replacement;
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the shape is generated")]
    pub(crate) fn fits_by_hand(&self, _to: Revision) -> Result<(), DoesNotFit> {
        Ok(())
    }
}

pub(super) fn text(text: String, annotations: Option<Annotations>) -> TextContent {
    let mut content = TextContent::new(text);
    content.annotations = annotations;
    content
}

pub(super) fn unknown_text(content: &UnknownContent) -> String {
    format!("[content of kind {}]", content.kind())
}

/// Name, what it is, and where: enough for a model to ask for it.
fn link_text(link: &ResourceLink) -> String {
    let name = link.title.as_deref().unwrap_or(&link.name);
    match &link.description {
        Some(description) => format!("{name}: {description} ({})", link.uri),
        None => format!("{name} ({})", link.uri),
    }
}

fn sound(audio: &mut AudioContent) -> EmbeddedResource {
    let blob = BlobResourceContents::new(SOUND, audio.data.clone())
        .with_mime_type(std::mem::take(&mut audio.mime_type));
    let mut resource = EmbeddedResource::new(ResourceContents::Blob(blob));
    resource.annotations = audio.annotations.take();
    resource
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Project as _, ResourceUri};

    #[test]
    fn a_link_becomes_text_with_its_name_and_uri() {
        let mut block: ContentBlock = ResourceLink::new(ResourceUri::new("file:///a"), "a")
            .with_description("All of it")
            .with_annotations(Annotations::new().with_priority(0.5))
            .into();
        let before = block.clone();
        block.project(Revision::V2025_06_18);
        assert_eq!(block, before);
        block.project(Revision::V2025_03_26);
        assert_eq!(block.as_text(), Some("a: All of it (file:///a)"));
        assert!(matches!(block, ContentBlock::Text(t) if t.annotations.is_some()));
    }

    #[test]
    fn a_sound_becomes_a_resource_with_the_same_bytes() {
        let mut block = ContentBlock::audio(b"abc", "audio/wav");
        block.project(Revision::V2025_03_26);
        assert!(matches!(block, ContentBlock::Audio(_)));
        block.project(Revision::V2024_11_05);
        let ContentBlock::Resource(resource) = block else { panic!("no resource") };
        let ResourceContents::Blob(blob) = resource.resource else { panic!("no bytes") };
        assert_eq!(blob.blob.decode().unwrap(), b"abc");
        assert_eq!(blob.mime_type.as_deref(), Some("audio/wav"));
    }
}
