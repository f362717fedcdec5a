//! Stores for logins.

mod file;
#[cfg(feature = "keyring")]
mod keyring;
mod memory;
mod seal;
pub use self::file::FileStore;
pub use self::memory::MemoryStore;
