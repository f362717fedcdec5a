use std::io::{self, Read as _};

use mcp_client::{Client, Listing, Progress};
use mcp_types::{JsonObject, JsonValue, Tool};

use crate::args::{Command, Member, Source, UsageError, Value, nearest};
use crate::failure::Failure;
use crate::output::{self, Screen, Style};

/// Reads what `--args` names.
pub(super) fn prepare(command: &Command) -> Result<JsonObject, Failure> {
    let Command::Call { arguments, .. } = command else { return Ok(JsonObject::new()) };
    let text = match &arguments.whole {
        None => return Ok(JsonObject::new()),
        Some(Source::Text(text)) => text.clone(),
        Some(Source::File(path)) => std::fs::read_to_string(path).map_err(Failure::Input)?,
        Some(Source::Stdin) => {
            let mut text = String::new();
            io::stdin().lock().read_to_string(&mut text).map_err(Failure::Input)?;
            text
        }
    };
    serde_json::from_str(&text).map_err(Failure::Arguments)
}

/// Calls a tool. The list comes first: it says which arguments are text, and what the result
/// has to look like.
pub(super) async fn run(
    client: &Client,
    screen: Screen,
    name: String,
    mut arguments: JsonObject,
    members: Vec<Member>,
) -> Result<(), Failure> {
    let tools = client.list_tools().await?;
    let tool = find(&tools, &name)?;
    for Member { name, value } in members {
        let value = read(tool, &name, value)?;
        arguments.set(name, value);
    }
    let call = client.call_tool(name).args(&arguments);
    let result = call.on_progress(|progress| screen.aside(&shown(&progress))).await?;
    if screen.is_json() {
        screen.json(&result)?;
    } else {
        for block in &result.content {
            screen.line(&output::content(block))?;
        }
        if let (true, Some(value)) = (result.content.is_empty(), &result.structured_content) {
            screen.json(value)?;
        }
        if result.failed() {
            screen.remark(&screen.styled(Style::Bad, "The tool failed."));
        }
    }
    if result.failed() { Err(Failure::Tool) } else { Ok(()) }
}

/// The tool, if the list has it. One that is cut short proves nothing.
fn find<'a>(tools: &'a Listing<Tool>, name: &str) -> Result<Option<&'a Tool>, UsageError> {
    let tool = tools.iter().find(|tool| tool.name == *name);
    if tool.is_some() || tools.warning().is_some() {
        return Ok(tool);
    }
    let guess = nearest(name, tools.iter().map(|tool| tool.name.as_str()));
    let hint = guess.map_or_else(
        || "`mcp tools` lists them".to_owned(),
        |known| format!("did you mean {known}?"),
    );
    Err(UsageError::new(format!("the server has no tool {name:?}; {hint}")))
}

fn read(tool: Option<&Tool>, name: &str, value: Value) -> Result<JsonValue, UsageError> {
    match value {
        Value::Strict(json) => JsonValue::from_json(json)
            .map_err(|error| UsageError::new(format!("the value of {name} is no JSON: {error}"))),
        Value::Loose(text) if wants_text(tool, name) => Ok(JsonValue::from(text.as_str())),
        Value::Loose(text) => {
            Ok(JsonValue::from_json(text.clone()).unwrap_or_else(|_| text.as_str().into()))
        }
    }
}

/// Whether the tool takes nothing but text for this argument.
fn wants_text(tool: Option<&Tool>, name: &str) -> bool {
    let properties = tool.map(|tool| tool.input_schema.properties());
    let property = properties.and_then(|mut properties| properties.remove(name));
    property
        .and_then(|schema| schema.to::<mcp_types::JsonSchema>().ok())
        .is_some_and(|schema| schema.type_name().as_deref() == Some("string"))
}

fn shown(progress: &Progress) -> String {
    let done = match (progress.fraction(), progress.total) {
        (Some(fraction), _) => format!("{:.0} %", fraction * 100.0),
        (None, _) => progress.progress.to_string(),
    };
    match &progress.message {
        Some(message) => format!("… {done} {message}"),
        None => format!("… {done}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_json_unless_the_tool_wants_text() {
        let schema: mcp_types::JsonSchema = serde_json::from_str(
            r#"{"type":"object","properties":{"s":{"type":"string"},"n":{"type":"number"}}}"#,
        )
        .unwrap();
        let tool = Tool::new("t", schema);
        let loose = |name: &str, text: &str| {
            read(Some(&tool), name, Value::Loose(text.to_owned())).unwrap().to_string()
        };
        assert_eq!(loose("s", "5"), r#""5""#);
        assert_eq!(loose("n", "5"), "5");
        assert_eq!(loose("other", "[1]"), "[1]");
        assert_eq!(loose("other", "a b"), r#""a b""#);
        assert_eq!(loose("other", "007"), r#""007""#);
        let strict = |text: &str| read(Some(&tool), "s", Value::Strict(text.to_owned()));
        assert_eq!(strict("5").unwrap().to_string(), "5");
        assert!(strict("a b").unwrap_err().to_string().contains("no JSON"));
    }
}
