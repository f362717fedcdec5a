//! Content: short constructors, and the parts that are told apart by more than a tag.

mod build;
mod resource;
mod sampling;
mod unknown;

pub use self::{resource::ResourceContents, sampling::SamplingContent, unknown::UnknownContent};
