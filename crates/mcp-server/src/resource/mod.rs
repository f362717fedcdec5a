//! Resources: what can be read under a URI, or under the URIs of a template.
//!
//! Specification: [Resources](https://modelcontextprotocol.io/specification/2025-11-25/server/resources).

mod read;
pub use read::{
    Already, Fixed, Function, IntoReadResult, IntoResource, ReadRequest, ResourceError,
    ResourceHandler,
};

mod template;
#[cfg(feature = "files")]
pub(crate) use template::decode;
pub use template::{InvalidTemplate, UriPattern, Variables};

mod entry;
pub(crate) use entry::{MimeType, RegisteredResource, RegisteredTemplate};
pub use entry::{ResourceEntry, TemplateEntry};

#[cfg(feature = "files")]
pub use crate::files::Files;
