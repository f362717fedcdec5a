//! The server that offers one of everything: what the public conformance suite asks for, and
//! what the drivers of other SDKs check. Written with the public API only.

mod elicit;
mod interop;
mod prompts;
mod protected;
mod resources;
mod tasks;
mod tools;

use mcp_server::Server;

pub use self::protected::protected;

/// A 1×1 PNG, Base64.
pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A WAV without samples, Base64.
pub(crate) const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

/// The server. It serves any number of peers, over any transport.
#[must_use]
pub fn server() -> Server {
    let server = Server::new("mcp-conformance-test-server", env!("CARGO_PKG_VERSION"))
        .title("Everything")
        .instructions("Offers one of everything, for tests.")
        .logging();
    let server = tools::add(server);
    let server = elicit::add(server);
    let server = resources::add(server);
    let server = prompts::add(server);
    let server = tasks::add(server);
    interop::add(server)
}
