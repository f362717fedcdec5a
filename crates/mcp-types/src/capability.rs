//! Questions about capabilities, in the words of the method table.

use crate::generated::lifecycle::{ClientCapabilities, ServerCapabilities};

impl ServerCapabilities {
    /// Whether the capability with this path was declared: the member is there, or, for
    /// `listChanged` and `subscribe`, true.
    ///
    /// ```
    /// use mcp_types::{ServerCapabilities, ToolsCapability};
    ///
    /// let capabilities = ServerCapabilities::new().with_tools(ToolsCapability::new());
    /// assert!(capabilities.has("tools"));
    /// assert!(!capabilities.has("tools.listChanged"));
    /// ```
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        let tools = self.tools.as_ref();
        let resources = self.resources.as_ref();
        let prompts = self.prompts.as_ref();
        let tasks = self.tasks.as_ref();
        let requests = tasks.and_then(|tasks| tasks.requests.as_ref());
        match path {
            "logging" => self.logging.is_some(),
            "completions" => self.completions.is_some(),
            "tools" => tools.is_some(),
            "tools.listChanged" => tools.and_then(|c| c.list_changed) == Some(true),
            "resources" => resources.is_some(),
            "resources.listChanged" => resources.and_then(|c| c.list_changed) == Some(true),
            "resources.subscribe" => resources.and_then(|c| c.subscribe) == Some(true),
            "prompts" => prompts.is_some(),
            "prompts.listChanged" => prompts.and_then(|c| c.list_changed) == Some(true),
            "tasks" => tasks.is_some(),
            "tasks.list" => tasks.is_some_and(|c| c.list.is_some()),
            "tasks.cancel" => tasks.is_some_and(|c| c.cancel.is_some()),
            "tasks.requests.tools.call" => requests
                .and_then(|requests| requests.tools.as_ref())
                .is_some_and(|tools| tools.call.is_some()),
            _ => named(path, self.experimental.as_ref(), self.extensions.as_ref()),
        }
    }
}

impl ClientCapabilities {
    /// Whether the capability with this path was declared: the member is there, or, for
    /// `listChanged`, true.
    ///
    /// A client that declares elicitation without saying how has forms.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        let sampling = self.sampling.as_ref();
        let elicitation = self.elicitation.as_ref();
        let tasks = self.tasks.as_ref();
        let requests = tasks.and_then(|tasks| tasks.requests.as_ref());
        match path {
            "roots" => self.roots.is_some(),
            "roots.listChanged" => self.roots.as_ref().and_then(|c| c.list_changed) == Some(true),
            "sampling" => sampling.is_some(),
            "sampling.context" => sampling.is_some_and(|c| c.context.is_some()),
            "sampling.tools" => sampling.is_some_and(|c| c.tools.is_some()),
            "elicitation" => elicitation.is_some(),
            "elicitation.form" => elicitation.is_some_and(|c| c.form.is_some() || c.url.is_none()),
            "elicitation.url" => elicitation.is_some_and(|c| c.url.is_some()),
            "tasks" => tasks.is_some(),
            "tasks.list" => tasks.is_some_and(|c| c.list.is_some()),
            "tasks.cancel" => tasks.is_some_and(|c| c.cancel.is_some()),
            "tasks.requests.sampling.createMessage" => requests
                .and_then(|requests| requests.sampling.as_ref())
                .is_some_and(|sampling| sampling.create_message.is_some()),
            "tasks.requests.elicitation.create" => requests
                .and_then(|requests| requests.elicitation.as_ref())
                .is_some_and(|elicitation| elicitation.create.is_some()),
            _ => named(path, self.experimental.as_ref(), self.extensions.as_ref()),
        }
    }
}

/// `experimental.NAME` and `extensions.NAME`; names may hold points.
fn named(
    path: &str,
    experimental: Option<&crate::JsonObject>,
    extensions: Option<&crate::JsonObject>,
) -> bool {
    let has = |map: Option<&crate::JsonObject>, name| map.is_some_and(|map| map.contains(name));
    match path.split_once('.') {
        Some(("experimental", name)) => has(experimental, name),
        Some(("extensions", name)) => has(extensions, name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CapabilityNeed, Method, Revision, Side};

    // Shows: FC-024
    #[test]
    fn what_a_newer_client_declares_is_used_or_kept() {
        let json = concat!(
            r#"{"roots":{"listChanged":false},"elicitation":{"form":{"applyDefaults":true},"#,
            r#""url":{},"voice":{}},"sampling":{"tools":{},"x":1},"#,
            r#""extensions":{"com.example/ui":{"a":[1]}},"experimental":{"z":true},"brandNew":{}}"#,
        );
        let client: ClientCapabilities = serde_json::from_str(json).unwrap();
        for path in ["roots", "elicitation.form", "elicitation.url", "sampling.tools"] {
            assert!(client.has(path), "{path}");
        }
        assert!(client.has("extensions.com.example/ui") && client.has("experimental.z"));
        for path in ["roots.listChanged", "sampling.context", "tasks", "brandNew"] {
            assert!(!client.has(path), "{path}");
        }
        let written = serde_json::to_value(&client).unwrap();
        assert_eq!(written, serde_json::from_str::<serde_json::Value>(json).unwrap());
        assert_eq!(client.extra.get("brandNew").unwrap().as_raw(), "{}");
    }

    #[test]
    fn elicitation_without_a_way_is_by_form() {
        let has = |json: &str| {
            let client: ClientCapabilities = serde_json::from_str(json).unwrap();
            (client.has("elicitation.form"), client.has("elicitation.url"))
        };
        assert_eq!(has(r#"{"elicitation":{}}"#), (true, false));
        assert_eq!(has(r#"{"elicitation":{"url":{}}}"#), (false, true));
        assert_eq!(has("{}"), (false, false));
        assert_eq!(has(r#"{"elicitation":null}"#), (false, false));
    }

    #[test]
    fn every_path_of_the_method_table_can_be_asked_for() {
        let all =
            r#"{"listChanged":true,"subscribe":true,"list":{},"cancel":{},"form":{},"url":{}}"#;
        let names = ["tools", "resources", "prompts", "logging", "completions", "tasks"];
        let more = ["roots", "sampling", "elicitation"];
        let members: Vec<String> =
            names.iter().chain(&more).map(|name| format!("\"{name}\":{all}")).collect();
        let json = format!("{{{}}}", members.join(","));
        let server: ServerCapabilities = serde_json::from_str(&json).unwrap();
        let client: ClientCapabilities = serde_json::from_str(&json).unwrap();
        for method in Method::ALL {
            let Some(need) = method.capability(Revision::V2025_11_25) else { continue };
            for sender in [Side::Client, Side::Server] {
                if !method.may_be_sent_by(sender) {
                    continue;
                }
                let (of_client, path) = match need {
                    CapabilityNeed::Sender(path) => (sender == Side::Client, path),
                    CapabilityNeed::Receiver(path) => (sender == Side::Server, path),
                };
                assert!(if of_client { client.has(path) } else { server.has(path) }, "{method}");
            }
        }
    }
}
