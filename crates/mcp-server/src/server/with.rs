use super::Server;
use crate::prompt::PromptEntry;
use crate::resource::{ResourceEntry, TemplateEntry};
use crate::tool::ToolEntry;

/// Something that a server can offer: one tool, or a value with tools, resources and prompts
/// that belong together.
///
/// This is an **open** trait. The attribute `#[offer]` implements it for the type of an `impl`
/// block; by hand it looks like this:
///
/// ```
/// use std::sync::Arc;
///
/// use mcp_server::resource::ReadRequest;
/// use mcp_server::tool::ToolEntry;
/// use mcp_server::{Offer, Server};
///
/// struct Thermometer {
///     celsius: f64,
/// }
///
/// impl Offer for Thermometer {
///     fn add_to(self, server: Server) -> Server {
///         let this = Arc::new(self);
///         let for_tool = Arc::clone(&this);
///         server
///             .with_tool(ToolEntry::new("temperature", move || {
///                 let this = Arc::clone(&for_tool);
///                 async move { format!("{} °C", this.celsius) }
///             }))
///             .resource("thermometer://now", "now", move |_: ReadRequest| {
///                 let this = Arc::clone(&this);
///                 async move { this.celsius.to_string() }
///             })
///     }
/// }
///
/// let server = Server::new("house", "1.0.0").with(Thermometer { celsius: 20.5 });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing that a server can offer",
    label = "not an offer",
    note = "put `#[offer]` on the `impl` block that has its tools, resources and prompts, or implement `Offer`; functions are offered by their entries: `.with(name_tool())`"
)]
pub trait Offer {
    /// Adds it to a server.
    ///
    /// # Panics
    ///
    /// When a name or a URI is taken.
    fn add_to(self, server: Server) -> Server;
}

impl Server {
    /// Adds everything that `offer` has.
    ///
    /// # Panics
    ///
    /// When a name or a URI is taken.
    #[must_use]
    pub fn with(self, offer: impl Offer) -> Self {
        offer.add_to(self)
    }
}

impl Offer for ToolEntry {
    fn add_to(self, server: Server) -> Server {
        server.with_tool(self)
    }
}

impl Offer for ResourceEntry {
    fn add_to(self, server: Server) -> Server {
        server.with_resource(self)
    }
}

impl Offer for TemplateEntry {
    fn add_to(self, server: Server) -> Server {
        server.with_template(self)
    }
}

impl Offer for PromptEntry {
    fn add_to(self, server: Server) -> Server {
        server.with_prompt(self)
    }
}
