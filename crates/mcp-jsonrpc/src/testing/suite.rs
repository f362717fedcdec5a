use std::fmt;

/// One test of a suite, for whatever harness runs it.
///
/// # Examples
///
/// ```no_run
/// # let suite: Vec<mcp_jsonrpc::testing::NamedTest> = Vec::new();
/// for test in suite {
///     println!("{}", test.name);
///     test.run();
/// }
/// ```
pub struct NamedTest {
    /// What it shows, as a sentence.
    pub name: &'static str,
    run: Box<dyn FnOnce() + Send>,
}

impl NamedTest {
    pub(super) fn new(name: &'static str, run: impl FnOnce() + Send + 'static) -> Self {
        Self { name, run: Box::new(run) }
    }

    /// Runs it.
    ///
    /// # Panics
    ///
    /// When the contract is broken.
    pub fn run(self) {
        (self.run)();
    }
}

impl fmt::Debug for NamedTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamedTest").field(&self.name).finish()
    }
}
