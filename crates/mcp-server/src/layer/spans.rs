use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use mcp_jsonrpc::service::v1::{Call, Inbound, Layer, Replies, Reply, Service};
use mcp_jsonrpc::{Extensions, Head, Outgoing, RawJson, Request};
use mcp_lifecycle::{PeerFacts, TraceContext};
use mcp_types::CallToolParamsRef;
use serde_json::value::RawValue;
use tracing::field::{Empty, display};
use tracing::{Instrument as _, Span};

/// A [`tracing`] span for each request and notification, with the attributes of
/// OpenTelemetry's [conventions for MCP](https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/).
///
/// The span is called `mcp.server`, at the level `INFO`; its `otel.name` is the method with the
/// name of the tool or prompt, and its `otel.kind` is `server`, as the `tracing-opentelemetry`
/// crate reads them. Contents are never recorded, nor is the name of a session, which is a
/// secret over HTTP.
///
/// The trace that the client says its message belongs to, by `traceparent`, `tracestate` and
/// `baggage` in `_meta`, is handed to [`on_start`](Self::on_start), and goes on to the client
/// with whatever the handler asks it.
#[derive(Clone, Default)]
pub struct Spans {
    on_start: Option<StartFn>,
}

type StartFn = Arc<dyn Fn(&Span, &TraceContext) -> Option<TraceContext> + Send + Sync>;

/// The trace that what a handler asks its client belongs to, where a layer says another one than
/// that of the request.
#[derive(Clone, Debug)]
pub(crate) struct OutgoingTrace(pub(crate) TraceContext);

impl Spans {
    /// The layer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls `start` with each new span and the trace that the client named: the place to make
    /// the one a child of the other. What it answers is the trace that goes on to the client
    /// with what the handler asks; none leaves it at the client's own.
    #[must_use]
    pub fn on_start<F>(mut self, start: F) -> Self
    where
        F: Fn(&Span, &TraceContext) -> Option<TraceContext> + Send + Sync + 'static,
    {
        self.on_start = Some(Arc::new(start));
        self
    }
}

impl fmt::Debug for Spans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Spans")
    }
}

impl<S: Service> Layer<S> for Spans {
    type Service = Traced<S>;

    fn layer(&self, inner: S) -> Traced<S> {
        Traced { inner, spans: self.clone() }
    }
}

/// A service behind [`Spans`].
#[derive(Clone, Debug)]
pub struct Traced<S> {
    inner: S,
    spans: Spans,
}

impl<S: Service> Service for Traced<S> {
    async fn call(&self, mut inbound: Inbound, replies: Replies) -> Reply {
        let span = span_of(&inbound);
        if let Some(start) = &self.spans.on_start {
            let facts = inbound.extensions.get::<PeerFacts>();
            let trace = facts.map(|facts| facts.trace.clone()).unwrap_or_default();
            if let Some(trace) = start(&span, &trace) {
                inbound.extensions.insert(OutgoingTrace(trace));
            }
        }
        let is_tool = inbound.method() == "tools/call";
        let reply = self.inner.call(inbound, replies).instrument(span.clone()).await;
        if let Reply::Response(response) = &reply
            && !span.is_disabled()
        {
            record_outcome(&span, response, is_tool);
        }
        reply
    }
}

fn span_of(inbound: &Inbound) -> Span {
    let method = inbound.method().as_str();
    let span = tracing::info_span!(
        "mcp.server",
        otel.name = method,
        otel.kind = "server",
        mcp.method.name = method,
        mcp.protocol.version = Empty,
        mcp.resource.uri = Empty,
        jsonrpc.request.id = Empty,
        gen_ai.operation.name = Empty,
        gen_ai.tool.name = Empty,
        gen_ai.prompt.name = Empty,
        error.type = Empty,
        rpc.response.status_code = Empty,
        otel.status_code = Empty,
    );
    if span.is_disabled() {
        return span;
    }
    record_peer(&span, &inbound.extensions);
    if let Call::Request(request) = &inbound.call {
        span.record("jsonrpc.request.id", display(&request.id));
        record_target(&span, request);
    }
    span
}

fn record_peer(span: &Span, extensions: &Extensions) {
    if let Some(facts) = extensions.get::<PeerFacts>() {
        span.record("mcp.protocol.version", facts.caller.revision.as_str());
    }
}

fn record_target(span: &Span, request: &Request) {
    let Some(params) = &request.params else { return };
    let method = request.method.as_str();
    match method {
        "tools/call" => {
            if let Ok(params) = params.parse::<CallToolParamsRef<'_>>() {
                let name = bounded(&params.name);
                span.record("gen_ai.operation.name", "execute_tool");
                span.record("gen_ai.tool.name", name);
                span.record("otel.name", display(format_args!("{method} {name}")));
            }
        }
        "prompts/get" => {
            if let Some(name) = member(params, "name") {
                let name = bounded(&name);
                span.record("gen_ai.prompt.name", name);
                span.record("otel.name", display(format_args!("{method} {name}")));
            }
        }
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
            if let Some(uri) = member(params, "uri") {
                span.record("mcp.resource.uri", bounded(&uri));
            }
        }
        _ => {}
    }
}

/// What a client may write into a trace.
fn bounded(text: &str) -> &str {
    text.get(..text.floor_char_boundary(256)).unwrap_or_default()
}

/// A text of the parameters.
fn member(params: &RawJson, name: &str) -> Option<String> {
    let members: HashMap<Cow<'_, str>, &RawValue> = params.parse().ok()?;
    serde_json::from_str(members.get(name)?.get()).ok()
}

fn record_outcome(span: &Span, response: &Outgoing, is_tool: bool) {
    match response.head() {
        Head::Error { code, .. } => {
            span.record("error.type", display(code));
            span.record("rpc.response.status_code", display(code));
            span.record("otel.status_code", "ERROR");
        }
        Head::Result { .. } if is_tool && failed(&response.body()) => {
            span.record("error.type", "tool_error");
            span.record("otel.status_code", "ERROR");
        }
        _ => {}
    }
}

/// Whether a tool says that it has failed. Nothing is parsed where it doesn't say anything.
fn failed(result: &[u8]) -> bool {
    let word = b"\"isError\"";
    if !result.windows(word.len()).any(|window| window == word) {
        return false;
    }
    serde_json::from_slice::<HashMap<Cow<'_, str>, &RawValue>>(result)
        .is_ok_and(|members| members.get("isError").is_some_and(|is| is.get() == "true"))
}
