//! The boundary to whatever answers messages.

pub mod v1;

mod cancel;
