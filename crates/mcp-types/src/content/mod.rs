//! Content: short constructors, and the parts that are told apart by more than a tag.

mod audience;
mod build;
mod resource;
mod sampling;
mod unknown;

pub use self::{
    audience::Audience, resource::ResourceContents, sampling::SamplingContent,
    unknown::UnknownContent,
};
