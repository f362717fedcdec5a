//! Stores for logins.

mod file;
mod memory;
pub use self::file::FileStore;
pub use self::memory::MemoryStore;
