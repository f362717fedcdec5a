//! Values that are more than a text: checked when we make one, lenient when we read one.
//!
//! What the specification says SHOULD hold is not demanded of a peer: any text is read and
//! passed on unchanged, and `is_conforming` says whether it keeps the rules. `try_new` makes
//! only conforming ones.

mod base64;
mod icon;
mod moment;
mod text;
mod token;
mod tool;

pub use self::{
    base64::{Base64, InvalidBase64},
    icon::{IconUri, InvalidIconUri},
    text::{Cursor, ElicitationId, ResourceUri, TaskId, Timestamp, UriTemplate},
    token::ProgressToken,
    tool::{InvalidToolName, ToolName},
};
