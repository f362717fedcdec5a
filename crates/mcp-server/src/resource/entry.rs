use std::fmt;
use std::sync::Arc;

use mcp_types::{
    Annotations, Icon, Resource, ResourceTemplate, ResourceUri, Revision, UriTemplate,
};

use super::{IntoResource, InvalidTemplate, UriPattern};
use crate::list::Listed;
use crate::v1::ResourceProvider;

/// A resource together with what clients are told about it.
pub struct ResourceEntry {
    provider: Arc<dyn ResourceProvider>,
    listed: Resource,
}

/// The MIME type that a resource was registered with, left for the function that makes its
/// contents.
#[derive(Clone, Debug)]
pub(crate) struct MimeType(pub(crate) Arc<str>);

macro_rules! descriptions {
    ($($name:ident($ty:ty): $doc:literal;)*) => {$(
        #[doc = $doc]
        #[must_use]
        pub fn $name(mut self, $name: impl Into<$ty>) -> Self {
            self.listed.$name = Some($name.into());
            self
        }
    )*};
}

impl ResourceEntry {
    /// A resource under a URI, with a name.
    pub fn new<M>(
        uri: impl Into<ResourceUri>,
        name: impl Into<String>,
        resource: impl IntoResource<M>,
    ) -> Self {
        let listed = Resource::new(uri, name);
        Self { provider: Arc::new(resource.into_resource()), listed }
    }

    descriptions! {
        title(String): "The resource's name for people.";
        description(String): "What the resource is, for models.";
        mime_type(String): "The MIME type of the contents.";
        annotations(Annotations): "Whom the resource is for, and how important it is.";
        icons(Vec<Icon>): "Icons for user interfaces.";
        size(u64): "The size of the contents in bytes, before any encoding.";
    }

    pub(crate) fn register(self) -> RegisteredResource {
        RegisteredResource {
            uri: self.listed.uri.as_str().to_owned(),
            mime_type: self.listed.mime_type.as_deref().map(|mime| MimeType(mime.into())),
            provider: self.provider,
            listed: self.listed,
        }
    }
}

impl fmt::Debug for ResourceEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceEntry").field("listed", &self.listed).finish_non_exhaustive()
    }
}

/// A template of URIs together with what clients are told about it.
pub struct TemplateEntry {
    provider: Arc<dyn ResourceProvider>,
    pattern: UriPattern,
    listed: ResourceTemplate,
}

impl TemplateEntry {
    /// Resources under every URI that `template` (RFC 6570, levels 1 to 3) matches.
    ///
    /// # Errors
    ///
    /// [`InvalidTemplate`] when the text is no template, or one that can't be matched.
    pub fn new<M>(
        template: impl Into<String>,
        name: impl Into<String>,
        resource: impl IntoResource<M>,
    ) -> Result<Self, InvalidTemplate> {
        let template = template.into();
        let pattern = UriPattern::parse(&template)?;
        let listed = ResourceTemplate::new(UriTemplate::from(template), name);
        Ok(Self { provider: Arc::new(resource.into_resource()), pattern, listed })
    }

    descriptions! {
        title(String): "The template's name for people.";
        description(String): "What the resources are, for models.";
        mime_type(String): "The MIME type of the contents, when all have the same.";
        annotations(Annotations): "Whom the resources are for, and how important they are.";
        icons(Vec<Icon>): "Icons for user interfaces.";
    }

    pub(crate) fn register(self) -> RegisteredTemplate {
        RegisteredTemplate {
            template: self.listed.uri_template.as_str().to_owned(),
            mime_type: self.listed.mime_type.as_deref().map(|mime| MimeType(mime.into())),
            pattern: self.pattern,
            provider: self.provider,
            listed: self.listed,
        }
    }
}

impl fmt::Debug for TemplateEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemplateEntry").field("listed", &self.listed).finish_non_exhaustive()
    }
}

/// A resource as the server holds it.
pub(crate) struct RegisteredResource {
    uri: String,
    pub(crate) mime_type: Option<MimeType>,
    pub(crate) provider: Arc<dyn ResourceProvider>,
    listed: Resource,
}

impl Listed for RegisteredResource {
    fn key(&self) -> &str {
        &self.uri
    }

    fn write(&self, revision: Revision, out: &mut Vec<u8>) {
        crate::list::write_projected(&self.listed, revision, out);
    }
}

/// A template as the server holds it.
pub(crate) struct RegisteredTemplate {
    template: String,
    pub(crate) mime_type: Option<MimeType>,
    pub(crate) pattern: UriPattern,
    pub(crate) provider: Arc<dyn ResourceProvider>,
    listed: ResourceTemplate,
}

impl Listed for RegisteredTemplate {
    fn key(&self) -> &str {
        &self.template
    }

    fn write(&self, revision: Revision, out: &mut Vec<u8>) {
        crate::list::write_projected(&self.listed, revision, out);
    }
}
