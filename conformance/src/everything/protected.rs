//! The same server for who has a token, with tools that show what tokens say.

use std::error::Error;

use mcp_auth::server::{JwtRules, Need};
use mcp_auth::{Issuer, Resource, ResourceServer, ScopePolicy};
use mcp_server::tool::ToolEntry;
use mcp_server::{Context, Server, ToolError};
use mcp_transport_http::server::Endpoint;
use mcp_transport_http::v1::Principal;

use crate::auth::server::{AuthorizationServer, Consent};

/// What every request needs.
const USE: &str = "mcp:use";
/// What the tool `restricted` needs beyond that.
const ADMIN: &str = "mcp:admin";

/// The server at `url` for who has a token, and the authorization server that gives tokens, after
/// asking on a page. The latter is to be run.
///
/// # Errors
///
/// When the URL is none for a protected server, or no port can be had.
pub async fn protected(url: &str) -> Result<(Endpoint, AuthorizationServer), Box<dyn Error>> {
    let issuing = AuthorizationServer::bind(0, "", Consent::Page).await?;
    let guard = ResourceServer::builder(Resource::new(url)?)
        .jwt(Issuer::new(issuing.issuer())?, JwtRules::default())
        .policy(ScopePolicy::new().baseline(Need::all(USE)).tool("restricted", Need::all(ADMIN)))
        .build()?;
    let endpoint = Endpoint::builder(add(super::server())).guard(guard).build();
    Ok((endpoint, issuing))
}

fn add(server: Server) -> Server {
    server
        .with_tool(
            ToolEntry::new("whoami", |cx: Context| async move {
                let principal =
                    cx.extension::<Principal>().ok_or_else(|| ToolError::new("nobody"))?;
                let scopes: Vec<_> = principal.scopes().collect();
                let answer = serde_json::json!({
                    "client": principal.client(),
                    "scopes": scopes,
                });
                Ok::<_, ToolError>(answer.to_string())
            })
            .description("Says what the token says."),
        )
        .with_tool(
            ToolEntry::new("restricted", || async { "allowed" })
                .description("Needs a scope of its own."),
        )
}
