use mcp_server::resource::{ReadRequest, ResourceEntry, ResourceError, TemplateEntry};
use mcp_server::{RegisterError, Server};
use mcp_types::{Annotations, Audience, Icon, ResourceContents};
use serde_json::json;

use crate::wire::Wire;

fn library() -> Server {
    let user = TemplateEntry::new("user://{id}/name", "user", |request: ReadRequest| async move {
        match request.variables.parse::<u32>("id") {
            Some(id) if id < 10 => Ok(format!("user {id}")),
            _ => Err(ResourceError::NotFound),
        }
    })
    .unwrap()
    .mime_type("text/plain");
    Server::new("library", "1")
        .subscriptions()
        .with_resource(
            ResourceEntry::new("doc://one", "one", "first").mime_type("text/markdown").size(5_u64),
        )
        .resource("doc://raw", "raw", vec![1u8, 2, 3])
        .resource("doc://many", "many", |_: ReadRequest| async {
            vec![
                ResourceContents::text("doc://many/1", "a"),
                ResourceContents::text("doc://many/2", "b"),
            ]
        })
        .resource("doc://secret", "secret", |_: ReadRequest| async {
            Err::<String, _>(ResourceError::Denied)
        })
        .resource("doc://broken", "broken", |_: ReadRequest| async {
            Err::<String, _>(ResourceError::failed("disk sda1 is on fire"))
        })
        .with_template(user)
}

// Shows: RESOURCES-015, RESOURCES-023
#[tokio::test]
async fn texts_bytes_and_several_contents_are_read() {
    let mut wire = Wire::open(&library()).await;
    let read = |uri: &str| json!({"uri": uri});
    assert_eq!(
        wire.call("resources/read", read("doc://one")).await["result"],
        json!({"contents": [{"uri": "doc://one", "mimeType": "text/markdown", "text": "first"}]})
    );
    assert_eq!(
        wire.call("resources/read", read("doc://raw")).await["result"],
        json!({"contents": [{"uri": "doc://raw", "blob": "AQID"}]})
    );
    let many = wire.call("resources/read", read("doc://many")).await;
    assert_eq!(many["result"]["contents"].as_array().unwrap().len(), 2);
    assert_eq!(
        wire.call("resources/read", read("user://7/name")).await["result"]["contents"][0]["text"],
        "user 7"
    );
}

// Shows: RESOURCES-025
#[tokio::test]
async fn what_is_not_there_or_not_allowed_is_not_found() {
    let mut wire = Wire::open(&library()).await;
    for uri in ["doc://none", "doc://secret", "user://77/name", "user://x/name"] {
        let answer = wire.call("resources/read", json!({"uri": uri})).await;
        assert_eq!(answer["error"]["code"], -32002, "{answer}");
        assert_eq!(answer["error"]["data"]["uri"], uri);
    }
}

// Shows: RESOURCES-027
#[tokio::test]
async fn what_is_no_uri_is_invalid_params() {
    let mut wire = Wire::open(&library()).await;
    for uri in ["", "doc", "1x:y", "doc:/ /one", "doc://a\nb", &format!("d:{}", "d".repeat(9000))] {
        for method in ["resources/read", "resources/subscribe"] {
            let answer = wire.call(method, json!({"uri": uri})).await;
            assert_eq!(answer["error"]["code"], -32602, "{method} {uri}: {answer}");
        }
    }
}

// Shows: RESOURCES-024
#[tokio::test]
async fn a_resource_is_registered_under_a_uri_only() {
    let server = Server::new("s", "1").dynamic_resources();
    for uri in ["1x:y", "no uri", "x: y", "", "file"] {
        let refused = server.add_resource(ResourceEntry::new(uri, "x", "x"));
        assert!(matches!(refused, Err(RegisterError::Uri { .. })), "{uri}");
    }
    for uri in ["x:y", "urn:isbn:1", "note://Daily", "file:///docs/café/a.txt"] {
        assert!(server.add_resource(ResourceEntry::new(uri, "x", "x")).is_ok(), "{uri}");
    }
}

// Shows: RESOURCES-026
#[tokio::test]
async fn why_reading_failed_stays_here() {
    let mut wire = Wire::open(&library()).await;
    let answer = wire.call("resources/read", json!({"uri": "doc://broken"})).await;
    assert_eq!(answer["error"]["code"], -32603);
    assert!(!answer.to_string().contains("sda1"));
}

#[tokio::test]
async fn resources_and_templates_are_listed_apart() {
    let mut wire = Wire::open(&library()).await;
    let listed = wire.call("resources/list", json!({})).await;
    let uris: Vec<_> = listed["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["uri"].clone())
        .collect();
    assert_eq!(uris, ["doc://one", "doc://raw", "doc://many", "doc://secret", "doc://broken"]);
    assert_eq!(listed["result"]["resources"][0]["size"], 5);
    let templates = wire.call("resources/templates/list", json!({})).await;
    assert_eq!(
        templates["result"]["resourceTemplates"],
        json!([{"uriTemplate": "user://{id}/name", "name": "user", "mimeType": "text/plain"}])
    );
}

// Shows: RESOURCES-013
#[tokio::test]
async fn a_resource_and_a_template_are_listed_with_all_that_was_said_about_them() {
    let whom = || Annotations::default().with_audience(vec![Audience::User]);
    let icons = || vec![Icon::new("https://example.com/i.png")];
    let server = Server::new("s", "1")
        .with_resource(
            ResourceEntry::new("doc://one", "one", "first")
                .title("One")
                .description("The first.")
                .mime_type("text/plain")
                .annotations(whom())
                .icons(icons())
                .size(5_u64),
        )
        .resource("doc://bare", "bare", "second")
        .with_template(
            TemplateEntry::new("doc://{name}", "any", |_: ReadRequest| async { "any" })
                .unwrap()
                .title("Any")
                .description("Each of them.")
                .mime_type("text/plain")
                .annotations(whom())
                .icons(icons()),
        );
    let mut wire = Wire::open(&server).await;
    assert_eq!(
        wire.call("resources/list", json!({})).await["result"]["resources"],
        json!([
            {
                "uri": "doc://one",
                "name": "one",
                "title": "One",
                "description": "The first.",
                "mimeType": "text/plain",
                "annotations": {"audience": ["user"]},
                "icons": [{"src": "https://example.com/i.png"}],
                "size": 5,
            },
            {"uri": "doc://bare", "name": "bare"},
        ])
    );
    assert_eq!(
        wire.call("resources/templates/list", json!({})).await["result"]["resourceTemplates"],
        json!([{
            "uriTemplate": "doc://{name}",
            "name": "any",
            "title": "Any",
            "description": "Each of them.",
            "mimeType": "text/plain",
            "annotations": {"audience": ["user"]},
            "icons": [{"src": "https://example.com/i.png"}],
        }])
    );
}

// Shows: RESOURCES-008
#[tokio::test]
async fn only_who_has_subscribed_is_told() {
    let server = library();
    let (mut one, mut other) = (Wire::open(&server).await, Wire::open(&server).await);
    let subscribed = one.call("resources/subscribe", json!({"uri": "doc://one"})).await;
    assert_eq!(subscribed["result"], json!({}));
    other.call("ping", json!({})).await;
    server.resource_updated("doc://one");
    server.resource_updated("doc://raw");
    assert_eq!(
        one.next().await,
        json!({"method": "notifications/resources/updated", "params": {"uri": "doc://one"}})
    );
    one.call("resources/unsubscribe", json!({"uri": "doc://one"})).await;
    server.resource_updated("doc://one");
    for wire in [&mut one, &mut other] {
        wire.call("ping", json!({})).await;
        assert!(wire.notes.is_empty(), "{:?}", wire.notes);
    }
    let unknown = one.call("resources/subscribe", json!({"uri": "doc://none"})).await;
    assert_eq!(unknown["error"]["code"], -32002);
}

#[tokio::test]
async fn a_session_has_a_bounded_number_of_subscriptions() {
    let any = TemplateEntry::new("n://{n}", "n", |_: ReadRequest| async { "n" }).unwrap();
    let server = Server::new("s", "1").subscriptions().with_template(any);
    let mut wire = Wire::open(&server).await;
    for number in 0..1000 {
        let answer =
            wire.call("resources/subscribe", json!({"uri": format!("n://{number}")})).await;
        assert!(answer.get("result").is_some());
    }
    let refused = wire.call("resources/subscribe", json!({"uri": "n://1000"})).await;
    assert_eq!(refused["error"]["code"], -32602);
    let again = wire.call("resources/subscribe", json!({"uri": "n://1"})).await;
    assert_eq!(again["result"], json!({}));
}

#[tokio::test]
async fn without_subscriptions_there_is_no_such_method() {
    let server = Server::new("s", "1").resource("doc://one", "one", "first");
    let mut wire = Wire::open(&server).await;
    let answer = wire.call("resources/subscribe", json!({"uri": "doc://one"})).await;
    assert_eq!(answer["error"]["code"], -32601);
}
