//! `#[resource]` on functions.

use std::net::Ipv4Addr;

use mcp_server::resource::{ReadRequest, ResourceError, Variables};
use mcp_server::tool::State;
use mcp_server::{Context, Server, resource};
use mcp_types::{Annotations, Audience};
use serde_json::json;

use crate::{code, connect, json};

/// The settings.
#[resource(
    "config://app",
    title = "Settings",
    mime_type = "application/json",
    size = 2_u64,
    annotations = Annotations::default().with_audience(vec![Audience::User]),
)]
async fn settings() -> &'static str {
    "{}"
}

// Shows: RESOURCES-013
#[tokio::test]
async fn a_uri_makes_a_resource() {
    let client = connect(&Server::new("test", "1").with(settings_resource())).await;
    assert_eq!(
        json(&client.list_resources().await.unwrap()[0]),
        json!({
            "uri": "config://app",
            "name": "settings",
            "title": "Settings",
            "description": "The settings.",
            "mimeType": "application/json",
            "size": 2,
            "annotations": {"audience": ["user"]},
        })
    );
    let read = client.read_resource("config://app").await.unwrap();
    assert_eq!(
        json(&read.contents),
        json!([{"uri": "config://app", "mimeType": "application/json", "text": "{}"}])
    );
}

/// What a host has.
#[resource("net://{host}/{path}{?lines,raw}", name = "host", mime_type = "text/plain")]
fn host(
    path: &str,
    host: Ipv4Addr,
    lines: Option<u32>,
    cx: Context,
    raw: Option<bool>,
    motto: Option<State<&'static str>>,
) -> Result<String, ResourceError> {
    if path == "nothing" {
        return Err(ResourceError::NotFound);
    }
    Ok(format!("{host} {path} {lines:?} {raw:?} {} {}", cx.revision(), motto.is_some()))
}

// Shows: RESOURCES-011, RESOURCES-025
#[tokio::test]
async fn a_template_has_typed_variables() {
    let client = connect(&Server::new("test", "1").with(host_resource())).await;
    assert_eq!(
        json(&client.list_resource_templates().await.unwrap()[0]),
        json!({
            "uriTemplate": "net://{host}/{path}{?lines,raw}",
            "name": "host",
            "description": "What a host has.",
            "mimeType": "text/plain",
        })
    );
    for (uri, expected) in [
        ("net://10.0.0.1/a%2Fb", "10.0.0.1 a/b None None 2025-11-25 false"),
        ("net://10.0.0.1/a%20b?lines=3", "10.0.0.1 a b Some(3) None 2025-11-25 false"),
        ("net://10.0.0.1/a?raw=true&lines=3", "10.0.0.1 a Some(3) Some(true) 2025-11-25 false"),
    ] {
        let read = client.read_resource(uri).await.unwrap();
        assert_eq!(json(&read.contents[0])["text"], expected, "{uri}");
    }
    for uri in ["net://ten/a", "net://10.0.0.1/a?lines=many", "net://10.0.0.1/nothing"] {
        assert_eq!(code(&client.read_resource(uri).await.unwrap_err()), -32002, "{uri}");
    }
}

#[resource("all://{a}/{b.c}")]
fn all(variables: Variables) -> Vec<u8> {
    let values: Vec<String> =
        variables.iter().map(|(name, value)| format!("{name}{value}")).collect();
    values.concat().into_bytes()
}

#[resource("asked://{a}")]
fn asked(request: &ReadRequest) -> String {
    request.uri.clone()
}

#[tokio::test]
async fn a_function_can_take_all_variables_or_the_request() {
    let server = Server::new("test", "1").with(all_resource()).with(asked_resource());
    let client = connect(&server).await;
    let read = client.read_resource("all://1/2").await.unwrap();
    assert_eq!(json(&read.contents[0])["blob"], "YTFiLmMy");
    let read = client.read_resource("asked://%61").await.unwrap();
    assert_eq!(json(&read.contents[0])["text"], "asked://%61");
}
