//! Notes that can be read, written and watched, on stdio.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcp_server::resource::ResourceError;
use mcp_server::{Context, Server, offer};

#[derive(Default)]
struct Notes(Mutex<BTreeMap<u32, String>>);

impl Notes {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[offer]
impl Notes {
    /// The numbers of all notes.
    #[resource("note://all", mime_type = "text/plain")]
    fn all(&self) -> String {
        let numbers: Vec<String> = self.lock().keys().map(u32::to_string).collect();
        numbers.join("\n")
    }

    /// A note.
    #[resource("note://{id}", mime_type = "text/plain")]
    fn note(&self, id: u32) -> Result<String, ResourceError> {
        self.lock().get(&id).cloned().ok_or(ResourceError::NotFound)
    }

    /// Writes a note.
    #[tool(idempotent)]
    fn write(
        &self,
        /// Its number.
        id: u32,
        /// What it says.
        text: String,
        cx: Context,
    ) -> String {
        if self.lock().insert(id, text).is_none() {
            cx.server().resource_updated("note://all");
        }
        cx.server().resource_updated(&format!("note://{id}"));
        "written".to_owned()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::new("notes", "1.0.0").subscriptions().with(Notes::default());
    Ok(server.serve(mcp_transport_stdio::stdio()).await?)
}
