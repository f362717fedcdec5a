//! JSON that is kept as it came.

mod map;
mod value;

pub use self::{
    map::{DuplicateName, Extra, JsonObject, OrderedMap},
    value::JsonValue,
};
