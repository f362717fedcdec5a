//! The boundary to whatever answers messages.

#[cfg(feature = "tower")]
pub mod tower;
pub mod v1;

mod cancel;
