//! What the programs of this crate share: the least that answers a call.

pub mod floor;
