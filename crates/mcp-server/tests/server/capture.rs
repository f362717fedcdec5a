//! A subscriber that keeps what it is told, for one thread.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex, OnceLock};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Metadata, Subscriber};

/// Events and spans, as long as it lives.
pub(crate) struct Capture {
    kept: Arc<Mutex<Kept>>,
    _guard: DefaultGuard,
}

#[derive(Default)]
struct Kept {
    events: Vec<String>,
    spans: Vec<BTreeMap<String, String>>,
}

impl Capture {
    /// What this crate says.
    pub(crate) fn start() -> Self {
        Self::of("mcp_server")
    }

    /// What the modules say whose names begin like this.
    pub(crate) fn of(target: &'static str) -> Self {
        // Where there is one subscriber only, a place in the code that is first reached on another
        // thread is taken for one that nobody is interested in. So there are two.
        static SECOND: OnceLock<Dispatch> = OnceLock::new();
        SECOND.get_or_init(|| Dispatch::new(Keeper(Arc::default(), "")));
        let kept = Arc::new(Mutex::new(Kept::default()));
        let guard = tracing::subscriber::set_default(Keeper(Arc::clone(&kept), target));
        Self { kept, _guard: guard }
    }

    /// The events so far, each with its level, message and fields.
    pub(crate) fn events(&self) -> Vec<String> {
        self.kept.lock().unwrap().events.clone()
    }

    /// The fields of the spans so far.
    pub(crate) fn spans(&self) -> Vec<BTreeMap<String, String>> {
        self.kept.lock().unwrap().spans.clone()
    }
}

struct Keeper(Arc<Mutex<Kept>>, &'static str);

struct Fields<'a>(&'a mut BTreeMap<String, String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl Subscriber for Keeper {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with(self.1)
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = BTreeMap::new();
        span.record(&mut Fields(&mut fields));
        let spans = &mut self.0.lock().unwrap().spans;
        spans.push(fields);
        Id::from_u64(u64::try_from(spans.len()).unwrap())
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let at = usize::try_from(span.into_u64()).unwrap() - 1;
        values.record(&mut Fields(&mut self.0.lock().unwrap().spans[at]));
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = BTreeMap::new();
        event.record(&mut Fields(&mut fields));
        let mut text = event.metadata().level().to_string();
        for (name, value) in &fields {
            write!(text, " {name}={value}").unwrap();
        }
        self.0.lock().unwrap().events.push(text);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
