use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcp_lifecycle::v1::{SchemaError, SchemaValidator};
use mcp_types::{Prompt, Resource, ResourceTemplate, Task, TaskSupport, Tool};

use super::Listing;
use super::promise::{Promise, Promises};

/// What is known of the server's lists.
#[derive(Default)]
#[expect(unnameable_types, reason = "only this crate looks at it")]
pub struct Caches {
    pub(super) tools: Slot<Tool>,
    pub(super) resources: Slot<Resource>,
    pub(super) templates: Slot<ResourceTemplate>,
    pub(super) prompts: Slot<Prompt>,
    pub(super) tasks: Slot<Task>,
    pub(super) promises: Promises,
}

impl Caches {
    pub(super) fn promises_version(&self) -> u64 {
        self.promises.version()
    }

    /// What `tool` has promised about its results, ready to be checked.
    pub(crate) fn promise_of(
        &self,
        tool: &str,
        validator: Option<&dyn SchemaValidator>,
    ) -> Result<Option<Promise>, SchemaError> {
        self.promises.of(tool, validator)
    }

    /// Whether `tool` runs as a task, and maybe only so.
    pub(crate) fn task_support_of(&self, tool: &str) -> Option<TaskSupport> {
        self.promises.task_support_of(tool)
    }

    /// The server says that its tools have changed.
    pub(crate) fn tools_changed(&self) {
        self.tools.change();
        self.promises.forget();
    }

    /// The server says that its resources, or their templates, have changed.
    pub(crate) fn resources_changed(&self) {
        self.resources.change();
        self.templates.change();
    }

    /// The server says that its prompts have changed.
    pub(crate) fn prompts_changed(&self) {
        self.prompts.change();
    }
}

/// One list.
#[expect(unnameable_types, reason = "only this crate looks at it")]
pub struct Slot<T>(Mutex<State<T>>);

struct State<T> {
    /// Grows with each change.
    version: u64,
    /// The newest list, and what the version was when its fetch began.
    kept: Option<(u64, Listing<T>)>,
}

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be asked before a fetch.
    pub(super) fn version(&self) -> u64 {
        self.lock().version
    }

    fn change(&self) {
        self.lock().version += 1;
    }

    /// The list, if nothing has changed since it was fetched.
    pub(crate) fn current(&self) -> Option<Listing<T>> {
        let state = self.lock();
        let (version, list) = state.kept.as_ref()?;
        (*version == state.version).then(|| list.clone())
    }

    /// The newest list there is, and whether something has changed since.
    pub(crate) fn newest(&self) -> Option<(Listing<T>, bool)> {
        let state = self.lock();
        let (version, list) = state.kept.as_ref()?;
        Some((list.clone(), *version != state.version))
    }

    /// Keeps a list whose fetch began at `version`, unless a newer one is there.
    pub(super) fn keep(&self, version: u64, list: Listing<T>) {
        let mut state = self.lock();
        if state.kept.as_ref().is_none_or(|(kept, _)| *kept <= version) {
            state.kept = Some((version, list));
        }
    }
}

impl fmt::Debug for Caches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Caches")
    }
}

impl<T> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slot(version {})", self.version())
    }
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(Mutex::new(State { version: 0, kept: None }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: FC-035
    #[test]
    fn a_change_during_a_fetch_spoils_its_result() {
        let slot = Slot::<u8>::default();
        assert!(slot.newest().is_none());
        let version = slot.version();
        slot.change();
        slot.keep(version, Listing::new(vec![1], None));
        assert!(slot.current().is_none());
        let (old, stale) = slot.newest().unwrap();
        assert!(stale && old.first() == Some(&1));
        let version = slot.version();
        slot.keep(version, Listing::new(vec![2], None));
        assert_eq!(slot.current().unwrap().first(), Some(&2));
        // A fetch that began earlier and ended later.
        slot.keep(0, Listing::new(vec![1], None));
        assert_eq!(slot.current().unwrap().first(), Some(&2));
    }
}
