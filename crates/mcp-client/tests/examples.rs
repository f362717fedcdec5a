//! The examples, run.
#![cfg(feature = "tokio")]
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::tests_outside_test_module,
    reason = "examples are programs, and these are tests"
)]

use mcp_types::Tool;

#[path = "../examples/agent.rs"]
mod agent;
#[path = "../examples/servers.rs"]
mod servers;

#[tokio::test]
async fn the_agent_uses_a_tool_and_answers() {
    let servers = agent::servers().await.unwrap();
    let answer = agent::answer(&servers, "20 and 22 are").await.unwrap();
    assert_eq!(answer, "20 and 22 are 42.");
}

#[tokio::test]
async fn servers_of_a_file_that_are_not_there_cost_only_themselves() {
    let file = r#"{"mcpServers": {
        "gone": {"command": "no-such-program-at-all"},
        "off": {"command": "neither", "disabled": true}
    }}"#;
    let servers = servers::connect(file).await.unwrap();
    assert!(servers.servers().is_empty());
    assert!(servers.list::<Tool>().await.items.is_empty());
    assert!(servers::connect("{").await.is_err());
}
