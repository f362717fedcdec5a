//! The driver: both directions, everything that may cross, and every bound.
#![expect(clippy::panic, reason = "a test fails by it")]

mod calls;
mod interleavings;
mod load;
mod rude;
mod serving;
mod toy;
