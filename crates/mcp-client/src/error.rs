use mcp_jsonrpc::link::v1::LinkError;
use mcp_jsonrpc::service::v1::AskError;
use mcp_jsonrpc::{ErrorObject, FaultKind, Name};
use mcp_lifecycle::v1::{SchemaError, Violation};
use mcp_lifecycle::{GateError, HandshakeError, TimedOut};
use mcp_types::{CallToolResult, ContentBlock, Revision, ToolName, error_code::Meaning};

/// A call to a server failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server answered with an error.
    #[error("the server refused `{method}`")]
    Refused {
        /// What was asked.
        method: Name,
        /// What the server said.
        source: ErrorObject,
    },
    /// No answer came in time. The server was told that nobody waits for one any more.
    #[error("no answer to `{method}` in time")]
    TimedOut {
        /// What was asked.
        method: Name,
        /// Which limit was exceeded.
        source: TimedOut,
    },
    /// The link to the server is gone. Over a child process the source says how the process
    /// ended.
    #[error("the link to the server is gone")]
    Link(#[source] LinkError),
    /// The request can't be sent to this server. Nothing was sent.
    #[error("this can't be asked of the server")]
    Unsupported(#[from] GateError),
    /// Too many requests are waiting for an answer. Nothing was sent.
    #[error("more than {limit} requests are waiting for an answer")]
    TooMany {
        /// The limit that is in force.
        limit: usize,
    },
    /// The parameters can't be written as JSON. Nothing was sent.
    #[error("the parameters of `{method}` can't be written")]
    Encode {
        /// What was to be asked.
        method: Name,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The server's answer is no message.
    #[error("the answer to `{method}` is malformed")]
    Malformed {
        /// What was asked.
        method: Name,
        /// What is wrong.
        source: FaultKind,
    },
    /// The server's result isn't what the method promises.
    #[error("the answer to `{method}` can't be read")]
    Decode {
        /// What was asked.
        method: Name,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The tool ran and failed; [`parsed`](crate::ToolCall::parsed) and
    /// [`text`](crate::ToolCall::text) answer so. A plain call gives the result instead.
    #[error("the tool `{tool}` failed: {}", short_text(result))]
    ToolFailed {
        /// The tool.
        tool: ToolName,
        /// What it says, for a model.
        result: Box<CallToolResult>,
    },
    /// The tool's result isn't what its output schema promises.
    #[error("the result of `{tool}` breaks its output schema")]
    Output {
        /// The tool.
        tool: ToolName,
        /// The result as it came.
        result: Box<CallToolResult>,
        /// What is wrong with it.
        source: OutputError,
    },
    /// The tool's output schema is of no use. Nothing was sent.
    #[error("the output schema of `{tool}` can't be used")]
    OutputSchema {
        /// The tool.
        tool: ToolName,
        /// What is wrong with the schema.
        source: SchemaError,
    },
    /// The person, or the policy, does not want the tool to be called. Nothing was sent.
    #[error("the call of `{tool}` was not approved")]
    NotApproved {
        /// The tool.
        tool: ToolName,
    },
    /// The tool doesn't run as a task, as the server has said when its tools were listed. Nothing
    /// was sent.
    #[error("the tool `{tool}` does not run as a task")]
    NotAsTask {
        /// The tool.
        tool: ToolName,
    },
    /// The tool's result holds no value of the type that was asked for.
    #[error("the result of `{tool}` is not what was asked for")]
    NotParsed {
        /// The tool.
        tool: ToolName,
        /// The result as it came.
        result: Box<CallToolResult>,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl ClientError {
    /// Whether the same call may succeed if it is sent again unchanged: on a new link when the
    /// old one is gone. Whether it does harm to send it twice is for the caller to know.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::Link(_) | Self::TimedOut { .. } | Self::TooMany { .. } => true,
            Self::Refused { .. }
            | Self::Unsupported(_)
            | Self::Encode { .. }
            | Self::Malformed { .. }
            | Self::Decode { .. }
            | Self::ToolFailed { .. }
            | Self::Output { .. }
            | Self::OutputSchema { .. }
            | Self::NotApproved { .. }
            | Self::NotAsTask { .. }
            | Self::NotParsed { .. } => false,
        }
    }

    /// What the server's error means, where there is one. Understands what servers of every
    /// revision say.
    #[must_use]
    pub fn meaning(&self) -> Option<Meaning> {
        match self {
            Self::Refused { source, .. } => {
                Some(mcp_lifecycle::from_error(source, Revision::LATEST_STATEFUL))
            }
            _ => None,
        }
    }

    pub(crate) fn unanswered(method: &Name, error: AskError) -> Self {
        let method = method.clone();
        match error {
            AskError::TooMany { limit } => Self::TooMany { limit },
            AskError::Malformed(source) => Self::Malformed { method, source },
            AskError::Link(cause) => Self::Link(cause),
            // Neither happens to a request that belongs to no exchange.
            AskError::Unavailable | AskError::Over | _ => Self::Link(LinkError::Closed),
        }
    }
}

/// A structured result isn't what the tool's output schema promises.
///
/// Specification: [output schema](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// There is no structured result, though the tool promises one.
    #[error("there is no structured content")]
    Missing,
    /// The value doesn't fit.
    #[error("{}", violations.first().map_or("the value doesn't fit", |first| &first.message))]
    Invalid {
        /// In which ways; at least one, and at most [`Violation::MAX`].
        violations: Vec<Violation>,
    },
}

/// No conversation with a server came about. The link is closed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The two sides don't come to terms.
    #[error("the handshake failed")]
    Handshake(#[from] HandshakeError),
    /// The server didn't answer in time.
    #[error("no answer to `initialize` within {} ms", limit.as_millis())]
    TimedOut {
        /// The limit that was in force.
        limit: std::time::Duration,
    },
    /// There is no link: the server can't be started, or not be reached.
    #[error("no link to the server came about")]
    Open(#[source] LinkError),
    /// The link broke first. Over a child process the source says how the process ended.
    #[error("the link to the server is gone")]
    Link(#[source] LinkError),
    /// The server's answer is no message.
    #[error("the answer to `initialize` is malformed")]
    Malformed(#[source] FaultKind),
    /// What the client says about itself can't be written as JSON.
    #[error("the parameters of `initialize` can't be written")]
    Encode(#[source] serde_json::Error),
    /// There is no Tokio runtime here for the conversation to run on.
    #[error("there is no Tokio runtime here")]
    NoRuntime,
}

impl ConnectError {
    /// Whether a new attempt may succeed, on a new link.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::Handshake(error) => error.is_retryable(),
            Self::TimedOut { .. } | Self::Open(_) | Self::Link(_) => true,
            Self::Malformed(_) | Self::Encode(_) | Self::NoRuntime => false,
        }
    }

    pub(crate) fn unanswered(error: AskError) -> Self {
        match error {
            AskError::Malformed(source) => Self::Malformed(source),
            AskError::Link(cause) => Self::Link(cause),
            AskError::TooMany { .. } | AskError::Unavailable | AskError::Over | _ => {
                Self::Link(LinkError::Closed)
            }
        }
    }
}

/// As much of a result's text as fits into a line.
fn short_text(result: &CallToolResult) -> String {
    const SHOWN: usize = 200;
    let text = result.content.iter().find_map(ContentBlock::as_text).unwrap_or("it says nothing");
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn an_error_says_its_own_level_and_keeps_the_cause() {
        let error = ClientError::Refused {
            method: "tools/call".into(),
            source: ErrorObject::invalid_params("unknown tool"),
        };
        assert_eq!(error.to_string(), "the server refused `tools/call`");
        assert_eq!(error.source().unwrap().to_string(), "unknown tool (-32602)");
        assert!(!error.is_retryable());
        assert!(matches!(error.meaning(), Some(Meaning::InvalidParams)));
        let gone = ClientError::unanswered(&"ping".into(), AskError::Link(LinkError::Closed));
        assert!(gone.is_retryable() && gone.meaning().is_none());
    }

    #[test]
    fn a_failed_tool_is_quoted_briefly() {
        let failed = |text: &str| ClientError::ToolFailed {
            tool: "t".into(),
            result: Box::new(CallToolResult::error(text)),
        };
        assert_eq!(failed("no such city").to_string(), "the tool `t` failed: no such city");
        let long = failed(&"é".repeat(1000)).to_string();
        assert!(long.ends_with("é…") && long.chars().count() < 230);
    }
}
