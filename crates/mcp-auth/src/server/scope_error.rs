use mcp_jsonrpc::ErrorObject;
use serde_json::json;

use crate::ScopeSet;

/// The code of the error that [`NeedsScope`] becomes.
pub const INSUFFICIENT_SCOPE: i64 = -31002;

/// A handler has found out that its caller lacks scopes.
///
/// A need that is known before belongs into the [`ScopePolicy`](super::ScopePolicy): then the
/// client is answered by 403, and asks for the scopes by itself. Once a handler runs the head
/// of the answer may be on its way, so this is an error of the call, with the scopes in its
/// data: `{"scopes": ["a", "b"]}`.
///
/// # Examples
///
/// ```
/// use mcp_auth::ScopeSet;
/// use mcp_auth::server::NeedsScope;
/// use mcp_jsonrpc::ErrorObject;
///
/// fn check(is_owner: bool) -> Result<(), ErrorObject> {
///     if is_owner { Ok(()) } else { Err(NeedsScope::new(ScopeSet::parse("files:admin")).into()) }
/// }
/// assert_eq!(check(false).unwrap_err().code, mcp_auth::server::INSUFFICIENT_SCOPE);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operation needs more scopes: {scopes}")]
pub struct NeedsScope {
    scopes: ScopeSet,
}

impl NeedsScope {
    /// All of `scopes` are needed, those that are granted included.
    #[must_use]
    pub const fn new(scopes: ScopeSet) -> Self {
        Self { scopes }
    }

    /// What is needed.
    #[must_use]
    pub const fn scopes(&self) -> &ScopeSet {
        &self.scopes
    }
}

impl From<NeedsScope> for ErrorObject {
    fn from(error: NeedsScope) -> Self {
        let scopes: Vec<&str> = error.scopes.iter().collect();
        Self::new(INSUFFICIENT_SCOPE, error.to_string()).with_data_from(&json!({"scopes": scopes}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: RS-SP-6
    #[test]
    fn the_scopes_are_in_the_data() {
        let error = ErrorObject::from(NeedsScope::new(ScopeSet::parse("a b")));
        assert_eq!(error.message, "the operation needs more scopes: a b");
        assert_eq!(error.data.unwrap().get(), r#"{"scopes":["a","b"]}"#);
    }
}
