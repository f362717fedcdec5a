use mcp_lifecycle::Timeouts;
use mcp_types::Meta;
use serde_core::Serialize;

use crate::Progress;

/// Called with each report.
pub(crate) type OnProgress<'p> = Box<dyn FnMut(Progress) + Send + 'p>;

/// What can be set for each request.
pub(crate) struct Options<'p> {
    pub(super) timeouts: Timeouts,
    pub(super) on_progress: Option<OnProgress<'p>>,
    pub(super) meta: Meta,
    /// The first value that couldn't be written.
    pub(super) broken: Option<serde_json::Error>,
    /// Whether the request is to run as a task.
    pub(super) as_task: bool,
}

impl<'p> Options<'p> {
    pub(super) const fn new(timeouts: Timeouts) -> Self {
        Self { timeouts, on_progress: None, meta: Meta::new(), broken: None, as_task: false }
    }

    pub(super) fn with_progress<'q>(self, report: impl FnMut(Progress) + Send + 'q) -> Options<'q> {
        let Self { timeouts, on_progress: _, meta, broken, as_task } = self;
        Options { timeouts, on_progress: Some(Box::new(report)), meta, broken, as_task }
    }

    pub(super) fn set_meta<T: Serialize + ?Sized>(&mut self, key: impl Into<String>, value: &T) {
        if let Err(error) = self.meta.insert(key, value) {
            self.broken.get_or_insert(error);
        }
    }
}

/// The setters of whatever holds [`Options`]: it has `options(&mut self)` and
/// `with_progress(self, …)`.
macro_rules! setters {
    (impl$(<$($t:ident),*>)? $name:ident<'p $(, $u:ident)*>) => {
        impl<'p $(, $($t),*)?> $name<'p $(, $u)*> {
            /// Sets how long the server may be silent, in place of the client's setting.
            /// Progress that is watched ends a silence. A limit for the whole that is shorter
            /// is raised.
            pub fn timeout(mut self, silence: std::time::Duration) -> Self {
                let options = self.options();
                options.timeouts = options.timeouts.with_idle(silence);
                self
            }

            /// Sets how long the request may take in all, whatever progress is reported, in
            /// place of the client's setting.
            pub fn max_time(mut self, whole: std::time::Duration) -> Self {
                let options = self.options();
                options.timeouts = options.timeouts.with_max(whole);
                self
            }

            /// Sets all limits, in place of the client's setting.
            pub fn timeouts(mut self, timeouts: mcp_lifecycle::Timeouts) -> Self {
                self.options().timeouts = timeouts;
                self
            }

            /// Asks for progress, and calls `report` with each value that comes.
            ///
            /// It is called while the request is awaited, by the task that awaits it, in order,
            /// and before the request is ready. When more than 64 reports wait the oldest are
            /// dropped. Whether a server reports anything is up to it.
            pub fn on_progress<'q>(
                self,
                report: impl FnMut(crate::Progress) + Send + 'q,
            ) -> $name<'q $(, $u)*> {
                self.with_progress(report)
            }

            /// Puts a member into the request's `_meta`. A value that can't be written as JSON
            /// fails the request before anything is sent.
            ///
            /// Specification: [`_meta`](https://modelcontextprotocol.io/specification/2025-11-25/basic#_meta).
            pub fn meta<V: serde_core::Serialize + ?Sized>(
                mut self,
                key: impl Into<String>,
                value: &V,
            ) -> Self {
                self.options().set_meta(key, value);
                self
            }
        }
    };
}

pub(crate) use setters;
