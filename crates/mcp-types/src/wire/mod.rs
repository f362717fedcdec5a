//! How the types are read from and written to JSON, in one pass, without derive.
//!
//! The macros take a list of members a type; everything that is the same for all types is
//! here as ordinary functions, so that a type costs a few hundred bytes of code, not a
//! visitor, a key enum and an error path of its own.

mod key;
mod list;
mod number;
mod object;
mod pairs;
mod texts;
mod union;

pub(crate) use self::{
    key::{Index, Key, KeySeed, Seen},
    list::List,
    number::{Int, Num},
    object::{FromMap, ObjectVisitor, constant, missing, write_extra},
    pairs::PairsAccess,
    texts::TextVisitor,
    union::{TagVisitor, Tagged},
};
pub(crate) use self::{object::object, texts::texts, union::union};
