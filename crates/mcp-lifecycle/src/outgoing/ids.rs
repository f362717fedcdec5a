use std::sync::atomic::{AtomicI64, Ordering};

use mcp_jsonrpc::RequestId;
use mcp_types::ProgressToken;

/// Numbers for requests, or for progress tokens, of one peer: each is given out once.
///
/// They start at 1: some peers take 0 for "no id".
///
/// ```
/// let ids = mcp_lifecycle::Ids::new();
/// assert_eq!((ids.next(), ids.next()), (1, 2));
/// ```
#[derive(Debug)]
pub struct Ids(AtomicI64);

impl Ids {
    /// A source that has given out nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicI64::new(1))
    }

    /// A number that was never given out before.
    pub fn next(&self) -> i64 {
        // 2^63 numbers last for as long as any machine does.
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    /// [`next`](Self::next), as the id of a request.
    pub fn request(&self) -> RequestId {
        self.next().into()
    }

    /// [`next`](Self::next), as a progress token.
    pub fn token(&self) -> ProgressToken {
        self.next().into()
    }

    /// Whether `number` was given out.
    #[must_use]
    pub fn has_given(&self, number: i64) -> bool {
        (1..self.0.load(Ordering::Relaxed)).contains(&number)
    }
}

impl Default for Ids {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: PROGRESS-002
    #[test]
    fn no_number_is_given_out_twice() {
        let ids = Ids::new();
        let given: std::collections::BTreeSet<_> = (0..1000).map(|_| ids.token()).collect();
        assert_eq!(given.len(), 1000);
        assert!(ids.has_given(1) && ids.has_given(1000));
        assert!(!ids.has_given(0) && !ids.has_given(1001) && !ids.has_given(-1));
        assert_eq!(ids.request(), RequestId::from(1001));
    }
}
