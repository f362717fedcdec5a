//! `WWW-Authenticate`, in both directions.

mod demand;
mod parse;
pub use self::demand::{Demand, Scheme};
pub use self::parse::{Challenge, Challenges};

#[cfg(feature = "server")]
mod write;
#[cfg(feature = "server")]
pub use self::write::ChallengeWriter;
