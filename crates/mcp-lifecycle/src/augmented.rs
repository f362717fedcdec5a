use std::collections::VecDeque;

use mcp_jsonrpc::{RawJson, RequestId};

/// The requests under way that ask to be run as tasks.
///
/// A cancellation of one of them is ignored: from its answer on it is a task, which only
/// `tasks/cancel` cancels. Bounded; when full the oldest is forgotten, and can be canceled like
/// any other request until it is answered.
#[derive(Debug, Default)]
pub(crate) struct Augmented(VecDeque<RequestId>);

impl Augmented {
    /// They are answered as soon as the task is there, so few are ever open at once.
    const MAX: usize = 256;

    pub(crate) fn add(&mut self, id: RequestId) {
        if self.0.len() >= Self::MAX {
            self.0.pop_front();
        }
        self.0.push_back(id);
    }

    pub(crate) fn remove(&mut self, id: &RequestId) {
        self.0.retain(|known| known != id);
    }

    pub(crate) fn contains(&self, id: &RequestId) -> bool {
        self.0.contains(id)
    }
}

/// Whether `params` ask for a task. Cheap where the word doesn't occur.
pub(crate) fn asks_for_task(params: Option<&RawJson>) -> bool {
    params.is_some_and(|params| {
        memchr::memmem::find(params.as_bytes(), b"\"task\"").is_some()
            && crate::peek::member(params.as_str(), "task").is_some_and(|task| task != "null")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut augmented = Augmented::default();
        for n in 0..=256 {
            augmented.add(RequestId::from(n));
        }
        assert!(!augmented.contains(&0.into()) && augmented.contains(&1.into()));
        augmented.remove(&1.into());
        assert!(!augmented.contains(&1.into()));
    }

    #[test]
    fn only_a_member_of_the_params_themselves_asks_for_a_task() {
        let asks = |json: &'static str| asks_for_task(Some(&RawJson::new(json).unwrap()));
        assert!(asks(r#"{"name":"t","task":{}}"#));
        assert!(asks(r#"{"task":{"ttl":1},"name":"t"}"#));
        assert!(!asks(r#"{"name":"t","arguments":{"task":{}}}"#));
        assert!(!asks(r#"{"name":"task"}"#));
        assert!(!asks(r#"{"name":"t","task":null}"#));
        assert!(!asks_for_task(None));
    }
}
