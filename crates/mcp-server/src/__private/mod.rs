//! What the attribute macros expand to. It is no interface: only `mcp-macros` of the same version
//! may name it. Whatever it does can be written by hand with the rest of the crate.
//!
//! The kind of a parameter is found by trait, not by name: [`Parameter`]s are asked for with a
//! method that exists several times, and the compiler takes the first one whose bounds hold. An
//! inherent method comes before that of a trait, and a method of the type before one of its
//! reference.

#![expect(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "it changes together with what names it"
)]

pub mod prompt;
pub mod resource;
pub mod tool;

use std::fmt;
use std::marker::PhantomData;

pub use mcp_types::TaskSupport;
pub use {schemars, serde};

/// A parameter of type `T`, of a kind `K`.
pub struct Parameter<K, T>(PhantomData<fn() -> (K, T)>);

impl<K, T> Parameter<K, T> {
    const NEW: Self = Self(PhantomData);
}

impl<K, T> Clone for Parameter<K, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, T> Copy for Parameter<K, T> {}

impl<K, T> fmt::Debug for Parameter<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Parameter")
    }
}
