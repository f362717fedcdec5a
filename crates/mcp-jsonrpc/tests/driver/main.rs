//! The driver: both directions, everything that may cross, and every bound.

mod calls;
mod interleavings;
mod load;
mod rude;
mod serving;
mod toy;
