//! Layers: what stands around a server, or around any other service.
//!
//! A layer is a [`Layer`](mcp_jsonrpc::service::v1::Layer) that puts a
//! [`Service`](mcp_jsonrpc::service::v1::Service) around a service; write your own the same way.
//! [`Server::layer`](crate::Server::layer) says in which order they stand.
//!
//! | layer | for | when its bound is reached |
//! |---|---|---|
//! | [`Timeout`] (feature `tokio`) | calls that never end | the call is dropped, `-32603` |
//! | [`ConcurrencyLimit`] | too many calls at once | the call waits; with the queue full, `-32603` |
//! | [`RateLimit`] | too many calls in a time | `-32603`, with the time to wait |
//! | [`ResponseLimit`] | results that are too large | `-32603` instead of the result |
//! | [`PanicGuard`] | layers and services that panic | `-32603` |
//! | [`Spans`] | tracing | – |
//!
//! Timeouts and limits are about requests that run code of yours: calls of tools, readings of
//! resources, prompts and completions. Lists, pings and the handshake always pass.

mod concurrency;
pub use concurrency::{ConcurrencyLimit, Limited};

mod panic;
pub use panic::{Guarded, PanicGuard};

mod rate;
pub use rate::{Bounded, RateLimit};

mod size;
pub use size::{ResponseLimit, Sized};

mod spans;
pub(crate) use spans::OutgoingTrace;
pub use spans::{Spans, Traced};

#[cfg(feature = "tokio")]
mod timeout;
#[cfg(feature = "tokio")]
pub use timeout::{Timed, Timeout};

use mcp_jsonrpc::service::v1::{Call, Inbound};
use mcp_jsonrpc::{Request, RequestId};

/// The request, if it is one that runs a handler.
fn handled(inbound: &Inbound) -> Option<&Request> {
    let Call::Request(request) = &inbound.call else { return None };
    let method = request.method.as_str();
    matches!(method, "tools/call" | "resources/read" | "prompts/get" | "completion/complete")
        .then_some(request)
}

/// The id of the request, if it is one that runs a handler.
fn handled_id(inbound: &Inbound) -> Option<RequestId> {
    handled(inbound).map(|request| request.id.clone())
}
