//! Forms: their fields, told apart by several members, and what is filled in.

mod field;
mod value;

pub use self::{
    field::PrimitiveSchemaDefinition,
    value::{ElicitValue, InvalidNumber, Number},
};
