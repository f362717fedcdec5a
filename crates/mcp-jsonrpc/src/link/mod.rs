//! The boundary to whatever carries messages, and a carrier in memory.

pub mod v1;

mod memory;
pub use memory::{MemoryLink, memory_pair};
