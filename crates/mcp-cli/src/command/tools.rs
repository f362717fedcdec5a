use mcp_client::Client;
use mcp_types::{JsonSchema, JsonValue, ListToolsResult, Tool};

use crate::failure::Failure;
use crate::output::{Screen, Style};

/// Lists the tools.
pub(super) async fn run(client: &Client, screen: Screen) -> Result<(), Failure> {
    let tools = client.list_tools().await?;
    super::warn(&tools, screen);
    if screen.is_json() {
        return screen.json(&ListToolsResult::new(tools.to_vec()));
    }
    if tools.is_empty() {
        return screen.line("There are no tools.");
    }
    for tool in &tools {
        let name = screen.styled(Style::Bold, tool.name.as_str());
        screen.line(&format!("{name}({})", parameters(tool)))?;
        let description = super::described(screen, tool.description.as_deref());
        if !description.is_empty() {
            screen.line(&description)?;
        }
    }
    Ok(())
}

/// The parameters of a tool, as a signature: `city: string, days?: integer`.
fn parameters(tool: &Tool) -> String {
    let required = tool.input_schema.required();
    let properties = tool.input_schema.properties();
    let parameters = properties.iter().map(|(name, schema)| {
        let optional = if required.iter().any(|known| known == name) { "" } else { "?" };
        format!("{name}{optional}: {}", kind(schema))
    });
    parameters.collect::<Vec<_>>().join(", ")
}

/// The type of a parameter, in a word.
fn kind(schema: &JsonValue) -> String {
    let any = || "any".to_owned();
    let Ok(schema) = schema.to::<JsonSchema>() else { return any() };
    let members = schema.as_object();
    if let Some(values) = members.get("enum").and_then(|values| values.to::<Vec<JsonValue>>().ok())
    {
        let shown: Vec<_> = values.iter().take(5).map(JsonValue::to_string).collect();
        let more = if values.len() > shown.len() { "|…" } else { "" };
        return format!("{}{more}", shown.join("|"));
    }
    match schema.type_name().as_deref() {
        Some("array") => match members.get("items") {
            Some(items) => format!("{}[]", kind(items)),
            None => "any[]".to_owned(),
        },
        Some(name) => name.to_owned(),
        None => any(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_read_like_a_signature() {
        let schema: JsonSchema = serde_json::from_str(
            r#"{"type":"object","properties":{
                "city":{"type":"string"},"days":{"type":"integer"},
                "unit":{"enum":["c","f"]},"tags":{"type":"array","items":{"type":"string"}},
                "more":{}},"required":["city"]}"#,
        )
        .unwrap();
        assert_eq!(
            parameters(&Tool::new("t", schema)),
            r#"city: string, days?: integer, unit?: "c"|"f", tags?: string[], more?: any"#
        );
    }
}
