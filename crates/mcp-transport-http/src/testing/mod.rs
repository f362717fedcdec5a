//! Contract suites: what every implementation of a boundary has to pass.

mod event_log;
pub use self::event_log::event_log_suite;

mod session_store;
pub use self::session_store::session_store_suite;

use std::fmt;

use crate::v1::BoxFuture;

/// One test of a suite. Running it is up to the caller: a runtime is needed, and a failed
/// test panics.
pub struct Case {
    /// What is claimed, as a name.
    pub name: &'static str,
    run: Box<dyn FnOnce() -> BoxFuture<()> + Send>,
}

impl Case {
    fn new<F>(name: &'static str, run: impl FnOnce() -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self { name, run: Box::new(|| Box::pin(run())) }
    }

    /// Runs the test.
    ///
    /// # Panics
    ///
    /// When the implementation breaks the contract.
    pub async fn run(self) {
        (self.run)().await;
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Case").field(&self.name).finish()
    }
}
