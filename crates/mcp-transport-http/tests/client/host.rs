//! What a host does with a link.

use std::time::Duration;

use mcp_jsonrpc::link::v1::{Incoming, LinkError, LinkExt, Stream};
use mcp_jsonrpc::{ErrorObject, Message, Outgoing, RequestId};
use mcp_transport_http::client::{Config, HttpConnector, HttpError, HttpLink};
use serde_json::{Value, json};

/// A configuration that doesn't keep a test waiting.
pub fn quick() -> Config {
    let mut config = Config::new();
    config.reconnect.first = Duration::from_millis(1);
    config.reconnect.longest = Duration::from_millis(5);
    config.times.linger = Duration::from_millis(50);
    config
}

pub fn link_to(url: &str, config: Config) -> HttpLink {
    HttpConnector::new(url, config).unwrap().link()
}

pub fn request(id: i64, method: &str, params: &Value) -> Outgoing {
    Outgoing::request(id.into(), method.into(), Some(params)).unwrap()
}

pub fn tool(id: i64, name: &str) -> Outgoing {
    request(id, "tools/call", &json!({"name": name, "arguments": {}}))
}

pub fn notification(method: &str) -> Outgoing {
    Outgoing::notification(method.into(), Some(&json!({}))).unwrap()
}

pub fn hello() -> Outgoing {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"sampling": {}, "roots": {}},
        "clientInfo": {"name": "host", "version": "1"},
    });
    request(0, "initialize", &params)
}

/// A link behind the handshake.
pub async fn connect(url: &str, config: Config) -> HttpLink {
    let mut link = link_to(url, config);
    link.send(hello()).await.unwrap();
    let result = result_of(&mut link, 0).await.unwrap();
    assert!(result["protocolVersion"].is_string());
    link.send(notification("notifications/initialized")).await.unwrap();
    link
}

/// What came in, in short.
#[derive(Clone, Debug, PartialEq)]
pub enum Came {
    Result(RequestId, Value),
    Error(Option<RequestId>, i64, String),
    Request(RequestId, String),
    Notification(String, Value),
    Ended(RequestId),
    Other,
}

pub fn came(incoming: &Incoming) -> Came {
    match incoming {
        Incoming::Message(Message::Request(request), _) => {
            Came::Request(request.id.clone(), request.method.as_str().to_owned())
        }
        Incoming::Message(Message::Notification(notification), _) => {
            let params = notification.params.as_ref();
            let params = params.map_or(Value::Null, |params| params.parse().unwrap());
            Came::Notification(notification.method.as_str().to_owned(), params)
        }
        Incoming::Message(Message::Response(response), _) => match &response.outcome {
            Ok(result) => Came::Result(response.id.clone().unwrap(), result.parse().unwrap()),
            Err(ErrorObject { code, message, .. }) => {
                Came::Error(response.id.clone(), *code, message.to_string())
            }
        },
        Incoming::StreamEnded { id, .. } => Came::Ended(id.clone()),
        _ => Came::Other,
    }
}

/// Receives until the response to `id`; its result.
pub async fn result_of(link: &mut HttpLink, id: i64) -> Result<Value, LinkError> {
    let (outcome, _) = outcome_of(link, id).await;
    match outcome {
        Ok(Came::Result(_, result)) => Ok(result),
        Ok(other) => panic!("{other:?}"),
        Err(cause) => Err(cause),
    }
}

/// Receives until `id` is over; how, and what came before.
pub async fn outcome_of(link: &mut HttpLink, id: i64) -> (Result<Came, LinkError>, Vec<Came>) {
    let id = RequestId::from(id);
    let mut before = Vec::new();
    loop {
        match within(link.recv()).await {
            Ok(Incoming::StreamEnded { id: ended, cause }) if ended == id => {
                return (Err(cause), before);
            }
            Ok(incoming) => match came(&incoming) {
                Came::Result(of, result) if of == id => {
                    assert!(matches!(
                        incoming,
                        Incoming::Message(_, Stream::Of(_) | Stream::Shared)
                    ));
                    return (Ok(Came::Result(of, result)), before);
                }
                Came::Error(Some(of), code, message) if of == id => {
                    return (Ok(Came::Error(Some(of), code, message)), before);
                }
                other => before.push(other),
            },
            Err(cause) => return (Err(cause), before),
        }
    }
}

/// Sends a request; how it ends.
pub async fn ask(link: &mut HttpLink, message: Outgoing) -> Result<Value, LinkError> {
    let id = message.id().and_then(RequestId::as_i64).expect("a request with a number");
    link.send(message).await?;
    result_of(link, id).await
}

/// Why a request got no response.
pub fn why(cause: &LinkError) -> &HttpError {
    HttpError::of(cause).unwrap_or_else(|| panic!("{cause:?}"))
}

/// Bounds a wait in a test.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("something happens in time")
}

/// Lets a link work while something else is waited for. What comes in is kept.
pub async fn meanwhile<T>(
    link: &mut HttpLink,
    kept: &mut Vec<Came>,
    other: impl Future<Output = T>,
) -> T {
    let mut other = std::pin::pin!(other);
    within(async {
        loop {
            tokio::select! {
                biased;
                done = &mut other => return done,
                incoming = link.recv() => match incoming {
                    Ok(incoming) => kept.push(came(&incoming)),
                    Err(cause) => {
                        kept.push(Came::Other);
                        tracing::debug!(?cause, "ended");
                        return (&mut other).await;
                    }
                },
            }
        }
    })
    .await
}
