//! The guarded fetcher: every request that somebody else's document can cause goes through it.

mod address;
mod client;
mod connect;
mod error;
mod policy;
pub use self::address::Reach;
pub use self::client::GuardedFetcher;
pub use self::connect::Roots;
pub use self::error::{FetchError, Rule};
pub use self::policy::FetchPolicy;

mod message;
pub use self::message::{FetchRequest, FetchResponse};
