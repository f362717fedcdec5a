//! The resources of the public suite and of the interop drivers.

use mcp_server::Server;
use mcp_server::completion::{Completion, CompletionRequest};
use mcp_server::resource::{
    InvalidTemplate, ReadRequest, ResourceEntry, ResourceError, TemplateEntry,
};
use mcp_types::Base64;

use super::PNG;

const TEMPLATE: &str = "test://template/{id}/data";

pub(super) fn add(server: Server) -> Server {
    let server = server
        .subscriptions()
        .with_resource(
            ResourceEntry::new(
                "test://static-text",
                "static-text",
                "This is the content of the static text resource.",
            )
            .title("Static Text Resource")
            .description("A text that never changes.")
            .mime_type("text/plain"),
        )
        .with_resource(
            ResourceEntry::new(
                "test://static-binary",
                "static-binary",
                Base64::from(PNG).decode().unwrap_or_default(),
            )
            .title("Static Binary Resource")
            .description("An image that never changes.")
            .mime_type("image/png"),
        )
        .with_resource(
            ResourceEntry::new(
                "test://watched-resource",
                "watched-resource",
                "Watched resource content",
            )
            .title("Watched Resource")
            .description("A text to subscribe to.")
            .mime_type("text/plain"),
        )
        .with_resource(
            ResourceEntry::new("memo://one", "one", "first memo")
                .description("The first memo.")
                .mime_type("text/plain"),
        );
    let server = match templates() {
        Ok(templates) => templates.into_iter().fold(server, Server::with_template),
        // Both are written above, and a test reads them.
        Err(_) => server,
    };
    server.complete_template(TEMPLATE, "id", |request: CompletionRequest| async move {
        Completion::by_prefix(["1", "12", "123"], &request)
    })
}

fn templates() -> Result<[TemplateEntry; 2], InvalidTemplate> {
    let data = TemplateEntry::new(TEMPLATE, "template", |request: ReadRequest| async move {
        let id = request.variables.get("id").unwrap_or_default().to_owned();
        let json = serde_json::json!({
            "id": id,
            "templateTest": true,
            "data": format!("Data for ID: {id}"),
        });
        json.to_string()
    })?
    .title("Resource Template")
    .description("Data by number.")
    .mime_type("application/json");
    let memo = TemplateEntry::new("memo://{name}", "memo", |request: ReadRequest| async move {
        match request.variables.get("name") {
            Some("one") => Ok("first memo"),
            Some("two") => Ok("second memo"),
            _ => Err(ResourceError::NotFound),
        }
    })?
    .description("Memos by name.")
    .mime_type("text/plain");
    Ok([data, memo])
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_templates_are_templates() {
        assert!(super::templates().is_ok());
    }
}
