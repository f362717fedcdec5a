//! The words of the Model Context Protocol: every request, result, notification and object of
//! every revision, typed.
//!
//! ```text
//!   bytes ─▶ mcp-jsonrpc ─▶ mcp-lifecycle ─▶ mcp-types ─▶ your code
//!            envelope        is it allowed    typed params
//! ```
//!
//! One Rust type serves all revisions. Each field says since when it is there, and
//! [`Project::project`] takes a value back to what an older peer knows. What this crate doesn't
//! know survives: members in `extra`, kinds of content and open texts in variants of their own,
//! `_meta` byte for byte.
//!
//! ```
//! use mcp_types::{CallToolResult, ContentBlock, Project, Revision};
//!
//! let mut result = CallToolResult::new([
//!     ContentBlock::text("two files"),
//!     ContentBlock::resource_link("file:///a.txt", "a.txt"),
//! ]);
//! result.project(Revision::V2024_11_05);
//! // A peer of 2024-11-05 knows no links.
//! assert!(result.content.iter().all(|block| block.as_text().is_some()));
//! ```
//!
//! The types are generated from `schema/`, by `cargo xtask codegen`. They are read in one pass,
//! without a tree in between; an optional member that is `null` counts as absent; a member that
//! stands twice is an error; an integer may be written as `1.0`.
//!
//! What it deliberately doesn't do: no I/O, no validation of arguments against a tool's schema,
//! no decision about what may be sent when.

// Reading order: revisions and methods, the messages, what they are made of.
mod revision;
pub use crate::revision::{Era, ReservedKeys, Revision, UnknownRevision};

mod method;
pub use crate::method::{
    CapabilityNeed, Direction, MethodKind, Notification, Request, Side, UnknownMethod,
};

mod generated;
pub use crate::generated::{
    base::*, completion::*, elicitation::*, lifecycle::*, logging::*, methods::*, prompts::*,
    resources::*, roots::*, sampling::*, tasks::*, tools::*,
};
/// What 2026-07-28 adds. Not used by anything yet, and free to change.
pub mod next {
    pub use crate::generated::next::*;
}

mod borrowed;
mod capability;
mod check;
mod content;
mod defaults;
mod form;
pub use crate::{
    borrowed::CallToolParamsRef,
    check::{Check, Invalid},
    content::{Audience, ResourceContents, SamplingContent, UnknownContent},
    form::{ElicitValue, InvalidNumber, Number, PrimitiveSchemaDefinition},
};

mod outcome;
pub use crate::outcome::Outcome;

mod json;
mod json_schema;
mod meta;
mod names;
pub use crate::{
    json::{DuplicateName, Extra, JsonObject, JsonValue, OrderedMap},
    json_schema::{Dialect, JsonSchema, SchemaLimits, SchemaTooLarge},
    meta::{InvalidMetaKey, Meta, MetaKey, MetaPeek},
    names::{
        Base64, Cursor, ElicitationId, IconUri, InvalidBase64, InvalidIconUri, InvalidToolName,
        ProgressToken, ResourceUri, TaskId, Timestamp, ToolName, UriTemplate,
    },
};

pub mod error_code;
pub mod file_uri;
pub mod history;

mod project;
pub use crate::project::{DoesNotFit, Project};

mod prelude;
mod severity;
mod wire;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
