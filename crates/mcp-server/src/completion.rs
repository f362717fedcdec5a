//! Completion of the arguments of prompts and the variables of templates.
//!
//! Specification: [Completion](https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion).

use std::collections::BTreeMap;
use std::fmt;

use mcp_jsonrpc::ErrorObject;

use crate::context::Context;
use crate::error::PromptError;
use crate::v1::{BoxFuture, Completer};

/// What a client wants completed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompletionRequest {
    /// What has been typed so far: at most 4,096 bytes.
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
    /// There are more values than these, however many.
    pub more: bool,
}

impl Completion {
    /// These values, and no more.
    pub fn new(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { values: values.into_iter().map(Into::into).collect(), total: None, more: false }
    }

    /// Says that there are `total` values in all.
    #[must_use]
    pub const fn with_total(mut self, total: u64) -> Self {
        self.total = Some(total);
        self
    }

    /// Says that there are more values, when nobody has counted them.
    #[must_use]
    pub const fn with_more(mut self) -> Self {
        self.more = true;
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

    /// Those of `candidates` that may be meant by what has been typed, whatever the case: first
    /// what is the same, then what begins with it, then what contains it, then what has its
    /// letters in this order, so that `pthn` finds `python`. Equals keep their order.
    pub fn by_likeness<S: AsRef<str>>(
        candidates: impl IntoIterator<Item = S>,
        request: &CompletionRequest,
    ) -> Self {
        let typed = request.value.to_lowercase();
        let mut ranked: Vec<(u8, String)> = candidates
            .into_iter()
            .filter_map(|candidate| {
                let candidate = candidate.as_ref();
                likeness(&candidate.to_lowercase(), &typed).map(|rank| (rank, candidate.to_owned()))
            })
            .collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        Self::new(ranked.into_iter().map(|(_, candidate)| candidate))
    }
}

/// 0 is best.
fn likeness(candidate: &str, typed: &str) -> Option<u8> {
    if candidate == typed {
        return Some(0);
    }
    if candidate.starts_with(typed) {
        return Some(1);
    }
    if candidate.contains(typed) {
        return Some(2);
    }
    let mut letters = candidate.chars();
    typed.chars().all(|wanted| letters.any(|letter| letter == wanted)).then_some(3)
}

/// What a function that completes can return: a [`Completion`], a list of values, or a `Result`
/// of these. Any error answers the request with `-32603`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a completion",
    note = "a completion is a `Completion`, a `Vec<String>`, or a `Result<_, PromptError>` of these; any error becomes one by `?`"
)]
pub trait IntoCompletion {
    /// The completion.
    ///
    /// # Errors
    ///
    /// The error to answer the request with.
    fn into_completion(self) -> Result<Completion, ErrorObject>;
}

impl IntoCompletion for Completion {
    fn into_completion(self) -> Result<Completion, ErrorObject> {
        Ok(self)
    }
}

impl IntoCompletion for Vec<String> {
    fn into_completion(self) -> Result<Completion, ErrorObject> {
        Ok(Completion::new(self))
    }
}

impl<T: IntoCompletion, E: Into<PromptError>> IntoCompletion for Result<T, E> {
    fn into_completion(self) -> Result<Completion, ErrorObject> {
        self.map_err(|error| error.into().into_object())?.into_completion()
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
    Fut: Future + Send + 'static,
    Fut::Output: IntoCompletion,
{
    fn complete(
        &self,
        request: CompletionRequest,
    ) -> BoxFuture<'_, Result<Completion, ErrorObject>> {
        let future = (self.0)(request);
        Box::pin(async move { future.await.into_completion() })
    }
}

#[cfg(test)]
mod tests {
    use super::likeness;

    // Shows: COMPLETION-012, COMPLETION-013
    #[test]
    fn what_is_more_like_it_comes_first() {
        let rank = |typed| likeness("python", typed);
        assert_eq!(
            [rank("python"), rank("pyth"), rank("tho"), rank("pthn"), rank("nohtyp"), rank("")],
            [Some(0), Some(1), Some(2), Some(3), None, Some(1)]
        );
    }
}
