//! What attributes of parameters say is a rule; all else about the macros is tested with them.

use mcp_server::{Server, tool};
use serde_json::json;

use crate::wire::Wire;

#[tool]
fn wait(
    #[schemars(range(min = 1, max = 7))] days: u8,
    #[schemars(length(max = 3))] place: &str,
) -> String {
    format!("{days} {place}")
}

// Shows: TOOLS-041, TOOLS-046
#[tokio::test]
async fn what_is_said_about_a_parameter_is_checked_before_the_function_is_called() {
    let mut wire = Wire::open(&Server::new("test", "1").with(wait_tool())).await;
    let good = wire.tool("wait", json!({"days": 7, "place": "Zug"})).await;
    assert_eq!(good["result"]["content"][0]["text"], "7 Zug");
    for (arguments, named) in [
        (json!({"days": 8, "place": "Zug"}), "/days"),
        (json!({"days": 1, "place": "Bern"}), "/place"),
    ] {
        let refused = wire.tool("wait", arguments).await;
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        assert!(
            refused["result"]["content"][0]["text"].as_str().unwrap().contains(named),
            "{refused}"
        );
    }
}
