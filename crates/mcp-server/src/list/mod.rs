//! What is registered under names, in a stable order, and served in pages.

mod registry;
pub(crate) use registry::{Listed, Registry};

use mcp_types::{Project, Revision};
use serde_core::Serialize;

/// Appends the JSON of an item as an older peer knows it.
pub(crate) fn write_projected<T: Project + Clone + Serialize>(
    item: &T,
    revision: Revision,
    out: &mut Vec<u8>,
) {
    let mut item = item.clone();
    item.project(revision);
    let start = out.len();
    if let Err(error) = serde_json::to_writer(&mut *out, &item) {
        // Only a number that isn't finite can do that, in a member that a user has set.
        tracing::error!(%error, "an item of a list can't be written as JSON");
        out.truncate(start);
        out.extend_from_slice(b"null");
    }
}
