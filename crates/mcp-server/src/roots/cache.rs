//! The client's roots, kept while they stay the same.

use std::sync::{Arc, Mutex, PoisonError};

use mcp_types::Root;

/// What a session remembers of its client's roots. A change that is announced while they are
/// being fetched makes the answer one that is not kept.
#[derive(Debug, Default)]
pub(crate) struct RootsCache(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    generation: u64,
    roots: Option<Arc<[Root]>>,
}

impl RootsCache {
    /// The roots, if they are known; and the generation in which they would be.
    pub(crate) fn known(&self) -> (Option<Arc<[Root]>>, u64) {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (state.roots.clone(), state.generation)
    }

    /// Keeps what was fetched since `generation`.
    pub(crate) fn keep(&self, generation: u64, roots: &[Root]) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.generation == generation {
            state.roots = Some(roots.into());
        }
    }

    /// The client says that they have changed.
    pub(crate) fn forget(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.generation = state.generation.wrapping_add(1);
        state.roots = None;
    }
}
