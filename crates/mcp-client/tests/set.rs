//! Several servers in one client.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests, too")]

use std::time::Duration;

use mcp_client::{ChangeKind, Client, ClientError, ClientSet, SetChange, SetError, SetListing};
use mcp_jsonrpc::link::memory_pair;
use mcp_server::Server;
use mcp_types::{Prompt, Resource, Tool};

fn named(name: &str, says: &'static str) -> Server {
    Server::new(name, "1")
        .tool("now", move || async move { says })
        .tool("_odd__tool", || async { "odd" })
}

fn set() -> ClientSet {
    ClientSet::new(|_| Client::builder("host", "1").timeout(Duration::from_secs(5)))
}

fn names(listing: &SetListing<Tool>) -> Vec<&str> {
    listing.items.iter().map(|tool| &*tool.name).collect()
}

#[tokio::test]
async fn tools_of_one_name_are_told_apart_and_keep_their_names() {
    let servers = set();
    servers.connect("clock", &named("same", "noon")).await.unwrap();
    let alone = servers.list::<Tool>().await;
    assert_eq!(names(&alone), ["clock__now", "clock___odd__tool"]);
    servers.connect("moon", &named("same", "full")).await.unwrap();
    let both = servers.list::<Tool>().await;
    assert_eq!(names(&both).get(..2), Some(&*names(&alone)));
    for (name, says) in [("clock__now", "noon"), ("moon__now", "full"), ("moon___odd__tool", "odd")]
    {
        assert!(names(&both).contains(&name));
        assert_eq!(servers.call_tool(name).unwrap().text().await.unwrap(), says);
    }
    for name in ["now", "sun__now", "", "__now", "clock_now"] {
        assert!(servers.call_tool(name).is_err(), "{name}");
    }
    // A server without prompts has none, and that is no failure.
    let prompts = servers.list::<Prompt>().await;
    assert!(prompts.items.is_empty() && prompts.failures.is_empty());
}

#[tokio::test]
async fn a_server_that_is_gone_costs_only_itself() {
    let servers = set();
    servers.connect("clock", &named("clock", "noon")).await.unwrap();
    let gone = servers.connect("gone", &named("gone", "never")).await.unwrap();
    gone.close().await;
    let tools = servers.list::<Tool>().await;
    assert_eq!(tools.items.len(), 2);
    let [(server, error)] = &*tools.failures else { panic!("{tools:?}") };
    assert_eq!(server.as_str(), "gone");
    assert!(matches!(error, ClientError::Link(_)), "{error}");
    // One that was never there is not added.
    let (link, _) = memory_pair(1);
    let error = servers.connect("broken", link).await.unwrap_err();
    assert!(matches!(error, SetError::Connect { .. }), "{error}");
    assert!(servers.get("broken").is_none());
    let error = servers.connect("a__b", &named("x", "x")).await.unwrap_err();
    assert!(matches!(error, SetError::Name(_)), "{error}");
    // It comes back under its name.
    servers.connect("gone", &named("gone", "again")).await.unwrap();
    assert_eq!(servers.call_tool("gone__now").unwrap().text().await.unwrap(), "again");
    assert_eq!(servers.servers().len(), 2);
}

#[tokio::test]
async fn changes_of_all_are_heard_in_one_place() {
    let servers = set();
    let clock =
        named("clock", "noon").prompt("p", |_: mcp_server::prompt::PromptRequest| async { "hi" });
    servers.connect("clock", &clock).await.unwrap();
    servers.connect("moon", &named("moon", "full")).await.unwrap();
    let kinds = |changes: Vec<SetChange>| -> Vec<(String, ChangeKind)> {
        changes.into_iter().map(|change| (change.server.to_string(), change.kind)).collect()
    };
    let at = |server: &str, kind| (server.to_owned(), kind);
    let added = kinds(servers.changes().await);
    assert_eq!(added, [at("clock", ChangeKind::Added), at("moon", ChangeKind::Added)]);
    servers.list::<Tool>().await;
    assert!(clock.remove_tool("now"));
    assert_eq!(kinds(servers.changes().await), [at("clock", ChangeKind::Tools)]);
    assert_eq!(servers.list::<Tool>().await.items.len(), 3);
    servers.remove("moon").unwrap();
    assert_eq!(kinds(servers.changes().await), [at("moon", ChangeKind::Removed)]);
    assert!(servers.remove("moon").is_none());
    assert_eq!(servers.list::<Tool>().await.items.len(), 1);
    assert!(servers.list::<Resource>().await.items.is_empty());
    let prompts = servers.list::<Prompt>().await;
    assert_eq!(prompts.items.first().unwrap().name, "clock__p");
    assert!(servers.get_prompt("clock__p").unwrap().await.is_ok());
    // Nothing more is told until there is something.
    let more = tokio::time::timeout(Duration::from_millis(20), servers.changes()).await;
    assert!(more.is_err());
}
