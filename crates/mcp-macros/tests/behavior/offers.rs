//! `#[offer]` on `impl` blocks.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use mcp_server::resource::ResourceError;
use mcp_server::tool::{Args, Json, State};
use mcp_server::{Context, Server, ToolError, offer, tool};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{code, connect, json};

#[derive(Default)]
struct Notes {
    notes: Mutex<BTreeMap<u32, String>>,
}

#[derive(Serialize, JsonSchema)]
struct Added {
    id: u32,
}

#[offer]
impl Notes {
    const MOST: u32 = 2;

    /// Adds a note.
    #[tool]
    async fn add(
        &self,
        /// The text.
        text: String,
        cx: Context,
    ) -> Result<Json<Added>, ToolError> {
        cx.progress().report(1.0, None).await;
        let mut notes = self.notes.lock().map_err(|_| ToolError::new("poisoned"))?;
        let id = u32::try_from(notes.len())?;
        if id == Self::MOST {
            return Err(ToolError::new("full"));
        }
        notes.insert(id, text);
        Ok(Json(Added { id }))
    }

    /// Forgets all.
    #[mcp_server::tool(destructive)]
    async fn forget(self: Arc<Self>) -> String {
        let mut notes = self.notes.lock().unwrap();
        let count = notes.len();
        notes.clear();
        count.to_string()
    }

    #[tool]
    fn version() -> &'static str {
        "1"
    }

    /// A note.
    #[resource("note://{id}")]
    fn note(&self, id: u32) -> Result<String, ResourceError> {
        self.find(id).ok_or(ResourceError::NotFound)
    }

    /// Asks for a summary.
    #[prompt]
    fn summarize(&self, id: u32) -> String {
        format!("Summarize: {}", self.find(id).unwrap_or_default())
    }

    #[cfg(any())]
    #[tool]
    fn not_compiled(&self, missing: Missing) {}

    fn find(&self, id: u32) -> Option<String> {
        self.notes.lock().unwrap().get(&id).cloned()
    }
}

#[tokio::test]
async fn methods_share_the_value() {
    let client = connect(&Server::new("notes", "1").with(Notes::default())).await;
    let names: Vec<String> =
        client.list_tools().await.unwrap().iter().map(|t| t.name.to_string()).collect();
    assert_eq!(names, ["add", "forget", "version"]);
    for id in 0..2 {
        let result = client.call_tool("add").arg("text", format!("n{id}")).await.unwrap();
        assert_eq!(json(&result.structured_content), json!({"id": id}));
    }
    assert!(client.call_tool("add").arg("text", "n").await.unwrap().failed());
    let read = client.read_resource("note://1").await.unwrap();
    assert_eq!(json(&read.contents[0])["text"], "n1");
    assert_eq!(code(&client.read_resource("note://2").await.unwrap_err()), -32002);
    let prompt = client.get_prompt("summarize").arg("id", "0").await.unwrap();
    assert_eq!(prompt.messages[0].content.as_text(), Some("Summarize: n0"));
    assert_eq!(client.call_tool("forget").text().await.unwrap(), "2");
    assert_eq!(client.call_tool("version").text().await.unwrap(), "1");
    // The methods are still methods.
    assert_eq!(Notes::default().find(0), None);
}

trait Unit: Send + Sync + 'static {
    type Value: DeserializeOwned + JsonSchema + Display + Send + 'static;

    fn name(&self) -> &str;
}

struct Meters;

impl Unit for Meters {
    type Value = f32;

    fn name(&self) -> &str {
        "m"
    }
}

struct Scale<U, const N: usize> {
    unit: U,
}

#[derive(Deserialize, JsonSchema)]
struct Measure<V> {
    value: V,
}

#[offer]
impl<U, const N: usize> Scale<U, N>
where
    U: Unit,
{
    #[tool]
    async fn show(&self, value: U::Value, cx: &Context) -> String {
        format!("{value} {} {N} {}", self.unit.name(), cx.is_cancelled())
    }

    #[tool]
    fn whole(&self, Args(measure): Args<Measure<U::Value>>) -> String {
        format!("{} {}", measure.value, self.unit.name())
    }

    #[tool]
    fn shared(other: State<U>) -> String {
        other.name().to_owned()
    }

    #[resource("scale://{digits}")]
    fn digits(&self, digits: usize) -> String {
        (digits + N).to_string()
    }
}

#[tokio::test]
async fn the_block_may_be_generic() {
    let server = Server::new("scale", "1").state(Meters).with(Scale::<_, 3> { unit: Meters });
    let client = connect(&server).await;
    let schema = json(&client.list_tools().await.unwrap()[0])["inputSchema"].clone();
    assert_eq!(
        schema,
        json!({"type": "object", "properties": {"value": {"type": "number"}}, "required": ["value"]})
    );
    let shown = client.call_tool("show").arg("value", 1.5).text().await.unwrap();
    assert_eq!(shown, "1.5 m 3 false");
    assert_eq!(client.call_tool("whole").arg("value", 2).text().await.unwrap(), "2 m");
    assert_eq!(client.call_tool("shared").text().await.unwrap(), "m");
    let read = client.read_resource("scale://4").await.unwrap();
    assert_eq!(json(&read.contents[0])["text"], "7");
}

static MADE: AtomicU32 = AtomicU32::new(0);

/// A type whose schema counts how often it is asked for.
#[derive(Deserialize)]
struct Counted(u8);

impl JsonSchema for Counted {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Counted".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        MADE.fetch_add(1, Ordering::Relaxed);
        u8::json_schema(generator)
    }
}

#[tool]
fn counted(value: Counted) -> String {
    value.0.to_string()
}

#[tokio::test]
async fn nothing_is_made_in_a_call() {
    let client = connect(&Server::new("test", "1").with(counted_tool())).await;
    let made = MADE.load(Ordering::Relaxed);
    assert!(made > 0);
    for value in 0..3_u8 {
        let text = client.call_tool("counted").arg("value", value).text().await.unwrap();
        assert_eq!(text, value.to_string());
    }
    assert_eq!(MADE.load(Ordering::Relaxed), made);
}
