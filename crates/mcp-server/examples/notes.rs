//! State and subscriptions: notes that tools change, and that are resources for who wants to
//! follow them.
//!
//! ```sh
//! cargo run --example notes
//! ```

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_server::resource::ResourceError;
use mcp_server::{Context, Server, ToolError, offer};

/// The notes, by name.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<BTreeMap<String, String>>>);

impl Notes {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[offer]
impl Notes {
    /// Writes a note, in place of the one with this name.
    #[tool(idempotent = true)]
    async fn write(&self, name: String, text: String, cx: Context) -> &'static str {
        self.lock().insert(name.clone(), text);
        // Only sessions that have subscribed to it hear of it.
        cx.server().resource_updated(&format!("note://{name}"));
        "written"
    }

    /// Deletes a note.
    #[tool]
    async fn delete(&self, name: String, cx: Context) -> Result<&'static str, ToolError> {
        self.lock().remove(&name).ok_or(ToolError::new("there is no such note"))?;
        cx.server().resource_updated(&format!("note://{name}"));
        Ok("deleted")
    }

    /// A note.
    #[resource("note://{name}", mime_type = "text/plain")]
    async fn note(&self, name: String) -> Result<String, ResourceError> {
        self.lock().get(&name).cloned().ok_or(ResourceError::NotFound)
    }
}

pub(crate) fn server() -> Server {
    Server::new("notes", "1.0.0").subscriptions().with(Notes::default())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    server().serve(mcp_transport_stdio::stdio()).await?;
    Ok(())
}
