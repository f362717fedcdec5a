//! An endpoint beside other routes, in an axum server.
//!
//! ```text
//! cargo run -p mcp-transport-http --example axum --features tower
//! ```

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use mcp_jsonrpc::service::v1::{Call, Inbound, Replies, Reply, Service};
use mcp_lifecycle::v1::McpService;
use mcp_lifecycle::{PeerFacts, Profile};
use mcp_transport_http::server::Endpoint;
use serde_json::json;

/// The least that a server can be; a real one comes from a crate above.
struct Minimal(Arc<Profile>);

impl McpService for Minimal {
    fn profile(&self) -> Arc<Profile> {
        Arc::clone(&self.0)
    }
}

impl Service for Minimal {
    async fn call(&self, inbound: Inbound, _: Replies) -> Reply {
        let Call::Request(request) = &inbound.call else { return Reply::Silent };
        match PeerFacts::of(&inbound.extensions) {
            Some(facts) if request.method == "initialize" => {
                let result = json!({
                    "protocolVersion": facts.caller.revision.as_str(),
                    "capabilities": {},
                    "serverInfo": {"name": "minimal", "version": "0.1.0"},
                });
                Reply::result(&request.id, &result)
            }
            _ => Reply::result(&request.id, &json!({})),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), std::io::Error> {
    let endpoint = Endpoint::new(Minimal(Arc::new(Profile::default())));
    let app = Router::new().route("/health", get(async || "fine")).route_service("/mcp", endpoint);
    let tcp = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    // Small events must not wait for the acknowledgment of what went before.
    let tcp = axum::serve::ListenerExt::tap_io(tcp, |stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(tcp, app).await
}
