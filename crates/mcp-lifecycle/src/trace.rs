//! The trace context that a message carries in its `_meta`.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::peek::Key;
use mcp_jsonrpc::RawJson;
use memchr::memmem;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// What a peer says about the trace that a message belongs to, unread: for whatever does the
/// tracing. It may be anything that a peer likes to send.
///
/// Specification: [`_meta`](https://modelcontextprotocol.io/specification/2025-11-25/basic#_meta).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceContext {
    /// W3C `traceparent`.
    pub traceparent: Option<Arc<str>>,
    /// W3C `tracestate`.
    pub tracestate: Option<Arc<str>>,
    /// W3C `baggage`.
    pub baggage: Option<Arc<str>>,
}

impl TraceContext {
    /// The longest value that is kept, in bytes: what W3C asks of `baggage`. A longer one is
    /// dropped.
    pub const MAX: usize = 8192;

    /// Reads what `params` say. Never fails: what can't be read isn't there. Where nothing is
    /// said, which is usual, nothing is parsed or allocated.
    #[must_use]
    pub fn peek(params: Option<&RawJson>) -> Self {
        let Some(params) = params else { return Self::default() };
        if !mentions_a_trace(params.as_bytes()) {
            return Self::default();
        }
        params.parse().map(|Peek(trace)| trace).unwrap_or_default()
    }

    /// Whether nothing is said.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.traceparent.is_none() && self.tracestate.is_none() && self.baggage.is_none()
    }
}

/// Keys written with escapes are missed, which costs nobody anything.
fn mentions_a_trace(params: &[u8]) -> bool {
    let has = |key: &[u8]| memmem::find(params, key).is_some();
    // One byte is found much faster than a word, and most parameters lack this one.
    memchr::memchr(b'_', params).is_some()
        && has(b"\"_meta\"")
        && [&b"\"traceparent\""[..], b"\"tracestate\"", b"\"baggage\""].iter().any(|key| has(key))
}

/// Parameters of which only the trace is looked at.
struct Peek(TraceContext);

impl<'de> Deserialize<'de> for Peek {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Params).map(Self)
    }
}

struct Params;

impl<'de> Visitor<'de> for Params {
    type Value = TraceContext;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TraceContext, A::Error> {
        let mut trace = TraceContext::default();
        while let Some(Key(key)) = map.next_key()? {
            if key == "_meta" {
                trace = map.next_value_seed(Meta)?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(trace)
    }
}

struct Meta;

impl<'de> DeserializeSeed<'de> for Meta {
    type Value = TraceContext;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<TraceContext, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Meta {
    type Value = TraceContext;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`_meta`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TraceContext, A::Error> {
        let mut trace = TraceContext::default();
        while let Some(Key(key)) = map.next_key()? {
            let slot = match &*key {
                "traceparent" => &mut trace.traceparent,
                "tracestate" => &mut trace.tracestate,
                "baggage" => &mut trace.baggage,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let value = map.next_value::<&serde_json::value::RawValue>()?;
            // One that is no text doesn't spoil the others.
            *slot = serde_json::from_str::<Cow<'_, str>>(value.get())
                .ok()
                .filter(|text| text.len() <= TraceContext::MAX)
                .map(Arc::from);
        }
        Ok(trace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peek(params: &'static str) -> [Option<String>; 3] {
        let params = RawJson::new(params.as_bytes()).unwrap();
        let trace = TraceContext::peek(Some(&params));
        [trace.traceparent, trace.tracestate, trace.baggage].map(|v| v.map(|v| (*v).to_owned()))
    }

    #[test]
    fn the_trace_is_read_from_meta_alone() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            peek(
                r#"{"a":[1,{"_meta":2}],"_meta":{"x":{},"traceparent":"00-a\u0062-c-01","baggage":"k=v"}}"#
            ),
            [some("00-ab-c-01"), None, some("k=v")]
        );
        assert_eq!(peek(r#"{"_meta":{"tracestate":"s"},"b":1}"#), [None, some("s"), None]);
        assert_eq!(
            peek(r#"{"_meta":{"progressToken":1},"arguments":{"traceparent":"x"}}"#),
            [None, None, None]
        );
    }

    #[test]
    fn what_cannot_be_read_is_not_there() {
        for params in [
            r#"[{"_meta":{"traceparent":"x"}}]"#,
            r#"{"_meta":"traceparent"}"#,
            r#"{"_meta":"\"traceparent\""}"#,
            r#"{"_meta":["traceparent"]}"#,
            r#"{"traceparent":"x","_meta":null}"#,
        ] {
            assert_eq!(peek(params), [None, None, None], "{params}");
        }
        assert_eq!(
            peek(r#"{"_meta":{"traceparent":7,"tracestate":{"a":1},"baggage":"k"}}"#),
            [None, None, Some("k".to_owned())]
        );
        assert!(TraceContext::peek(None).is_empty());
    }

    #[test]
    fn a_value_without_bounds_is_dropped() {
        let long = "x".repeat(TraceContext::MAX + 1);
        let params = format!(r#"{{"_meta":{{"traceparent":"t","baggage":"{long}"}}}}"#);
        let trace = TraceContext::peek(Some(&RawJson::new(params).unwrap()));
        assert!(trace.traceparent.is_some() && trace.baggage.is_none());
    }
}
