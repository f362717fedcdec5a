//! Notes that can be read, written and watched, on stdio.

#![allow(deprecated, reason = "the revisions before the next one have subscriptions")]

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    Implementation, ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, ResourceUpdatedNotificationParam, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, UnsubscribeRequestParams,
};
use rmcp::service::RequestContext;
use rmcp::transport::stdio;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router,
};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, schemars::JsonSchema)]
struct Note {
    /// Its number.
    id: u32,
    /// What it says.
    text: String,
}

struct Notes {
    notes: Mutex<BTreeMap<u32, String>>,
    subscribed: Mutex<HashSet<String>>,
    tool_router: ToolRouter<Self>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[tool_router]
impl Notes {
    fn new() -> Self {
        Self {
            notes: Mutex::default(),
            subscribed: Mutex::default(),
            tool_router: Self::tool_router(),
        }
    }

    /// Writes a note.
    #[tool(annotations(idempotent_hint = true))]
    async fn write(
        &self,
        Parameters(Note { id, text }): Parameters<Note>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        if lock(&self.notes).insert(id, text).is_none() {
            self.updated("note://all".to_owned(), &context).await?;
        }
        self.updated(format!("note://{id}"), &context).await?;
        Ok("written".to_owned())
    }

    async fn updated(
        &self,
        uri: String,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !lock(&self.subscribed).contains(&uri) {
            return Ok(());
        }
        let update = ResourceUpdatedNotificationParam::new(uri);
        let sent = context.peer.notify_resource_updated(update).await;
        sent.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    fn find(&self, uri: &str) -> Option<String> {
        let notes = lock(&self.notes);
        let name = uri.strip_prefix("note://")?;
        if name == "all" {
            let numbers: Vec<String> = notes.keys().map(u32::to_string).collect();
            return Some(numbers.join("\n"));
        }
        notes.get(&name.parse().ok()?).cloned()
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Notes {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("notes", "1.0.0"))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let all = Resource::new("note://all", "all")
            .with_description("The numbers of all notes.")
            .with_mime_type("text/plain");
        Ok(ListResourcesResult::with_all_items(vec![all]))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let note = ResourceTemplate::new("note://{id}", "note")
            .with_description("A note.")
            .with_mime_type("text/plain");
        Ok(ListResourceTemplatesResult::with_all_items(vec![note]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(text) = self.find(&request.uri) else {
            let data = json!({ "uri": request.uri });
            return Err(ErrorData::resource_not_found("there is no such note", Some(data)));
        };
        let contents = ResourceContents::text(text, request.uri).with_mime_type("text/plain");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        lock(&self.subscribed).insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        lock(&self.subscribed).remove(&request.uri);
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Notes::new().serve(stdio()).await?.waiting().await?;
    Ok(())
}
