//! Lists: pages, circles, bounds, and what is kept.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests are tests, too"
)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Server, builder, connect, connect_to, everything, settle};
use mcp_client::{Client, ListLimits, ListWarning, Listing};
use mcp_jsonrpc::ErrorObject;
use mcp_types::Tool;
use serde_json::{Value, json};

fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

fn names(list: &Listing<Tool>) -> Vec<&str> {
    list.iter().map(|tool| tool.name.as_str()).collect()
}

/// Serves pages by their cursor until the client has what it wants.
async fn serve(server: &mut Server, page: impl Fn(Option<&str>) -> Value) {
    loop {
        let common::Heard::Request(id, _, params) = server.hear().await else { return };
        let cursor = params.get("cursor").map(|cursor| cursor.as_str().unwrap());
        server.answer(id, page(cursor)).await;
    }
}

async fn walk(
    client: &Client,
    server: &mut Server,
    page: impl Fn(Option<&str>) -> Value,
) -> Listing<Tool> {
    tokio::select! {
        list = client.list_tools().fresh().into_future() => list.unwrap(),
        () = serve(server, page) => unreachable!("the client is still there"),
    }
}

// Shows: PAGE-001, PAGE-007, PAGE-008, PAGE-009, PAGE-010
#[tokio::test]
async fn pages_are_followed_and_cursors_go_back_as_they_came() {
    let (client, mut server) = connect(builder()).await;
    let odd = "{\"a\":\"%20\"} été==";
    let list = walk(&client, &mut server, |cursor| match cursor {
        None => json!({"tools": [tool("a")], "nextCursor": odd}),
        Some(cursor) if cursor == odd => json!({"tools": [], "nextCursor": "2"}),
        Some("2") => json!({"tools": [tool("b"), tool("c")], "nextCursor": null}),
        Some(other) => panic!("{other}"),
    })
    .await;
    assert_eq!(names(&list), ["a", "b", "c"]);
    assert_eq!(list.warning(), None);
    let list = walk(&client, &mut server, |_| json!({"tools": [tool("only")]})).await;
    assert_eq!(names(&list), ["only"]);
}

// Shows: FC-033
#[tokio::test]
async fn an_empty_cursor_is_a_cursor() {
    let (client, mut server) = connect(builder()).await;
    let list = walk(&client, &mut server, |cursor| match cursor {
        None => json!({"tools": [tool("a")], "nextCursor": ""}),
        Some("") => json!({"tools": [tool("b")]}),
        Some(other) => panic!("{other}"),
    })
    .await;
    assert_eq!(names(&list), ["a", "b"]);
    let list =
        walk(&client, &mut server, |_| json!({"tools": [tool("a")], "nextCursor": ""})).await;
    assert_eq!(names(&list), ["a"]);
    assert_eq!(list.warning(), Some(&ListWarning::CursorRepeated { cursor: "".into() }));
}

// Shows: FC-034
#[tokio::test]
async fn a_circle_ends_where_it_closes() {
    let (client, mut server) = connect(builder()).await;
    let list = walk(
        &client,
        &mut server,
        |_| json!({"tools": [tool("a"), tool("b")], "nextCursor": "abc"}),
    )
    .await;
    assert_eq!(names(&list), ["a", "b"]);
    assert_eq!(list.warning(), Some(&ListWarning::CursorRepeated { cursor: "abc".into() }));
    let list = walk(&client, &mut server, |cursor| match cursor {
        None | Some("b") => json!({"tools": [tool("x")], "nextCursor": "a"}),
        Some(_) => json!({"tools": [tool("y")], "nextCursor": "b"}),
    })
    .await;
    assert_eq!(names(&list), ["x", "y"]);
    assert!(list.warning().unwrap().to_string().contains("\"a\""));
}

// Shows: FC-034
#[tokio::test]
async fn an_endless_list_is_cut() {
    let limits = ListLimits::new().with_pages(3).with_items(5);
    let (client, mut server) = connect(builder().list_limits(limits)).await;
    let next = |cursor: Option<&str>| cursor.map_or(0, |cursor| cursor.parse::<u32>().unwrap());
    let list = walk(&client, &mut server, |cursor| {
        let at = next(cursor);
        json!({"tools": [tool(&at.to_string())], "nextCursor": (at + 1).to_string()})
    })
    .await;
    assert_eq!(names(&list), ["0", "1", "2"]);
    assert_eq!(list.warning(), Some(&ListWarning::TooManyPages { limit: 3 }));
    let list = walk(&client, &mut server, |cursor| {
        let at = next(cursor) * 3;
        let tools: Vec<_> = (at..at + 3).map(|n| tool(&n.to_string())).collect();
        json!({"tools": tools, "nextCursor": (next(cursor) + 1).to_string()})
    })
    .await;
    assert_eq!(names(&list), ["0", "1", "2", "3", "4"]);
    assert_eq!(list.warning(), Some(&ListWarning::TooManyItems { limit: 5 }));
}

#[tokio::test]
async fn one_page_can_be_had_alone() {
    let (client, mut server) = connect(builder()).await;
    let script = async {
        let (id, params) = server.asked("tools/list").await;
        assert_eq!(params, json!({"cursor": "x"}));
        server
            .answer(id, json!({"tools": [tool("a")], "nextCursor": "y", "_meta": {"k": 1}}))
            .await;
    };
    let call = client.list_tools_page(Some("x".into()));
    let (page, ()) = tokio::join!(call.into_future(), script);
    let page = page.unwrap();
    assert_eq!(page.next_cursor, Some("y".into()));
    assert!(page.meta.is_some());
}

// Shows: PROMPTS-020
#[tokio::test]
async fn all_kinds_of_lists_are_walked() {
    let (client, mut server) = connect(builder()).await;
    let script = async {
        let resource = json!({"uri": "a:b", "name": "b"});
        let template = json!({"uriTemplate": "a:{b}", "name": "b"});
        for (method, page) in [
            ("resources/list", json!({"resources": [resource]})),
            ("resources/templates/list", json!({"resourceTemplates": [template]})),
            ("prompts/list", json!({"prompts": [{"name": "p"}]})),
        ] {
            let (id, _) = server.asked(method).await;
            server.answer(id, page).await;
        }
    };
    let talk = async {
        assert_eq!(client.list_resources().await.unwrap().len(), 1);
        assert_eq!(client.list_resource_templates().await.unwrap().len(), 1);
        assert_eq!(client.list_prompts().await.unwrap().len(), 1);
    };
    tokio::join!(script, talk);
}

// Shows: FC-035
#[tokio::test]
async fn a_kept_list_is_fetched_again_only_after_a_change() {
    let (client, mut server) = connect(builder()).await;
    let script = async {
        let (id, _) = server.asked("tools/list").await;
        // The change comes before the answer, so the answer is old.
        server.tell("notifications/tools/list_changed", json!({})).await;
        server.answer(id, json!({"tools": [tool("old")]})).await;
        let (id, _) = server.asked("tools/list").await;
        server.answer(id, json!({"tools": [tool("new")]})).await;
        let (id, _) = server.asked("ping").await;
        for _ in 0..100 {
            server.tell("notifications/tools/list_changed", json!({})).await;
        }
        server.answer(id, json!({})).await;
        let (id, _) = server.asked("tools/list").await;
        server.refuse(id, ErrorObject::internal("try later")).await;
        let (id, _) = server.asked("tools/list").await;
        server.answer(id, json!({"tools": [tool("newer")]})).await;
    };
    let talk = async {
        assert_eq!(names(&client.list_tools().await.unwrap()), ["old"]);
        for _ in 0..3 {
            assert_eq!(names(&client.list_tools().await.unwrap()), ["new"]);
        }
        client.ping().await.unwrap();
        // The fetch fails: the old list stays, with a mark.
        client.list_tools().await.unwrap_err();
        let (list, changed) = client.known::<Tool>().unwrap();
        assert!(changed && names(&list) == ["new"]);
        for _ in 0..3 {
            assert_eq!(names(&client.list_tools().await.unwrap()), ["newer"]);
        }
        assert!(!client.known::<Tool>().unwrap().1);
    };
    tokio::join!(script, talk);
    settle().await;
    assert!(server.is_quiet());
}

#[tokio::test]
async fn without_a_promise_to_tell_nothing_is_kept() {
    let capabilities = json!({"tools": {}});
    let (client, mut server) = connect_to(builder(), "2025-11-25", capabilities).await;
    let script = async {
        for name in ["a", "b"] {
            let (id, _) = server.asked("tools/list").await;
            server.answer(id, json!({"tools": [tool(name)]})).await;
        }
    };
    let talk = async {
        assert_eq!(names(&client.list_tools().await.unwrap()), ["a"]);
        assert_eq!(names(&client.list_tools().await.unwrap()), ["b"]);
    };
    tokio::join!(script, talk);
}

// Shows: FC-035
#[tokio::test]
async fn many_changes_are_one_more_fetch() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let builder = builder().on_tools_changed(move |client| {
        counted.fetch_add(1, Ordering::Relaxed);
        async move {
            client.list_tools().await.unwrap();
        }
    });
    let (client, mut server) = connect_to(builder, "2025-11-25", everything()).await;
    server.tell("notifications/tools/list_changed", json!({})).await;
    let (id, _) = server.asked("tools/list").await;
    // The fetch is under way.
    for _ in 0..100 {
        server.tell("notifications/tools/list_changed", json!({})).await;
    }
    server.answer(id, json!({"tools": [tool("old")]})).await;
    let (id, _) = server.asked("tools/list").await;
    server.answer(id, json!({"tools": [tool("new")]})).await;
    let answer = async {
        let (id, _) = server.asked("ping").await;
        server.answer(id, json!({})).await;
    };
    let (alive, ()) = tokio::join!(client.ping().into_future(), answer);
    alive.unwrap();
    settle().await;
    assert!(server.is_quiet());
    assert_eq!(runs.load(Ordering::Relaxed), 2);
    assert_eq!(names(&client.list_tools().await.unwrap()), ["new"]);
}
