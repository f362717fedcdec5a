//! What the programs of this package share.

pub mod floor;
