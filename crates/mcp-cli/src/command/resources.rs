use mcp_client::{Client, ClientError};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, Screen, Style};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Resources<'a> {
    resources: &'a [mcp_types::Resource],
    resource_templates: &'a [mcp_types::ResourceTemplate],
}

/// Lists the resources and their templates.
pub(super) async fn list(client: &Client, screen: Screen) -> Result<(), Failure> {
    let resources = client.list_resources().await?;
    super::warn(&resources, screen);
    let templates = match client.list_resource_templates().await {
        Ok(templates) => {
            super::warn(&templates, screen);
            templates.into_iter().collect()
        }
        // Some servers have resources and know no templates.
        Err(ClientError::Refused { .. }) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    if screen.is_json() {
        let all = Resources { resources: &resources, resource_templates: &templates };
        return screen.json(&all);
    }
    if resources.is_empty() && templates.is_empty() {
        return screen.line("There are no resources.");
    }
    for resource in &resources {
        let uri = screen.styled(Style::Bold, resource.uri.as_str());
        screen.line(&uri)?;
        let description = resource.description.as_deref().or(Some(&resource.name));
        screen.line(&super::described(screen, description))?;
    }
    for template in &templates {
        let uri = screen.styled(Style::Bold, template.uri_template.as_str());
        screen.line(&format!("{uri} (template)"))?;
        let description = template.description.as_deref().or(Some(&template.name));
        screen.line(&super::described(screen, description))?;
    }
    Ok(())
}

/// Reads a resource.
pub(super) async fn read(client: &Client, screen: Screen, uri: String) -> Result<(), Failure> {
    let read = client.read_resource(uri).await?;
    if screen.is_json() {
        return screen.json(&read);
    }
    read.contents.iter().try_for_each(|contents| screen.line(&output::contents(contents)))
}
