use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_types::{JsonObject, LoggingLevel};
use serde_core::Serialize;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Span, Subscriber, span};
use tracing_subscriber::layer::{Context as Spans, Layer};
use tracing_subscriber::registry::LookupSpan;

use crate::context::Context;

/// Sends the events of [`tracing`] that happen in a request to the client that made it, as log
/// messages: a layer for [`tracing_subscriber`], and a part of a [`Server`](crate::Server).
///
/// ```
/// use mcp_server::{LogForwarder, Server};
/// use tracing_subscriber::layer::SubscriberExt as _;
///
/// let logs = LogForwarder::of(["my_server"]);
/// let subscriber = tracing_subscriber::registry().with(logs.clone());
/// let server = Server::new("my-server", "1.0").forward_logs(logs).tool("work", || async {
///     tracing::info!(done = 3, "it goes on");
///     "done"
/// });
/// # drop((subscriber, server));
/// ```
///
/// - Only events of the modules that were named are sent: the client reads them, and what
///   libraries say in a request is not for it. Those of these crates never are.
/// - `logger` is the event's target, and `data` an object of its fields, with `message` among them.
///   `trace` and `debug` are debug, `warn` is warning, and the others are what they are called.
/// - The level that the client has set counts, and the
///   [`log_limit`](crate::Server::log_limit) of the server. For an event below the level nothing is
///   formatted.
///
/// The request is found by the span `mcp.exchange` (target `mcp_server::exchange`, level `ERROR`,
/// so that most filters let it pass), in which handlers run. Whatever is entered inside of it
/// belongs to the request, also over `.await`. What runs elsewhere, such as a spawned task, has to
/// be instrumented: `tokio::spawn(work.in_current_span())`. Events outside of a request go nowhere.
///
/// Clones are the same forwarder; one serves any number of servers.
///
/// Specification: [logging](https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging).
#[derive(Clone)]
pub struct LogForwarder(Arc<Inner>);

struct Inner {
    targets: Vec<String>,
    /// The requests in which handlers run, by their spans. As many as run.
    open: Mutex<HashMap<span::Id, Context>>,
}

thread_local! {
    /// Whether this thread is about to send an event: what happens meanwhile is not sent.
    static SENDING: Cell<bool> = const { Cell::new(false) };
}

impl LogForwarder {
    /// Sends what the modules say whose paths are these, or begin like them.
    pub fn of<T: Into<String>>(targets: impl IntoIterator<Item = T>) -> Self {
        let targets = targets.into_iter().map(Into::into).collect();
        Self(Arc::new(Inner { targets, open: Mutex::default() }))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<span::Id, Context>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A span for a request, whose events are sent as long as what comes with it lives.
    pub(crate) fn open(&self, cx: &Context) -> (Span, Open) {
        let span = tracing::error_span!(target: "mcp_server::exchange", "mcp.exchange");
        let id = span.id();
        if let Some(id) = &id {
            let before = self.lock().insert(id.clone(), cx.clone());
            drop(before);
        }
        (span, Open { forwarder: self.clone(), id })
    }

    fn takes(&self, target: &str) -> bool {
        !is_ours(target) && self.0.targets.iter().any(|module| is_within(target, module))
    }
}

/// A request whose events are sent.
pub(crate) struct Open {
    forwarder: LogForwarder,
    id: Option<span::Id>,
}

impl Drop for Open {
    fn drop(&mut self) {
        let cx = self.id.take().and_then(|id| self.forwarder.lock().remove(&id));
        drop(cx);
    }
}

fn is_within(target: &str, module: &str) -> bool {
    target.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Whether an event may be caused by sending one.
fn is_ours(target: &str) -> bool {
    const OURS: [&str; 7] = [
        "mcp_jsonrpc",
        "mcp_lifecycle",
        "mcp_server",
        "mcp_transport_http",
        "mcp_transport_stdio",
        "mcp_auth",
        "mcp_types",
    ];
    OURS.iter().any(|module| is_within(target, module))
}

fn level_of(level: Level) -> LoggingLevel {
    match level {
        Level::ERROR => LoggingLevel::Error,
        Level::WARN => LoggingLevel::Warning,
        Level::INFO => LoggingLevel::Info,
        _ => LoggingLevel::Debug,
    }
}

impl<S> Layer<S> for LogForwarder
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_event(&self, event: &Event<'_>, spans: Spans<'_, S>) {
        let target = event.metadata().target();
        if !self.takes(target) || SENDING.get() {
            return;
        }
        let Some(scope) = spans.event_scope(event) else { return };
        let cx = {
            let open = self.lock();
            // From the innermost on.
            scope.into_iter().find_map(|span| open.get(&span.id()).cloned())
        };
        let Some(cx) = cx else { return };
        let level = level_of(*event.metadata().level());
        if !cx.wants_log(level) {
            return;
        }
        SENDING.set(true);
        let _reset = Reset;
        let mut fields = Fields(JsonObject::new());
        event.record(&mut fields);
        cx.log(level, Some(target), &fields.0);
    }
}

struct Reset;

impl Drop for Reset {
    fn drop(&mut self) {
        SENDING.set(false);
    }
}

/// The fields of an event, as the members of an object.
struct Fields(JsonObject);

impl Fields {
    fn put<T: Serialize + ?Sized>(&mut self, field: &Field, value: &T) {
        // A text and a number can always be written; one that can't is left out.
        let _ = self.0.insert(field.name(), value);
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, &value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, &value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, &value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, &value);
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.put(field, &value.to_string());
    }
}

impl Debug for LogForwarder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogForwarder").field("targets", &self.0.targets).finish_non_exhaustive()
    }
}
