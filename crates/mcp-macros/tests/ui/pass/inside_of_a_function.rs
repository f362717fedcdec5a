//! Functions that nobody else sees, lints that are strict, and no imports.

#![deny(warnings, missing_docs, clippy::all, clippy::pedantic, unused_qualifications)]

/// What to look for.
#[derive(mcp_server::__private::serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = "mcp_server::__private::serde")]
pub struct Query {
    /// The word.
    pub word: String,
}

/// Adds.
#[mcp_server::tool]
#[must_use]
pub fn add(a: i64, b: i64) -> String {
    (a + b).to_string()
}

/// A note.
#[mcp_server::resource("note://{id}")]
#[must_use]
pub fn note(id: u8) -> String {
    id.to_string()
}

/// Has something to offer.
pub struct Value;

#[mcp_server::offer]
impl Value {
    /// Asks.
    #[mcp_server::prompt]
    #[must_use]
    pub fn ask(&self, word: &str) -> String {
        word.to_owned()
    }

    /// Looks.
    #[mcp_server::tool]
    pub async fn look(&self, query: Query) -> String {
        query.word
    }
}

fn main() {
    #[mcp_server::tool]
    fn inner(a: u8) -> String {
        a.to_string()
    }

    let _ = mcp_server::Server::new("a", "1")
        .with(add_tool())
        .with(note_resource())
        .with(Value)
        .with(inner_tool());
}
