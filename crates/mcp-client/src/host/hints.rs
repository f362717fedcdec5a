use mcp_types::Tool;

/// Whether the host believes what a server says about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a question that is answered by yes or no")]
pub enum Trust {
    /// It doesn't: what is said may be shown, and nothing is decided by it.
    #[default]
    Untrusted,
    /// It does.
    Trusted,
}

/// What to expect of a tool.
///
/// Annotations are hints of the server, and a malicious one says that its tool is harmless. So
/// they count only where the server is trusted; of all other tools the worst is expected, as of
/// those that say nothing.
///
/// ```
/// use mcp_client::host::{ToolHints, Trust};
///
/// # fn example(tool: &mcp_types::Tool) {
/// let hints = ToolHints::of(tool, Trust::Untrusted);
/// if !hints.read_only {
///     println!("call {}?", tool.name);
/// }
/// # }
/// ```
///
/// Specification: [tool annotations](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "they are what the protocol says")]
pub struct ToolHints {
    /// It changes nothing.
    pub read_only: bool,
    /// It may destroy something.
    pub destructive: bool,
    /// Calling it again with the same arguments changes nothing more.
    pub idempotent: bool,
    /// It reaches beyond a closed set of things.
    pub open_world: bool,
}

impl ToolHints {
    /// What is expected of a tool that says nothing, or isn't believed.
    pub const WORST: Self =
        Self { read_only: false, destructive: true, idempotent: false, open_world: true };

    /// What is expected of `tool`.
    #[must_use]
    pub fn of(tool: &Tool, trust: Trust) -> Self {
        let worst = Self::WORST;
        let (Trust::Trusted, Some(said)) = (trust, &tool.annotations) else { return worst };
        let read_only = said.read_only_hint.unwrap_or(worst.read_only);
        Self {
            read_only,
            // They mean something only for a tool that changes something.
            destructive: !read_only && said.destructive_hint.unwrap_or(worst.destructive),
            idempotent: read_only || said.idempotent_hint.unwrap_or(worst.idempotent),
            open_world: said.open_world_hint.unwrap_or(worst.open_world),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(annotations: &str) -> Tool {
        let text = format!(
            r#"{{"name":"t","inputSchema":{{"type":"object"}},"annotations":{annotations}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    // Shows: SEC-008, TOOLS-018, TOOLS-020
    #[test]
    fn hints_count_only_where_the_server_is_trusted() {
        let tame = tool(r#"{"readOnlyHint":true,"openWorldHint":false}"#);
        assert_eq!(ToolHints::of(&tame, Trust::Untrusted), ToolHints::WORST);
        assert_eq!(ToolHints::of(&tame, Trust::default()), ToolHints::WORST);
        let hints = ToolHints::of(&tame, Trust::Trusted);
        assert!(hints.read_only && !hints.destructive && hints.idempotent && !hints.open_world);
        assert_eq!(ToolHints::of(&tool("{}"), Trust::Trusted), ToolHints::WORST);
        let adds = tool(r#"{"destructiveHint":false,"idempotentHint":true}"#);
        let hints = ToolHints::of(&adds, Trust::Trusted);
        assert!(!hints.read_only && !hints.destructive && hints.idempotent && hints.open_world);
    }
}
