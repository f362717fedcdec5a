use std::sync::Arc;

use mcp_jsonrpc::Extensions;
#[cfg(feature = "tokio")]
use mcp_jsonrpc::link::v1::IntoLink;
use mcp_jsonrpc::link::v1::{Link, LinkError};
use mcp_jsonrpc::link::{MemoryLink, memory_pair};
use mcp_jsonrpc::peer::{Driver, DriverConfig};
use mcp_lifecycle::v1::McpService;
use mcp_lifecycle::{Profile, ServerSession};

use super::Server;

/// Messages that each direction of a link in memory holds.
const MEMORY_CAPACITY: usize = 64;

/// How one peer is served over a link.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ServeOptions {
    /// Bounds of the conversation; the server's own by default.
    pub driver: Option<DriverConfig>,
    /// What every request of this peer is known to come with, such as who the peer is.
    pub known: Extensions,
}

impl ServeOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the bounds of the conversation.
    #[must_use]
    pub fn driver(mut self, config: DriverConfig) -> Self {
        self.driver = Some(config);
        self
    }

    /// Adds a fact about the peer, found by its type: a principal, for example, where the link
    /// itself says who is on the other side.
    #[must_use]
    pub fn know<T: Send + Sync + 'static>(mut self, fact: T) -> Self {
        self.known.insert(fact);
        self
    }
}

impl Server {
    /// Serves one peer over a link, until it leaves. Calls that are under way then are answered
    /// first, within the time set by [`drain_time`](Self::drain_time).
    ///
    /// # Errors
    ///
    /// When the link breaks, other than by being closed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the conversation at once, with everything in it.
    pub async fn serve(&self, link: impl Link) -> Result<(), LinkError> {
        self.serve_with(link, ServeOptions::default()).await
    }

    /// As [`serve`](Self::serve), with bounds and facts of one's own.
    ///
    /// # Errors
    ///
    /// As [`serve`](Self::serve).
    ///
    /// # Cancel safety
    ///
    /// As [`serve`](Self::serve).
    pub async fn serve_with(
        &self,
        link: impl Link,
        options: ServeOptions,
    ) -> Result<(), LinkError> {
        let profile = self.profile();
        let ServeOptions { driver, known } = options;
        let config = driver.unwrap_or_else(|| self.driver_config());
        let (driver, peer) = Driver::new(link, self.clone(), config, |outlet| {
            ServerSession::new(profile, Some(outlet), None, known)
        });
        drop(peer);
        match driver.run().await {
            LinkError::Closed => Ok(()),
            cause => Err(cause),
        }
    }

    /// A client's end of a link in memory, and the conversation at the server's end, to be
    /// polled beside it.
    pub fn connect_with(
        &self,
        options: ServeOptions,
    ) -> (MemoryLink, impl Future<Output = Result<(), LinkError>> + Send + use<>) {
        let (ours, theirs) = memory_pair(MEMORY_CAPACITY);
        let server = self.clone();
        (ours, async move { server.serve_with(theirs, options).await })
    }

    /// A client's end of a link in memory. The conversation at the server's end runs in a task
    /// of its own, until the link is dropped: tests need no process, no port and no sleep.
    ///
    /// ```
    /// # async fn check() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_client::Client;
    /// use mcp_server::Server;
    ///
    /// let server = Server::new("echo", "1.0.0").tool("hello", || async { "hello" });
    /// let client = Client::builder("test", "1").connect(server.connect()).await?;
    /// let result = client.call_tool("hello").await?;
    /// assert_eq!(result.content[0].as_text(), Some("hello"));
    /// # Ok(())
    /// # }
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(check())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    ///
    /// Outside of a Tokio runtime.
    #[cfg(feature = "tokio")]
    #[must_use]
    pub fn connect(&self) -> MemoryLink {
        let (link, conversation) = self.connect_with(ServeOptions::default());
        tokio::spawn(async move {
            if let Err(error) = conversation.await {
                tracing::debug!(%error, "a conversation in memory has ended");
            }
        });
        link
    }

    #[cfg(feature = "tokio")]
    fn driver_config(&self) -> DriverConfig {
        let drain = self.inner.drain;
        DriverConfig::new().with_drain(move || Box::pin(tokio::time::sleep(drain)))
    }

    #[cfg(not(feature = "tokio"))]
    fn driver_config(&self) -> DriverConfig {
        let _ = self.inner.drain;
        DriverConfig::new()
    }
}

/// In memory, as [`Server::connect`]: a client takes the server itself.
#[cfg(feature = "tokio")]
impl IntoLink for &Server {
    type Link = MemoryLink;

    async fn into_link(self) -> Result<MemoryLink, LinkError> {
        tokio::runtime::Handle::try_current().map_err(LinkError::failed)?;
        Ok(self.connect())
    }
}

/// In memory, as [`Server::connect`]: a client takes the server itself.
#[cfg(feature = "tokio")]
impl IntoLink for Server {
    type Link = MemoryLink;

    async fn into_link(self) -> Result<MemoryLink, LinkError> {
        (&self).into_link().await
    }
}

impl McpService for Server {
    fn profile(&self) -> Arc<Profile> {
        Arc::new(Profile::new(self.inner.capabilities()).with_revisions(self.inner.revisions))
    }
}
