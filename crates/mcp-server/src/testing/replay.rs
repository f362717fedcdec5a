use std::time::Duration;

use bytes::Bytes;
use mcp_jsonrpc::link::v1::{Incoming, LinkError, LinkExt as _};
use mcp_jsonrpc::{Frame, Limits, decode};
use serde_json::Value;

use super::record::{Direction, Line, to_outgoing};
use crate::server::{ServeOptions, Server};

/// Time for a message that is expected.
const PATIENCE: Duration = Duration::from_secs(10);

/// Plays the client's part of a conversation that was recorded at the server's end, and compares
/// what the server sends with what it sent then: the same messages, in the same order, whatever
/// the order of members. A recording of a client's end has to be
/// [flipped](super::Line::flipped) first.
///
/// ```
/// # async fn check() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_server::Server;
/// use mcp_server::testing::{Recording, replay};
///
/// let server = Server::new("echo", "1.0.0").tool("hello", || async { "hello" });
/// let lines = Recording::read(
///     r#"{"received":{"jsonrpc":"2.0","id":1,"method":"ping"}}
/// {"sent":{"jsonrpc":"2.0","id":1,"result":{}}}"#,
/// )?;
/// replay(&server, &lines).await?;
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(check())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`ReplayError`] names the line from which on the server goes another way.
///
/// # Cancel safety
///
/// Dropping the future ends the conversation.
pub async fn replay(server: &Server, lines: &[Line]) -> Result<(), ReplayError> {
    let (mut link, conversation) = server.connect_with(ServeOptions::default());
    let client = async move {
        for (at, line) in lines.iter().enumerate() {
            let number = at + 1;
            let ended = |source| ReplayError::Ended { line: number, source };
            match line.direction {
                Direction::Received => {
                    let frame = Bytes::copy_from_slice(line.message.as_raw().as_bytes());
                    let message = match decode(&frame, &Limits::new()) {
                        Ok(Frame::Single(message)) => to_outgoing(message),
                        _ => None,
                    };
                    let message = message.ok_or(ReplayError::NoMessage { line: number })?;
                    link.send(message).await.map_err(ended)?;
                }
                Direction::Sent => {
                    let silent = |_| ReplayError::Silent { line: number };
                    let received = tokio::time::timeout(PATIENCE, link.recv()).await;
                    let found = match received.map_err(silent)?.map_err(ended)? {
                        Incoming::Message(message, _) => to_outgoing(message),
                        _ => None,
                    };
                    let found = found.ok_or(ReplayError::NoMessage { line: number })?;
                    let found = String::from_utf8_lossy(found.frame()).into_owned();
                    let expected = line.message.as_raw();
                    if !is_same(expected, &found) {
                        let expected = expected.to_owned();
                        return Err(ReplayError::Differs { line: number, expected, found });
                    }
                }
            }
        }
        Ok(())
    };
    let mut client = std::pin::pin!(client);
    let mut conversation = std::pin::pin!(conversation);
    let mut is_over = false;
    std::future::poll_fn(|cx| {
        // What it ends by, the client's end sees.
        is_over = is_over || conversation.as_mut().poll(cx).is_ready();
        client.as_mut().poll(cx)
    })
    .await
}

fn is_same(expected: &str, found: &str) -> bool {
    let read = |text| serde_json::from_str::<Value>(text).ok();
    match (read(expected), read(found)) {
        (Some(expected), Some(found)) => expected == found,
        _ => false,
    }
}

/// A server doesn't do what it did.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// It sends something else.
    #[error("line {line}: the server sent {found}, and not {expected}")]
    Differs {
        /// Which line, counted from 1.
        line: usize,
        /// What was recorded.
        expected: String,
        /// What it sent.
        found: String,
    },
    /// It sends nothing for ten seconds.
    #[error("line {line}: the server is silent")]
    Silent {
        /// Which line, counted from 1.
        line: usize,
    },
    /// The conversation is over.
    #[error("line {line}: the conversation is over")]
    Ended {
        /// Which line, counted from 1.
        line: usize,
        /// How it ended.
        source: LinkError,
    },
    /// What was recorded is no message.
    #[error("line {line}: no message")]
    NoMessage {
        /// Which line, counted from 1.
        line: usize,
    },
}
