use std::fmt;
use std::sync::Arc;

use mcp_jsonrpc::Extensions;
use mcp_types::{
    Annotations, Icon, Resource, ResourceTemplate, ResourceUri, Revision, UriTemplate,
};

use super::{IntoResource, InvalidTemplate, UriPattern};
use crate::access::Label;
use crate::error::RegisterError;
use crate::list::Listed;
use crate::v1::ResourceProvider;

/// A resource together with what clients are told about it.
pub struct ResourceEntry {
    provider: Arc<dyn ResourceProvider>,
    listed: Resource,
    needs: Vec<Label>,
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
        Self { provider: Arc::new(resource.into_resource()), listed, needs: Vec::new() }
    }

    descriptions! {
        title(String): "The resource's name for people.";
        description(String): "What the resource is, for models.";
        mime_type(String): "The MIME type of the contents.";
        annotations(Annotations): "Whom the resource is for, and how important it is.";
        icons(Vec<Icon>): "Icons for user interfaces.";
        size(u64): "The size of the contents in bytes, before any encoding.";
    }

    /// Hides the resource from whoever wasn't granted `label`: there is nothing to be read
    /// then. See [`Server::grants`](crate::Server::grants).
    #[must_use]
    pub fn needs(mut self, label: impl Into<Arc<str>>) -> Self {
        self.needs.push(label.into());
        self
    }

    /// The entry as the server holds it.
    pub(crate) fn register(self) -> Result<RegisteredResource, RegisterError> {
        let Self { provider, listed, needs } = self;
        if !listed.uri.is_conforming() {
            return Err(RegisterError::Uri { uri: listed.uri.into_string() });
        }
        Ok(RegisteredResource {
            uri: listed.uri.as_str().to_owned(),
            mime_type: listed.mime_type.as_deref().map(|mime| MimeType(mime.into())),
            provider,
            listed,
            needs,
            state: None,
        })
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
    needs: Vec<Label>,
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
        Ok(Self {
            provider: Arc::new(resource.into_resource()),
            pattern,
            listed,
            needs: Vec::new(),
        })
    }

    descriptions! {
        title(String): "The template's name for people.";
        description(String): "What the resources are, for models.";
        mime_type(String): "The MIME type of the contents, when all have the same.";
        annotations(Annotations): "Whom the resources are for, and how important they are.";
        icons(Vec<Icon>): "Icons for user interfaces.";
    }

    /// Hides the resources from whoever wasn't granted `label`: there is nothing to be read
    /// then. See [`Server::grants`](crate::Server::grants).
    #[must_use]
    pub fn needs(mut self, label: impl Into<Arc<str>>) -> Self {
        self.needs.push(label.into());
        self
    }

    /// The entry as the server holds it.
    pub(crate) fn register(self) -> RegisteredTemplate {
        let Self { provider, pattern, listed, needs } = self;
        RegisteredTemplate {
            template: listed.uri_template.as_str().to_owned(),
            mime_type: listed.mime_type.as_deref().map(|mime| MimeType(mime.into())),
            pattern,
            provider,
            listed,
            needs,
            state: None,
        }
    }
}

impl fmt::Debug for TemplateEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemplateEntry").field("listed", &self.listed).finish_non_exhaustive()
    }
}

/// A resource as the server holds it.
#[derive(Clone)]
pub(crate) struct RegisteredResource {
    uri: String,
    pub(crate) mime_type: Option<MimeType>,
    pub(crate) provider: Arc<dyn ResourceProvider>,
    listed: Resource,
    needs: Vec<Label>,
    /// The state of the server that it was mounted from.
    pub(crate) state: Option<Arc<Extensions>>,
}

impl RegisteredResource {
    /// The same, with the state of the server that it comes from.
    pub(crate) fn mounted(&self, state: &Arc<Extensions>) -> Self {
        let state = self.state.as_ref().unwrap_or(state).clone();
        Self { state: Some(state), ..self.clone() }
    }
}

impl Listed for RegisteredResource {
    fn key(&self) -> &str {
        &self.uri
    }

    fn needs(&self) -> &[Label] {
        &self.needs
    }

    fn write(&self, revision: Revision, out: &mut Vec<u8>) {
        crate::list::write_projected(&self.listed, revision, out);
    }
}

/// A template as the server holds it.
#[derive(Clone)]
pub(crate) struct RegisteredTemplate {
    template: String,
    pub(crate) mime_type: Option<MimeType>,
    pub(crate) pattern: UriPattern,
    pub(crate) provider: Arc<dyn ResourceProvider>,
    listed: ResourceTemplate,
    needs: Vec<Label>,
    /// The state of the server that it was mounted from.
    pub(crate) state: Option<Arc<Extensions>>,
}

impl RegisteredTemplate {
    /// The same, with the state of the server that it comes from.
    pub(crate) fn mounted(&self, state: &Arc<Extensions>) -> Self {
        let state = self.state.as_ref().unwrap_or(state).clone();
        Self { state: Some(state), ..self.clone() }
    }
}

impl Listed for RegisteredTemplate {
    fn key(&self) -> &str {
        &self.template
    }

    fn needs(&self) -> &[Label] {
        &self.needs
    }

    fn write(&self, revision: Revision, out: &mut Vec<u8>) {
        crate::list::write_projected(&self.listed, revision, out);
    }
}
