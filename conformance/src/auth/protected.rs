//! The everything server behind a guard, with the development authorization server beside it.

use std::error::Error;
use std::net::SocketAddr;

use mcp_auth::server::{JwtRules, Need};
use mcp_auth::testing::Authority;
use mcp_auth::{Issuer, Resource, ResourceServer, ScopePolicy};
use mcp_transport_http::server::{Endpoint, Listener};
use tokio::task::JoinHandle;

use super::server::{AuthorizationServer, Consent};
use crate::everything;

/// The scope that every request needs.
pub const SCOPE: &str = "mcp:use";
/// The scope that the tool `add` needs beside it.
pub const MORE: &str = "mcp:add";

/// A protected server and its authorization server, on loopback, until it is dropped.
#[derive(Debug)]
pub struct Protected {
    url: String,
    authority: Authority,
    tasks: [JoinHandle<()>; 2],
}

impl Protected {
    /// Starts both, the protected server at `address`.
    ///
    /// # Errors
    ///
    /// When a port can't be had.
    pub async fn start(address: SocketAddr, consent: Consent) -> Result<Self, Box<dyn Error>> {
        let server = AuthorizationServer::bind(0, "", consent).await?;
        let authority = server.authority().clone();
        // The resource is named before its port is known to anybody else.
        let port = match address.port() {
            0 => std::net::TcpListener::bind(address)?.local_addr()?.port(),
            port => port,
        };
        let url = format!("http://localhost:{port}/mcp");
        let guard = ResourceServer::builder(Resource::new(&*url)?)
            .jwt(Issuer::new(server.issuer())?, JwtRules::default())
            .policy(
                ScopePolicy::new()
                    .baseline(Need::all(SCOPE))
                    .tool("add", Need::all(&format!("{SCOPE} {MORE}"))),
            )
            .build()?;
        let endpoint = Endpoint::builder(everything::server()).guard(guard).build();
        let listener = Listener::bind(endpoint, SocketAddr::new(address.ip(), port)).await?;
        let issuing = tokio::spawn(async move {
            // It ends when it is dropped.
            let _ = server.run().await;
        });
        let serving = tokio::spawn(listener.run(std::future::pending()));
        Ok(Self { url, authority, tasks: [issuing, serving] })
    }

    /// Where the protected server is.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What the authorization server does and knows.
    #[must_use]
    pub const fn authority(&self) -> &Authority {
        &self.authority
    }
}

impl Drop for Protected {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}
