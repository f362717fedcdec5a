use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, Visitor},
};

use crate::{
    generated::resources::{BlobResourceContents, TextResourceContents},
    json::Extra,
    meta::Meta,
    names::{Base64, ResourceUri},
    project::{DoesNotFit, Project},
    revision::Revision,
    wire::{Key, KeySeed, Seen, missing},
};

/// What a resource holds: text or bytes.
///
/// Told apart by which of `text` and `blob` is there; with both it is bytes if the text is
/// empty, else text.
///
/// Specification: [resource contents](https://modelcontextprotocol.io/specification/2025-11-25/server/resources#resource-contents).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ResourceContents {
    /// Text.
    Text(TextResourceContents),
    /// Bytes.
    Blob(BlobResourceContents),
}

impl ResourceContents {
    /// Text, without a media type.
    #[must_use]
    pub fn text(uri: impl Into<ResourceUri>, text: impl Into<String>) -> Self {
        Self::Text(TextResourceContents::new(uri, text))
    }

    /// Bytes, without a media type.
    #[must_use]
    pub fn blob(uri: impl Into<ResourceUri>, bytes: &[u8]) -> Self {
        Self::Blob(BlobResourceContents::new(uri, Base64::encode(bytes)))
    }

    /// Sets the media type.
    #[must_use]
    pub fn with_mime_type(self, mime_type: impl Into<String>) -> Self {
        match self {
            Self::Text(contents) => Self::Text(contents.with_mime_type(mime_type)),
            Self::Blob(contents) => Self::Blob(contents.with_mime_type(mime_type)),
        }
    }

    /// The resource.
    #[must_use]
    pub fn uri(&self) -> &ResourceUri {
        match self {
            Self::Text(contents) => &contents.uri,
            Self::Blob(contents) => &contents.uri,
        }
    }

    /// Its media type, if known.
    #[must_use]
    pub fn mime_type(&self) -> Option<&str> {
        match self {
            Self::Text(contents) => contents.mime_type.as_deref(),
            Self::Blob(contents) => contents.mime_type.as_deref(),
        }
    }

    /// The text; none for bytes.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(contents) => Some(&contents.text),
            Self::Blob(_) => None,
        }
    }
}

impl From<TextResourceContents> for ResourceContents {
    fn from(contents: TextResourceContents) -> Self {
        Self::Text(contents)
    }
}

impl From<BlobResourceContents> for ResourceContents {
    fn from(contents: BlobResourceContents) -> Self {
        Self::Blob(contents)
    }
}

impl Project for ResourceContents {
    fn project(&mut self, to: Revision) {
        match self {
            Self::Text(contents) => contents.project(to),
            Self::Blob(contents) => contents.project(to),
        }
    }

    fn fits(&self, to: Revision) -> Result<(), DoesNotFit> {
        match self {
            Self::Text(contents) => contents.fits(to),
            Self::Blob(contents) => contents.fits(to),
        }
    }
}

impl Serialize for ResourceContents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(contents) => contents.serialize(serializer),
            Self::Blob(contents) => contents.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ResourceContents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ContentsVisitor)
    }
}

const MEMBERS: [&str; 5] = ["uri", "mimeType", "text", "blob", "_meta"];

fn index_of(name: &str) -> Option<u8> {
    (0u8..).zip(MEMBERS).find(|(_, member)| *member == name).map(|(number, _)| number)
}

struct ContentsVisitor;

impl<'de> Visitor<'de> for ContentsVisitor {
    type Value = ResourceContents;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object (ResourceContents)")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ResourceContents, A::Error> {
        let mut uri: Option<ResourceUri> = None;
        let mut mime_type: Option<String> = None;
        let mut text: Option<String> = None;
        let mut blob: Option<Base64> = None;
        let mut meta: Option<Meta> = None;
        let mut extra = Extra::default();
        let mut seen = Seen::default();
        while let Some(key) = map.next_key_seed(KeySeed(index_of))? {
            match key {
                Key::Known(number) => {
                    let name = MEMBERS.get(usize::from(number)).copied().unwrap_or_default();
                    seen.note::<A::Error>(number, name)?;
                    match name {
                        "uri" => uri = Some(map.next_value()?),
                        "mimeType" => mime_type = map.next_value()?,
                        "text" => text = map.next_value()?,
                        "blob" => blob = map.next_value()?,
                        _ => meta = map.next_value()?,
                    }
                }
                Key::Unknown(name) => extra.push(name, map.next_value()?),
            }
        }
        extra.check::<A::Error>()?;
        let uri = missing(uri, "uri")?;
        // Some servers send the other member, too, empty.
        if text.as_ref().is_some_and(String::is_empty) && blob.is_some() {
            text = None;
        }
        match (text, blob) {
            (Some(text), _) => {
                let mut contents = TextResourceContents::new(uri, text);
                (contents.mime_type, contents.meta, contents.extra) = (mime_type, meta, extra);
                Ok(contents.into())
            }
            (None, Some(blob)) => {
                let mut contents = BlobResourceContents::new(uri, blob);
                (contents.mime_type, contents.meta, contents.extra) = (mime_type, meta, extra);
                Ok(contents.into())
            }
            (None, None) => Err(A::Error::custom("missing field `text` or `blob`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_bytes_are_told_apart_by_their_member() {
        let read = |json: &str| serde_json::from_str::<ResourceContents>(json);
        assert_eq!(read(r#"{"text":"","uri":"x:y"}"#).unwrap(), ResourceContents::text("x:y", ""));
        assert_eq!(
            read(r#"{"uri":"x:y","text":"","blob":"AA=="}"#).unwrap(),
            ResourceContents::blob("x:y", &[0])
        );
        assert_eq!(
            read(r#"{"uri":"x:y","text":null,"blob":"AA=="}"#).unwrap(),
            ResourceContents::blob("x:y", &[0])
        );
        let error = read(r#"{"uri":"x:y"}"#).unwrap_err().to_string();
        assert!(error.contains("`text` or `blob`"), "{error}");
        assert!(read(r#"{"text":"a"}"#).unwrap_err().to_string().contains("`uri`"));
        assert!(read(r#"{"uri":"a","uri":"b","text":""}"#).is_err());
    }
}
