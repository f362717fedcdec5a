//! Everything that is wrong, told at once, each thing at its own place.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The errors so far.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Notes an error at `tokens`.
    pub(crate) fn add(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Notes an error that something else has found.
    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Whether there is none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// What the compiler reports them by.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.map(syn::Error::into_compile_error).unwrap_or_default()
    }
}
