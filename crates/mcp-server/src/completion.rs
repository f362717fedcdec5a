//! Completion of the arguments of prompts and the variables of templates.
//!
//! Specification: [Completion](https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion).

use std::collections::BTreeMap;
use std::fmt;

use crate::context::Context;
use crate::v1::{BoxFuture, Completer};

/// What a client wants completed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompletionRequest {
    /// What has been typed so far.
    pub value: String,
    /// The values of other arguments, as far as the client knows them.
    pub arguments: BTreeMap<String, String>,
    /// Who asks.
    pub context: Context,
}

impl CompletionRequest {
    pub(crate) const fn new(
        value: String,
        arguments: BTreeMap<String, String>,
        context: Context,
    ) -> Self {
        Self { value, arguments, context }
    }
}

/// Values for an argument, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// The values. At most 100 of them are sent.
    pub values: Vec<String>,
    /// How many there are in all; as many as there are values when this is none.
    pub total: Option<u64>,
}

impl Completion {
    /// These values, and no more.
    pub fn new(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { values: values.into_iter().map(Into::into).collect(), total: None }
    }

    /// Says that there are `total` values in all.
    #[must_use]
    pub const fn with_total(mut self, total: u64) -> Self {
        self.total = Some(total);
        self
    }

    /// Those of `candidates` that begin with what has been typed, whatever the case.
    pub fn by_prefix<S: AsRef<str>>(
        candidates: impl IntoIterator<Item = S>,
        request: &CompletionRequest,
    ) -> Self {
        let typed = request.value.to_lowercase();
        let fits = |candidate: &S| candidate.as_ref().to_lowercase().starts_with(&typed);
        Self::new(
            candidates.into_iter().filter(fits).map(|candidate| candidate.as_ref().to_owned()),
        )
    }
}

/// An async function as a completer.
pub(crate) struct CompleteFn<F>(pub(crate) F);

impl<F> fmt::Debug for CompleteFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CompleteFn")
    }
}

impl<F, Fut> Completer for CompleteFn<F>
where
    F: Fn(CompletionRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Completion> + Send + 'static,
{
    fn complete(&self, request: CompletionRequest) -> BoxFuture<'_, Completion> {
        Box::pin((self.0)(request))
    }
}
