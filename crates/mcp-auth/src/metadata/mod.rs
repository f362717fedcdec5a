//! The documents that resources and authorization servers publish about themselves.

mod resource;
mod server;
pub use self::resource::{ResourceMetadata, UnusableResourceMetadata};
pub use self::server::{ServerMetadata, UnusableServerMetadata};

#[cfg(feature = "server")]
mod client;
#[cfg(all(feature = "server", any(test, feature = "testing")))]
pub(crate) use self::client::same_redirect;
#[cfg(feature = "server")]
pub use self::client::{ClientDocument, UnusableClientDocument};
