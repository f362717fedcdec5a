use crate::{generated::next::InputRequiredResult, json::JsonObject};

/// What a request was answered by: a result, or something that comes before one.
///
/// In the stateful era there is only [`Complete`](Self::Complete).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome<T> {
    /// The result.
    Complete(T),
    /// The request can go on only with input of the client's side.
    InputRequired(InputRequiredResult),
    /// A kind of result that an enabled extension brought.
    Extended {
        /// What it calls itself in `resultType`.
        kind: String,
        /// The result.
        body: JsonObject,
    },
}

impl<T> Outcome<T> {
    /// The result, if there is one.
    #[must_use]
    pub fn complete(self) -> Option<T> {
        match self {
            Self::Complete(result) => Some(result),
            Self::InputRequired(_) | Self::Extended { .. } => None,
        }
    }

    /// Changes the result, if there is one.
    #[must_use]
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Complete(result) => Outcome::Complete(change(result)),
            Self::InputRequired(wanted) => Outcome::InputRequired(wanted),
            Self::Extended { kind, body } => Outcome::Extended { kind, body },
        }
    }

    /// The `resultType` of the answer, for revisions that have it.
    #[must_use]
    pub fn result_type(&self) -> &str {
        match self {
            Self::Complete(_) => "complete",
            Self::InputRequired(_) => "input_required",
            Self::Extended { kind, .. } => kind,
        }
    }
}

impl<T> From<T> for Outcome<T> {
    fn from(result: T) -> Self {
        Self::Complete(result)
    }
}
